"""Poses, velocities, Jacobians and their drift, at nodes: points fixed to bodies, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Mat3, not_finite, output, vector
from spatialops._compile.doors import FIXED, Size, door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    dot,
    mat3,
    plus,
    put3,
    put_mat3,
    rotate,
    times,
    vec3,
)
from spatialops.dynamics.kinematics import finite_status, pose_in_parent
from spatialops.dynamics.nodes import NODE_JACOBIAN, NODE_MOTION, NODE_POSITIONS, NODE_VELOCITIES
from spatialops.tree import sources
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike, Nodes, alien_nodes


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


@inlined
def put_turned_back(rotations: Array, b: int, rotation: Mat3, turns: Array, k: int) -> None:
    """Rotation of body b, R turn^T with R of its link k; most links are not turned."""
    if turns[k, 0, 0] == 1.0 and turns[k, 1, 1] == 1.0:
        for j in range(3):
            rotations[b, j, 0], rotations[b, j, 1], rotations[b, j, 2] = rotation[j]
        return
    for i in range(3):
        turn = turns[k, i, 0], turns[k, i, 1], turns[k, i, 2]
        for j in range(3):
            rotations[b, j, i] = dot(rotation[j], turn)


@kernel
def body_poses_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    body_links: IntArray,
    turns: Array,
    work: Array,
    positions: Array,
    rotations: Array,
) -> int:
    """Origins of bodies, and rotations R turn^T from those of their links.

    Poses go from link to link in registers, and through memory where branches meet.
    """
    if q.size != tree[0, layout.SIZE_Q] or work.shape[0] != tree.shape[0]:
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    rotation, origin = (ZERO3, ZERO3, ZERO3), ZERO3
    k = 0
    while k < tree.shape[0]:
        last, parent = k + tree[k, layout.GROUP] - 1, tree[k, layout.PARENT]
        own, lever = pose_in_parent(tree, links, q, k)
        if parent < 0:
            rotation, origin = own, lever
        else:
            if parent != k - 1:
                rotation = mat3(work, parent, layout.ROTATION)
                origin = vec3(work, parent, layout.ORIGIN)
            origin = plus(origin, rotate(rotation, lever))
            rotation = times(rotation, own)
        b = tree[last, layout.BODY]
        if b >= 0:  # else it carries nothing but the next axis of its joint
            put_mat3(work, last, layout.ROTATION, rotation)
            put3(work, last, layout.ORIGIN, origin)
            put3(positions, b, 0, origin)
            put_turned_back(rotations, b, rotation, turns, last)
        k = last + 1
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(body_poses_kernel, arguments)


_CALL = FastCall(body_poses_kernel, _entry)


@door(
    _CALL,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.BODY_LINKS,
    sources.TURNS,
    sources.HELD,
    results=[(Size(3), Size(FIXED, 3)), (Size(3), Size(FIXED, 3), Size(FIXED, 3))],
    classes=sources.OF_STATE,
    gives=Poses,
)
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
    n = model.n_bodies
    positions, rotations = np.empty((n, 3)), np.empty((n, 3, 3))
    tree, links = model.tree, model.links
    of, turns = model.body_links, model.turns
    try:
        status = _CALL.call(tree, links, q, of, turns, model.held, positions, rotations)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, work = vector(q, model.nq, "q"), np.empty((model.nv, layout.WORK_COLUMNS))
        status = _CALL.checked_call(tree, links, q, of, turns, work, positions, rotations)
    if status != layout.OK:
        raise not_finite(q=q)
    return Poses(positions, rotations)


@door(
    NODE_POSITIONS,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.NODE_LINKS,
    sources.OFFSETS,
    sources.HELD,
    sources.OUT,
    results=[(Size(3), Size(FIXED, 3))],
    classes=sources.OF_NODES,
)
def node_positions(
    model: Model, q: ArrayLike, nodes: Sequence[NodeLike] | Nodes, *, out: Array | None = None
) -> Array:
    """Where nodes are.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node, or what `model.resolve` returned for one
        Points of bodies.
    out : (n_c, 3) array, optional
        Where to write the result.

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
    ready = nodes if isinstance(nodes, Nodes) else model.resolve(nodes)
    tree, links = model.tree, model.links
    of, offsets = ready.links, ready.offsets
    points = np.empty((len(of), 3)) if out is None else out
    try:
        status = NODE_POSITIONS.call(tree, links, q, of, offsets, model.held, points)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, points = vector(q, model.nq, "q"), output(points, (len(of), 3))
        work = np.empty((model.nv, layout.WORK_COLUMNS))
        status = NODE_POSITIONS.checked_call(tree, links, q, of, offsets, work, points)
    if status != layout.OK:
        raise alien_nodes() if status == layout.MISFIT else not_finite(q=q)
    return points


@door(
    NODE_JACOBIAN,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.NODE_LINKS,
    sources.OFFSETS,
    sources.HELD,
    sources.OUT,
    results=[(Size(3, 6), Size(0))],
    classes=sources.OF_NODES,
)
def jacobian(
    model: Model, q: ArrayLike, nodes: Sequence[NodeLike] | Nodes, *, out: Array | None = None
) -> Array:
    """Jacobian of nodes: J v is their velocities.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node, or what `model.resolve` returned for one
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
    ready = nodes if isinstance(nodes, Nodes) else model.resolve(nodes)
    links, offsets = ready.links, ready.offsets
    J = np.empty((6 * len(links), model.nv)) if out is None else out
    try:
        status = NODE_JACOBIAN.call(model.tree, model.links, q, links, offsets, model.held, J)
    except TypeError:
        status = layout.MISFIT
    if not status:
        return J
    q, J = vector(q, model.nq, "q"), output(J, (6 * len(links), model.nv))
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    status = NODE_JACOBIAN.checked_call(model.tree, model.links, q, links, offsets, work, J)
    if status != layout.OK:
        raise alien_nodes() if status == layout.MISFIT else not_finite(q=q)
    return J


def node_motion(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    nodes: Sequence[NodeLike] | Nodes,
) -> Array:
    """Velocities and accelerations (2, n_c, 6) of nodes, as the functions below give them."""
    ready = nodes if isinstance(nodes, Nodes) else model.resolve(nodes)
    tree, links = model.tree, model.links
    of, offsets = ready.links, ready.offsets
    motion = np.empty((2, len(of), 6))
    try:
        status = NODE_MOTION.call(tree, links, q, v, a, of, offsets, model.held, motion)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q = vector(q, model.nq, "q")
        v = vector(v, model.nv, "v")
        a = vector(a, model.nv, "a")
        work = np.empty((model.nv, layout.WORK_COLUMNS))
        status = NODE_MOTION.checked_call(tree, links, q, v, a, of, offsets, work, motion)
    if status != layout.OK:
        raise alien_nodes() if status == layout.MISFIT else not_finite(q=q, v=v, a=a)
    return motion


@door(
    NODE_VELOCITIES,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.V,
    sources.NODE_LINKS,
    sources.OFFSETS,
    sources.HELD,
    sources.OUT,
    results=[(Size(4), Size(FIXED, 6))],
    classes=sources.OF_NODES,
)
def node_velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    nodes: Sequence[NodeLike] | Nodes,
    *,
    out: Array | None = None,
) -> Array:
    """Velocities of nodes: `jacobian` times v without forming it, in O(N + n_c).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    nodes : sequence of Node, or what `model.resolve` returned for one
        Points of bodies.
    out : (n_c, 6) array, optional
        Where to write the result.

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
    ready = nodes if isinstance(nodes, Nodes) else model.resolve(nodes)
    tree, links = model.tree, model.links
    of, offsets = ready.links, ready.offsets
    found = np.empty((len(of), 6)) if out is None else out
    try:
        status = NODE_VELOCITIES.call(tree, links, q, v, of, offsets, model.held, found)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
        found, work = output(found, (len(of), 6)), np.empty((model.nv, layout.WORK_COLUMNS))
        status = NODE_VELOCITIES.checked_call(tree, links, q, v, of, offsets, work, found)
    if status != layout.OK:
        raise alien_nodes() if status == layout.MISFIT else not_finite(q=q, v=v)
    return found


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
    nodes : sequence of Node, or what `model.resolve` returned for one
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
    return node_motion(model, q, v, a, nodes)[1]


def jacobian_drift(
    model: Model, q: ArrayLike, v: ArrayLike, nodes: Sequence[NodeLike] | Nodes
) -> Array:
    """The velocity-dependent part Jdot v of the nodes' accelerations.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    nodes : sequence of Node, or what `model.resolve` returned for one
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
    return node_motion(model, q, v, model.branches.rest, nodes)[1].ravel()
