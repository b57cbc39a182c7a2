"""The corner of a polyhedron that lies farthest along a direction, by climbing along edges.

A corner of a convex polyhedron none of whose neighbours lies farther is the farthest of all: along
edges a linear function has no other summit (D. Dobkin, D. Kirkpatrick, *Fast detection of
polyhedral intersection*, Theoretical Computer Science 27 (1983)). A climb begins at the corner that
lies farthest along the middle of the direction's cell, on a grid on the faces of a cube: a table of
each polyhedron. So it is a few corners long, and depends on nothing but the direction.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, vec3
from spatialops.collision import _layout as col

CELLS = 16  # along an edge of the cube
STARTS = 6 * CELLS * CELLS
SCAN_TO = 24  # corners: going through so few is as quick


@kernel
def farthest_corner(geom_ints: IntArray, solids: Array, lists: IntArray, g: int, d: Vec3) -> int:
    """Row, counted from its first, of the corner of a polyhedron that lies farthest along d."""
    if geom_ints[g, col.GEOM_CLIMBS] == 0:
        return farthest_of_all(geom_ints, solids, g, d)
    first, climbs = geom_ints[g, col.GEOM_VERTICES], geom_ints[g, col.GEOM_CLIMBS]
    best = lists[climbs + cell_of(d)]
    most = dot(vec3(solids, first + best, 0), d)
    neighbours = climbs + STARTS
    climbing = True
    while climbing:
        climbing = False
        begin, end = lists[neighbours + best], lists[neighbours + best + 1]
        for i in range(begin, end):
            reach = dot(vec3(solids, first + lists[i], 0), d)
            if reach > most:
                best, most = lists[i], reach
                climbing = True
    return best


@inlined
def farthest_of_all(geom_ints: IntArray, solids: Array, g: int, d: Vec3) -> int:
    """The same, of few corners."""
    first = geom_ints[g, col.GEOM_VERTICES]
    best = 0
    most = -col.INFINITE
    for i in range(geom_ints[g, col.GEOM_VERTEX_COUNT]):
        reach = dot(vec3(solids, first + i, 0), d)
        if reach > most:
            best, most = i, reach
    return best


@inlined
def cell_of(d: Vec3) -> int:
    """The cell of the cube that a direction goes through; one of them where it is no number."""
    x, y = abs(d[0]), abs(d[1])
    z = abs(d[2])
    if x >= y and x >= z:
        return cell_on(0, d[0], d[1], d[2])
    if y >= z:
        return cell_on(1, d[1], d[2], d[0])
    return cell_on(2, d[2], d[0], d[1])


@inlined
def cell_on(axis: int, out: float, u: float, w: float) -> int:
    """The cell of the face across an axis, on which a direction goes `out`, at u and w."""
    side = 2 * axis if out > 0.0 else 2 * axis + 1
    return (side * CELLS + cell_along(u, abs(out))) * CELLS + cell_along(w, abs(out))


@inlined
def cell_along(u: float, out: float) -> int:
    """Which of the cells from -out to out."""
    place = 0.5 * CELLS * (u + out)
    last = out * (CELLS - 1)
    if place >= last:
        return CELLS - 1
    return int(place / out) if place >= out else 0


def climbs(vertices: Array, edges: IntArray, at: int) -> IntArray | None:
    """Where climbs begin, by cells, then neighbours of corners; None of few corners.

    Parameters
    ----------
    vertices : (v, 3) array
    edges : (e, 2) int array
        Each edge once.
    at : int
        Where in the flat list of all geoms the answer will stand.

    Returns
    -------
    (STARTS + v + 1 + 2 e,) int array
        Corners where climbs begin; where in the flat list the neighbours of each corner begin and
        the last end; the neighbours.
    """
    n = len(vertices)
    if n <= SCAN_TO:
        return None
    starts = (_middles() @ vertices.T).argmax(axis=1)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    places = at + STARTS + n + 1 + np.searchsorted(both[:, 0], np.arange(n + 1))
    return np.concatenate([starts, places, both[:, 1]])


def _middles() -> Array:
    """Directions through the middles of the cells, in their order, (STARTS, 3)."""
    along = (2.0 * np.arange(CELLS) + 1.0) / CELLS - 1.0
    u, w = (grid.ravel() for grid in np.meshgrid(along, along, indexing="ij"))
    sides = []
    for axis in range(3):
        for out in (1.0, -1.0):
            directions = np.empty((CELLS * CELLS, 3))
            directions[:, axis] = out
            directions[:, (axis + 1) % 3] = u
            directions[:, (axis + 2) % 3] = w
            sides.append(directions)
    return np.concatenate(sides)
