"""Kernels and public functions of the dynamics, one algorithm a file."""
