"""A command of plain contacts: its rounds and its choice of forces, as kernels."""
