"""Two shapes at given poses: distance, normal and contacts by the kernels of the stepping loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, scalar
from spatialops._arrays import array as checked
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision import _layout as col
from spatialops.collision.backends import (
    BACKENDS,
    BackendName,
    Nearest,
    Pose,
    check_backend,
    proven,
)
from spatialops.collision.geom_tables import Placed, geom_tables
from spatialops.collision.narrow_phase.common_plane import put_on_common_planes
from spatialops.collision.narrow_phase.convex import points_about
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import (
    FOUND,
    name_at,
    new_scratch,
    row_at,
)
from spatialops.collision.narrow_phase.signed_distance import AXIS, MIDDLE, separation
from spatialops.collision.shapes import FIXED, Box, Geom, Shape
from spatialops.errors import ShapeError

_NO_LIMIT = 1e200  # m; no shapes are so far apart
_ROUNDING = 1e-9  # m; by so much points of a manifold may be less deep than its distance


class Separation(NamedTuple):
    """How far two convex shapes are apart.

    Attributes
    ----------
    distance : float
        m; below 0 it is the depth at which they overlap.
    normal : (3,) array
        Unit vector from B to A, world axes.
    point : (3,) array
        Middle of the nearest points, world, m.
    """

    distance: float
    normal: Array
    point: Array


class Points(NamedTuple):
    """Contact points of two shapes.

    Attributes
    ----------
    positions : (k, 3) array
        Midway between the surfaces, world, m; those with one normal on their common plane.
    normals : (k, 3) array
        Unit vectors from B to A, world axes.
    gaps : (k,) array
        m; below 0 where the shapes overlap.
    features : (k, 2) int array
        Vertex, edge or face of A and of B that touch, as CONVENTIONS.md numbers them.
    """

    positions: Array
    normals: Array
    gaps: Array
    features: IntArray


class ShapePair:
    """Two shapes whose contacts are asked for at many poses.

    Parameters
    ----------
    a : Shape
        Convex and bounded.
    b : Shape
        Of any kind; a half-space, mesh or height field must be this one.
    backend : {"own", "coal", "fcl"}, default "own"
        What gives distance and normal: the kernels of the stepping loop, or another library, for
        two convex shapes. The manifold about them is made here.

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
    >>> points = pair.contacts((0.0, 0.0, 0.99))
    >>> points.gaps.round(12), points.normals
    (array([-0.01]), array([[0., 0., 1.]]))
    """

    def __init__(self, a: Shape, b: Shape, *, backend: BackendName = "own") -> None:
        if isinstance(a, FIXED):
            raise ShapeError(
                "shape pair: a half-space, mesh or height field must be the second shape"
            )
        self.shapes = (a, b)
        self.backend = check_backend(backend)
        if backend != "own" and isinstance(b, FIXED):
            raise ShapeError(
                f"shape pair: the backend {backend!r} takes two convex and bounded shapes"
            )
        self._other = None if backend == "own" else BACKENDS[backend](a, b)
        still = Placed(-1, -1, np.zeros(3), np.eye(3))
        self._tables = geom_tables([Geom("a", "world", a), Geom("b", "world", b)], [still, still])
        self._scratch = new_scratch(self._tables.ints, self._tables.lists)
        self._places = np.zeros((3, col.PLACE_COLUMNS))
        self._places[:, col.TURN : col.TURN + 9] = np.eye(3).ravel()

    def separation(
        self,
        position: ArrayLike = (0, 0, 0),
        rotation: ArrayLike | None = None,
        *,
        position_b: ArrayLike = (0, 0, 0),
        rotation_b: ArrayLike | None = None,
    ) -> Separation:
        """Signed distance of two convex shapes.

        Parameters
        ----------
        position : (3,) array_like
            Of A in the world, m; default: the origin.
        rotation : (3, 3) or (4,) array_like, optional
            Of A: a matrix, or a quaternion (x, y, z, w); default: the world's axes.
        position_b : (3,) array_like
            Of B in the world, m; default: the origin.
        rotation_b : (3, 3) or (4,) array_like, optional
            Of B, as `rotation`.

        Returns
        -------
        Separation
            Distance, normal from B to A, and the middle of the nearest points.

        Raises
        ------
        ShapeError
            If B is not convex and bounded.
        ContactError
            If another backend's normal does not bear out its distance.
        """
        if isinstance(self.shapes[1], FIXED):
            raise ShapeError(
                "separation: both shapes must be convex and bounded; contacts() takes the others"
            )
        if self._other is not None:
            return Separation(*self._asked(position, rotation, position_b, rotation_b))
        self._place(position, rotation, position_b, rotation_b)
        rows = self._scratch.rows
        distance = separation(self._tables, self._places, 0, 1, _NO_LIMIT, self._scratch)
        normal, middle = rows[4, AXIS : AXIS + 3].copy(), rows[4, MIDDLE : MIDDLE + 3].copy()
        if distance > 0.0 or not all(isinstance(shape, Box) for shape in self.shapes):
            return Separation(float(distance), normal, middle + self._places[1, : col.TURN])
        # Of boxes that overlap the axis is all that is known: the point is the manifold's middle.
        points = self._points(distance + _ROUNDING)
        return Separation(float(distance), normal, points.positions.mean(axis=0))

    def contacts(
        self,
        position: ArrayLike = (0, 0, 0),
        rotation: ArrayLike | None = None,
        *,
        position_b: ArrayLike = (0, 0, 0),
        rotation_b: ArrayLike | None = None,
        limit: float = 1e-3,
    ) -> Points:
        """Contact points of the two shapes.

        Parameters
        ----------
        position : (3,) array_like
            Of A in the world, m; default: the origin.
        rotation : (3, 3) or (4,) array_like, optional
            Of A: a matrix, or a quaternion (x, y, z, w); default: the world's axes.
        position_b : (3,) array_like
            Of B in the world, m; default: the origin.
        rotation_b : (3, 3) or (4,) array_like, optional
            Of B, as `rotation`.
        limit : float
            Largest gap of a contact, m.

        Returns
        -------
        Points
            Up to four contacts, twelve where B is a mesh or a height field.

        Raises
        ------
        ContactError
            If another backend's normal does not bear out its distance.
        """
        if self._other is not None:
            nearest = self._asked(position, rotation, position_b, rotation_b)
            self._place(position, rotation, position_b, rotation_b)
            return self._points_about(nearest, limit)
        if not isinstance(self.shapes[1], FIXED):
            self._place(position, rotation, position_b, rotation_b)
            return self._points(limit)
        turn = rotation_matrix(rotation_b)
        place = checked(position_b, (3,), "position_b", finite=True)
        line = checked(position, (3,), "position", finite=True) - place
        # B keeps the world's axes.
        self._place(turn.T @ line, turn.T @ rotation_matrix(rotation), np.zeros(3), None)
        found = self._points(limit)
        return found._replace(
            positions=place + found.positions @ turn.T, normals=found.normals @ turn.T
        )

    def _points(self, limit: float) -> Points:
        found = pair_points(self._tables, self._places, 0, 1, scalar(limit, "limit"), self._scratch)
        return self._copied(found)

    def _asked(
        self,
        position: ArrayLike,
        rotation: ArrayLike | None,
        position_b: ArrayLike,
        rotation_b: ArrayLike | None,
    ) -> Nearest:
        """What the other backend says, proven."""
        a, b = _pose(position, rotation), _pose(position_b, rotation_b)
        assert self._other is not None
        return proven(self.backend, self.shapes, a, b, self._other(a, b))

    def _points_about(self, found: Nearest, limit: float) -> Points:
        """Manifold about a distance and normal that were found elsewhere."""
        if found.distance > limit:
            return self._copied(0)
        scratch = self._scratch
        scratch.rows[4, AXIS : AXIS + 3] = found.normal
        scratch.rows[4, MIDDLE : MIDDLE + 3] = found.middle - self._places[1, : col.TURN]
        count = points_about(
            self._tables, self._places, 0, 1, found.distance, float(limit), scratch
        )
        size = float(self._tables.floats[0, col.GEOM_BOUND])
        put_on_common_planes(scratch.rows[row_at(scratch.rows, FOUND) :], count, size)
        return self._copied(count)

    def _copied(self, count: int) -> Points:
        """The first points of the block FOUND."""
        rows, ints = self._scratch.rows, self._scratch.ints
        found = rows[row_at(rows, FOUND) :][:count]
        names = ints[name_at(ints, FOUND) :][:count, :2]
        points = found[:, col.AT_POINT : col.AT_POINT + 3]
        normals = found[:, col.AT_NORMAL : col.AT_NORMAL + 3]
        return Points(points.copy(), normals.copy(), found[:, col.AT_GAP].copy(), names.copy())

    def _place(
        self,
        position: ArrayLike,
        rotation: ArrayLike | None,
        position_b: ArrayLike,
        rotation_b: ArrayLike | None,
    ) -> None:
        poses = _pose(position, rotation), _pose(position_b, rotation_b)
        for row, (place, turn) in enumerate(poses):
            offset = self._tables.floats[row, col.GEOM_OFFSET : col.GEOM_OFFSET + 3]
            self._places[row, : col.TURN] = place + turn @ offset
            self._places[row, col.TURN : col.TURN + 9] = turn.ravel()


def _pose(position: ArrayLike, rotation: ArrayLike | None) -> Pose:
    return Pose(checked(position, (3,), "position", finite=True), rotation_matrix(rotation))
