"""Kernels and public functions of the dynamics: one algorithm a file, readable and compiled path in one."""
