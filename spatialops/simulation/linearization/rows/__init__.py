"""Rows of equations, as lanes of numbers."""
