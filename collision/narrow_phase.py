"""Contact points of a pair of geoms: distance and normal first, then the faces that they turn towards each other."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops.algebra.vectors import dot, plus, plus_scaled, put3, scaled, vec3
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    BOX,
    ELLIPSOID,
    FACE,
    GEOM_BOUND,
    GEOM_FACE_COUNT,
    GEOM_LOOPS,
    GEOM_NORMAL,
    GEOM_SHAPE,
    HALF_SPACE,
    HULL,
    MAX_POINTS,
    MESH,
    PLACE,
    SPHERE,
)
from spatialops.collision.epa import EPA_ROWS, SIDES
from spatialops.collision.manifold import clip, edge_points, face_points, spread
from spatialops.collision.separation import AXIS, BEYOND, MIDDLE, separation
from spatialops.collision.supports import RIM, put_feature

EPA_INTS = SIDES + 256
BLOCKS = 4  # of scratch rows: what A shows, what B shows, room for clipping, points found
CLEARLY = 1e-7  # of the size: a nearest point that is deeper than all others by more joins them
SAME = 1e-4  # of the size: tolerance of clipping


def scratch_shapes(geom_ints: IntArray, lists: IntArray) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of the scratch tables that these geoms need."""
    largest = RIM + 1
    for row in geom_ints:
        if row[GEOM_SHAPE] in (BOX, HULL):
            places = lists[row[GEOM_LOOPS] : row[GEOM_LOOPS] + row[GEOM_FACE_COUNT] + 1]
            largest = max(largest, int(np.diff(places).max()))
    room = max(64, 2 * largest + 8)  # of two polygons' corners
    return (EPA_ROWS + BLOCKS * room, 10), (EPA_INTS + BLOCKS * (room + 1), 3)


@inlined
def row_at(rows: Array, i: int) -> int:
    """First row of a block (a kernel cannot return a view of an array)."""
    return EPA_ROWS + i * ((rows.shape[0] - EPA_ROWS) // BLOCKS)


@inlined
def name_at(ints: IntArray, i: int) -> int:
    """First row of the names of a block."""
    return EPA_INTS + i * ((ints.shape[0] - EPA_INTS) // BLOCKS)


@kernel
def pair_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Contact points of a pair with gaps up to about `limit`, into the last block of the scratch rows; how many."""
    kind = geom_ints[b, GEOM_SHAPE]
    if kind == HALF_SPACE:
        return half_space_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
    if kind == MESH:
        return 0
    return convex_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)


@kernel
def half_space_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """What A turns towards the plane: corners, points of a rim, ends of a line, or a point."""
    n, origin, size = vec3(geoms, b, GEOM_NORMAL), vec3(places, b, PLACE), geoms[a, GEOM_BOUND]
    face, face_names = rows[row_at(rows, 0) : row_at(rows, 1)], ints[name_at(ints, 0) : name_at(ints, 1)]
    found, names, count = rows[row_at(rows, 3) : row_at(rows, 4)], ints[name_at(ints, 3) : name_at(ints, 4)], 0
    shown = put_feature(geom_ints, geoms, solids, lists, places, a, scaled(-1.0, n), origin, face, face_names)
    for i in range(shown):
        point = vec3(face, i, 0)
        gap = dot(point, n)
        if gap > limit or count == found.shape[0]:
            continue
        put3(found, count, AT_POINT, plus(origin, plus_scaled(point, -0.5 * gap, n)))
        put3(found, count, AT_NORMAL, n)
        found[count, AT_GAP] = gap
        names[count, 0], names[count, 1] = face_names[i, 0], FACE
        count += 1
    return spread(found, names, count, size, MAX_POINTS)


@kernel
def convex_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Manifold of two convex shapes."""
    gap = separation(geom_ints, geoms, solids, places, a, b, limit, rows, ints)
    if gap > limit:
        return 0
    n, origin = vec3(rows, 4, AXIS), vec3(places, b, PLACE)
    middle, size = plus(origin, vec3(rows, 4, MIDDLE)), min(geoms[a, GEOM_BOUND], geoms[b, GEOM_BOUND])
    found, names, count = rows[row_at(rows, 3) : row_at(rows, 4)], ints[name_at(ints, 3) : name_at(ints, 4)], 0
    if not is_round(geom_ints[a, GEOM_SHAPE]) and not is_round(geom_ints[b, GEOM_SHAPE]):
        count = shared_points(geom_ints, geoms, solids, lists, places, a, b, n, origin, size, rows, ints)
    kept, lowest = 0, BEYOND
    for i in range(count):
        if found[i, AT_GAP] <= limit:
            lowest = min(lowest, found[i, AT_GAP])
            if kept < i:
                for k in range(found.shape[1]):
                    found[kept, k] = found[i, k]
                names[kept, 0], names[kept, 1] = names[i, 0], names[i, 1]
            kept += 1
    if lowest > gap + CLEARLY * size and kept < found.shape[0]:
        put3(found, kept, AT_POINT, middle)
        put3(found, kept, AT_NORMAL, n)
        found[kept, AT_GAP] = gap
        names[kept, 0], names[kept, 1] = 0, 0
        kept += 1
    return spread(found, names, kept, size, MAX_POINTS)


@inlined
def is_round(kind: int) -> bool:
    """Whether a shape only ever touches in a point."""
    return kind in (SPHERE, ELLIPSOID)


@kernel
def shared_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    n: Vec3,
    origin: Vec3,
    size: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Points that the faces or edges which A and B turn towards each other share."""
    face_a, names_a, face_b, names_b = (
        rows[row_at(rows, 0) : row_at(rows, 1)],
        ints[name_at(ints, 0) : name_at(ints, 1)],
        rows[row_at(rows, 1) : row_at(rows, 2)],
        ints[name_at(ints, 1) : name_at(ints, 2)],
    )
    spare, spare_names = rows[row_at(rows, 2) : row_at(rows, 3)], ints[name_at(ints, 2) : name_at(ints, 3)]
    found, names, tolerance = (
        rows[row_at(rows, 3) : row_at(rows, 4)],
        ints[name_at(ints, 3) : name_at(ints, 4)],
        SAME * size,
    )
    n_a = put_feature(geom_ints, geoms, solids, lists, places, a, scaled(-1.0, n), origin, face_a, names_a)
    n_b = put_feature(geom_ints, geoms, solids, lists, places, b, n, origin, face_b, names_b)
    if n_a < 2 or n_b < 2:
        return 0
    if n_b > 2:
        name_subject(names_a, n_a)
        left = clip(face_a, names_a, n_a, face_b, names_b, n_b, n, tolerance, spare, spare_names)
        return face_points(face_a, names_a, left, face_b, n_b, n, False, origin, found, names)
    if n_a > 2:
        name_subject(names_b, n_b)
        left = clip(face_b, names_b, n_b, face_a, names_a, n_a, n, tolerance, spare, spare_names)
        return face_points(face_b, names_b, left, face_a, n_a, n, True, origin, found, names)
    return edge_points(face_a, names_a, face_b, names_b, n, origin, found, names)


@inlined
def name_subject(names: IntArray, count: int) -> None:
    """What is clipped carries its own feature, the other's and the edge that begins."""
    for i in range(count):
        names[i, 2], names[i, 1] = names[i, 1], FACE
