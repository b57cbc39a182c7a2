"""What is drawn, as triangles: shapes, floors, arrows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from spatialops._arrays import Array
from spatialops.view.replay_shapes import TEXTS

_SIDES = 24  # of what is round
_RINGS = 12
_HEAD = 0.35  # of an arrow's length
_PARALLEL = 0.9  # cosine beyond which another axis is taken to cross with


def shape_triangles(shape: Mapping[str, object]) -> Array:
    """Triangles (n, 3, 3) [m] of a shape as `write_replay` takes it, about its middle."""
    kind = shape["kind"]
    if kind == "mesh":
        vertices = np.asarray(shape["vertices"], dtype=np.float64)
        return np.asarray(vertices[np.asarray(shape["faces"], dtype=np.int64)])
    sizes = {name: np.asarray(value) for name, value in shape.items() if name not in TEXTS}
    if kind == "box":
        return _box() * sizes["size"]
    if kind == "ellipsoid":
        return _turned(*_arc()) * sizes["semi_axes"]
    radius = float(sizes["radius"])
    half = 0.5 * float(sizes.get("length", 0.0))
    if kind in ("sphere", "capsule"):
        rim, height = _arc()
        return _turned(radius * rim, radius * height + np.where(height > 0.0, half, -half))
    top = 0.0 if kind == "cone" else radius
    return _turned(np.array([0.0, radius, top, 0.0]), np.array([-half, -half, half, half]))


def arrow_triangles(start: ArrayLike, along: ArrayLike, width: float) -> Array:
    """Triangles (n, 3, 3) [m] of an arrow from `start` as long as `along`, its shaft `width`."""
    vector = np.asarray(along, dtype=np.float64)
    length = float(np.linalg.norm(vector))
    head = min(_HEAD * length, 3.0 * width)
    rim = np.array([0.0, 0.5, 0.5, 1.5, 0.0]) * width
    height = np.array([0.0, 0.0, length - head, length - head, length])
    axis = vector / length
    aside = np.cross(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < _PARALLEL else (0.0, 1.0, 0.0))
    aside /= np.linalg.norm(aside)
    frame = np.stack([aside, np.cross(axis, aside), axis])
    return np.asarray(start) + _turned(rim, height) @ frame


def line_triangles(pieces: Array, half: float) -> Array:
    """Triangles (n, 3, 3) [m] of square rods along straight pieces (k, 2, 3), of half a width."""
    along = pieces[:, 1] - pieces[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    pieces, along = pieces[lengths > 0.0], along[lengths > 0.0]
    axis = along / lengths[lengths > 0.0, None]
    steep = np.abs(axis[:, :1]) < _PARALLEL
    aside = np.cross(axis, np.where(steep, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    other = np.cross(axis, aside)
    corners = np.stack([aside + other, other - aside, -aside - other, aside - other], axis=1)
    low, high = (pieces[:, None, end] + half * corners for end in (0, 1))
    beside_low, beside_high = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    first = np.stack([low, beside_low, beside_high], axis=2)
    return np.concatenate([first, np.stack([low, beside_high, high], axis=2)]).reshape(-1, 3, 3)


def floor_tiles(middle: Array, normal: Array, size: float, count: int) -> Array:
    """Squares (count, count, 2, 3, 3) [m] of two triangles, about a point of a plane."""
    aside = np.cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < _PARALLEL else (0.0, 1.0, 0.0))
    aside /= np.linalg.norm(aside)
    other = np.cross(normal, aside)
    ends = size * (np.arange(count + 1) - 0.5 * count)
    corners = middle + ends[:, None, None] * aside + ends[None, :, None] * other
    low, right = corners[:-1, :-1], corners[1:, :-1]
    left, high = corners[:-1, 1:], corners[1:, 1:]
    first = np.stack([low, right, high], axis=2)
    second = np.stack([low, high, left], axis=2)
    return np.stack([first, second], axis=2)


def _arc() -> tuple[Array, Array]:
    """Radii and heights of half a circle from pole to pole; the equator is there twice."""
    lower = np.linspace(-0.5 * np.pi, 0.0, _RINGS // 2 + 1)
    angles = np.concatenate([lower, -lower[::-1]])
    height = np.sin(angles)
    height[_RINGS // 2] = -0.0
    height[_RINGS // 2 + 1] = np.finfo(float).tiny  # the upper half's
    return np.cos(angles), height


def _turned(rim: Array, height: Array) -> Array:
    """Triangles of what a line of radii and heights sweeps about z, seen from outside."""
    turns = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    points = np.empty((len(rim), _SIDES + 1, 3))
    points[..., :2] = rim[:, None, None] * ring
    points[..., 2] = height[:, None]
    low, right = points[:-1, :-1], points[:-1, 1:]
    left, high = points[1:, :-1], points[1:, 1:]
    faces = np.concatenate([np.stack([low, right, high], 2), np.stack([low, high, left], 2)])
    return np.asarray(faces.reshape(-1, 3, 3))


def _box() -> Array:
    """The surface of a cube of edge one."""
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    faces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            corners = np.insert(square * [side, 1.0], 2, side, axis=1)
            faces.append(np.roll(corners, axis + 1, axis=1).reshape(2, 3, 3))
    return 0.5 * np.concatenate(faces)
