"""A benchmark that any engine can join: `spatialops engines`."""
