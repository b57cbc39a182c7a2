"""Rotation vectors as coordinates of an attitude, and their rates."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, rotate, vec3

Path: TypeAlias = tuple[Array, Array, Array]  # coordinates, and their two derivatives

_TURN = 2.0 * math.pi
_NEAR_HALF_TURN = -0.9  # cosine below which the sine says little
_SMALL_SINE = 1e-9  # below it the sine is the angle
_SERIES = 1e-2  # rad, below which the quotients lose digits, and the series of c is exact


def rotation_vector(R: Array) -> Array:
    """Rotation vector of a rotation matrix, exact also near zero and half a turn.

    Parameters
    ----------
    R : (3, 3) array
        Rotation matrix.

    Returns
    -------
    (3,) array
        Along the axis, of length pi at most, rad.
    """
    found = np.empty(3)
    rotation_vector_kernel(np.ascontiguousarray(R, dtype=np.float64), found)
    return found


def vector_rates(x: Array, omega: Array) -> tuple[Array, Array]:
    """J_l^-1(x), with xdot = J_l^-1 omega for a rotation vector x, and its rate.

    J_l^-1 = I - X / 2 + c X^2, c = (1 - (t / 2) cot(t / 2)) / t^2, t = |x|, X the cross product
    by x.

    Parameters
    ----------
    x : (3,) array
        Rotation vector, rad.
    omega : (3,) array
        Angular velocity, rad/s, in the axes of x.

    Returns
    -------
    inverse, rate : (3, 3) arrays
        J_l^-1 and its time derivative.
    """
    found = np.empty((2, 3, 3))
    vectors = np.array([x, omega], dtype=np.float64)
    vector_rates_kernel(vectors[0], vectors[1], found[0], found[1])
    return found[0], found[1]


@kernel
def rotation_vector_kernel(R: Array, x: Array) -> None:
    """Rotation vector (3,) of R (3, 3)."""
    # sin(angle) times the axis
    twist = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(dot(twist, twist))
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    factor = 1.0
    if cosine > _NEAR_HALF_TURN:
        if sine > _SMALL_SINE:
            factor = math.atan2(sine, cosine) / sine
        for c in range(3):
            x[c] = factor * twist[c]
        return
    # The largest component of the quaternion's vector, from the diagonal, and the others by it.
    a = 0
    for c in range(1, 3):
        if R[c, c] > R[a, a]:
            a = c
    b = (a + 1) % 3
    d = (a + 2) % 3
    x[a] = 0.5 * math.sqrt(max(1.0 + R[a, a] - R[b, b] - R[d, d], 0.0))
    x[b] = 0.25 * (R[a, b] + R[b, a]) / x[a]
    x[d] = 0.25 * (R[a, d] + R[d, a]) / x[a]
    w = 0.5 * twist[a] / x[a]
    length = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    factor = 2.0 * math.atan2(length, abs(w)) / length
    for c in range(3):
        x[c] *= factor if w >= 0.0 else -factor


@inlined
def put_skew(X: Array, w: Vec3) -> None:
    """The cross product by w."""
    for c in range(3):
        X[c, c] = 0.0
    X[0, 1] = -w[2]
    X[0, 2] = w[1]
    X[1, 0] = w[2]
    X[1, 2] = -w[0]
    X[2, 0] = -w[1]
    X[2, 1] = w[0]


@kernel
def vector_rates_kernel(x: Array, omega: Array, inverse: Array, rate: Array) -> None:
    """`vector_rates` into two (3, 3) arrays.

    X Y = y x^T - (x.y) 1 of two cross products, so that X^2 = x x^T - t^2 1.
    """
    square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    t = math.sqrt(square)
    if t < _SERIES:
        c = 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
        slope = 1.0 / 360.0 + square / 7560.0
    else:
        half = 0.5 * t
        cot = 1.0 / math.tan(half)
        sine = math.sin(half)
        c = (1.0 - half * cot) / square
        slope = ((-0.5 * cot + 0.5 * half / (sine * sine)) / square - 2.0 * c / t) / t  # dc/dt / t
    put_skew(inverse, (x[0], x[1], x[2]))
    for i in range(3):
        for j in range(3):
            inverse[i, j] = c * x[i] * x[j] - 0.5 * inverse[i, j]
        inverse[i, i] += 1.0 - c * square
    turn = rotate(mat3_of(inverse), (omega[0], omega[1], omega[2]))  # dx/dt
    along = x[0] * turn[0] + x[1] * turn[1] + x[2] * turn[2]
    put_skew(rate, turn)
    for i in range(3):
        for j in range(3):
            bend = turn[i] * x[j] + x[i] * turn[j]
            rate[i, j] = slope * along * x[i] * x[j] + c * bend - 0.5 * rate[i, j]
        rate[i, i] -= slope * along * square + 2.0 * c * along


@inlined
def mat3_of(X: Array) -> Mat3:
    return vec3(X, 0, 0), vec3(X, 1, 0), vec3(X, 2, 0)


def nearest_turn(x: Array, rate: Array, acceleration: Array, near: Array) -> Path:
    """The rotation vector of the same attitude that is nearest to another, and its derivatives.

    x and (1 - 2 pi k / |x|) x are one attitude for every whole k. A path whose vector grows beyond
    half a turn goes on beside a body whose own vector has come back from the other side.

    Parameters
    ----------
    x, rate, acceleration : (3,) arrays
        A path of rotation vectors, rad, and its derivatives.
    near : (3,) array
        What it is to be near, rad.

    Returns
    -------
    tuple of three (3,) arrays
        The same path, so many turns on.
    """
    path = np.array([x, rate, acceleration], dtype=np.float64)
    nearest_turn_kernel(path, 0, np.asarray(near, dtype=np.float64))
    return path[0], path[1], path[2]


@kernel
def nearest_turn_kernel(path: Array, first: int, near: Array) -> None:
    """`nearest_turn` of three columns of `path` (3, k), from `first` on, in place."""
    x = vec3(path, 0, first)
    t = math.sqrt(dot(x, x))
    if t <= _SERIES:
        return
    rate = vec3(path, 1, first)
    acceleration = vec3(path, 2, first)
    turns = round((t - dot(x, (near[0], near[1], near[2])) / t) / _TURN)
    if turns == 0:
        return
    grows = dot(x, rate) / t
    bends = (dot(rate, rate) + dot(x, acceleration) - grows * grows) / t
    back = _TURN * turns / t
    slope = back * grows / t
    bend = back / t * (bends - 2.0 * grows * grows / t)
    share = 1.0 - back
    for c in range(3):
        path[0, first + c] = share * x[c]
        path[1, first + c] = share * rate[c] + slope * x[c]
        path[2, first + c] = share * acceleration[c] + 2.0 * slope * rate[c] + bend * x[c]
