"""How the drift of a contact changes, which its conditions have at the end of a step.

The drift of `stepping/contact_drift.py`, N (N . u - N0 . u0) + f(slip of u, slip of u0) with f
across N, changes with the velocities u in the middle and u0 at the start, by X du + Y du0, and with
the normals N and N0 there. Of the conditions d . R = 0, where R = v_P + drift + o N is what is left
of the velocity at the end, N . R changes by R . dN beside, and tangents turn, dt = -N (t . dN).
Where a film drags what parts, N . R is not zero.
"""

from __future__ import annotations

import math

from spatialops._arrays import Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    dot,
    minus,
    plus,
    plus_scaled,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.contact.newton._layout import VISCOUS
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Touched

_DAMPING = 0.25  # as there
_REST = 1e-9  # m/s of a slip that is none
_NO_MATRIX = (ZERO3, ZERO3, ZERO3)


@inlined
def outer(a: Vec3, b: Vec3) -> Mat3:
    return scaled(a[0], b), scaled(a[1], b), scaled(a[2], b)


@inlined
def mat_plus_scaled(a: Mat3, f: float, b: Mat3) -> Mat3:
    return plus_scaled(a[0], f, b[0]), plus_scaled(a[1], f, b[1]), plus_scaled(a[2], f, b[2])


@inlined
def flattener(normal: Vec3) -> Mat3:
    """Matrix 1 - N N*."""
    one = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    return mat_plus_scaled(one, -1.0, outer(normal, normal))


@kernel
def drift_slopes(touched: Touched, room: Room, k: int) -> tuple[Mat3, Mat3, bool]:
    """X and Y of point k, which was there at the start; whether there is no slip to tell from."""
    normal = vec3(room.points, k, of.NORMAL)
    flat, along = flattener(normal), outer(normal, normal)
    closing = scaled(-1.0, vec3(room.arms[of.EARLY], k, of.NORMAL_THERE))
    now = vec3(room.arms[of.LATE], k, of.VELOCITY)
    before = vec3(room.arms[of.EARLY], k, of.VELOCITY)
    slip = plus_scaled(now, -dot(normal, now), normal)
    begun = plus_scaled(before, -dot(normal, before), normal)
    size, first = math.sqrt(dot(slip, slip)), math.sqrt(dot(begun, begun))
    if size < _REST and first < _REST:
        return along, outer(normal, closing), True
    X = mat_plus_scaled(along, 1.0, flat)
    Y = outer(normal, closing)
    if touched.floats[room.point_ints[k, of.ROW], col.ROLLS] == 1.0:
        return X, mat_plus_scaled(Y, -_DAMPING, flat), False
    if touched.law != VISCOUS:
        return along, Y, False
    # (1 - |u0| / |u|) u: the direction s of u turns, and the size of u0 changes.
    direction = scaled(1.0 / size, slip)
    across = mat_plus_scaled(flat, -1.0, outer(direction, direction))
    Y = mat_plus_scaled(Y, -1.0, outer(direction, scaled(1.0 / first, begun)))
    return mat_plus_scaled(X, -first / size, across), Y, False


@inlined
def gain_by_normal(
    touched: Touched, room: Room, k: int, d: Vec3, there: bool, slopes: tuple[Mat3, Mat3]
) -> Vec3:
    """Vector c: the condition along d of point k changes by c . dN."""
    normal = vec3(room.points, k, of.NORMAL)
    row, towards = room.point_ints[k, of.ROW], room.points[k, of.SIDE]
    drift, opening = vec3(touched.floats, row, col.DRIFT), touched.floats[row, col.OPEN]
    drift = scaled(towards, drift)
    along = dot(normal, drift)
    now, before = (
        vec3(room.arms[of.LATE], k, of.VELOCITY),
        vec3(room.arms[of.EARLY], k, of.VELOCITY),
    )
    left = plus_scaled(vec3(room.arms[of.END], k, of.VELOCITY), opening, normal)
    left = plus(left, drift)
    if dot(d, normal) > 0.5:
        return plus(left, minus(now, plus_scaled(drift, -along, normal))) if there else left
    gain = scaled(along + opening - dot(normal, left), d)
    if there:
        gain = plus_scaled(gain, -dot(normal, now), rotate_back(slopes[0], d))
        gain = plus_scaled(gain, -dot(normal, before), rotate_back(slopes[1], d))
    return gain


@inlined
def closes_by_start(touched: Touched, room: Room, k: int, d: Vec3) -> bool:
    """Whether the condition along d knows the normal speed that point k began with."""
    closed = not touched.floats[room.point_ints[k, of.ROW], col.OPEN] > 0.0
    closed = closed or touched.law == of.COMPLIANT
    return closed and dot(d, vec3(room.points, k, of.NORMAL)) > 0.5
