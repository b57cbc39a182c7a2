"""Contact points of a pair of geoms."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.algebra.vectors import dot, plus, plus_scaled, put3, scaled, vec3
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    FACE,
    GEOM_BOUND,
    GEOM_NORMAL,
    GEOM_SHAPE,
    HALF_SPACE,
    HEIGHT_FIELD,
    MAX_POINTS,
    MESH,
    PLACE,
)
from spatialops.collision.convex import convex_points
from spatialops.collision.manifold import spread
from spatialops.collision.scratch import FOUND, GATHERED, SHOWN_A, SHOWN_B, name_at, row_at
from spatialops.collision.supports import put_feature
from spatialops.collision.surface import surface_points


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
    """Contact points of a pair with gaps up to about `limit`, into the block FOUND of the scratch rows; how many."""
    kind = geom_ints[b, GEOM_SHAPE]
    if kind == HALF_SPACE:
        return half_space_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
    if kind in (MESH, HEIGHT_FIELD):
        return surface_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
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
    face, face_names = (
        rows[row_at(rows, SHOWN_A) : row_at(rows, SHOWN_B)],
        ints[name_at(ints, SHOWN_A) : name_at(ints, SHOWN_B)],
    )
    found, names, count = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
        0,
    )
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
