"""Shapes, and the geoms that put them on bodies with friction and restitution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball of `radius` (m) about the geom's position."""

    radius: float

    def __post_init__(self) -> None:
        if not _is_number(self.radius) or not 0.0 < self.radius < np.inf:
            raise ShapeError(f"sphere: radius must be a positive number, got {self.radius!r} m")


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Everything below a plane through the geom's position with outward `normal` (3,), in world axes."""

    normal: Any = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        normal = _three("half-space: normal", self.normal)
        length = float(np.linalg.norm(normal))
        if not length > 1e-12:
            raise ShapeError("half-space: normal must not be zero")
        object.__setattr__(self, "normal", tuple(float(x) for x in normal / length))


Shape: TypeAlias = Sphere | HalfSpace


@dataclass(frozen=True, eq=False)
class Geom:
    """A shape on a body.

    Parameters
    ----------
    name : str
    body : str
        Name of the body, of a merged body, or "world".
    shape : Sphere or HalfSpace
        A half-space must sit on the world.
    position : (3,) array_like
        In the body's frame, m.
    friction, restitution : float
        Not negative; restitution at most 1. A pair takes the geometric mean of both sides, so that a side that has none
        leaves none.
    """

    name: str
    body: str
    shape: Shape
    position: Any = (0.0, 0.0, 0.0)
    friction: float = 0.5
    restitution: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.shape, (Sphere, HalfSpace)):
            raise ShapeError(f"geom {self.name!r}: shape: expected a Sphere or HalfSpace, got {self.shape!r}")
        position = _three(f"geom {self.name!r}: position", self.position)
        object.__setattr__(self, "position", tuple(float(x) for x in position))
        if not _is_number(self.friction) or not 0.0 <= self.friction < np.inf:
            raise ShapeError(f"geom {self.name!r}: friction must be >= 0 and finite, got {self.friction!r}")
        if not _is_number(self.restitution) or not 0.0 <= self.restitution <= 1.0:
            raise ShapeError(f"geom {self.name!r}: restitution must lie in [0, 1], got {self.restitution!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _three(name: str, values: Any) -> Array:
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: expected 3 numbers, got {values!r}") from None
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ShapeError(f"{name}: expected 3 finite numbers, got {values!r}")
    return vector
