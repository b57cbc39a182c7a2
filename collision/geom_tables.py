"""Geoms as the tables that kernels work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.farthest_corner import climbs
from spatialops.collision.narrow_phase.hull import Polyhedron, box_polyhedron
from spatialops.collision.pair_coefficients import geom_kinds
from spatialops.collision.shapes import (
    FIXED,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Mesh,
    Shape,
    Sphere,
)
from spatialops.collision.triangles import SurfaceTables, grid_tables, surface_tables

_UNBOUNDED = 1e30  # m; the size of a prism: what it touches is the measure


class GeomTables(NamedTuple):
    """Geoms as kernels see them; columns in `_layout`.

    Attributes
    ----------
    ints, floats : (n + 1, .) arrays
        A row a geom; the last is for the triangle of a mesh that is being looked at.
    solids : (., 6) array
        Corners, planes and boxes.
    lists : (.,) int array
        Corners of faces, faces about corners, trees.
    """

    ints: IntArray
    floats: Array
    solids: Array
    lists: IntArray


class Placed(NamedTuple):
    """Where a geom is fixed: body and link (-1: the world), position and rotation in link axes."""

    body: int
    link: int
    position: Array
    rotation: Array


def geom_tables(geoms: Sequence[Geom], places: Sequence[Placed]) -> GeomTables:
    """Tables of geoms, which stand at `places`."""
    n = len(geoms)
    ints = np.zeros((n + 1, col.GEOM_INTS), dtype=np.int64)
    floats = np.zeros((n + 1, col.GEOM_COLUMNS))
    store = _Store()
    for row, values, geom, place in zip(ints, floats, geoms, places):
        row[[col.GEOM_LINK, col.GEOM_BODY]] = place.link, place.body
        values[col.GEOM_OFFSET : col.GEOM_OFFSET + 3] = place.position
        values[col.GEOM_FRICTION] = geom.friction
        values[col.GEOM_RESTITUTION] = geom.restitution
        values[col.GEOM_MARGIN] = geom.margin
        values[col.GEOM_TURN : col.GEOM_TURN + 9] = place.rotation.ravel()
        _put_shape(row, values, geom, place, store)
    _put_prism(ints[n], floats[n], store)
    kinds, kind_of = geom_kinds(geoms)
    ints[:n, col.GEOM_KIND], ints[:n, col.GEOM_KINDS] = kind_of, len(kinds) * kind_of
    return GeomTables(ints, floats, store.solids(), store.lists())


def bounding_radius(shape: Shape) -> float:
    """Radius (m) of a ball about a shape's middle; 1 for what has no bound or does not move."""
    if isinstance(shape, Sphere):
        return float(shape.radius)
    if isinstance(shape, Capsule):
        return 0.5 * shape.length + shape.radius
    if isinstance(shape, Box):
        return float(0.5 * np.linalg.norm(shape.size))
    if isinstance(shape, (Cylinder, Cone)):
        return float(np.hypot(0.5 * shape.length, shape.radius))
    if isinstance(shape, Ellipsoid):
        return float(max(shape.semi_axes))
    if isinstance(shape, ConvexHull):
        return float(np.linalg.norm(shape.vertices - _middle(shape), axis=1).max())
    return 1.0


def least_width(shape: Shape) -> float:
    """A length (m) of the order of half the shape's least width; 1 for what does not move."""
    if isinstance(shape, (Sphere, Capsule)):
        return float(shape.radius)
    if isinstance(shape, Box):
        return 0.5 * min(shape.size)
    if isinstance(shape, (Cylinder, Cone)):
        return min(0.5 * shape.length, float(shape.radius))
    if isinstance(shape, Ellipsoid):
        return float(min(shape.semi_axes))
    if isinstance(shape, ConvexHull):
        spans = shape.vertices @ shape.solid.planes[:, :3].T
        return float(0.5 * np.ptp(spans, axis=0).min())
    return 1.0


def _middle(shape: ConvexHull) -> Array:
    return 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))


def _put_shape(row: IntArray, values: Array, geom: Geom, place: Placed, store: _Store) -> None:
    shape, size = geom.shape, values[col.GEOM_SIZE : col.GEOM_SIZE + 3]
    values[col.GEOM_BOUND] = bounding_radius(shape)
    values[col.GEOM_WIDTH] = col.INFINITE if isinstance(shape, FIXED) else least_width(shape)
    if isinstance(shape, Sphere):
        row[col.GEOM_SHAPE], values[col.GEOM_RADIUS] = col.SPHERE, shape.radius
    elif isinstance(shape, HalfSpace):
        turned = not np.array_equal(geom.turn, np.eye(3))
        normal = geom.turn @ shape.normal if turned else np.asarray(shape.normal)
        row[col.GEOM_SHAPE], values[col.GEOM_NORMAL : col.GEOM_NORMAL + 3] = col.HALF_SPACE, normal
    elif isinstance(shape, Capsule):
        row[col.GEOM_SHAPE] = col.CAPSULE
        values[col.GEOM_RADIUS] = shape.radius
        size[2] = 0.5 * shape.length
    elif isinstance(shape, Box):
        row[col.GEOM_SHAPE], size[:] = col.BOX, 0.5 * np.asarray(shape.size)
        store.put(row, box_polyhedron(shape.size), np.zeros(3))
    elif isinstance(shape, (Cylinder, Cone)):
        row[col.GEOM_SHAPE] = col.CYLINDER if isinstance(shape, Cylinder) else col.CONE
        size[:] = shape.radius, shape.radius, 0.5 * shape.length
    elif isinstance(shape, Ellipsoid):
        row[col.GEOM_SHAPE], size[:] = col.ELLIPSOID, shape.semi_axes
    elif isinstance(shape, ConvexHull):
        middle = _middle(shape)
        row[col.GEOM_SHAPE], size[:] = col.HULL, 0.5 * np.ptp(shape.vertices, axis=0)
        values[col.GEOM_OFFSET : col.GEOM_OFFSET + 3] += place.rotation @ middle
        store.put(row, shape.solid, middle)
    elif isinstance(shape, (Mesh, HeightField)):
        vertices, faces = (
            (shape.vertices, shape.faces) if isinstance(shape, Mesh) else shape.triangles()
        )
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        values[col.GEOM_OFFSET : col.GEOM_OFFSET + 3] += place.rotation @ middle
        values[col.GEOM_BOUND] = np.linalg.norm(vertices - middle, axis=1).max()
        # It does not move: corners are kept along the world's axes.
        vertices = (vertices - middle) @ place.rotation.T
        if isinstance(shape, Mesh):
            row[col.GEOM_SHAPE] = col.MESH
            store.put_surface(row, surface_tables(vertices, faces))
        else:
            cells = (shape.heights.shape[0] - 1, shape.heights.shape[1] - 1)
            row[col.GEOM_SHAPE], size[:2] = col.HEIGHT_FIELD, np.asarray(shape.size) / cells
            store.put_grid(row, grid_tables(vertices, faces, cells), cells)


def _put_prism(row: IntArray, values: Array, store: _Store) -> None:
    """A triangle with a copy of it behind: corners and planes are written when it is looked at."""
    row[col.GEOM_SHAPE], row[[col.GEOM_LINK, col.GEOM_BODY]] = col.HULL, -1
    values[col.GEOM_TURN : col.GEOM_TURN + 9] = np.eye(3).ravel()
    values[[col.GEOM_BOUND, *range(col.GEOM_SIZE, col.GEOM_SIZE + 3)]] = _UNBOUNDED
    corners = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1], [1, 0, -1], [0, 1, -1]], dtype=np.float64
    )
    faces = [[0, 1, 2], [3, 5, 4], [0, 3, 4, 1], [1, 4, 5, 2], [2, 5, 3, 0]]
    loops, edges = tuple(np.array(f) for f in faces), np.zeros((0, 2), dtype=np.int64)
    store.put(row, Polyhedron(corners, loops, np.zeros((5, 4)), edges), np.zeros(3))


class _Store:
    """Rows and lists of all geoms, one after the other."""

    def __init__(self) -> None:
        self._rows: list[Array] = []
        self._size = 0
        self._lists: list[IntArray] = []
        self._length = 0

    def put(self, row: IntArray, solid: Polyhedron, middle: Array) -> None:
        """A polyhedron, seen from `middle`."""
        planes = solid.planes.copy()
        planes[:, 3] -= planes[:, :3] @ middle
        row[col.GEOM_VERTICES] = self._add(solid.vertices - middle)
        row[col.GEOM_VERTEX_COUNT] = len(solid.vertices)
        row[[col.GEOM_FACES, col.GEOM_FACE_COUNT]] = self._add(planes), len(planes)
        row[col.GEOM_LOOPS] = self._add_lists(solid.faces)
        row[col.GEOM_FANS] = self._add_lists(solid.fans())
        ways = climbs(solid.vertices - middle, solid.edges, self._length)
        row[col.GEOM_CLIMBS] = 0 if ways is None else self._extend(ways)

    def put_surface(self, row: IntArray, surface: SurfaceTables) -> None:
        """Triangles with their neighbours, and a tree of boxes about them."""
        self._put_triangles(row, surface)
        head = [self._add(surface.boxes), len(surface.nodes)]
        row[col.GEOM_FANS] = self._extend(np.concatenate([head, surface.nodes.ravel()]))

    def put_grid(self, row: IntArray, surface: SurfaceTables, cells: tuple[int, int]) -> None:
        """Triangles with their neighbours, and how many cells there are along x and y."""
        self._put_triangles(row, surface)
        row[col.GEOM_FANS] = self._extend(np.array(cells))

    def _put_triangles(self, row: IntArray, surface: SurfaceTables) -> None:
        row[col.GEOM_VERTICES] = self._add(surface.vertices)
        row[col.GEOM_VERTEX_COUNT] = len(surface.vertices)
        row[[col.GEOM_FACES, col.GEOM_FACE_COUNT]] = self._add(surface.planes), len(surface.planes)
        row[col.GEOM_LOOPS] = self._extend(surface.triangles.ravel())

    def _add(self, rows: Array) -> int:
        padded = np.zeros((len(rows), col.SOLID_COLUMNS))
        padded[:, : rows.shape[1]] = rows
        self._rows.append(padded)
        self._size += len(rows)
        return self._size - len(rows)

    def _add_lists(self, lists: Sequence[Sequence[int] | IntArray]) -> int:
        """Where each of the lists begins (and the last ends), then the lists."""
        ends = self._length + len(lists) + 1 + np.cumsum([0] + [len(one) for one in lists])
        return self._extend(np.concatenate([ends, *lists]))

    def _extend(self, numbers: Array | IntArray) -> int:
        self._lists.append(numbers.astype(np.int64))
        self._length += len(numbers)
        return self._length - len(numbers)

    def solids(self) -> Array:
        return np.concatenate([*self._rows, np.zeros((1, col.SOLID_COLUMNS))])

    def lists(self) -> IntArray:
        return np.concatenate([*self._lists, np.zeros(1, dtype=np.int64)])
