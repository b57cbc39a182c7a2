"""Manifolds of two convex shapes: distance and normal, then the faces that they turn to it."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.apart import late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import plus, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.manifold import clip, edge_points, face_points, spread
from spatialops.collision.narrow_phase.scratch import (
    FOUND,
    GATHERED,
    PAIR,
    SHOWN_A,
    SHOWN_B,
    SPARE,
    Scratch,
    name_at,
    row_at,
)
from spatialops.collision.narrow_phase.signed_distance import AXIS, BEYOND, MIDDLE, separation
from spatialops.collision.narrow_phase.supports import put_feature

# Of the size: a nearest point deeper than all others by more joins them; flat circles miss less.
CLEARLY = 1.2e-6
SAME = 1e-4  # of the size: tolerance of clipping


@late(*PAIR)
def convex_points(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """Manifold of two convex shapes."""
    gap = separation(geoms, places, a, b, limit, scratch)
    if gap > limit:
        return 0
    return points_about(geoms, places, a, b, gap, limit, scratch)


@kernel
def points_about(
    geoms: GeomTables, places: Array, a: int, b: int, gap: float, limit: float, scratch: Scratch
) -> int:
    """Manifold about a known distance, whose normal and middle are in row 4."""
    n, origin = vec3(scratch.rows, 4, AXIS), vec3(places, b, col.PLACE)
    middle = plus(origin, vec3(scratch.rows, 4, MIDDLE))
    size = min(geoms.floats[a, col.GEOM_BOUND], geoms.floats[b, col.GEOM_BOUND])
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    count = 0
    if not is_round(geoms.ints[a, col.GEOM_SHAPE]) and not is_round(geoms.ints[b, col.GEOM_SHAPE]):
        count = shared_points(geoms, places, a, b, n, origin, size, scratch)
    kept, lowest = 0, BEYOND
    for i in range(count):
        if found[i, col.AT_GAP] <= limit:
            # Clipping reaches over edges by its tolerance.
            found[i, col.AT_GAP] = max(found[i, col.AT_GAP], gap)
            lowest = min(lowest, found[i, col.AT_GAP])
            if kept < i:
                for k in range(found.shape[1]):
                    found[kept, k] = found[i, k]
                names[kept, 0], names[kept, 1] = names[i, 0], names[i, 1]
            kept += 1
    if lowest > gap + CLEARLY * size and kept < found.shape[0]:
        put3(found, kept, col.AT_POINT, middle)
        put3(found, kept, col.AT_NORMAL, n)
        found[kept, col.AT_GAP] = gap
        names[kept, 0], names[kept, 1] = 0, 0
        kept += 1
    return spread(found, names, kept, size, col.MAX_POINTS)


@inlined
def is_round(kind: int) -> bool:
    """Whether a shape only ever touches in a point."""
    return kind in (col.SPHERE, col.ELLIPSOID)


@kernel
def shared_points(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    n: Vec3,
    origin: Vec3,
    size: float,
    scratch: Scratch,
) -> int:
    """Points that the faces or edges which A and B turn towards each other share."""
    face_a = scratch.rows[row_at(scratch.rows, SHOWN_A) : row_at(scratch.rows, SHOWN_B)]
    names_a = scratch.ints[name_at(scratch.ints, SHOWN_A) : name_at(scratch.ints, SHOWN_B)]
    face_b = scratch.rows[row_at(scratch.rows, SHOWN_B) : row_at(scratch.rows, SPARE)]
    names_b = scratch.ints[name_at(scratch.ints, SHOWN_B) : name_at(scratch.ints, SPARE)]
    spare = scratch.rows[row_at(scratch.rows, SPARE) : row_at(scratch.rows, FOUND)]
    spare_names = scratch.ints[name_at(scratch.ints, SPARE) : name_at(scratch.ints, FOUND)]
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    tolerance = SAME * size
    n_a = put_feature(geoms, places, a, scaled(-1.0, n), origin, face_a, names_a)
    n_b = put_feature(geoms, places, b, n, origin, face_b, names_b)
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
        names[i, 2], names[i, 1] = names[i, 1], col.FACE
