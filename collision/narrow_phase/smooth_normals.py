"""Normals of curved shapes to rounding: Newton's method where GJK and EPA leave off.

The depth of A - B is the least h(d) over unit vectors d, h being its support function. It is flat
there: a depth that is good to 1e-8 of the size has a normal that is good to 1e-4. Rims and
ellipsoids have h with second derivatives, and its least value is where the support point s = grad h
lies along d. In the plane across d that is t.s = 0, with the derivative t.H t - h.

Where the nearest side of A - B has several corners or ends of an edge, their h is the same, and d
is held across the edges between them: on a circle across one, or about the axis of a cone that lies
on its side, along the only normal of two or of a face. Whatever comes out is taken only where h is
no larger there than before.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
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
from spatialops.collision.narrow_phase.gjk import ON_A, W, put_support

_ROUNDS = 4  # Newton's steps at most: from 1e-4 two lead to rounding
_DONE = 1e-14  # rad, of a step
_FLAT = 1e-9  # of the size: a smaller second derivative is none
_SAME = 1e-9  # of the size: corners that are nearer are one
_SPREAD = 0.5  # of its radius: points of a rim that are as far apart show the cap
_ROUNDING = 1e-14  # of the size
_PARALLEL = 1e-6  # sine between two edges below which they hold one direction
FREE, EDGE, FACE = range(3)  # what a shape turns to the other


@inlined
def is_curved(geom_ints: IntArray, g: int) -> bool:
    """Whether GJK and EPA come near to a shape's normals only."""
    kind = geom_ints[g, col.GEOM_SHAPE]
    return kind == col.CYLINDER or kind == col.CONE or kind == col.ELLIPSOID


@kernel
def refined(
    geoms: GeomTables, places: Array, a: int, b: int, depth: float, count: int, rows: Array
) -> float:
    """Depth, normal and point of A in row 4 refined; the first rows are so many corners."""
    n = vec3(rows, 4, W)
    size = min(geoms.floats[a, col.GEOM_BOUND], geoms.floats[b, col.GEOM_BOUND])
    held_a, u, rise = held_by(geoms, places, a, (count, 1.0), rows)
    held_b, w, fall = held_by(geoms, places, b, (count, -1.0), rows)
    before = dot(n, put_support(geoms, places, a, b, n, rows, 3))
    across = cross(u, w)
    if held_a == EDGE and held_b == EDGE and dot(across, across) > _PARALLEL * _PARALLEL:
        found = on_both((u, rise), (w, fall), across, n)
    elif held_a == FACE or held_b == FACE:
        found = along(u if held_a == FACE else w, n)
    elif held_a == EDGE:
        found = least_on_circle(geoms, places, a, b, n, (u, rise), rows)
    elif held_b == EDGE:
        found = least_on_circle(geoms, places, a, b, n, (w, fall), rows)
    else:
        found = least_on_sphere(geoms, places, a, b, n, rows)
    s = put_support(geoms, places, a, b, found, rows, 3)
    after = dot(found, s)
    if not after <= before + _ROUNDING * size:
        return depth
    put3(rows, 4, W, found)
    on_a = vec3(rows, 3, ON_A)
    if held_a == FREE:
        put3(rows, 4, ON_A, on_a)
    elif held_b == FREE:
        put3(rows, 4, ON_A, plus_scaled(minus(on_a, s), after, found))
    elif held_a == EDGE and held_b == EDGE:
        put3(rows, 4, ON_A, crossing(on_a, level(u, found), minus(on_a, s), w, found))
    return after


@inlined
def along(axis: Vec3, n: Vec3) -> Vec3:
    """The unit vector along an axis, on the side of n."""
    return scaled(math.copysign(1.0 / math.sqrt(dot(axis, axis)), dot(axis, n)), axis)


@inlined
def level(u: Vec3, n: Vec3) -> Vec3:
    """The part of u across n."""
    return plus_scaled(u, -dot(u, n), n)


@inlined
def on_both(a: tuple[Vec3, float], b: tuple[Vec3, float], across: Vec3, n: Vec3) -> Vec3:
    """The unit vector next to n with given parts along two unit vectors; n where there is none."""
    (u, x), (w, y) = a, b
    c, square = dot(u, w), dot(across, across)
    flat = plus_scaled(scaled((x - c * y) / square, u), (y - c * x) / square, w)
    rest = (1.0 - dot(flat, flat)) / square
    if rest < 0.0:
        return n
    return plus_scaled(flat, math.copysign(math.sqrt(rest), dot(across, n)), across)


@inlined
def crossing(p: Vec3, u: Vec3, q: Vec3, w: Vec3, n: Vec3) -> Vec3:
    """The point of the line from p along u that is over the line from q along w, seen along n."""
    out = cross(w, n)
    slope = dot(u, out)
    if abs(slope) <= _PARALLEL:
        return p
    return plus_scaled(p, dot(minus(q, p), out) / slope, u)


@kernel
def held_by(
    geoms: GeomTables, places: Array, g: int, of: tuple[int, float], rows: Array
) -> tuple[int, Vec3, float]:
    """What of shape g holds the normal, and how: of so many corners those on A (1) or B (-1).

    A face with its normal; an edge, or a line along the side of a cone, with an axis and the part
    that the normal has along it.
    """
    kind = geoms.ints[g, col.GEOM_SHAPE]
    if kind == col.ELLIPSOID or kind == col.SPHERE:
        return FREE, ZERO3, 0.0
    same = _SAME * geoms.floats[g, col.GEOM_BOUND]
    if kind != col.CYLINDER and kind != col.CONE:
        held, edge = held_by_corners(of, same, rows)
        return held, edge, 0.0
    axis = column_of(places, g, col.TURN, 2)
    count, side = of
    first = corner_of(side, rows, 0)
    low = high = widest = 0.0
    for i in range(1, count):
        way = minus(corner_of(side, rows, i), first)
        height = dot(way, axis)
        low, high = min(low, height), max(high, height)
        widest = max(widest, dot(way, way) - height * height)
    radius, half = geoms.floats[g, col.GEOM_SIZE], geoms.floats[g, col.GEOM_SIZE + 2]
    if high - low > same:
        slant = math.sqrt(radius * radius + 4.0 * half * half)
        return EDGE, axis, (side * radius / slant if kind == col.CONE else 0.0)
    return (FACE if widest > (_SPREAD * radius) ** 2 else FREE), axis, 0.0


@inlined
def held_by_corners(of: tuple[int, float], same: float, rows: Array) -> tuple[int, Vec3]:
    """The same of a shape with corners."""
    count, side = of
    first = corner_of(side, rows, 0)
    edge = ZERO3
    held = FREE
    for i in range(1, count):
        way = minus(corner_of(side, rows, i), first)
        length = math.sqrt(dot(way, way))
        if length <= same:
            continue
        if held == FREE:
            held, edge = EDGE, scaled(1.0 / length, way)
            continue
        normal = cross(edge, way)
        if dot(normal, normal) > same * same:
            return FACE, normal
    return held, edge


@inlined
def corner_of(side: float, rows: Array, i: int) -> Vec3:
    """The point of A (1) or B (-1) that corner i comes from."""
    return plus_scaled(vec3(rows, i, ON_A), 0.5 * (side - 1.0), vec3(rows, i, W))


@kernel
def least_on_circle(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    n: Vec3,
    circle: tuple[Vec3, float],
    rows: Array,
) -> Vec3:
    """Unit vector with a given part along u, from n on, where h is least."""
    u, rise = circle
    size = min(geoms.floats[a, col.GEOM_BOUND], geoms.floats[b, col.GEOM_BOUND])
    out = math.sqrt(1.0 - rise * rise)
    e = unit(level(n, u))
    n = plus_scaled(scaled(out, e), rise, u)
    for _ in range(_ROUNDS):
        s = put_support(geoms, places, a, b, n, rows, 3)
        t = cross(u, e)
        slope = out * dot(t, curved(geoms, places, a, b, n, t)) - dot(s, e)
        if slope <= _FLAT * size:
            break
        step = -dot(s, t) / slope
        e = unit(plus_scaled(e, step, t))
        n = plus_scaled(scaled(out, e), rise, u)
        if abs(step) < _DONE:
            break
    return n


@kernel
def least_on_sphere(geoms: GeomTables, places: Array, a: int, b: int, n: Vec3, rows: Array) -> Vec3:
    """Unit vector, from n on, where h is least."""
    size = min(geoms.floats[a, col.GEOM_BOUND], geoms.floats[b, col.GEOM_BOUND])
    for _ in range(_ROUNDS):
        s = put_support(geoms, places, a, b, n, rows, 3)
        h = dot(s, n)
        x = cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < abs(n[1]) else (0.0, 1.0, 0.0))
        x = unit(x)
        y = cross(n, x)
        hx = curved(geoms, places, a, b, n, x)
        hy = curved(geoms, places, a, b, n, y)
        xx = dot(x, hx) - h
        yy = dot(y, hy) - h
        xy = dot(x, hy)
        determinant = xx * yy - xy * xy
        if not determinant > _FLAT * size * (xx + yy):
            break
        gx = dot(s, x)
        gy = dot(s, y)
        p = (xy * gy - yy * gx) / determinant
        q = (xy * gx - xx * gy) / determinant
        n = unit(plus_scaled(plus_scaled(n, p, x), q, y))
        if p * p + q * q < _DONE * _DONE:
            break
    return n


@inlined
def unit(a: Vec3) -> Vec3:
    """A vector's direction; none of what has none."""
    length = math.sqrt(dot(a, a))
    return scaled(1.0 / length if length > 0.0 else 0.0, a)


@inlined
def curved(geoms: GeomTables, places: Array, a: int, b: int, n: Vec3, t: Vec3) -> Vec3:
    """Second derivative of h at n, times t: A and B turn towards n and -n."""
    return plus(bent(geoms, places, a, n, t), bent(geoms, places, b, scaled(-1.0, n), t))


@kernel
def bent(geoms: GeomTables, places: Array, g: int, n: Vec3, t: Vec3) -> Vec3:
    """Second derivative of the support function of shape g at n, times t; none at corners."""
    kind = geoms.ints[g, col.GEOM_SHAPE]
    if kind not in (col.CYLINDER, col.CONE, col.ELLIPSOID):
        return ZERO3
    turn, (x, y, z) = mat3(places, g, col.TURN), vec3(geoms.floats, g, col.GEOM_SIZE)
    d, c = rotate_back(turn, n), rotate_back(turn, t)
    if kind == col.ELLIPSOID:
        length = math.sqrt((x * d[0]) ** 2 + (y * d[1]) ** 2 + (z * d[2]) ** 2)
        s = (x * x * d[0] / length, y * y * d[1] / length, z * z * d[2] / length)
        flat = (x * x * c[0], y * y * c[1], z * z * c[2])
        return rotate(turn, scaled(1.0 / length, plus_scaled(flat, -dot(s, c), s)))
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    at_tip = kind == col.CONE and z * d[2] >= x * across - z * d[2]
    if at_tip or not across > 0.0:
        return ZERO3
    e = (-d[1] / across, d[0] / across, 0.0)
    return rotate(turn, scaled(x * dot(e, c) / across, e))
