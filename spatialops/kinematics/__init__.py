"""Inverse kinematics: coordinates at which points and frames are where they should be."""
