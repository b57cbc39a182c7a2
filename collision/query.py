"""Two shapes at given poses: distance, normal and contact points, by the kernels of the stepping loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._arrays import array as checked
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision import _layout as at
from spatialops.collision.backends import BACKENDS, Nearest, Pose, check_backend, proven
from spatialops.collision.convex import points_about
from spatialops.collision.geom_tables import Placed, geom_tables
from spatialops.collision.narrow_phase import pair_points
from spatialops.collision.scratch import name_at, row_at, scratch_shapes
from spatialops.collision.separation import AXIS, MIDDLE, separation
from spatialops.collision.shapes import FIXED, Box, Geom, Shape
from spatialops.errors import ShapeError


class Separation(NamedTuple):
    """Signed distance (m; below 0: depth), unit normal from B to A, and the middle of the nearest points."""

    distance: float
    normal: Array
    point: Array


class Points(NamedTuple):
    """Contact points (k, 3), normals from B to A (k, 3), gaps (k,), and the features of A and B that touch (k, 2)."""

    positions: Array
    normals: Array
    gaps: Array
    features: IntArray


class ShapePair:
    """Two shapes whose contacts are asked for at many poses.

    Parameters
    ----------
    a, b : Shape
        A half-space, mesh or height field must be `b`.
    backend : {"own", "coal", "fcl"}
        What gives distance and normal: the kernels of the stepping loop, or another library, for two convex shapes.
        The manifold about them is made here.

    Raises
    ------
    ShapeError
        For shapes that this pair cannot be made of.
    MissingLibraryError
        If the backend's library is not installed.

    Examples
    --------
    >>> from spatialops.collision import Box, ShapePair, Sphere
    >>> pair = ShapePair(Sphere(0.5), Box((1.0, 1.0, 1.0)))
    >>> round(pair.separation((0.0, 0.0, 1.2)).distance, 12)
    0.2
    """

    def __init__(self, a: Shape, b: Shape, *, backend: str = "own") -> None:
        if isinstance(a, FIXED):
            raise ShapeError("shape pair: a half-space, mesh or height field must be the second shape")
        self.shapes = (a, b)
        self.backend = check_backend(backend)
        if backend != "own" and isinstance(b, FIXED):
            raise ShapeError(f"shape pair: the backend {backend!r} takes two convex and bounded shapes")
        self._other = None if backend == "own" else BACKENDS[backend](a, b)
        still = Placed(-1, -1, np.zeros(3), np.eye(3))
        self._tables = geom_tables([Geom("a", "world", a), Geom("b", "world", b)], [still, still])
        rows, ints = scratch_shapes(self._tables.ints, self._tables.lists)
        self._rows, self._ints = np.zeros(rows), np.zeros(ints, dtype=np.int64)
        self._places = np.zeros((3, at.PLACE_COLUMNS))
        self._places[:, at.TURN : at.TURN + 9] = np.eye(3).ravel()

    def separation(
        self, position: Any = (0, 0, 0), rotation: Any = None, *, position_b: Any = (0, 0, 0), rotation_b: Any = None
    ) -> Separation:
        """Signed distance of two convex shapes; rotations are matrices or quaternions.

        Raises
        ------
        ShapeError
            If B is not convex and bounded.
        ContactError
            If another backend's normal does not bear out its distance.
        """
        if isinstance(self.shapes[1], FIXED):
            raise ShapeError("separation: both shapes must be convex and bounded; contacts() takes the others")
        if self._other is not None:
            return Separation(*self._asked(position, rotation, position_b, rotation_b))
        self._place(position, rotation, position_b, rotation_b)
        t = self._tables
        distance = separation(t.ints, t.floats, t.solids, self._places, 0, 1, 1e200, self._rows, self._ints)
        normal, middle = self._rows[4, AXIS : AXIS + 3].copy(), self._rows[4, MIDDLE : MIDDLE + 3].copy()
        if distance > 0.0 or not all(isinstance(shape, Box) for shape in self.shapes):
            return Separation(float(distance), normal, middle + self._places[1, : at.TURN])
        points = self._points(distance + 1e-9)  # an axis is all that boxes that overlap are separated by
        return Separation(float(distance), normal, points.positions.mean(axis=0))

    def contacts(
        self,
        position: Any = (0, 0, 0),
        rotation: Any = None,
        *,
        position_b: Any = (0, 0, 0),
        rotation_b: Any = None,
        limit: float = 1e-3,
    ) -> Points:
        """Contact points with gaps up to `limit` (m)."""
        if self._other is not None:
            nearest = self._asked(position, rotation, position_b, rotation_b)
            self._place(position, rotation, position_b, rotation_b)
            return self._points_about(nearest, limit)
        if not isinstance(self.shapes[1], FIXED):
            self._place(position, rotation, position_b, rotation_b)
            return self._points(limit)
        turn, place = rotation_matrix(rotation_b), checked(position_b, (3,), "position_b", finite=True)
        line = checked(position, (3,), "position", finite=True) - place
        self._place(turn.T @ line, turn.T @ rotation_matrix(rotation), np.zeros(3), None)  # B keeps the world's axes
        found = self._points(limit)
        return found._replace(positions=place + found.positions @ turn.T, normals=found.normals @ turn.T)

    def _points(self, limit: float) -> Points:
        t = self._tables
        args = (t.ints, t.floats, t.solids, t.lists, self._places, 0, 1, float(limit), self._rows, self._ints)
        return self._copied(pair_points(*args))

    def _asked(self, *given: Any) -> Nearest:
        """What the other backend says, proven."""
        a, b = (
            Pose(checked(position, (3,), "position", finite=True), rotation_matrix(rotation))
            for position, rotation in zip(given[::2], given[1::2], strict=True)
        )
        assert self._other is not None
        return proven(self.backend, self.shapes, a, b, self._other(a, b))

    def _points_about(self, found: Nearest, limit: float) -> Points:
        """Manifold about a distance and normal that were found elsewhere."""
        if found.distance > limit:
            return self._copied(0)
        self._rows[4, AXIS : AXIS + 3] = found.normal
        self._rows[4, MIDDLE : MIDDLE + 3] = found.middle - self._places[1, : at.TURN]
        t, gap = self._tables, found.distance
        args = (t.ints, t.floats, t.solids, t.lists, self._places, 0, 1, gap, float(limit), self._rows, self._ints)
        return self._copied(points_about(*args))

    def _copied(self, count: int) -> Points:
        """The first points of the block FOUND."""
        found = self._rows[row_at(self._rows, 3) :][:count]
        names = self._ints[name_at(self._ints, 3) :][:count, :2]
        points, normals = found[:, at.AT_POINT : at.AT_POINT + 3], found[:, at.AT_NORMAL : at.AT_NORMAL + 3]
        return Points(points.copy(), normals.copy(), found[:, at.AT_GAP].copy(), names.copy())

    def _place(self, *poses: Any) -> None:
        for row, (position, rotation) in enumerate(zip(poses[::2], poses[1::2], strict=True)):
            turn = rotation_matrix(rotation)
            offset = self._tables.floats[row, at.GEOM_OFFSET : at.GEOM_OFFSET + 3]
            self._places[row, : at.TURN] = checked(position, (3,), "position", finite=True) + turn @ offset
            self._places[row, at.TURN : at.TURN + 9] = turn.ravel()
