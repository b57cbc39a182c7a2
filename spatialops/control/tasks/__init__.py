"""Tasks of the dual-arm robot: what it handles, the script that it follows, and how the outcome is judged."""
