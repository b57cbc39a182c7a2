"""Kernels of legs of three joints: where feet are, how joints move them, and back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import spatialops._layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross, minus, vec3
from spatialops.dynamics.kinematics import axis_of, poses_kernel
from spatialops.dynamics.nodes import node_points

DAMPING = 1e-4  # m, of singular legs: keeps steps bounded where a leg is straight
_SINGULAR = 100.0  # times the damping, squared: a leg that is less regular is damped
_CLOSE = 1e-13  # m; feet that are nearer to where they ought to be are there
_STEP = 0.3  # rad; a joint is turned by no more at once


class LegTables(NamedTuple):
    """A model, its legs, and memory for kernels to work in.

    Attributes
    ----------
    tree, links : arrays
        Of the model.
    q : (nq,) array
        Coordinates, the base's neutral.
    places, joints : (legs, 3) int arrays
        Of the legs' joints in q and in v.
    node_links, offsets : (legs,) and (legs, 3) arrays
        The feet.
    work : (nv, 64) array
        Scratch.
    points, error, rates, trial : (legs, 3) arrays
        Where feet are, what is missing; rates; angles that are tried.
    J : (legs, 3, 3) array
        m per rad.
    """

    tree: IntArray
    links: Array
    q: Array
    places: IntArray
    joints: IntArray
    node_links: IntArray
    offsets: Array
    work: Array
    points: Array
    error: Array
    rates: Array
    trial: Array
    J: Array


Arrays = tuple[Any, ...]  # those of `LegTables`: a plain tuple is faster on its way in


@kernel
def feet_at(tables: Arrays, angles: Array) -> int:
    """Where the feet are at joint angles (legs, 3), and how joints move them."""
    t = LegTables(*tables)
    status = place_feet(t, angles)
    foot_jacobians(t)
    return status


@kernel
def place_feet(t: LegTables, angles: Array) -> int:
    """Points of the feet at joint angles (legs, 3)."""
    for i in range(angles.shape[0]):
        for j in range(3):
            t.q[t.places[i, j]] = angles[i, j]
    status = poses_kernel(t.tree, t.links, t.q, t.work)
    node_points(t.node_links, t.offsets, t.work, t.points)
    return status


@kernel
def foot_jacobians(t: LegTables) -> None:
    """J where feet were placed."""
    for i in range(t.joints.shape[0]):
        point = vec3(t.points, i, 0)
        for j in range(3):
            k = t.joints[i, j]
            column = axis_of(t.tree, t.work, k)
            if t.tree[k, layout.MOTION] != layout.LINEAR:
                axis = column
                column = cross(axis, minus(point, vec3(t.work, k, layout.ORIGIN)))
                if t.tree[k, layout.MOTION] != layout.ROTARY:
                    pitch = t.links[k, layout.PITCH]
                    column = (
                        column[0] + pitch * axis[0],
                        column[1] + pitch * axis[1],
                        column[2] + pitch * axis[2],
                    )
            for c in range(3):
                t.J[i, c, j] = column[c]


@kernel
def least_eigenvalue(a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    """Of [[a, d, e], [d, b, f], [e, f, c]], by its cubic (Smith, Comm. ACM 4, 1961)."""
    mean = (a + b + c) / 3.0
    off = d * d + e * e + f * f
    x = a - mean
    y = b - mean
    z = c - mean
    p = math.sqrt((x * x + y * y + z * z + 2.0 * off) / 6.0)
    if p == 0.0:
        return mean
    r = 0.5 * (x * (y * z - f * f) - d * (d * z - f * e) + e * (d * f - y * e)) / (p * p * p)
    angle = math.acos(min(max(r, -1.0), 1.0)) / 3.0
    return mean + 2.0 * p * math.cos(angle + 2.0 * math.pi / 3.0)


@kernel
def joint_rates(J: Array, velocities: Array, rates: Array) -> None:
    """J^T (J J^T + d^2)^-1 v of each leg, d where it is singular."""
    for i in range(J.shape[0]):
        a = J[i, 0, 0] * J[i, 0, 0] + J[i, 0, 1] * J[i, 0, 1] + J[i, 0, 2] * J[i, 0, 2]
        b = J[i, 1, 0] * J[i, 1, 0] + J[i, 1, 1] * J[i, 1, 1] + J[i, 1, 2] * J[i, 1, 2]
        c = J[i, 2, 0] * J[i, 2, 0] + J[i, 2, 1] * J[i, 2, 1] + J[i, 2, 2] * J[i, 2, 2]
        d = J[i, 0, 0] * J[i, 1, 0] + J[i, 0, 1] * J[i, 1, 1] + J[i, 0, 2] * J[i, 1, 2]
        e = J[i, 0, 0] * J[i, 2, 0] + J[i, 0, 1] * J[i, 2, 1] + J[i, 0, 2] * J[i, 2, 2]
        f = J[i, 1, 0] * J[i, 2, 0] + J[i, 1, 1] * J[i, 2, 1] + J[i, 1, 2] * J[i, 2, 2]
        if not least_eigenvalue(a, b, c, d, e, f) > _SINGULAR * DAMPING * DAMPING:
            a += DAMPING * DAMPING
            b += DAMPING * DAMPING
            c += DAMPING * DAMPING
        # Cholesky's factors of the symmetric matrix.
        l0 = math.sqrt(a)
        l1 = d / l0
        l2 = e / l0
        m1 = math.sqrt(b - l1 * l1)
        m2 = (f - l1 * l2) / m1
        n2 = math.sqrt(c - l2 * l2 - m2 * m2)
        x = velocities[i, 0] / l0
        y = (velocities[i, 1] - l1 * x) / m1
        z = (velocities[i, 2] - l2 * x - m2 * y) / n2
        z /= n2
        y = (y - m2 * z) / m1
        x = (x - l1 * y - l2 * z) / l0
        for j in range(3):
            rates[i, j] = J[i, 0, j] * x + J[i, 1, j] * y + J[i, 2, j] * z


@kernel
def largest_error(t: LegTables, wanted: Array) -> float:
    """Largest distance of a foot from where it is wanted, along an axis; writes all to `error`."""
    largest = 0.0
    for i in range(wanted.shape[0]):
        for j in range(3):
            t.error[i, j] = wanted[i, j] - t.points[i, j]
            largest = max(largest, abs(t.error[i, j]))
    return largest


@kernel
def reach_for(tables: Arrays, wanted: Array, found: Array, rounds: int) -> float:
    """Damped Newton's method from the angles `found` while it comes nearer; what is left, m."""
    t = LegTables(*tables)
    place_feet(t, found)
    left = largest_error(t, wanted)
    for _ in range(rounds):
        if left < _CLOSE:
            break
        foot_jacobians(t)
        joint_rates(t.J, t.error, t.rates)
        for i in range(found.shape[0]):
            for j in range(3):
                t.trial[i, j] = found[i, j] + min(max(t.rates[i, j], -_STEP), _STEP)
        place_feet(t, t.trial)
        missed = largest_error(t, wanted)
        if not missed < left:
            break
        for i in range(found.shape[0]):
            for j in range(3):
                found[i, j] = t.trial[i, j]
        left = missed
    return left
