"""A taut line around a sphere or a cylinder.

Across the axis all is plane: a circle of radius r, the ends d_0 and d_1 outside it, tangent points
t_0 and t_1, and an arc between them,

    t = (r^2 d -+ r sqrt(d.d - r^2) [d x]) / d.d,

one way round or the other. Along a cylinder the line is straight where its wall is unrolled. The
axis for a sphere is across the plane of both ends and its centre. The line is as short as it can be
that way round: to first order its length does not feel the tangent points move, and its moment arms
are those of two straight lines to points that are fixed to the geom.

When a line leaves its geom, and which way round it goes, is as MuJoCo has it (E. Todorov et al.,
MuJoCo's documentation, "Spatial tendons").
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, plus, plus_scaled, scaled

_PARALLEL = 1e-12  # of the sine between two ends, below which any plane through both will do


class Wrap(NamedTuple):
    """Where a line touches its geom; both points are zero where it does not."""

    touches: bool
    first: Vec3
    second: Vec3
    arc: float


@inlined
def unit(a: Vec3) -> Vec3:
    """A vector's direction."""
    return scaled(1.0 / math.sqrt(dot(a, a)), a)


@inlined
def across(a: Vec3) -> Vec3:
    """A unit vector across another."""
    other = (1.0, 0.0, 0.0) if abs(a[0]) < 0.6 else (0.0, 1.0, 0.0)
    return unit(cross(a, other))


@kernel
def sphere_axis(p0: Vec3, p1: Vec3) -> Vec3:
    """Across the plane of two ends and the centre, from which they are seen."""
    normal = cross(p0, p1)
    size = math.sqrt(dot(normal, normal))
    if size <= _PARALLEL * math.sqrt(dot(p0, p0) * dot(p1, p1)):
        return across(unit(p0))
    return scaled(1.0 / size, normal)


@inlined
def meet(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, d: Vec3) -> bool:
    """Whether the segments from a to b and from c to d (the first two of `d`) meet in the plane."""
    det = (d[1] - cy) * (bx - ax) - (d[0] - cx) * (by - ay)
    if det == 0.0:
        return False
    s = ((d[0] - cx) * (ay - cy) - (d[1] - cy) * (ax - cx)) / det
    t = ((bx - ax) * (ay - cy) - (by - ay) * (ax - cx)) / det
    return 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0


@kernel
def goes_straight(x: float, px: float, py: float, radius: float, sx: float, sy: float) -> bool:
    """Whether the line from (x, 0) to (px, py) misses the circle, and on the side s if there is."""
    ex = px - x
    size = ex * ex + py * py
    share = min(max(-ex * x / size, 0.0), 1.0) if size > 0.0 else 0.0
    nx, ny = x + share * ex, share * py
    return nx * nx + ny * ny > radius * radius and sx * nx + sy * ny >= 0.0


@kernel
def wrapped(p0: Vec3, p1: Vec3, axis: Vec3, radius: float, side: Vec3) -> Wrap:
    """A line from p0 to p1, both seen from the geom's centre, around its axis.

    `side` is seen from there too, zero where the line may go either way.
    """
    none = Wrap(False, ZERO3, ZERO3, 0.0)
    z0, z1 = dot(p0, axis), dot(p1, axis)
    flat = plus_scaled(p0, -z0, axis)
    x = math.sqrt(dot(flat, flat))
    if x <= radius:
        return none
    e1 = scaled(1.0 / x, flat)
    e2 = cross(axis, e1)
    px, py = dot(p1, e1), dot(p1, e2)
    sx, sy = dot(side, e1), dot(side, e2)
    if sy * x * (sx * py - sy * px) <= 0.0:  # the side does not part the ends: there is none
        sx = sy = 0.0
    square = px * px + py * py
    if square <= radius * radius or goes_straight(x, px, py, radius, sx, sy):
        return none
    chosen, best = 0.0, -1e300
    for way in (1.0, -1.0):
        good = goodness(x, px, py, radius, way, sx, sy)
        if good > best:
            chosen, best = way, good
    if best <= -1e9:
        return none
    ax, ay, bx, by = tangents(x, px, py, radius, chosen)
    turn = chosen * (math.atan2(ay, ax) - math.atan2(by, bx))
    around = radius * (turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi)))
    before, after = math.hypot(ax - x, ay), math.hypot(px - bx, py - by)
    slope = (z1 - z0) / (before + around + after)
    first = plus(plus(scaled(ax, e1), scaled(ay, e2)), scaled(z0 + slope * before, axis))
    second = plus(plus(scaled(bx, e1), scaled(by, e2)), scaled(z1 - slope * after, axis))
    return Wrap(True, first, second, math.hypot(around, slope * around))


@kernel
def tangents(
    x: float, px: float, py: float, radius: float, way: float
) -> tuple[float, float, float, float]:
    """Tangent points from (x, 0) and from (px, py), clockwise (1) or not (-1) from the first on."""
    square, r2 = px * px + py * py, radius * radius
    first, second = math.sqrt(x * x - r2), math.sqrt(square - r2)
    return (
        r2 / x,
        -way * radius * first / x,
        (r2 * px - way * radius * py * second) / square,
        (r2 * py + way * radius * px * second) / square,
    )


@kernel
def goodness(
    x: float, px: float, py: float, radius: float, way: float, sx: float, sy: float
) -> float:
    """Of a way round: nearness to the side, or shortness; none where its lines cross."""
    ax, ay, bx, by = tangents(x, px, py, radius, way)
    if meet(x, 0.0, ax, ay, px, py, (bx, by, 0.0)):
        return -1e10
    if sx == 0.0 and sy == 0.0:
        return -((ax - bx) ** 2 + (ay - by) ** 2)
    return sx * (ax + bx) + sy * (ay + by)
