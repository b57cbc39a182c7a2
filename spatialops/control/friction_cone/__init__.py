"""Least losses of motors under exact friction cones ([A]), and a quadratic program beside it."""
