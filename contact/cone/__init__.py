"""Frictional contact with the exact second-order Coulomb cone: the problem, its residual, its solvers."""
