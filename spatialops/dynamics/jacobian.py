"""Poses, velocities, Jacobians and their drift, at nodes: points fixed to bodies, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, not_finite, output, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    vec3,
)
from spatialops.dynamics.kinematics import (
    axis_of,
    finite_status,
    poses_kernel,
    shift_velocity,
    velocities_kernel,
)
from spatialops.dynamics.newton_euler import accelerate_kernel
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike


class Poses(NamedTuple):
    """Where the bodies' frames are in the world.

    Parameters
    ----------
    positions : (n_bodies, 3) array
        Origins, m.
    rotations : (n_bodies, 3, 3) array
        Matrices that take components in the body's frame to components in the world.
    """

    positions: Array
    rotations: Array


@kernel
def jacobian_kernel(
    tree: IntArray, links: Array, node_links: IntArray, points: Array, work: Array, out: Array
) -> None:
    """Jacobian rows of nodes at world `points`; poses must be in `work`."""
    out[:] = 0.0
    for i in range(node_links.size):
        point, k = vec3(points, i, 0), node_links[i]
        while k >= 0:
            axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
            linear = ZERO3
            if motion != layout.LINEAR:
                linear = cross(axis, minus(point, vec3(work, k, layout.ORIGIN)))
                for j in range(3):
                    out[6 * i + j, k] = axis[j]
            if motion != layout.ROTARY:
                linear = plus_scaled(
                    linear, 1.0 if motion == layout.LINEAR else links[k, layout.PITCH], axis
                )
            for j in range(3):
                out[6 * i + 3 + j, k] = linear[j]
            k = tree[k, layout.PARENT]


@kernel
def node_points(node_links: IntArray, offsets: Array, work: Array, points: Array) -> None:
    """World positions of nodes from their offsets in link axes (the world's nodes: world axes)."""
    for i in range(node_links.size):
        k, point = node_links[i], vec3(offsets, i, 0)
        if k >= 0:
            point = plus(
                vec3(work, k, layout.ORIGIN), rotate(mat3(work, k, layout.ROTATION), point)
            )
        put3(points, i, 0, point)


@kernel
def node_motion_kernel(
    node_links: IntArray, points: Array, work: Array, velocity: Array, drift: Array
) -> None:
    """Velocities and accelerations [angular; linear] of nodes from their links' in `work`."""
    for i in range(node_links.size):
        k = node_links[i]
        if k < 0:
            for j in range(6):
                velocity[i, j] = drift[i, j] = 0.0
            continue
        lever = minus(vec3(points, i, 0), vec3(work, k, layout.ORIGIN))
        omega = vec3(work, k, layout.OMEGA)
        alpha = vec3(work, k, layout.ALPHA)
        put3(velocity, i, 0, omega)
        put3(velocity, i, 3, shift_velocity(work, k, lever))
        put3(drift, i, 0, alpha)
        swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
        put3(drift, i, 3, plus(vec3(work, k, layout.ACCEL), swing))


def _placed(model: Model, q: ArrayLike) -> Array:
    q = vector(q, model.nq, "q")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != layout.OK:
        raise not_finite(q=q)
    return work


def body_poses(model: Model, q: ArrayLike) -> Poses:
    """Where the bodies are.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    Poses
        positions (n_bodies, 3) in m and rotations (n_bodies, 3, 3); a point x of body b lies at
        positions[b] + rotations[b] @ x.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> poses = so.body_poses(model, [0.1, 0.2])
    >>> tip = (0.0, 0.0, -0.5)
    >>> there = poses.positions[1] + poses.rotations[1] @ tip
    >>> bool(np.allclose(there, so.node_positions(model, [0.1, 0.2], [so.Node("link2", tip)])))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    rows = _placed(model, q)[model.body_links]
    turns = model.turns[model.body_links]
    rotations = rows[:, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3) @ turns.transpose(
        0, 2, 1
    )
    return Poses(rows[:, layout.ORIGIN : layout.ORIGIN + 3].copy(), rotations)


def node_positions(model: Model, q: ArrayLike, nodes: Sequence[NodeLike]) -> Array:
    """Where nodes are.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node
        Points of bodies.

    Returns
    -------
    (n_c, 3) array
        In the world, m.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    Examples
    --------
    >>> import spatialops as so
    >>> pendulum = so.models.pendulum(2)
    >>> so.node_positions(pendulum.model, [0.0, 0.0], [so.Node("link1")]).round(6)
    array([[ 0.,  0., 10.]])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    node_links, offsets = model.resolve(nodes)
    points = np.empty((len(node_links), 3))
    node_points(node_links, offsets, _placed(model, q), points)
    return points


def jacobian(
    model: Model, q: ArrayLike, nodes: Sequence[NodeLike], *, out: Array | None = None
) -> Array:
    """Jacobian of nodes: J v is their velocities.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node
        Points of bodies.
    out : (6 n_c, nv) array, optional
        Where to write the result.

    Returns
    -------
    (6 n_c, nv) array
        Rows 6 i to 6 i + 5 map v to the velocity [angular; linear] of node i, in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    References
    ----------
    [J] equation 61: J = B* phi* H*.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, tip = so.models.pendulum(2).model, [so.Node("link2", (0.0, 0.0, -1.0))]
    >>> J = so.jacobian(model, [0.1, 0.2], tip)
    >>> bool(np.allclose(J @ [1.0, 2.0], so.node_velocities(model, [0.1, 0.2], [1.0, 2.0], tip)[0]))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    node_links, offsets = model.resolve(nodes)
    work = _placed(model, q)
    points, result = np.empty((len(node_links), 3)), output(out, (6 * len(node_links), model.nv))
    node_points(node_links, offsets, work, points)
    jacobian_kernel(model.tree, model.links, node_links, points, work, result)
    return result


def _moving(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, nodes: Sequence[NodeLike]
) -> tuple[Array, Array]:
    node_links, offsets = model.resolve(nodes)
    work = _placed(model, q)
    v = vector(v, model.nv, "v")
    a = vector(a, model.nv, "a")
    if finite_status(v) != layout.OK or finite_status(a) != layout.OK:
        raise not_finite(v=v, a=a)
    points = np.empty((len(node_links), 3))
    velocity, acceleration = np.empty((len(node_links), 6)), np.empty((len(node_links), 6))
    node_points(node_links, offsets, work, points)
    velocities_kernel(model.tree, model.links, v, work)
    accelerate_kernel(model.tree, model.links, (0.0, 0.0, 0.0), a, work)
    node_motion_kernel(node_links, points, work, velocity, acceleration)
    return velocity, acceleration


def node_velocities(model: Model, q: ArrayLike, v: ArrayLike, nodes: Sequence[NodeLike]) -> Array:
    """Velocities of nodes: `jacobian` times v without forming it, in O(N + n_c).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    nodes : sequence of Node
        Points of bodies.

    Returns
    -------
    (n_c, 6) array
        [angular (rad/s); linear (m/s)], in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.TreeBuilder().add_body(
    ...     "wheel", joint=so.Joint("revolute", axis="z"), inertia=so.Inertia.sphere(0.5, mass=1.0)
    ... ).build()
    >>> rim = [so.Node("wheel", (0.5, 0.0, 0.0))]
    >>> so.node_velocities(model, q=[0.0], v=[2.0], nodes=rim)
    array([[0., 0., 2., 0., 1., 0.]])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    return _moving(model, q, v, np.zeros(model.nv), nodes)[0]


def node_accelerations(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, nodes: Sequence[NodeLike]
) -> Array:
    """Accelerations of nodes, J a + Jdot v.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    a : (nv,) array_like
        Their time derivatives.
    nodes : sequence of Node
        Points of bodies.

    Returns
    -------
    (n_c, 6) array
        [angular (rad/s^2); linear (m/s^2)], in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    return _moving(model, q, v, a, nodes)[1]


def jacobian_drift(model: Model, q: ArrayLike, v: ArrayLike, nodes: Sequence[NodeLike]) -> Array:
    """The velocity-dependent part Jdot v of the nodes' accelerations.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    nodes : sequence of Node
        Points of bodies.

    Returns
    -------
    (6 n_c,) array
        Six numbers a node, [angular; linear], in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    References
    ----------
    [J] equation 52.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    return _moving(model, q, v, np.zeros(model.nv), nodes)[1].ravel()
