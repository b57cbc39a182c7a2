"""Tasks of the dual-arm robot: objects, scripts, runs, and how outcomes are judged."""
