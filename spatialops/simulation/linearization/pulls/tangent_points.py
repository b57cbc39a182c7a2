"""How the points move in which a taut line meets a sphere or a cylinder (`forces/path_wraps.py`).

Across the axis n, with the ends d, and r the radius,

    t = (r^2 d -+ r sqrt(d.d - r^2) n x d) / d.d.

Along a cylinder the line climbs by one slope. The length across the axis changes with the ends by
its own directions there alone: it is the shortest.
"""

from __future__ import annotations

import math

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, minus, plus, plus_scaled, scaled


@inlined
def tangent(d: Vec3, axis: Vec3, radius: float, way: float) -> tuple[Vec3, float]:
    """The tangent point of an end across the axis, and how far it is."""
    square = dot(d, d)
    reach = math.sqrt(square - radius * radius)
    t = scaled(radius * radius / square, d)
    return plus_scaled(t, way * radius * reach / square, cross(axis, d)), reach


@inlined
def tangent_moves(d: Vec3, dd: Vec3, axis: Vec3, turned: Vec3, radius: float, way: float) -> Vec3:
    """How it moves with the end and the axis."""
    square, along = dot(d, d), dot(d, dd)
    reach = math.sqrt(square - radius * radius)
    side = cross(axis, d)
    dt = scaled(radius * radius / square, dd)
    dt = plus_scaled(dt, -2.0 * radius * radius * along / (square * square), d)
    share = way * radius * reach / square
    by_square = way * radius * (along / (reach * square) - 2.0 * reach * along / (square * square))
    dt = plus_scaled(dt, by_square, side)
    return plus_scaled(dt, share, plus(cross(turned, d), cross(axis, dd)))


@kernel
def tangent_change(
    seen: tuple[Vec3, Vec3, Vec3],
    moves: tuple[Vec3, Vec3],
    geom: tuple[float, bool],
    first: Vec3,
    of_first: bool,
) -> Vec3:
    """How a tangent point moves: the first of both, or the second, from the geom's middle.

    Ends and axis are `seen` from there, as is the first tangent point; `moves` are those of the
    ends, the geom has a radius and is a sphere or not.
    """
    p0, p1, axis = seen
    radius, sphere = geom
    turned = axis_turn(p0, p1, axis, moves) if sphere else ZERO3
    d0, d1 = plus_scaled(p0, -dot(p0, axis), axis), plus_scaled(p1, -dot(p1, axis), axis)
    dd0, dd1 = moves
    if not sphere:
        dd0 = plus_scaled(dd0, -dot(dd0, axis), axis)
        dd1 = plus_scaled(dd1, -dot(dd1, axis), axis)
    way = 1.0 if dot(axis, cross(d0, first)) > 0.0 else -1.0
    mine = tangent_moves(d0, dd0, axis, turned, radius, way)
    its = tangent_moves(d1, dd1, axis, turned, radius, -way)
    if sphere:
        return mine if of_first else its
    t0, before = tangent(d0, axis, radius, way)
    t1, after = tangent(d1, axis, radius, -way)
    slope = (dot(first, axis) - dot(p0, axis)) / before
    longer = dot(minus(d1, t1), dd1) / after - dot(minus(t0, d0), dd0) / before
    whole = before + arc_length((t0, t1), axis, way, radius) + after
    climbs = dot(minus(moves[1], moves[0]), axis)
    steeper = (climbs - slope * longer) / whole
    if of_first:
        up = dot(moves[0], axis) + steeper * before + slope * dot(d0, dd0) / before
        return plus_scaled(mine, up, axis)
    up = dot(moves[1], axis) - steeper * after - slope * dot(d1, dd1) / after
    return plus_scaled(its, up, axis)


@inlined
def arc_length(points: tuple[Vec3, Vec3], axis: Vec3, way: float, radius: float) -> float:
    """Length of the arc from the first tangent point to the second."""
    angle = math.atan2(dot(axis, cross(points[0], points[1])), dot(points[0], points[1]))
    turn = way * angle
    return radius * (turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi)))


@inlined
def axis_turn(p0: Vec3, p1: Vec3, axis: Vec3, moves: tuple[Vec3, Vec3]) -> Vec3:
    """How the axis of a sphere turns, which is across both ends."""
    normal = cross(p0, p1)
    size = math.sqrt(dot(normal, normal))
    change = plus(cross(moves[0], p1), cross(p0, moves[1]))
    return scaled(1.0 / size, plus_scaled(change, -dot(axis, change), axis))
