"""Vectors, rotations, spatial vectors and inertias: the algebra that everything above is written in."""
