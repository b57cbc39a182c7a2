"""Poses, velocities, Jacobians and their drift, at nodes: points fixed to bodies, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, not_finite, output, vector
from spatialops._jit import kernel
from spatialops._layout import (
    ACCEL,
    ALPHA,
    LINEAR,
    MOTION,
    OK,
    OMEGA,
    ORIGIN,
    PARENT,
    PITCH,
    ROTARY,
    ROTATION,
    WORK_COLUMNS,
)
from spatialops.algebra.vectors import ZERO3, cross, mat3, minus, plus, plus_scaled, put3, rotate, vec3
from spatialops.dynamics.kinematics import axis_of, finite_status, poses_kernel, shift_velocity, velocities_kernel
from spatialops.dynamics.newton_euler import accelerate_kernel
from spatialops.tree.model import Model


class Poses(NamedTuple):
    """Origins (n_bodies, 3), m, and rotations (n_bodies, 3, 3) of the bodies' frames in the world."""

    positions: Array
    rotations: Array


@kernel
def jacobian_kernel(tree: IntArray, links: Array, node_links: IntArray, points: Array, work: Array, out: Array) -> None:
    """Jacobian rows of nodes at world `points`; poses must be in `work`."""
    out[:] = 0.0
    for i in range(node_links.size):
        point, k = vec3(points, i, 0), node_links[i]
        while k >= 0:
            axis, motion = axis_of(tree, work, k), tree[k, MOTION]
            linear = ZERO3
            if motion != LINEAR:
                linear = cross(axis, minus(point, vec3(work, k, ORIGIN)))
                for j in range(3):
                    out[6 * i + j, k] = axis[j]
            if motion != ROTARY:
                linear = plus_scaled(linear, 1.0 if motion == LINEAR else links[k, PITCH], axis)
            for j in range(3):
                out[6 * i + 3 + j, k] = linear[j]
            k = tree[k, PARENT]


@kernel
def node_points(node_links: IntArray, offsets: Array, work: Array, points: Array) -> None:
    """World positions of nodes from their offsets in link axes (in world axes for the world's nodes)."""
    for i in range(node_links.size):
        k, point = node_links[i], vec3(offsets, i, 0)
        if k >= 0:
            point = plus(vec3(work, k, ORIGIN), rotate(mat3(work, k, ROTATION), point))
        put3(points, i, 0, point)


@kernel
def node_motion_kernel(node_links: IntArray, points: Array, work: Array, velocity: Array, drift: Array) -> None:
    """Velocities and accelerations [angular; linear] of nodes from those of their links in `work`."""
    for i in range(node_links.size):
        k = node_links[i]
        if k < 0:
            for j in range(6):
                velocity[i, j] = drift[i, j] = 0.0
            continue
        lever, omega, alpha = (
            minus(vec3(points, i, 0), vec3(work, k, ORIGIN)),
            vec3(work, k, OMEGA),
            vec3(work, k, ALPHA),
        )
        put3(velocity, i, 0, omega)
        put3(velocity, i, 3, shift_velocity(work, k, lever))
        put3(drift, i, 0, alpha)
        swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
        put3(drift, i, 3, plus(vec3(work, k, ACCEL), swing))


def _placed(model: Model, q: Array) -> Array:
    q = vector(q, model.nq, "q")
    work = np.empty((model.nv, WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != OK:
        raise not_finite(q=q)
    return work


def body_poses(model: Model, q: Array) -> Poses:
    """Where the bodies are.

    Parameters
    ----------
    model : Model
    q : (nq,) array

    Returns
    -------
    Poses
        positions (n_bodies, 3) in m and rotations (n_bodies, 3, 3); a point x of body b lies at positions[b] +
        rotations[b] @ x.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    """
    rows = _placed(model, q)[model.body_links]
    turns = model.turns[model.body_links]
    rotations = rows[:, ROTATION : ROTATION + 9].reshape(-1, 3, 3) @ turns.transpose(0, 2, 1)
    return Poses(rows[:, ORIGIN : ORIGIN + 3].copy(), rotations)


def node_positions(model: Model, q: Array, nodes: Sequence[Any]) -> Array:
    """World positions (n_c, 3), m, of nodes."""
    node_links, offsets = model.resolve(nodes)
    points = np.empty((len(node_links), 3))
    node_points(node_links, offsets, _placed(model, q), points)
    return points


def jacobian(model: Model, q: Array, nodes: Sequence[Any], *, out: Array | None = None) -> Array:
    """Jacobian of nodes: rows 6 i .. 6 i + 5 map v to the velocity [angular; linear] of node i, in world axes.

    Parameters
    ----------
    model : Model
    q : (nq,) array
    nodes : sequence of Node
    out : (6 n_c, nv) array, optional

    Returns
    -------
    (6 n_c, nv) array

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    References
    ----------
    [J] equation 61: J = B* phi* H*.
    """
    node_links, offsets = model.resolve(nodes)
    work = _placed(model, q)
    points, result = np.empty((len(node_links), 3)), output(out, (6 * len(node_links), model.nv))
    node_points(node_links, offsets, work, points)
    jacobian_kernel(model.tree, model.links, node_links, points, work, result)
    return result


def _moving(model: Model, q: Array, v: Array, a: Array, nodes: Sequence[Any]) -> tuple[Array, Array]:
    node_links, offsets = model.resolve(nodes)
    work, v, a = _placed(model, q), vector(v, model.nv, "v"), vector(a, model.nv, "a")
    if finite_status(v) != OK or finite_status(a) != OK:
        raise not_finite(v=v, a=a)
    points = np.empty((len(node_links), 3))
    velocity, acceleration = np.empty((len(node_links), 6)), np.empty((len(node_links), 6))
    node_points(node_links, offsets, work, points)
    velocities_kernel(model.tree, model.links, v, work)
    accelerate_kernel(model.tree, model.links, (0.0, 0.0, 0.0), a, work)
    node_motion_kernel(node_links, points, work, velocity, acceleration)
    return velocity, acceleration


def node_velocities(model: Model, q: Array, v: Array, nodes: Sequence[Any]) -> Array:
    """Velocities (n_c, 6) [angular; linear] of nodes, world axes: jacobian(...) @ v without forming it, O(N + n_c)."""
    return _moving(model, q, v, np.zeros(model.nv), nodes)[0]


def node_accelerations(model: Model, q: Array, v: Array, a: Array, nodes: Sequence[Any]) -> Array:
    """Accelerations (n_c, 6) [angular; linear] of nodes: J a + Jdot v."""
    return _moving(model, q, v, a, nodes)[1]


def jacobian_drift(model: Model, q: Array, v: Array, nodes: Sequence[Any]) -> Array:
    """The velocity-dependent part Jdot v of the nodes' accelerations, (6 n_c,) ([J] equation 52)."""
    return _moving(model, q, v, np.zeros(model.nv), nodes)[1].ravel()
