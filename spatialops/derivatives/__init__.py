"""Derivatives of the dynamics on the tangent space, in closed form."""
