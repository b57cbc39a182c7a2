"""Hands: impedance, grasp forces, task scripts."""
