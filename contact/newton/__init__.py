"""Newton's method on the statuses of contacts, in the coordinates y = L^T p: the central answer."""
