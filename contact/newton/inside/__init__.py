"""The interior-point method, and what comes from where it ends."""
