"""Linear complementarity problems and their solvers."""
