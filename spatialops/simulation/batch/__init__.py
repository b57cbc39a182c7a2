"""Many environments at once: batches that step together, on several threads."""
