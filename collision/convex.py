"""Manifolds of two convex shapes: distance and normal first, then the faces that they turn towards each other."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops.algebra.vectors import plus, put3, scaled, vec3
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    ELLIPSOID,
    FACE,
    GEOM_BOUND,
    GEOM_SHAPE,
    MAX_POINTS,
    PLACE,
    SPHERE,
)
from spatialops.collision.manifold import clip, edge_points, face_points, spread
from spatialops.collision.scratch import FOUND, GATHERED, SHOWN_A, SHOWN_B, SPARE, name_at, row_at
from spatialops.collision.separation import AXIS, BEYOND, MIDDLE, separation
from spatialops.collision.supports import put_feature

CLEARLY = 1.2e-6  # of the size: a nearest point deeper than all others by more joins them; flat circles miss less
SAME = 1e-4  # of the size: tolerance of clipping


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
    return points_about(geom_ints, geoms, solids, lists, places, a, b, gap, limit, rows, ints)


@kernel
def points_about(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    gap: float,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Manifold about a known distance, whose normal and middle are in row 4."""
    n, origin = vec3(rows, 4, AXIS), vec3(places, b, PLACE)
    middle, size = plus(origin, vec3(rows, 4, MIDDLE)), min(geoms[a, GEOM_BOUND], geoms[b, GEOM_BOUND])
    found, names, count = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
        0,
    )
    if not is_round(geom_ints[a, GEOM_SHAPE]) and not is_round(geom_ints[b, GEOM_SHAPE]):
        count = shared_points(geom_ints, geoms, solids, lists, places, a, b, n, origin, size, rows, ints)
    kept, lowest = 0, BEYOND
    for i in range(count):
        if found[i, AT_GAP] <= limit:
            found[i, AT_GAP] = max(found[i, AT_GAP], gap)  # clipping reaches over edges by its tolerance
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
        rows[row_at(rows, SHOWN_A) : row_at(rows, SHOWN_B)],
        ints[name_at(ints, SHOWN_A) : name_at(ints, SHOWN_B)],
        rows[row_at(rows, SHOWN_B) : row_at(rows, SPARE)],
        ints[name_at(ints, SHOWN_B) : name_at(ints, SPARE)],
    )
    spare, spare_names = (
        rows[row_at(rows, SPARE) : row_at(rows, FOUND)],
        ints[name_at(ints, SPARE) : name_at(ints, FOUND)],
    )
    found, names, tolerance = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
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
