"""Inverse dynamics that predicts its contact forces ([Z])."""
