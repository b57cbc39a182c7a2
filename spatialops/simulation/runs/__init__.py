"""A simulation under way: its parts, steps and runs of the compiled loop, and failures within."""
