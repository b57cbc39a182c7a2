"""Friction that turns: with slips, and with spins."""
