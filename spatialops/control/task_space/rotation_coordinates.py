"""Rotation vectors as coordinates of an attitude, and their rates."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import to_quaternion

Path: TypeAlias = tuple[Array, Array, Array]  # coordinates, and their two derivatives

_WORLD = np.eye(3)
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
    # sin(angle) times the axis
    twist = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = math.sqrt(float(twist @ twist)), 0.5 * (float(R[0, 0] + R[1, 1] + R[2, 2]) - 1.0)
    if cosine > _NEAR_HALF_TURN:
        return twist * (math.atan2(sine, cosine) / sine) if sine > _SMALL_SINE else twist
    q = to_quaternion(R)
    length = float(np.linalg.norm(q[:3]))
    result: Array = 2.0 * math.atan2(length, float(q[3])) / length * q[:3]
    return result


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
    t, X = math.sqrt(float(x @ x)), _skew(x)
    XX = X @ X
    if t < _SERIES:
        c, slope = 1.0 / 12.0 + t * t / 720.0 + t**4 / 30240.0, 1.0 / 360.0 + t * t / 7560.0
    else:
        half = 0.5 * t
        cot, square = 1.0 / math.tan(half), 1.0 / math.sin(half) ** 2
        c = (1.0 - half * cot) / (t * t)
        slope = ((-0.5 * cot + 0.5 * half * square) / (t * t) - 2.0 * c / t) / t  # dc/dt / t
    inverse = _WORLD - 0.5 * X + c * XX
    rate = inverse @ omega
    V = _skew(rate)
    return inverse, (slope * float(x @ rate)) * XX - 0.5 * V + c * (V @ X + X @ V)


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
    t = math.sqrt(float(x @ x))
    turns = round((t - float(x @ near) / t) / _TURN) if t > _SERIES else 0
    if turns == 0:
        return x, rate, acceleration
    grows = float(x @ rate) / t
    bends = (float(rate @ rate) + float(x @ acceleration) - grows * grows) / t
    back = _TURN * turns / t
    share, slope = 1.0 - back, back * grows / t
    bend = back / t * (bends - 2.0 * grows * grows / t)
    return (
        share * x,
        share * rate + slope * x,
        share * acceleration + 2.0 * slope * rate + bend * x,
    )


def _skew(w: Array) -> Array:
    x, y, z = w.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
