"""Kernels of legs: where feet are, how joints move them, and back.

A foot has three rows, the velocity of its point, or six: then its angular velocity follows. Joints
are found by damped least squares, J^T (J J^T + d^2)^-1: of legs with more joints than rows the
smallest motion, of legs with fewer the nearest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import spatialops._layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, mat3, minus, plus_scaled, vec3
from spatialops.dynamics.kinematics import axis_of, poses_kernel
from spatialops.dynamics.loops.terms import turn_between
from spatialops.dynamics.nodes import node_points

DAMPING = 1e-4  # m, of singular legs: keeps steps bounded where a leg is straight
_SINGULAR = 100.0  # times the damping, squared: a leg that is less regular is damped
_CLOSE = 1e-13  # m or rad; feet that are nearer to where they ought to be are there
_STEP = 0.3  # rad; a joint is turned by no more at once
_HALVINGS = 6  # of a step that comes no nearer


class LegTables(NamedTuple):
    """A model, its legs, and memory for kernels to work in.

    Attributes
    ----------
    tree, links : arrays
        Of the model.
    q : (nq,) array
        Coordinates, the base's neutral.
    places, joints : (legs, n) int arrays
        Of the legs' joints in q and in v; -1 behind the last of a leg that has fewer.
    order : (count,) int array
        Where the joints are in (legs, n), in the order of the velocities.
    node_links, offsets : (legs,) and (legs, 3) arrays
        The feet.
    work : (nv, 64) array
        Scratch.
    points, error : (legs, 3) and (legs, rows) arrays
        Where feet are, and what is missing.
    rates, trial : (legs, n) arrays
        Of joints, and angles that are tried.
    J : (legs, rows, n) array
        m and rad per rad.
    factor : (rows, rows + 1) array
        Of J J^T, and a right-hand side.
    """

    tree: IntArray
    links: Array
    q: Array
    places: IntArray
    joints: IntArray
    order: IntArray
    node_links: IntArray
    offsets: Array
    work: Array
    points: Array
    error: Array
    rates: Array
    trial: Array
    J: Array
    factor: Array


@held
def feet_at(t: LegTables, angles: Array) -> int:
    """Where the feet are at joint angles (legs, n), and how joints move them."""
    status = place_feet(t, angles)
    foot_jacobians(t)
    return status


@kernel
def place_feet(t: LegTables, angles: Array) -> int:
    """Points of the feet at joint angles (legs, n)."""
    for i in range(t.places.shape[0]):
        for j in range(t.places.shape[1]):
            if t.places[i, j] >= 0:
                t.q[t.places[i, j]] = angles[i, j]
    status = poses_kernel(t.tree, t.links, t.q, t.work)
    node_points(t.node_links, t.offsets, t.work, t.points)
    return status


@kernel
def foot_jacobians(t: LegTables) -> None:
    """J where feet were placed."""
    for i in range(t.joints.shape[0]):
        point = vec3(t.points, i, 0)
        for j in range(t.joints.shape[1]):
            k = t.joints[i, j]
            if k < 0:
                continue
            linear, angular = column_of_joint(t, k, point)
            for c in range(3):
                t.J[i, c, j] = linear[c]
            for c in range(3, t.J.shape[1]):
                t.J[i, c, j] = angular[c - 3]


@inlined
def column_of_joint(t: LegTables, k: int, point: Vec3) -> tuple[Vec3, Vec3]:
    """Velocity of a point and angular velocity at unit rate of joint k."""
    axis = axis_of(t.tree, t.work, k)
    if t.tree[k, layout.MOTION] == layout.LINEAR:
        return axis, (0.0, 0.0, 0.0)
    linear = cross(axis, minus(point, vec3(t.work, k, layout.ORIGIN)))
    if t.tree[k, layout.MOTION] != layout.ROTARY:
        linear = plus_scaled(linear, t.links[k, layout.PITCH], axis)
    return linear, axis


@kernel
def joint_rates(J: Array, velocities: Array, rates: Array, factor: Array) -> None:
    """J^T (J J^T + d^2)^-1 v of each leg, d where it is singular; `factor` is scratch."""
    rows = J.shape[1]
    x = factor[:, rows]
    for i in range(J.shape[0]):
        if not factor_square(J[i], 0.0, _SINGULAR * DAMPING * DAMPING, factor):
            factor_square(J[i], DAMPING * DAMPING, 0.0, factor)
        for r in range(rows):
            x[r] = velocities[i, r]
            for s in range(r):
                x[r] -= factor[r, s] * x[s]
            x[r] /= factor[r, r]
        for r in range(rows - 1, -1, -1):
            for s in range(r + 1, rows):
                x[r] -= factor[s, r] * x[s]
            x[r] /= factor[r, r]
        for j in range(J.shape[2]):
            rates[i, j] = 0.0
            for r in range(rows):
                rates[i, j] += J[i, r, j] * x[r]


@inlined
def factor_square(J: Array, damping: float, least: float, factor: Array) -> bool:
    """Cholesky's factor of J J^T + damping; False where a pivot is not above `least`."""
    for r in range(J.shape[0]):
        for s in range(r + 1):
            total = damping if r == s else 0.0
            for j in range(J.shape[1]):
                total += J[r, j] * J[s, j]
            for c in range(s):
                total -= factor[r, c] * factor[s, c]
            if s < r:
                factor[r, s] = total / factor[s, s]
            elif total > least:
                factor[r, r] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def largest_error(t: LegTables, wanted: Array, attitudes: Array) -> float:
    """Largest distance of a foot from where it is wanted, along an axis; writes all to `error`."""
    largest = 0.0
    for i in range(wanted.shape[0]):
        for c in range(3):
            t.error[i, c] = wanted[i, c] - t.points[i, c]
        if t.error.shape[1] > 3:
            now = mat3(t.work, t.node_links[i], layout.ROTATION)
            turn = turn_to(now, attitudes[i])
            for c in range(3):
                t.error[i, 3 + c] = turn[c]
        for c in range(t.error.shape[1]):
            largest = max(largest, abs(t.error[i, c]))
    return largest


@inlined
def turn_to(now: Mat3, wanted: Array) -> Vec3:
    """Rotation vector that turns one attitude into another, world axes."""
    x = wanted[0, 0], wanted[0, 1], wanted[0, 2]
    y = wanted[1, 0], wanted[1, 1], wanted[1, 2]
    z = wanted[2, 0], wanted[2, 1], wanted[2, 2]
    return turn_between(
        (
            (dot(x, now[0]), dot(x, now[1]), dot(x, now[2])),
            (dot(y, now[0]), dot(y, now[1]), dot(y, now[2])),
            (dot(z, now[0]), dot(z, now[1]), dot(z, now[2])),
        )
    )


@inlined
def step_to(t: LegTables, wanted: Array, attitudes: Array, found: Array, left: float) -> float:
    """A step along `rates` from `found`, halved until it comes nearer; what is left after it."""
    share = 1.0
    missed = math.inf
    for _ in range(_HALVINGS):
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                step = min(max(t.rates[i, j], -_STEP), _STEP)
                t.trial[i, j] = found[i, j] + share * step
        place_feet(t, t.trial)
        missed = largest_error(t, wanted, attitudes)
        if missed < left:
            break
        share *= 0.5
    return missed


@kernel
def reach(t: LegTables, wanted: Array, attitudes: Array, found: Array, rounds: int) -> float:
    """Damped Newton's method from the angles `found` while it comes nearer; what is left.

    Feet are at `found` after it.
    """
    place_feet(t, found)
    left = largest_error(t, wanted, attitudes)
    for _ in range(rounds):
        if left < _CLOSE:
            break
        foot_jacobians(t)
        joint_rates(t.J, t.error, t.rates, t.factor)
        missed = step_to(t, wanted, attitudes, found, left)
        if not missed < left:
            place_feet(t, found)
            break
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                found[i, j] = t.trial[i, j]
        left = missed
    return left


@held
def reach_for(t: LegTables, wanted: Array, attitudes: Array, found: Array, rounds: int) -> float:
    """The same for Python."""
    return reach(t, wanted, attitudes, found, rounds)
