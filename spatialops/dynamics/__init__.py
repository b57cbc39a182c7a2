"""Kernels and public functions of the dynamics: each file holds one algorithm, readable path and compiled path in one."""
