"""Steps whose derivatives Python makes of matrices: of closures, and of the fourth-order rule."""
