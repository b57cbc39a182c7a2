"""Points of bodies that a controller asks for at every command, in one pass of kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import ZERO3
from spatialops.dynamics.jacobian import jacobian_kernel, node_motion_kernel, node_points
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.newton_euler import carried_acceleration, put_acceleration
from spatialops.tree.model import Model
from spatialops.tree.node import Node


class NodeRows(NamedTuple):
    """Motion of nodes at a state, [angular; linear] in world axes.

    Parameters
    ----------
    points : (k, 3) array
        Places, m.
    J : (k, 6, nv) array
        Jacobian.
    velocities, drift : (k, 6) arrays
        J v and Jdot v.
    axes : (k, 3, 3) array
        Rotations of the links that carry them; of the world's nothing is said.
    """

    points: Array
    J: Array
    velocities: Array
    drift: Array
    axes: Array


class Points:
    """Nodes of one model.

    Parameters
    ----------
    model : Model
        The mechanism.
    nodes : sequence of Node
        Points on its bodies.
    """

    def __init__(self, model: Model, nodes: Sequence[Node]) -> None:
        self.model = model
        self.links, self.offsets = model.resolve(nodes)

    def rows(self, q: Array, v: Array) -> NodeRows:
        """What `jacobian`, `node_velocities` and `jacobian_drift` say of them at a state."""
        model, k = self.model, len(self.links)
        q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
        work, points = model.workspace(), np.empty((k, 3))
        J, moves = np.empty((6 * k, model.nv)), np.empty((2, k, 6))
        own = self.links, self.offsets
        status = rows_of_nodes(model.tree, model.links, q, v, *own, work, points, J, moves)
        if status != layout.OK:
            raise not_finite(q=q)
        axes = work[self.links, layout.ROTATION : layout.ROTATION + 9].reshape(k, 3, 3)
        model.spare.append(work)
        return NodeRows(points, J.reshape(k, 6, model.nv), moves[0], moves[1], axes)


@kernel
def rows_of_nodes(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    points: Array,
    J: Array,
    moves: Array,
) -> int:
    """Places, Jacobian, and velocities and drifts (2, k, 6) of nodes; poses stay in `work`."""
    status = poses_kernel(tree, links, q, work)
    node_points(node_links, offsets, work, points)
    jacobian_kernel(tree, links, node_links, points, work, J)
    put_drifts(tree, links, v, work)
    node_motion_kernel(node_links, points, work, moves[0], moves[1])
    return status


@kernel
def put_drifts(tree: IntArray, links: Array, v: Array, work: Array) -> None:
    """Velocities of all links, and what accelerations they cause; poses must be in `work`."""
    velocities_kernel(tree, links, v, work)
    for k in range(tree.shape[0]):
        alpha, accel = carried_acceleration(tree, ZERO3, work, k)
        put_acceleration(tree, links, work, k, alpha, accel, 0.0)
