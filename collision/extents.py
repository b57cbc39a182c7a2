"""How far shapes reach along a direction, from their definitions: what distances are checked by."""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Shape, Sphere
from spatialops.errors import ShapeError


def reach(shape: Shape, direction: Array) -> float:
    """Support function of a convex shape: the largest x . direction over its points x, m.

    Parameters
    ----------
    shape : Shape
        Not a half-space or height field; of a mesh its hull counts.
    direction : (3,) array
        Unit vector in the shape's axes.

    Raises
    ------
    ShapeError
        For a shape without a bound.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.collision import Capsule
    >>> reach(Capsule(0.1, 0.4), np.array([0.0, 0.0, 1.0]))
    0.30000000000000004
    """
    across, along = math.hypot(direction[0], direction[1]), float(direction[2])
    if isinstance(shape, Sphere):
        return float(shape.radius)
    if isinstance(shape, Capsule):
        return float(shape.radius + 0.5 * shape.length * abs(along))
    if isinstance(shape, Cylinder):
        return float(shape.radius * across + 0.5 * shape.length * abs(along))
    if isinstance(shape, Cone):
        return float(
            max(0.5 * shape.length * along, shape.radius * across - 0.5 * shape.length * along)
        )
    if isinstance(shape, Box):
        return 0.5 * float(np.abs(direction) @ np.asarray(shape.size))
    if isinstance(shape, Ellipsoid):
        return float(np.linalg.norm(direction * np.asarray(shape.semi_axes)))
    if hasattr(shape, "vertices"):
        return float((np.asarray(shape.vertices) @ direction).max())
    raise ShapeError(f"reach: a {type(shape).__name__} has no bound")
