"""Other libraries behind `ShapePair`, for distance and normal of two convex shapes.

Neither is believed blindly. The normal n of a signed distance d is proven by support functions: two
convex shapes are apart along n by no more than their signed distance, and by exactly that along the
right normal. What does not bear its own distance out is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from spatialops._arrays import Array, is_one_of
from spatialops.collision._layout import COINCIDE
from spatialops.collision.extents import reach
from spatialops.collision.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Shape,
    Sphere,
)
from spatialops.errors import ArgumentError, ContactError, MissingLibraryError

LibraryObject: TypeAlias = Any  # modules and objects of Coal and FCL, which have no types
BackendName: TypeAlias = Literal["own", "coal", "fcl"]

PROVEN = 1e-5  # of the smaller size: how well a normal must bear out its distance
_COAL_TOLERANCE = 1e-9  # of its GJK and EPA
_COAL_ITERATIONS = 1000


class Pose(NamedTuple):
    """Position (3,), m, and rotation (3, 3) of a shape."""

    position: Array
    rotation: Array


class Nearest(NamedTuple):
    """Signed distance (m), unit normal from B to A, middle of the nearest points; world axes."""

    distance: float
    normal: Array
    middle: Array


class Backend(Protocol):
    """Signed distance of two convex shapes that are given when it is made."""

    def __call__(self, a: Pose, b: Pose) -> Nearest:
        """Distance at these poses."""
        ...


class Coal:
    """Coal (hpp-fcl's successor), `pip install spatialops[coal]`."""

    def __init__(self, a: Shape, b: Shape) -> None:
        self._coal = _library("coal", "coal")
        self._shapes = self._shape(a), self._shape(b)
        self._request = self._coal.DistanceRequest(True, True)
        self._request.gjk_tolerance = self._request.epa_tolerance = _COAL_TOLERANCE
        self._request.gjk_max_iterations = self._request.epa_max_iterations = _COAL_ITERATIONS

    def _shape(self, shape: Shape) -> LibraryObject:
        coal = self._coal
        if isinstance(shape, ConvexHull):
            corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
            for corner in shape.vertices:
                corners.append(corner)
            for face in shape.solid.triangles():
                faces.append(coal.Triangle(*(int(i) for i in face)))
            return coal.Convex(corners, faces)
        return getattr(coal, type(shape).__name__)(*_sizes(shape))

    def __call__(self, a: Pose, b: Pose) -> Nearest:
        """Distance at these poses."""
        coal, answer = self._coal, self._coal.DistanceResult()
        first, second = (coal.Transform3s(pose.rotation, pose.position) for pose in (a, b))
        coal.distance(self._shapes[0], first, self._shapes[1], second, self._request, answer)
        on_a, on_b = np.array(answer.getNearestPoint1()), np.array(answer.getNearestPoint2())
        normal = -np.array(answer.normal, dtype=np.float64).ravel()
        return Nearest(float(answer.min_distance), normal, 0.5 * (on_a + on_b).ravel())


class Fcl:
    """FCL by `distance` with signed distance and nearest points.

    Its `collide` is not used: it tilts normals by several degrees. The normal is the line between
    the nearest points, and is lost where these are closer than rounding allows.
    """

    def __init__(self, a: Shape, b: Shape) -> None:
        self._fcl = _library("fcl", "fcl")
        self._shapes = self._shape(a), self._shape(b)
        self._request = self._fcl.DistanceRequest(
            enable_nearest_points=True, enable_signed_distance=True
        )

    def _shape(self, shape: Shape) -> LibraryObject:
        fcl = self._fcl
        if isinstance(shape, ConvexHull):
            counted = np.concatenate([np.append(len(face), face) for face in shape.solid.faces])
            return fcl.Convex(
                np.ascontiguousarray(shape.vertices),
                len(shape.solid.faces),
                counted.astype(np.int32),
            )
        return getattr(fcl, type(shape).__name__)(*_sizes(shape))

    def __call__(self, a: Pose, b: Pose) -> Nearest:
        """Distance at these poses."""
        fcl, answer = self._fcl, self._fcl.DistanceResult()
        objects = [
            fcl.CollisionObject(shape, fcl.Transform(pose.rotation, pose.position))
            for shape, pose in zip(self._shapes, (a, b), strict=True)
        ]
        distance = float(fcl.distance(*objects, self._request, answer))
        on_a, on_b = (np.asarray(point, dtype=np.float64) for point in answer.nearest_points)
        line = np.copysign(1.0, distance) * (on_a - on_b)
        length = float(np.linalg.norm(line))
        normal = line / length if length > COINCIDE else np.full(3, np.nan)
        return Nearest(distance, normal, 0.5 * (on_a + on_b))


BACKENDS: dict[str, Callable[[Shape, Shape], Backend]] = {"coal": Coal, "fcl": Fcl}


def proven(backend: str, shapes: tuple[Shape, Shape], a: Pose, b: Pose, found: Nearest) -> Nearest:
    """What a backend found, where its normal bears its distance out.

    Raises
    ------
    ContactError
        Where it does not.
    """
    n = found.normal
    along = (
        float((a.position - b.position) @ n)
        - reach(shapes[0], -a.rotation.T @ n)
        - reach(shapes[1], b.rotation.T @ n)
    )
    size = min(max(reach(shape, d) for d in np.vstack([np.eye(3), -np.eye(3)])) for shape in shapes)
    if not abs(along - found.distance) <= PROVEN * size:
        raise ContactError(
            f"{backend}: its normal {n} separates the shapes by {along:.9g} m, not by its distance "
            f"{found.distance:.9g} m; take the own backend here"
        )
    return found


def check_backend(name: BackendName) -> BackendName:
    """Refuse a backend that there is not."""
    if not is_one_of(name, ("own", *BACKENDS)):
        raise ArgumentError(f"backend: expected one of own, {', '.join(BACKENDS)}, got {name!r}")
    return name


def _sizes(shape: Shape) -> tuple[float, ...]:
    if isinstance(shape, Sphere):
        return (float(shape.radius),)
    if isinstance(shape, (Capsule, Cylinder, Cone)):
        return float(shape.radius), float(shape.length)
    if isinstance(shape, (Box, Ellipsoid)):
        return tuple(shape.size if isinstance(shape, Box) else shape.semi_axes)
    raise ArgumentError(f"backend: takes convex and bounded shapes, not a {type(shape).__name__}")


def _library(name: str, extra: str) -> LibraryObject:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingLibraryError(f"backend {name!r}: install spatialops[{extra}]") from error
