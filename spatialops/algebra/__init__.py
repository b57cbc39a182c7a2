"""Vectors, rotations, spatial vectors and inertias, in which everything above is written."""
