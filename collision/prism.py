"""A triangle of a surface as a thin prism, and the normals that it may answer along.

Alone, a triangle would push a body sideways out of its edge although the surface goes on there. A normal that leans
away from the triangle's is therefore taken only where an edge really sticks out and the normal lies between those of
the two triangles that meet there; anywhere else the triangle answers along its own normal, over its own outline.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
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
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    FACE,
    GEOM_BOUND,
    GEOM_FACES,
    GEOM_LOOPS,
    GEOM_RADIUS,
    GEOM_SHAPE,
    GEOM_VERTICES,
    PLACE,
    PLANE_OFFSET,
    TURN,
)
from spatialops.collision.convex import CLEARLY, convex_points, is_round, shared_points
from spatialops.collision.manifold import swap
from spatialops.collision.scratch import FOUND, GATHERED, name_at, row_at
from spatialops.collision.separation import AXIS, MIDDLE, separation
from spatialops.collision.supports import support
from spatialops.collision.triangles import TRIANGLE_INTS

UPRIGHT = 1.0 - 1e-4  # cosine: normals that lean by less than 0.8 degrees are the triangle's
LEAN = 1e-3  # rad; edges between triangles that lean by less are flat: both reach that much over them


@inlined
def extent(geom_ints: IntArray, geoms: Array, solids: Array, g: int, turn: tuple[Vec3, Vec3, Vec3], d: Vec3) -> float:
    """How far the core of a shape reaches along d from its place."""
    return dot(rotate(turn, support(geom_ints, geoms, solids, g, rotate_back(turn, d))), d)


@inlined
def corner(geom_ints: IntArray, solids: Array, lists: IntArray, b: int, f: int, i: int) -> Vec3:
    """Corner i of triangle f."""
    return vec3(solids, geom_ints[b, GEOM_VERTICES] + lists[geom_ints[b, GEOM_LOOPS] + TRIANGLE_INTS * f + i], 0)


@kernel
def put_prism(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    f: int,
    limit: float,
) -> bool:
    """Write the triangle's prism as the last geom; False where A lies too far from its plane, or behind it."""
    plane = geom_ints[b, GEOM_FACES] + f
    n, turn = vec3(solids, plane, 0), mat3(places, a, TURN)
    height = dot(minus(vec3(places, a, PLACE), vec3(places, b, PLACE)), n) - solids[plane, PLANE_OFFSET]
    lowest = height - extent(geom_ints, geoms, solids, a, turn, scaled(-1.0, n)) - geoms[a, GEOM_RADIUS]
    if height < 0.0 or lowest > limit:
        return False
    prism = geom_ints.shape[0] - 1
    first, planes, depth = geom_ints[prism, GEOM_VERTICES], geom_ints[prism, GEOM_FACES], 2.0 * geoms[a, GEOM_BOUND]
    for i in range(3):
        p, q = corner(geom_ints, solids, lists, b, f, i), corner(geom_ints, solids, lists, b, f, (i + 1) % 3)
        put3(solids, first + i, 0, p)
        put3(solids, first + 3 + i, 0, plus_scaled(p, -depth, n))
        out = cross(minus(q, p), n)
        put3(solids, planes + 2 + i, 0, scaled(1.0 / math.sqrt(dot(out, out)), out))
    put3(solids, planes, 0, n)
    put3(solids, planes + 1, 0, scaled(-1.0, n))
    return True


@kernel
def triangle_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    f: int,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Contact points of A with the prism of triangle f of the surface b."""
    prism = geom_ints.shape[0] - 1
    if separation(geom_ints, geoms, solids, places, a, prism, limit, rows, ints) > limit:
        return 0
    n, axis, foot = vec3(solids, geom_ints[b, GEOM_FACES] + f, 0), vec3(rows, 4, AXIS), vec3(rows, 4, MIDDLE)
    upright = dot(axis, n) >= UPRIGHT
    if upright:
        count = face_contacts(geom_ints, geoms, solids, lists, places, a, b, f, n, limit, rows, ints)
        if count > 0:
            return count  # else a ball over an edge that sticks out so little that it stands upright on both sides
    if sticks_out(geom_ints, geoms, solids, lists, a, b, f, axis, foot):
        return convex_points(geom_ints, geoms, solids, lists, places, a, prism, limit, rows, ints)
    if upright:
        return 0
    return face_contacts(geom_ints, geoms, solids, lists, places, a, b, f, n, limit, rows, ints)


@kernel
def face_contacts(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    f: int,
    n: Vec3,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Points of what A shows to the triangle's plane, over the triangle."""
    prism, size, origin = geom_ints.shape[0] - 1, geoms[a, GEOM_BOUND], vec3(places, b, PLACE)
    found, names = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
    )
    count, kept, lowest, turn = 0, 0, 1e300, mat3(places, a, TURN)
    if not is_round(geom_ints[a, GEOM_SHAPE]):
        count = shared_points(geom_ints, geoms, solids, lists, places, a, prism, n, origin, size, rows, ints)
    down = support(geom_ints, geoms, solids, a, rotate_back(turn, scaled(-1.0, n)))
    line = minus(vec3(places, a, PLACE), origin)
    point = plus_scaled(plus(line, rotate(turn, down)), -geoms[a, GEOM_RADIUS], n)
    gap = dot(minus(point, corner(geom_ints, solids, lists, b, f, 0)), n)
    for i in range(count):
        if found[i, AT_GAP] <= limit:
            found[i, AT_GAP] = max(found[i, AT_GAP], gap)
            lowest = min(lowest, found[i, AT_GAP])
            swap(found, names, kept, i)
            kept += 1
    # The deepest point itself, where it is over the triangle.
    if (
        gap <= limit
        and gap < lowest - CLEARLY * size
        and is_over(geom_ints, solids, lists, b, f, n, point, 2.0 * LEAN * size)
    ):
        put3(found, kept, AT_POINT, plus(origin, plus_scaled(point, -0.5 * gap, n)))
        put3(found, kept, AT_NORMAL, n)
        found[kept, AT_GAP] = gap
        names[kept, 0], names[kept, 1] = 0, FACE
        kept += 1
    return kept


@inlined
def is_over(
    geom_ints: IntArray, solids: Array, lists: IntArray, b: int, f: int, n: Vec3, point: Vec3, tolerance: float
) -> bool:
    """Whether a point lies above or below a triangle, to a tolerance."""
    inside = True
    for i in range(3):
        p, q = corner(geom_ints, solids, lists, b, f, i), corner(geom_ints, solids, lists, b, f, (i + 1) % 3)
        edge = minus(q, p)
        inside = inside and dot(cross(n, edge), minus(point, p)) >= -tolerance * math.sqrt(dot(edge, edge))
    return inside


@kernel
def sticks_out(
    geom_ints: IntArray, geoms: Array, solids: Array, lists: IntArray, a: int, b: int, f: int, axis: Vec3, foot: Vec3
) -> bool:
    """Whether the surface at the foot has an outer edge that such a normal may stand on."""
    planes, triangles = geom_ints[b, GEOM_FACES], geom_ints[b, GEOM_LOOPS] + TRIANGLE_INTS * f
    n, edges, allowed = vec3(solids, planes + f, 0), 0, dot(axis, vec3(solids, planes + f, 0)) > 0.0
    for i in range(3):
        p, q = corner(geom_ints, solids, lists, b, f, i), corner(geom_ints, solids, lists, b, f, (i + 1) % 3)
        edge = minus(q, p)
        out = cross(edge, n)
        out = scaled(1.0 / math.sqrt(dot(out, out)), out)
        # On this edge, as far as a foot can tell that lies midway between surfaces that overlap a little.
        if dot(axis, out) <= LEAN or dot(minus(foot, p), out) < -0.02 * geoms[a, GEOM_BOUND]:
            continue
        edges += 1
        other = lists[triangles + 3 + i]
        if other < 0:
            continue
        across = vec3(solids, planes + other, 0)
        out_across = cross(across, edge)
        convex = dot(across, out) > LEAN
        allowed = allowed and convex and dot(axis, out_across) >= -LEAN * math.sqrt(dot(out_across, out_across))
    return allowed and edges > 0
