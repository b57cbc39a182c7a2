"""Frictional contact with the exact Coulomb cone: the problem, its residual, its solvers."""
