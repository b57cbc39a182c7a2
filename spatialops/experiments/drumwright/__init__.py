"""The grasp of [D], and time against the number of contacts."""
