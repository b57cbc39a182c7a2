"""Contact points of a pair of geoms."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import late
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import dot, plus, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.common_plane import put_on_common_planes
from spatialops.collision.narrow_phase.convex import convex_points
from spatialops.collision.narrow_phase.manifold import spread
from spatialops.collision.narrow_phase.mesh_contacts import surface_points
from spatialops.collision.narrow_phase.scratch import (
    FOUND,
    GATHERED,
    PAIR,
    SHOWN_A,
    SHOWN_B,
    Scratch,
    name_at,
    row_at,
)
from spatialops.collision.narrow_phase.supports import put_feature


@late(*PAIR)
def pair_points(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """Contact points of a pair with gaps up to about `limit`, into the block FOUND; how many.

    Points with one normal stand on one plane between the surfaces.
    """
    kind = geoms.ints[b, col.GEOM_SHAPE]
    if kind == col.HALF_SPACE:
        count = half_space_points(geoms, places, a, b, limit, scratch)
    elif kind in (col.MESH, col.HEIGHT_FIELD):
        count = surface_points(geoms, places, a, b, limit, scratch)
    else:
        count = convex_points(geoms, places, a, b, limit, scratch)
    if count > 1:
        found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
        put_on_common_planes(found, count, geoms.floats[a, col.GEOM_BOUND])
    return count


@kernel
def half_space_points(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """What A turns towards the plane: corners, points of a rim, ends of a line, or a point."""
    n = vec3(geoms.floats, b, col.GEOM_NORMAL)
    origin = vec3(places, b, col.PLACE)
    size = geoms.floats[a, col.GEOM_BOUND]
    face = scratch.rows[row_at(scratch.rows, SHOWN_A) : row_at(scratch.rows, SHOWN_B)]
    face_names = scratch.ints[name_at(scratch.ints, SHOWN_A) : name_at(scratch.ints, SHOWN_B)]
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    count = 0
    shown = put_feature(geoms, places, a, scaled(-1.0, n), origin, face, face_names)
    for i in range(shown):
        point = vec3(face, i, 0)
        gap = dot(point, n)
        if gap > limit or count == found.shape[0]:
            continue
        put3(found, count, col.AT_POINT, plus(origin, plus_scaled(point, -0.5 * gap, n)))
        put3(found, count, col.AT_NORMAL, n)
        found[count, col.AT_GAP] = gap
        names[count, 0], names[count, 1] = face_names[i, 0], col.FACE
        count += 1
    return spread(found, names, count, size, col.MAX_POINTS)
