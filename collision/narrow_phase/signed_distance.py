"""Signed distance, normal and nearest points of two convex shapes: closed form, or GJK and EPA."""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    column_of,
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
from spatialops.collision.narrow_phase.box_box import box_box, face_separation
from spatialops.collision.narrow_phase.epa import OTHERS, epa
from spatialops.collision.narrow_phase.gjk import APART, AROUND, FAR, ON_A, WEIGHT, W, gjk
from spatialops.collision.narrow_phase.remembered import (
    apart_by,
    depth_of_side,
    forget,
    keep_apart,
    keep_side,
    may_remember,
    moved_since,
    row_of,
)
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.collision.narrow_phase.smooth_normals import is_curved, refined

# What is left in row 4 of the scratch rows.
AXIS = W  # 3: unit normal from B to A
MIDDLE = ON_A  # 3: middle of the nearest points, world axes from B's place

BEYOND = col.INFINITE
# Cores nearer than this part of their size are taken by EPA, whose normal does not lose digits: of
# rims and faces 0.2 m across that are 10 um apart GJK's misses by 5e-7 m, EPA's by 3e-16.
NEAR = 1e-3
ENOUGH = 1e-8  # error of EPA's depth, as a part of the size
_OVERLAP = 0.01  # of the size: by so much boxes overlap whose axes say little of their cores
_PARALLEL = 1e-12  # square of the sine between two segments below which they are parallel
_INSIDE = 1e-9  # part of its radius by which a ball's centre must be out of a box to show a normal


@kernel
def separation(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    limit: float,
    scratch: Scratch,
) -> float:
    """Signed distance (m) of two convex shapes, BEYOND where larger than `limit`.

    Row 4 is left with normal and middle.
    """
    floats, rows = geoms.floats, scratch.rows
    kind_a, kind_b = geoms.ints[a, col.GEOM_SHAPE], geoms.ints[b, col.GEOM_SHAPE]
    radius_a, radius_b = floats[a, col.GEOM_RADIUS], floats[b, col.GEOM_RADIUS]
    if kind_a in (col.SPHERE, col.CAPSULE) and kind_b in (col.SPHERE, col.CAPSULE):
        return segments(floats, places, a, b, rows)
    if kind_a == col.SPHERE and kind_b == col.BOX:
        return point_box(floats, places, a, b, 1.0, rows)
    if kind_a == col.BOX and kind_b == col.SPHERE:
        return point_box(floats, places, b, a, -1.0, rows)
    size = min(floats[a, col.GEOM_BOUND], floats[b, col.GEOM_BOUND])
    if kind_a == col.BOX and kind_b == col.BOX:
        gap = box_box(floats, places, a, b, limit, rows)
        if gap > limit:
            return BEYOND
        if gap <= NEAR * size:
            return gap
    far = limit + radius_a + radius_b
    apart = face_separation(floats, places, a, b, rows)
    if apart > far:
        return BEYOND
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    if apart < -_OVERLAP * size and dot(line, line) > (NEAR * size) ** 2:
        put3(rows, 4, AXIS, line)
    return separation_of_cores(geoms, places, a, b, far, scratch)


@kernel
def separation_of_cores(
    geoms: GeomTables, places: Array, a: int, b: int, far: float, scratch: Scratch
) -> float:
    """The same where cores nearer than `far` count; row 4 has a direction to begin with.

    As it is remembered, or by GJK and EPA. A side just found is measured as one that is remembered,
    so that looking once more at the same state finds the same bits.
    """
    floats, rows = geoms.floats, scratch.rows
    table = scratch.remembered
    size = min(floats[a, col.GEOM_BOUND], floats[b, col.GEOM_BOUND])
    enough = ENOUGH * size
    row = row_of(table, a, b) if may_remember(geoms.ints, places, a, b) else -1
    if row >= 0:
        moved = moved_since(table, row, geoms, places, a, b)
        if apart_by(table, row, moved) > far:
            return BEYOND
        depth = depth_of_side(table, row, moved, geoms, places, a, b, enough, rows)
        if depth > -col.INFINITE:
            return finished(geoms, places, a, b, -depth, 3, rows)
    status = gjk(geoms, places, a, b, far, NEAR * size, rows)
    if status == FAR:
        if row >= 0:
            keep_apart(table, row, places, a, b, rows[4, WEIGHT])
        return BEYOND
    if status == APART:
        v = vec3(rows, 4, W)
        distance = math.sqrt(dot(v, v))
        put3(rows, 4, W, scaled(-1.0 / distance, v))
        return finished(geoms, places, a, b, distance, int(rows[4, WEIGHT]), rows)
    depth = epa(geoms, places, a, b, enough, status == AROUND, rows, scratch.ints)
    if row >= 0:
        keep_side(table, row, places, a, b, rows[4, OTHERS], rows)
        measured = depth_of_side(table, row, 0.0, geoms, places, a, b, enough, rows)
        if measured > -col.INFINITE:
            depth = measured
        else:
            forget(table, row)
    return finished(geoms, places, a, b, -depth, 3, rows)


@kernel
def finished(
    geoms: GeomTables, places: Array, a: int, b: int, distance: float, count: int, rows: Array
) -> float:
    """Distance of surfaces, a radius out from cores at a distance; row 4 as it is to be left.

    There its W is the normal from A into B, ON_A the nearest point of A's core; so many rows before
    it are the corners that these come from.
    """
    if is_curved(geoms.ints, a) or is_curved(geoms.ints, b):
        distance = -refined(geoms, places, a, b, -distance, count, rows)
    radius_a, radius_b = geoms.floats[a, col.GEOM_RADIUS], geoms.floats[b, col.GEOM_RADIUS]
    normal, on_a = scaled(-1.0, vec3(rows, 4, W)), vec3(rows, 4, ON_A)
    middle = plus_scaled(on_a, -0.5 * (distance + radius_a - radius_b), normal)
    put3(rows, 4, AXIS, normal)
    put3(rows, 4, MIDDLE, middle)
    return distance - radius_a - radius_b


@inlined
def clamp(x: float) -> float:
    return min(max(x, -1.0), 1.0)


@kernel
def segments(geoms: Array, places: Array, a: int, b: int, rows: Array) -> float:
    """Spheres and capsules: the distance of their segments less the radii."""
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    half_a, half_b = geoms[a, col.GEOM_SIZE + 2], geoms[b, col.GEOM_SIZE + 2]
    u = scaled(half_a, column_of(places, a, col.TURN, 2)) if half_a > 0.0 else (0.0, 0.0, 0.0)
    w = scaled(half_b, column_of(places, b, col.TURN, 2)) if half_b > 0.0 else (0.0, 0.0, 0.0)
    # Nearest points line + s u and t w, with s and t from -1 to 1.
    uu = dot(u, u)
    ww = dot(w, w)
    uw = dot(u, w)
    ul = dot(u, line)
    wl = dot(w, line)
    denominator = uu * ww - uw * uw
    s = 0.0
    t = 0.0
    if denominator > _PARALLEL * uu * ww:
        s = clamp((uw * wl - ww * ul) / denominator)
    elif uu > 0.0:  # parallel: the middle of where they lie side by side
        centre, span = -ul / uu, math.sqrt(ww / uu)
        low, high = max(-1.0, centre - span), min(1.0, centre + span)
        s = clamp(0.5 * (low + high) if low <= high else centre)
    if ww > 0.0:
        t = clamp((wl + s * uw) / ww)
    if uu > 0.0:
        s = clamp((t * uw - ul) / uu) if denominator > _PARALLEL * uu * ww or ww == 0.0 else s
    on_a, on_b = plus_scaled(line, s, u), scaled(t, w)
    apart = minus(on_a, on_b)
    distance = math.sqrt(dot(apart, apart))
    normal = scaled(1.0 / distance, apart) if distance > col.COINCIDE else (0.0, 0.0, 1.0)
    gap = distance - geoms[a, col.GEOM_RADIUS] - geoms[b, col.GEOM_RADIUS]
    put3(rows, 4, AXIS, normal)
    put3(rows, 4, MIDDLE, plus_scaled(on_a, -geoms[a, col.GEOM_RADIUS] - 0.5 * gap, normal))
    return gap


@kernel
def point_box(geoms: Array, places: Array, point: int, box: int, side: float, rows: Array) -> float:
    """Sphere and box; `side` is 1 where the sphere is A."""
    turn, half = mat3(places, box, col.TURN), vec3(geoms, box, col.GEOM_SIZE)
    line = minus(vec3(places, point, col.PLACE), vec3(places, box, col.PLACE))
    radius = geoms[point, col.GEOM_RADIUS]
    x = rotate_back(turn, line)
    foot = (
        min(max(x[0], -half[0]), half[0]),
        min(max(x[1], -half[1]), half[1]),
        min(max(x[2], -half[2]), half[2]),
    )
    out = minus(x, foot)
    distance = math.sqrt(dot(out, out))
    if distance > _INSIDE * radius:
        normal = scaled(1.0 / distance, out)
    else:  # the centre is inside: through the nearest face
        depth = (half[0] - abs(x[0]), half[1] - abs(x[1]), half[2] - abs(x[2]))
        if depth[2] <= depth[0] and depth[2] <= depth[1]:
            normal, distance = (0.0, 0.0, math.copysign(1.0, x[2])), -depth[2]
        elif depth[1] <= depth[0]:
            normal, distance = (0.0, math.copysign(1.0, x[1]), 0.0), -depth[1]
        else:
            normal, distance = (math.copysign(1.0, x[0]), 0.0, 0.0), -depth[0]
        foot = plus_scaled(x, -distance, normal)
    gap = distance - radius
    middle = rotate(turn, plus_scaled(foot, 0.5 * gap, normal))
    if side < 0.0:  # from B's place, which is the sphere's
        middle = minus(middle, line)
    put3(rows, 4, AXIS, scaled(side, rotate(turn, normal)))
    put3(rows, 4, MIDDLE, middle)
    return gap


@inlined
def middle_of(places: Array, b: int, rows: Array) -> Vec3:
    """Middle of the nearest points in the world."""
    return plus(vec3(places, b, col.PLACE), vec3(rows, 4, MIDDLE))
