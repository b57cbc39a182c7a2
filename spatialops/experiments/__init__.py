"""The experiments of the papers, repeated: `spatialops reproduce` and `spatialops grasp`."""
