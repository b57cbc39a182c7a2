"""Closures: rows, factors, dynamics with them, and how a mechanism is closed."""
