"""Sparse matrices: of blocks, their factors, and as they come from files."""
