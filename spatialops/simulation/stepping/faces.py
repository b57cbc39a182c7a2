"""Planes over the points of one face: what a rigid body does to all of them is linear in place.

Of a motion with a normal n the speeds of points of one face along n are a plane over it, and what
they do along the face is a shift and a turn about n. What is nearly so is put there by least
squares. Points that lie on a line leave the slope across it open: it is none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.common_plane import ONE
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

NEAR = 1e-7  # of the size of a face: speeds that close less than that apart are those of one plane
_FACE = 4  # points; speeds of three are always a plane
_LINE = 1e-6  # of the square of a face's size: points that are narrower than a thousandth of it


class Face(NamedTuple):
    """The points of a pair with one normal."""

    normal: Vec3
    center: Vec3
    first: Vec3  # along the face
    second: Vec3
    xx: float  # inverse of the sums of products of places
    xy: float
    yy: float
    size: float  # root of the sum of squares


@inlined
def is_face(t: Tables, begin: int, end: int) -> bool:
    """Whether so many contacts are points of one face: their normals are one."""
    return end - begin >= _FACE and has_one_normal(t, begin, end)


@inlined
def has_one_normal(t: Tables, begin: int, end: int) -> bool:
    """Whether the normals of so many contacts are one."""
    one = True
    n = vec3(t.floats, begin, col.NORMAL)
    for i in range(begin + 1, end):
        one = one and dot(vec3(t.floats, i, col.NORMAL), n) > ONE
    return one


@inlined
def face_of(t: Tables, begin: int, end: int) -> Face:
    """The face of so many contacts."""
    count = end - begin
    center = ZERO3
    for i in range(begin, end):
        center = plus(center, scaled(1.0 / count, vec3(t.floats, i, col.POINT)))
    n = vec3(t.floats, begin, col.NORMAL)
    first, second = axes_of(n)
    xx = xy = yy = 0.0
    for i in range(begin, end):
        arm = minus(vec3(t.floats, i, col.POINT), center)
        x, y = dot(arm, first), dot(arm, second)
        xx += x * x
        xy += x * y
        yy += y * y
    square = xx + yy
    determinant = xx * yy - xy * xy
    if determinant > _LINE * square * square:
        return Face(
            n,
            center,
            first,
            second,
            yy / determinant,
            -xy / determinant,
            xx / determinant,
            math.sqrt(square),
        )
    over = 1.0 / (square * square) if square > 0.0 else 0.0
    return Face(n, center, first, second, over * xx, over * xy, over * yy, math.sqrt(square))


@inlined
def axes_of(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two directions across a unit vector, and across one another."""
    away = (0.0, 1.0, 0.0) if abs(n[0]) > 0.6 else (1.0, 0.0, 0.0)  # by 0.6 rad at least
    across = cross(n, away)
    first = scaled(1.0 / math.sqrt(dot(across, across)), across)
    return first, cross(n, first)


@inlined
def slope_of(face: Face, rise: Vec3) -> Vec3:
    """The slope of the plane nearest to values, of the sum of arms times values."""
    x, y = dot(rise, face.first), dot(rise, face.second)
    along = scaled(face.xx * x + face.xy * y, face.first)
    return plus_scaled(along, face.xy * x + face.yy * y, face.second)


@kernel
def flatten_gaps(t: Tables, begin: int, end: int) -> float:
    """Put OPEN of a face's points on the plane nearest to it, if it is near.

    Returns what is near, a speed; zero where it is not.
    """
    face = face_of(t, begin, end)
    mean, rise = 0.0, ZERO3
    for i in range(begin, end):
        arm = minus(vec3(t.floats, i, col.POINT), face.center)
        mean += t.floats[i, col.OPEN] / (end - begin)
        rise = plus_scaled(rise, t.floats[i, col.OPEN], arm)
    slope = slope_of(face, rise)
    most = 0.0
    for i in range(begin, end):
        arm = minus(vec3(t.floats, i, col.POINT), face.center)
        most = max(most, abs(mean + dot(slope, arm) - t.floats[i, col.OPEN]))
    near = NEAR * face.size / t.monitor[at.PIECE]
    if most > near:
        return 0.0
    for i in range(begin, end):
        arm = minus(vec3(t.floats, i, col.POINT), face.center)
        t.floats[i, col.OPEN] = mean + dot(slope, arm)
    return near


@kernel
def flatten_drifts(t: Tables, begin: int, end: int, always: bool) -> None:
    """Make the nearest rigid motion of drifts of a face's points, if it is near, or always.

    A plane along the normal, and along the face a shift and a turn.
    """
    face = face_of(t, begin, end)
    mean = rise = ZERO3
    turn = 0.0
    for i in range(begin, end):
        drift = vec3(t.floats, i, col.DRIFT)
        arm = minus(vec3(t.floats, i, col.POINT), face.center)
        mean = plus_scaled(mean, 1.0 / (end - begin), drift)
        rise = plus_scaled(rise, dot(face.normal, drift), arm)
        turn += dot(face.normal, cross(arm, drift))
    slope = slope_of(face, rise)
    turn = turn / (face.size * face.size) if face.size > 0.0 else 0.0
    most = 0.0
    for i in range(begin, end):
        off = minus(drift_at(t, i, face, mean, slope, turn), vec3(t.floats, i, col.DRIFT))
        most = max(most, dot(off, off))
    near = NEAR * face.size / t.monitor[at.PIECE]
    for i in range(begin, end if always or most <= near * near else begin):
        put3(t.floats, i, col.DRIFT, drift_at(t, i, face, mean, slope, turn))


@inlined
def drift_at(t: Tables, i: int, face: Face, mean: Vec3, slope: Vec3, turn: float) -> Vec3:
    """Drift of contact i by a mean, a slope of the normal part, and a turn."""
    arm = minus(vec3(t.floats, i, col.POINT), face.center)
    turned = plus_scaled(mean, turn, cross(face.normal, arm))
    return plus_scaled(turned, dot(slope, arm), face.normal)
