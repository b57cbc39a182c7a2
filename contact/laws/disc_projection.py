"""Nearest points of discs, and of polygons inscribed in them, and how they change."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.friction import directions


def on_discs(points: Array, radii: Array) -> tuple[Array, Array, Array]:
    """Nearest points (m, k) of discs, and derivatives by points (m, k, k) and by radii (m, k)."""
    sizes = np.linalg.norm(points, axis=1)
    outside = sizes > radii
    along = points / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    eye = np.eye(points.shape[1])
    ratio = (radii / np.where(outside, sizes, 1.0))[:, None, None]
    slope = np.where(
        outside[:, None, None], ratio * (eye - along[:, :, None] * along[:, None, :]), eye
    )
    return (
        np.where(outside[:, None], along * radii[:, None], points),
        slope,
        np.where(outside[:, None], along, 0.0),
    )


def on_polygons(points: Array, radii: Array, count: int) -> tuple[Array, Array, Array]:
    """The same of polygons (m, 2) with `count` corners at the radius, the first on the first axis.

    Two corners are a line: the nearest point is on it, and nothing is inside.
    """
    corners = directions(count)
    ends = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(ends, axis=1)
    along = ends / lengths[:, None]
    away = np.column_stack([along[:, 1], -along[:, 0]])
    inside = ((points @ away.T) <= radii[:, None] * (corners * away).sum(axis=1)).all(axis=1) & (
        count > 2
    )
    ahead = points @ along.T - radii[:, None] * (corners * along).sum(axis=1)
    part = np.clip(ahead, 0.0, radii[:, None] * lengths)
    each = radii[:, None, None] * corners + part[:, :, None] * along
    side = np.argmin(((points[:, None, :] - each) ** 2).sum(axis=2), axis=1)
    row = np.arange(len(points))
    reach, whole = ahead[row, side], radii * lengths[side]
    between, past = (reach > 0.0) & (reach < whole), reach >= whole
    tangent = along[side]
    slope = np.where(between[:, None, None], tangent[:, :, None] * tangent[:, None, :], 0.0)
    first = corners[side]
    growth = np.where(
        between[:, None], first - (first * tangent).sum(axis=1)[:, None] * tangent, first
    )
    growth = np.where(past[:, None], np.roll(corners, -1, axis=0)[side], growth)
    near = each[row, side]
    return (
        np.where(inside[:, None], points, near),
        np.where(inside[:, None, None], np.eye(2), slope),
        np.where(inside[:, None], 0.0, growth),
    )
