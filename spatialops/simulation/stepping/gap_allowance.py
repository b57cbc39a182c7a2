"""What gaps of a pair leave free: one plane of speeds for the points of one face.

What has a gap g and opens at the rate u_n when the piece begins may close at OPEN = 2 g / h + u_n
(`contact_drift`). Overlap is no gap: nothing pushes it out, and OPEN is zero at least.

A gap of some roundings of where its points are is no gap: else what rests would be asked for speeds
of 1e-13 m/s to close 1e-17 m, and would never rest. That is asked of all points of a pair together.

Normal speeds of a rigid face are a plane over its points, so four of them press at once only if
what they may close at is a plane too. It nearly is: points move by second order while a piece goes
on, and where one overlaps by 1e-11 m another has as much of a gap. Off the plane by 1e-8 m/s, a
pressing point must let go, which one the law finds by forces that wedge against one another until
the first is zero; in a heap one face after another. Speeds of a face that are off the plane by what
closes NEAR of its size are therefore put on it, and an overlap as small is given to all points, but
for one that is no more than what solvers leave.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, minus, plus, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.common_plane import ONE
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

_NO_GAP = 16.0 * float(np.finfo(np.float64).eps)  # of where its points are: not told from none
NEAR = 1e-7  # of the size of a face: gaps that differ by less are those of one plane
LEFT = 1e-4  # of that: what solvers leave
_FACE = 4  # points; speeds of three are always a plane
_LINE = 1e-6  # of the square of a face's size: points that are narrower than a thousandth of it


@kernel
def allow_gaps(t: Tables, begin: int, end: int) -> None:
    """Make OPEN of so many contacts, those of one pair, what they are free to close at."""
    closed = True
    for i in range(begin, end):
        closed = closed and t.floats[i, col.OPEN] <= noise_of_gap(t, i)
    lift = 0.0
    if not closed and is_face(t, begin, end):
        lift = small_overlap(t, begin, end, flatten(t, begin, end))
    for i in range(begin, end):
        opening = max(t.floats[i, col.OPEN] + lift, 0.0)
        t.floats[i, col.OPEN] = 0.0 if closed else opening


@inlined
def is_face(t: Tables, begin: int, end: int) -> bool:
    """Whether so many contacts are points of one face: their normals are one."""
    one = end - begin >= _FACE
    n = vec3(t.floats, begin, col.NORMAL)
    for i in range(begin, end):
        one = one and dot(vec3(t.floats, i, col.NORMAL), n) > ONE
    return one


@inlined
def small_overlap(t: Tables, begin: int, end: int, near: float) -> float:
    """What the point that overlaps most is below zero, where that is little; else zero."""
    least = 0.0
    for i in range(begin, end):
        least = min(least, t.floats[i, col.OPEN])
    return -least if LEFT * near < -least <= near else 0.0


@kernel
def flatten(t: Tables, begin: int, end: int) -> float:
    """Put OPEN of a face's points on the plane nearest to it, if it is near: least squares.

    Returns what is near, a speed; zero of points that span no face.
    """
    count = end - begin
    center = (0.0, 0.0, 0.0)
    mean = 0.0
    for i in range(begin, end):
        center = plus(center, scaled(1.0 / count, vec3(t.floats, i, col.POINT)))
        mean += t.floats[i, col.OPEN] / count
    first, second = axes_of(vec3(t.floats, begin, col.NORMAL))
    xx = xy = yy = 0.0
    rise_x = rise_y = 0.0
    for i in range(begin, end):
        x, y = place(t, i, center, first, second)
        xx += x * x
        xy += x * y
        yy += y * y
        rise_x += x * (t.floats[i, col.OPEN] - mean)
        rise_y += y * (t.floats[i, col.OPEN] - mean)
    size = xx + yy
    determinant = xx * yy - xy * xy
    if determinant <= _LINE * size * size:
        return 0.0
    slope_x = (yy * rise_x - xy * rise_y) / determinant
    slope_y = (xx * rise_y - xy * rise_x) / determinant
    near = NEAR * math.sqrt(size) / t.monitor[at.PIECE]
    most = 0.0
    for i in range(begin, end):
        x, y = place(t, i, center, first, second)
        most = max(most, abs(mean + slope_x * x + slope_y * y - t.floats[i, col.OPEN]))
    for i in range(begin, end if most <= near else begin):
        x, y = place(t, i, center, first, second)
        t.floats[i, col.OPEN] = mean + slope_x * x + slope_y * y
    return near


@inlined
def axes_of(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two directions across a unit vector, and across one another."""
    away = (0.0, 1.0, 0.0) if abs(n[0]) > 0.6 else (1.0, 0.0, 0.0)  # by 0.6 rad at least
    across = cross(n, away)
    first = scaled(1.0 / math.sqrt(dot(across, across)), across)
    return first, cross(n, first)


@inlined
def place(t: Tables, i: int, center: Vec3, first: Vec3, second: Vec3) -> tuple[float, float]:
    """Where the point of a contact is on its face."""
    arm = minus(vec3(t.floats, i, col.POINT), center)
    return dot(arm, first), dot(arm, second)


@inlined
def noise_of_gap(t: Tables, i: int) -> float:
    """Speed by which roundings of acting contact i's gap would be closed within the piece."""
    size = 0.0
    if t.ints[i, col.CONTACT_FEATURE_A] < 0:  # of a joint
        j = t.ints[i, col.CONTACT_PAIR] - t.pairs.shape[0]
        size = abs(t.joint_floats[j, at.JOINT_LIMIT])
    else:
        size = size_of(vec3(t.floats, i, col.POINT))
        for k in (t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]):
            if k >= 0:
                size += size_of(vec3(t.work, k, layout.ORIGIN))
    return _NO_GAP * size / t.monitor[at.PIECE]


@inlined
def size_of(x: Vec3) -> float:
    """Sum of the sizes of its coordinates."""
    return abs(x[0]) + abs(x[1]) + abs(x[2])
