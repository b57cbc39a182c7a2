"""Complementarity problems, and who solves them."""
