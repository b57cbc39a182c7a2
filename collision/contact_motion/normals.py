"""How the normal of two convex shapes leans as A moves against B.

Where A's surface is nearest, x_A - x_B = g N. With A's motion w, u at x_A and the bends R of
`nearest_features`, dx_A = u + w x x_A + R_A (w x N - dN) and dx_B = R_B dN. Across N,

    (R_A + R_B + g) dN = u + w x x_A + R_A (w x N).

Along an edge of A or B the normal stays across it instead, w x N or none; a face says all.
Where edges or faces lie on each other, how far they reach decides: if A's lies within B's, A may
tilt a little and B's is still the one that the normal is across, and the other way round. Where
neither is within the other it depends on which way A tilts: a kink.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.contact_motion.nearest_features import (
    SAME,
    put_nearest_feature,
    reaches_of,
    within,
    world_of,
)
from spatialops.collision.geom_tables import GeomTables

_PARALLEL = 1e-6  # sine between two edges below which they lie along each other
# Heights that EPA's normals of curved shapes, which are right to 2e-4 rad, cannot tell apart.
LOOSE = 4e-4 / SAME


@inlined
def turned(a: Vec3, b: Vec3, n: Vec3) -> float:
    """n . (a x b)."""
    return dot(n, cross(a, b))


@inlined
def any_across(n: Vec3) -> Vec3:
    """A unit vector across n."""
    other = (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0)
    side = cross(n, other)
    return scaled(1.0 / math.sqrt(dot(side, side)), side)


@kernel
def put_nearest(geoms: GeomTables, places: Array, a: int, b: int, rows: Array, i: int) -> int:
    """The features that touch at contact i, and how its normal follows them; a status."""
    n = vec3(rows, i, by.NORMAL)
    at_a, at_b = by.FEATURE_A, by.FEATURE_B
    put_features(geoms, places, a, b, 1.0, rows, i)
    flat = rows[i, at_a + by.KIND] == by.FLAT or rows[i, at_b + by.KIND] == by.FLAT
    if not flat and (is_curved(geoms, a) or is_curved(geoms, b)):
        put_features(geoms, places, a, b, LOOSE, rows, i)
    shrink_bend(geoms, places, a, rows, i, at_a)
    shrink_bend(geoms, places, b, rows, i, at_b)
    core_a, core_b = vec3(rows, i, at_a + by.CORE), vec3(rows, i, at_b + by.CORE)
    gap = dot(minus(core_a, core_b), n)
    rows[i, by.NEAR_GAP] = gap
    kind_a, kind_b = rows[i, at_a + by.KIND], rows[i, at_b + by.KIND]
    nearest = core_a
    if kind_a != by.POINTED:
        nearest = plus_scaled(vec3(rows, i, by.POINT), 0.5 * gap, n)
        if kind_b == by.POINTED:
            nearest = plus_scaled(core_b, gap, n)
    put3(rows, i, by.NEAREST, nearest)
    edge_a, edge_b = vec3(rows, i, at_a + by.EDGE), vec3(rows, i, at_b + by.EDGE)
    put3(rows, i, by.AXIS, any_across(n))
    along = across = by.FREE
    if kind_a == by.EDGED and kind_b == by.EDGED:
        sine = turned(edge_a, edge_b, n)
        if abs(sine) > _PARALLEL:
            # Where one line is over the other.
            way = turned(minus(core_b, core_a), edge_b, n) / sine
            put3(rows, i, by.NEAREST, plus_scaled(core_a, way, edge_a))
            along = across = by.CROSSED
        else:
            put3(rows, i, by.AXIS, edge_b)
            return put_follow(geoms, places, a, b, rows, i, False)
    elif kind_a == by.FLAT or kind_b == by.FLAT:
        along = across = by.STAYS if kind_b == by.FLAT else by.FOLLOWS
        if kind_a != by.POINTED and kind_b != by.POINTED:
            edge = edge_a if kind_a == by.EDGED else edge_b
            put3(rows, i, by.AXIS, edge if dot(edge, edge) > 0.0 else side_of(places, b, n))
            return put_follow(geoms, places, a, b, rows, i, True)
    elif kind_a == by.EDGED or kind_b == by.EDGED:
        put3(rows, i, by.AXIS, edge_a if kind_a == by.EDGED else edge_b)
        along = by.FOLLOWS if kind_a == by.EDGED else by.STAYS
    rows[i, by.ALONG], rows[i, by.ACROSS] = along, across
    return by.KNOWN


@kernel
def put_features(
    geoms: GeomTables, places: Array, a: int, b: int, loose: float, rows: Array, i: int
) -> None:
    """The features of both that lie farthest along the normal of contact i."""
    n = vec3(rows, i, by.NORMAL)
    most_a, most_b = loose * within(geoms, a, b), loose * within(geoms, b, a)
    put_nearest_feature(geoms, places, a, scaled(-1.0, n), most_a, rows, i, by.FEATURE_A)
    put_nearest_feature(geoms, places, b, n, most_b, rows, i, by.FEATURE_B)


@inlined
def is_curved(geoms: GeomTables, g: int) -> bool:
    """Whether EPA finds the normals of a shape by approximation."""
    return geoms.ints[g, col.GEOM_SHAPE] in (col.CYLINDER, col.CONE, col.ELLIPSOID)


@inlined
def side_of(places: Array, g: int, n: Vec3) -> Vec3:
    """Of the axes of a shape the one that is most across n, made so."""
    best = ZERO3
    for j in range(3):
        axis = (places[g, col.TURN + j], places[g, col.TURN + 3 + j], places[g, col.TURN + 6 + j])
        axis = plus_scaled(axis, -dot(axis, n), n)
        if dot(axis, axis) > dot(best, best):
            best = axis
    return scaled(1.0 / math.sqrt(dot(best, best)), best)


@kernel
def shrink_bend(geoms: GeomTables, places: Array, g: int, rows: Array, i: int, at: int) -> None:
    """The bend along a cone's side where the contact is."""
    if geoms.ints[g, col.GEOM_SHAPE] != col.CONE or rows[i, at + by.KIND] != by.EDGED:
        return
    tip = world_of(places, g, (0.0, 0.0, geoms.floats[g, col.GEOM_SIZE + 2]))
    edge = vec3(rows, i, at + by.EDGE)
    rim = minus(vec3(rows, i, at + by.CORE), tip)
    share = dot(minus(vec3(rows, i, by.POINT), tip), edge) / dot(rim, edge)
    bend = mat3(rows, i, at + by.BEND)
    put_mat3(
        rows,
        i,
        at + by.BEND,
        (scaled(share, bend[0]), scaled(share, bend[1]), scaled(share, bend[2])),
    )


@kernel
def put_follow(
    geoms: GeomTables, places: Array, a: int, b: int, rows: Array, i: int, flat: bool
) -> int:
    """How the normal follows what lie on each other, along an axis and across it; a status."""
    n, axis = vec3(rows, i, by.NORMAL), vec3(rows, i, by.AXIS)
    status = by.KNOWN
    rows[i, by.ACROSS] = by.FREE
    for j in range(2 if flat else 1):
        d = axis if j == 0 else cross(n, axis)
        low_a, high_a = reaches_of(geoms, places, a, scaled(-1.0, n), d, within(geoms, a, b))
        low_b, high_b = reaches_of(geoms, places, b, n, d, within(geoms, b, a))
        slack = within(geoms, a, b)
        follow = by.STAYS
        if low_b > low_a + slack and high_b < high_a - slack:
            follow = by.FOLLOWS
        elif not (low_a > low_b + slack and high_a < high_b - slack):
            status = by.KINK
        rows[i, by.ALONG + j] = follow
    return status


@kernel
def lean_of(rows: Array, i: int, w: Vec3, moved: Vec3) -> Vec3:
    """dN of contact i where A turns by w and moves by `moved` where it is nearest."""
    n, axis = vec3(rows, i, by.NORMAL), vec3(rows, i, by.AXIS)
    follows = cross(w, n)
    if rows[i, by.ALONG] == by.CROSSED:
        edge_a, edge_b = (
            vec3(rows, i, by.FEATURE_A + by.EDGE),
            vec3(rows, i, by.FEATURE_B + by.EDGE),
        )
        side = cross(n, edge_b)
        return scaled(dot(follows, edge_a) / dot(side, edge_a), side)
    side = cross(n, axis)
    along, across = rows[i, by.ALONG], rows[i, by.ACROSS]
    dN = ZERO3
    if along == by.FOLLOWS:
        dN = plus_scaled(dN, dot(follows, axis), axis)
    if across == by.FOLLOWS:
        dN = plus_scaled(dN, dot(follows, side), side)
    if along != by.FREE and across != by.FREE:
        return dN
    bend_a = mat3(rows, i, by.FEATURE_A + by.BEND)
    bend_b = mat3(rows, i, by.FEATURE_B + by.BEND)
    gap = rows[i, by.NEAR_GAP]
    right = plus(moved, rotate(bend_a, follows))
    right = minus(right, plus_scaled(plus(rotate(bend_a, dN), rotate(bend_b, dN)), gap, dN))
    bent = plus_scaled(plus(rotate(bend_a, side), rotate(bend_b, side)), gap, side)
    if along != by.FREE:
        return plus_scaled(dN, dot(right, side) / dot(bent, side), side)
    first = plus_scaled(plus(rotate(bend_a, axis), rotate(bend_b, axis)), gap, axis)
    xx, xy = dot(first, axis), dot(bent, axis)
    yy = dot(bent, side)
    x, y = dot(right, axis), dot(right, side)
    whole = xx * yy - xy * xy
    dN = plus_scaled(dN, (yy * x - xy * y) / whole, axis)
    return plus_scaled(dN, (xx * y - xy * x) / whole, side)


@kernel
def nearest_motion(rows: Array, i: int, w: Vec3, moved: Vec3, dN: Vec3) -> Vec3:
    """How the point where A is nearest moves, of what touch in a point."""
    n, gap = vec3(rows, i, by.NORMAL), rows[i, by.NEAR_GAP]
    bend_a = mat3(rows, i, by.FEATURE_A + by.BEND)
    bend_b = mat3(rows, i, by.FEATURE_B + by.BEND)
    on_a = plus(moved, rotate(bend_a, minus(cross(w, n), dN)))
    if rows[i, by.FEATURE_A + by.KIND] == by.POINTED:
        return on_a
    on_b = rotate(bend_b, dN)
    if rows[i, by.FEATURE_B + by.KIND] == by.POINTED:
        return plus_scaled(plus_scaled(on_b, dot(n, moved), n), gap, dN)
    edge_a, edge_b = vec3(rows, i, by.FEATURE_A + by.EDGE), vec3(rows, i, by.FEATURE_B + by.EDGE)
    apart = plus_scaled(minus(on_a, on_b), -gap, dN)
    way = -turned(apart, edge_b, n) / turned(edge_a, edge_b, n)
    return plus_scaled(on_a, way, edge_a)
