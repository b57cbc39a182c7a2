"""Scenes in contact, step by step beside MuJoCo: `spatialops bench --only contacts`."""
