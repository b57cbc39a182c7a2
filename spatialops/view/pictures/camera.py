"""A camera that stands still and shows a whole motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array

_FROM = np.array([-0.55, -1.0, 0.42])  # where it stands, seen from the motion
_FIELD = np.tan(np.radians(16.0))  # half of the view's height at distance one
_ROOM = 1.08
_NEAREST = 1e-3  # of the distance to the middle


class Camera(NamedTuple):
    """Where it is [m], its axes (right, down, ahead) as rows, and pixels at distance one."""

    position: Array
    axes: Array
    focus: float
    middle: Array  # pixels
    distance: float  # m, to the middle of what it shows

    @property
    def nearest(self) -> float:
        """What is nearer is not drawn, m."""
        return _NEAREST * self.distance

    def project(self, triangles: Array) -> tuple[Array, Array]:
        """Corners (n, 3, 3) as columns, rows, inverse distances; and which (n,) are in front."""
        seen = (triangles - self.position) @ self.axes.T
        ahead = seen[..., 2]
        front = np.all(ahead > self.nearest, axis=1)
        inverse = 1.0 / np.where(ahead > self.nearest, ahead, 1.0)
        corners = np.empty_like(seen)
        corners[..., :2] = self.middle + self.focus * seen[..., :2] * inverse[..., None]
        corners[..., 2] = inverse
        return corners, front


def camera_on(low: Array, high: Array, width: int, height: int) -> Camera:
    """Camera from which a box from `low` to `high` [m] fills a picture of so many pixels."""
    back = _FROM / np.linalg.norm(_FROM)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, -np.cross(back, right), -back])
    middle = 0.5 * (low + high)
    corners = np.stack(np.meshgrid(*zip(low, high), indexing="ij"), axis=-1).reshape(-1, 3)
    offsets = (corners - middle) @ axes.T
    aside = np.abs(offsets[:, :2]) * [height / width, 1.0]
    distance = float((_ROOM * aside.max(axis=1) / _FIELD - offsets[:, 2]).max())
    focus = 0.5 * height / _FIELD
    center = 0.5 * np.array([width - 1.0, height - 1.0])
    return Camera(middle + distance * back, axes, focus, center, distance)
