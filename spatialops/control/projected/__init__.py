"""Constrained dynamics by projection onto the motions that constraints admit ([A])."""
