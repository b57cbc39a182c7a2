"""Frames of free joints: coordinates say where a body is in the frame that its joint has.

Where F is that frame in the world and X the pose of the coordinates, the body is at W = F X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, instance
from spatialops.algebra.rotation import from_quaternion, to_quaternion
from spatialops.tree.model import Model


class FreeFrame(NamedTuple):
    """Where a free joint is at home: its frame in the world."""

    origin: Array
    rotation: Array

    @classmethod
    def of(cls, model: Model, joint: str) -> FreeFrame:
        """Of a free joint of a model."""
        row = instance(model, Model, "model").links[model.v_slice(joint).start]
        rotation = row[layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
        return cls(row[layout.PLACE_P : layout.PLACE_P + 3], rotation)

    def is_home(self) -> bool:
        """Whether coordinates are the body's pose in the world."""
        return not self.origin.any() and np.array_equal(self.rotation, np.eye(3))

    def of_origin(self) -> Array:
        """Coordinates (7,) of a body at the world's origin, unturned."""
        return self.coordinates(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))

    def in_world(self, coordinates: Array) -> Array:
        """F X (7,), position and quaternion, of coordinates X (7,)."""
        return moved(self.rotation, self.origin, coordinates)

    def coordinates(self, pose: Array) -> Array:
        """F^-1 W (7,) of a pose W (7,) in the world."""
        back = self.rotation.T
        return moved(back, -(back @ self.origin), pose)


def moved(rotation: Array, origin: Array, pose: Array) -> Array:
    """A pose (7,), position and quaternion, turned and then moved."""
    place = origin + rotation @ pose[:3]
    if np.array_equal(rotation, np.eye(3)):
        return np.concatenate([place, pose[3:]])
    return np.concatenate([place, to_quaternion(rotation @ from_quaternion(pose[3:]))])
