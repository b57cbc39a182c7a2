"""Runs of links that one wrench pushes: rows of L of long trees by fewer columns."""
