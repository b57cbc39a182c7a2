"""A triangle of a surface as a thin prism, and the normals that it may answer along.

Alone, a triangle would push a body sideways out of its edge although the surface goes on there. A
normal that leans away from the triangle's is therefore taken only where an edge really sticks out
and the normal lies between those of the two triangles that meet there; anywhere else the triangle
answers along its own normal, over its own outline.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.convex import CLEARLY, convex_points, is_round, shared_points
from spatialops.collision.narrow_phase.manifold import swap
from spatialops.collision.narrow_phase.scratch import FOUND, GATHERED, Scratch, name_at, row_at
from spatialops.collision.narrow_phase.signed_distance import AXIS, MIDDLE, separation
from spatialops.collision.narrow_phase.supports import support
from spatialops.collision.triangles import TRIANGLE_INTS

UPRIGHT = 1.0 - 1e-4  # cosine: normals that lean by less than 0.8 degrees are the triangle's
LEAN = 1e-3  # rad; an edge between triangles that lean by less is flat: both reach so much over it
# Of the body's size: how far inside of an edge a foot may be found that stands on it, being midway
# between surfaces that overlap a little.
_ON_EDGE = 0.02


@inlined
def extent(geoms: GeomTables, g: int, turn: tuple[Vec3, Vec3, Vec3], d: Vec3) -> float:
    """How far the core of a shape reaches along d from its place."""
    return dot(rotate(turn, support(geoms, g, rotate_back(turn, d))), d)


@inlined
def corner(geoms: GeomTables, b: int, f: int, i: int) -> Vec3:
    """Corner i of triangle f."""
    return vec3(
        geoms.solids,
        geoms.ints[b, col.GEOM_VERTICES]
        + geoms.lists[geoms.ints[b, col.GEOM_LOOPS] + TRIANGLE_INTS * f + i],
        0,
    )


@kernel
def put_prism(geoms: GeomTables, places: Array, a: int, b: int, f: int, limit: float) -> bool:
    """Write the triangle's prism as the last geom; False where A is too far off, or behind it."""
    plane = geoms.ints[b, col.GEOM_FACES] + f
    n, turn = vec3(geoms.solids, plane, 0), mat3(places, a, col.TURN)
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    height = dot(line, n) - geoms.solids[plane, col.PLANE_OFFSET]
    lowest = height - extent(geoms, a, turn, scaled(-1.0, n)) - geoms.floats[a, col.GEOM_RADIUS]
    if height < 0.0 or lowest > limit:
        return False
    prism = geoms.ints.shape[0] - 1
    first = geoms.ints[prism, col.GEOM_VERTICES]
    planes = geoms.ints[prism, col.GEOM_FACES]
    depth = 2.0 * geoms.floats[a, col.GEOM_BOUND]
    for i in range(3):
        p, q = corner(geoms, b, f, i), corner(geoms, b, f, (i + 1) % 3)
        put3(geoms.solids, first + i, 0, p)
        put3(geoms.solids, first + 3 + i, 0, plus_scaled(p, -depth, n))
        out = cross(minus(q, p), n)
        put3(geoms.solids, planes + 2 + i, 0, scaled(1.0 / math.sqrt(dot(out, out)), out))
    put3(geoms.solids, planes, 0, n)
    put3(geoms.solids, planes + 1, 0, scaled(-1.0, n))
    return True


@kernel
def triangle_points(
    geoms: GeomTables, places: Array, a: int, b: int, f: int, limit: float, scratch: Scratch
) -> int:
    """Contact points of A with the prism of triangle f of the surface b."""
    prism = geoms.ints.shape[0] - 1
    gap = separation(geoms, places, a, prism, limit, scratch)
    if gap > limit:
        return 0
    n = vec3(geoms.solids, geoms.ints[b, col.GEOM_FACES] + f, 0)
    axis = vec3(scratch.rows, 4, AXIS)
    foot = vec3(scratch.rows, 4, MIDDLE)
    upright = dot(axis, n) >= UPRIGHT
    if upright:
        count = face_contacts(geoms, places, a, b, f, n, limit, scratch)
        # None: a ball over an edge that sticks out so little that it is upright on both sides.
        if count > 0:
            return count
    if sticks_out(geoms, a, b, f, axis, foot):
        return convex_points(geoms, places, a, prism, limit, scratch)
    if upright:
        return 0
    return face_contacts(geoms, places, a, b, f, n, limit, scratch)


@kernel
def face_contacts(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    f: int,
    n: Vec3,
    limit: float,
    scratch: Scratch,
) -> int:
    """Points of what A shows to the triangle's plane, over the triangle."""
    prism = geoms.ints.shape[0] - 1
    size = geoms.floats[a, col.GEOM_BOUND]
    origin = vec3(places, b, col.PLACE)
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    count = 0
    kept = 0
    lowest = col.INFINITE
    turn = mat3(places, a, col.TURN)
    if not is_round(geoms.ints[a, col.GEOM_SHAPE]):
        count = shared_points(geoms, places, a, prism, n, origin, size, scratch)
    down = support(geoms, a, rotate_back(turn, scaled(-1.0, n)))
    line = minus(vec3(places, a, col.PLACE), origin)
    point = plus_scaled(plus(line, rotate(turn, down)), -geoms.floats[a, col.GEOM_RADIUS], n)
    gap = dot(minus(point, corner(geoms, b, f, 0)), n)
    for i in range(count):
        if found[i, col.AT_GAP] <= limit:
            found[i, col.AT_GAP] = max(found[i, col.AT_GAP], gap)
            lowest = min(lowest, found[i, col.AT_GAP])
            swap(found, names, kept, i)
            kept += 1
    # The deepest point itself, where it is over the triangle.
    if (
        gap <= limit
        and gap < lowest - CLEARLY * size
        and is_over(geoms, b, f, n, point, 2.0 * LEAN * size)
    ):
        put3(found, kept, col.AT_POINT, plus(origin, plus_scaled(point, -0.5 * gap, n)))
        put3(found, kept, col.AT_NORMAL, n)
        found[kept, col.AT_GAP] = gap
        names[kept, 0], names[kept, 1] = 0, col.FACE
        kept += 1
    return kept


@inlined
def is_over(geoms: GeomTables, b: int, f: int, n: Vec3, point: Vec3, tolerance: float) -> bool:
    """Whether a point lies above or below a triangle, to a tolerance."""
    inside = True
    for i in range(3):
        p, q = corner(geoms, b, f, i), corner(geoms, b, f, (i + 1) % 3)
        edge = minus(q, p)
        inside = inside and dot(cross(n, edge), minus(point, p)) >= -tolerance * math.sqrt(
            dot(edge, edge)
        )
    return inside


@kernel
def sticks_out(geoms: GeomTables, a: int, b: int, f: int, axis: Vec3, foot: Vec3) -> bool:
    """Whether the surface at the foot has an outer edge that such a normal may stand on."""
    planes = geoms.ints[b, col.GEOM_FACES]
    triangles = geoms.ints[b, col.GEOM_LOOPS] + TRIANGLE_INTS * f
    n = vec3(geoms.solids, planes + f, 0)
    edges = 0
    allowed = dot(axis, vec3(geoms.solids, planes + f, 0)) > 0.0
    for i in range(3):
        p, q = corner(geoms, b, f, i), corner(geoms, b, f, (i + 1) % 3)
        edge = minus(q, p)
        out = cross(edge, n)
        out = scaled(1.0 / math.sqrt(dot(out, out)), out)
        inside = -_ON_EDGE * geoms.floats[a, col.GEOM_BOUND]
        if dot(axis, out) <= LEAN or dot(minus(foot, p), out) < inside:
            continue
        edges += 1
        other = geoms.lists[triangles + 3 + i]
        if other < 0:
            continue
        across = vec3(geoms.solids, planes + other, 0)
        out_across = cross(across, edge)
        convex = dot(across, out) > LEAN
        allowed = (
            allowed
            and convex
            and dot(axis, out_across) >= -LEAN * math.sqrt(dot(out_across, out_across))
        )
    return allowed and edges > 0
