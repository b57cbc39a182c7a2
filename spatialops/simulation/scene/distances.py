"""Nearest distances between bodies: signed, with the points where they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops._compile.jit import kernel
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import bound_gap
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import FOUND, Scratch, new_scratch, row_at
from spatialops.collision.narrow_phase.signed_distance import AXIS, MIDDLE, separation
from spatialops.collision.narrow_phase.supports import support
from spatialops.collision.shapes import FIXED
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.ray_casting import placed_geoms
from spatialops.simulation.scene.scene import Scene

_COLUMNS = 7  # gap, middle of the nearest points, normal
_NO_LIMIT = 1e200  # m; nothing is so far apart
_REACHES = 60  # doublings of the reach in which a surface is looked for


class Distances(NamedTuple):
    """Nearest distances of n pairs.

    Parameters
    ----------
    distances : (n,) array
        m; below 0 the depth at which they overlap.
    points_a, points_b : (n, 3) arrays
        Nearest points on the first and on the second, world, m.
    normals : (n, 3) array
        Unit vectors from the second to the first, world axes.
    geoms : (n, 2) int array
        Indices into `scene.geoms` of the two geoms that are nearest.
    """

    distances: Array
    points_a: Array
    points_b: Array
    normals: Array
    geoms: IntArray


def distances(scene: Scene, q: ArrayLike, pairs: Iterable[tuple[str, str]]) -> Distances:
    """Nearest distances between bodies or geoms, whether they may touch or not.

    Parameters
    ----------
    scene : Scene
        Its geoms are what has a distance.
    q : (nq,) array_like
        Coordinates, rad and m.
    pairs : iterable of (str, str)
        Names of geoms, or of bodies ("world" too), of which all geoms count. Half-spaces, meshes
        and height fields have a distance from convex shapes only.

    Returns
    -------
    Distances
        One row a pair: the least of its geoms.

    Raises
    ------
    ArgumentError
        For an unknown name, a body without geoms, a geom and itself, or two fixed surfaces.

    Examples
    --------
    >>> import spatialops as so
    >>> builder = so.TreeBuilder()
    >>> body = builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    >>> ball = so.Geom("round", "ball", so.Sphere(0.1))
    >>> scene = so.Scene(builder.build(), [ball, so.Geom("floor", "world", so.HalfSpace())])
    >>> found = so.distances(scene, [0, 0, 1.0, 0, 0, 0, 1], [("ball", "floor")])
    >>> found.distances.round(12), found.points_b.round(12)
    (array([0.9]), array([[0., 0., 0.]]))
    """
    return PairDistances(scene, pairs)(q)


class PairDistances:
    """`distances` of the same pairs again and again: names are looked up once.

    Parameters
    ----------
    scene : Scene
        As of `distances`.
    pairs : iterable of (str, str)
        The same.

    Raises
    ------
    ArgumentError
        For an unknown name, a body without geoms, or a geom and itself.
    """

    def __init__(self, scene: Scene, pairs: Iterable[tuple[str, str]]) -> None:
        if not isinstance(scene, Scene):
            raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
        self.scene = scene
        chosen = [
            [(i, j) for i in _geoms_of(scene, a) for j in _geoms_of(scene, b) if i != j]
            for a, b in _named(pairs)
        ]
        sizes = [len(group) for group in chosen]
        if 0 in sizes:
            raise ArgumentError("pairs: a geom has no distance from itself")
        self._starts = np.cumsum([0, *sizes])
        self._geoms: IntArray = np.array(
            [pair for group in chosen for pair in group], dtype=np.int64
        ).reshape(-1, 2)
        fixed = np.array([isinstance(geom.shape, FIXED) for geom in scene.geoms], dtype=bool)
        self._surfaces = np.flatnonzero(fixed[self._geoms].any(axis=1))
        self._convex = np.flatnonzero(~fixed[self._geoms].any(axis=1))

    def __call__(self, q: ArrayLike) -> Distances:
        """The distances at coordinates (nq,).

        Raises
        ------
        ArgumentError
            For two fixed surfaces.
        """
        places = placed_geoms(self.scene, q)
        scratch = new_scratch(self.scene.tables.ints, self.scene.tables.lists)
        found = np.empty((len(self._geoms), _COLUMNS))
        separations(self.scene.tables, places, self._geoms, self._convex, scratch, found)
        for i in self._surfaces:
            a, b = self._geoms[i].tolist()
            _Measure(self.scene, places, scratch)(a, b, found[i])
        nearest = self._nearest(found[:, 0])
        found = found[nearest]
        gaps, middles = found[:, 0].copy(), found[:, 1:4]
        normals = found[:, 4:].copy()
        half = (0.5 * gaps)[:, None] * normals
        return Distances(gaps, middles + half, middles - half, normals, self._geoms[nearest])

    def _nearest(self, gaps: Array) -> IntArray:
        """Which geoms of each pair are."""
        first = self._starts[:-1]
        if len(first) == len(gaps):
            return first
        ends = self._starts[1:].tolist()
        each = [a + int(gaps[a:b].argmin()) for a, b in zip(first.tolist(), ends, strict=True)]
        return np.array(each, dtype=np.int64)


@kernel
def separations(
    geoms: GeomTables,
    places: Array,
    pairs: IntArray,
    which: IntArray,
    scratch: Scratch,
    found: Array,
) -> None:
    """Distances of some pairs of convex geoms: gap, middle and normal a row of `found`."""
    rows = scratch.rows
    for i in which:
        b = pairs[i, 1]
        found[i, 0] = separation(geoms, places, pairs[i, 0], b, _NO_LIMIT, scratch)
        for k in range(3):
            found[i, 1 + k] = rows[4, MIDDLE + k] + places[b, k]
            found[i, 4 + k] = rows[4, AXIS + k]


class _Measure:
    """Distances from fixed surfaces of geoms that are placed."""

    def __init__(self, scene: Scene, places: Array, scratch: Scratch) -> None:
        self.scene = scene
        self.tables = scene.tables
        self.places = places
        self.scratch = scratch

    def __call__(self, a: int, b: int, found: Array) -> None:
        """Put distance, middle of the nearest points and normal from b to a into a row."""
        fixed = [isinstance(self.scene.geoms[g].shape, FIXED) for g in (a, b)]
        if all(fixed):
            names = self.scene.geoms[a].name, self.scene.geoms[b].name
            raise ArgumentError(f"pairs: {names[0]!r} and {names[1]!r}: both are fixed surfaces")
        found[0], found[1:4], normal = self._from_surface(*((b, a) if fixed[0] else (a, b)))
        found[4:7] = -normal if fixed[0] else normal

    def _from_surface(self, a: int, b: int) -> tuple[float, Array, Array]:
        """From a convex shape to a half-space, mesh or height field: in a reach that doubles."""
        t = self.tables
        reach = max(float(bound_gap(t.ints, t.floats, self.places, a, b)), 0.0)
        reach += float(t.floats[a, col.GEOM_BOUND])
        for _ in range(_REACHES):
            count = pair_points(t, self.places, a, b, reach, self.scratch)
            if count:
                break
            reach *= 2.0
        else:
            raise ArgumentError(f"pairs: {self.scene.geoms[b].name!r} is nowhere near")
        found = self.scratch.rows[row_at(self.scratch.rows, FOUND) :][:count]
        best = found[found[:, col.AT_GAP].argmin()]
        gap = float(best[col.AT_GAP])
        normal = best[col.AT_NORMAL : col.AT_NORMAL + 3].copy()
        point = best[col.AT_POINT : col.AT_POINT + 3]
        # Points of a patch stand on its common plane: along the normal they go midway again.
        height = self._lowest(a, normal) - 0.5 * gap
        return gap, point + (height - normal @ point) * normal, normal

    def _lowest(self, a: int, normal: Array) -> float:
        """How far down a convex shape reaches along a normal, from the world's origin, m."""
        t = self.tables
        turn = self.places[a, col.TURN : col.TURN + 9].reshape(3, 3)
        x, y, z = (-normal @ turn).tolist()
        core = turn @ np.array(support(t, a, (x, y, z)))
        center = self.places[a, : col.TURN]
        return float(normal @ (center + core)) - float(t.floats[a, col.GEOM_RADIUS])


def _named(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    try:
        return [(a, b) for a, b in pairs]
    except (TypeError, ValueError):
        raise ArgumentError(f"pairs: expected pairs of two names, got {pairs!r}") from None


def _geoms_of(scene: Scene, name: str) -> list[int]:
    """Geoms of that name, or on the body of that name."""
    own = [i for i, geom in enumerate(scene.geoms) if geom.name == name]
    found = own or [i for i, geom in enumerate(scene.geoms) if geom.body == name]
    if not found:
        raise ArgumentError(f"pairs: there is no geom {name!r}, and no body of that name with any")
    return found
