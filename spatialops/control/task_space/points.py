"""Points of bodies that a controller asks for at every command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, instance, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.dynamics.nodes import node_jacobian_kernel, node_motion_kernel, node_points
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
        self.model = instance(model, Model, "model")
        self.links, self.offsets = model.resolve(nodes)
        alone = len(self.links) == 1 and self.links[0] >= 0
        # A slice is quicker than an index that is an array.
        self._one = slice(int(self.links[0]), int(self.links[0]) + 1) if alone else None
        self._rest = np.zeros(model.nv)

    def rows(self, q: Array, v: Array) -> NodeRows:
        """What `jacobian`, `node_velocities` and `jacobian_drift` say of them at a state."""
        model, k = self.model, len(self.links)
        q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
        work, points = model.workspace(), np.empty((k, 3))
        J, moves = np.empty((6 * k, model.nv)), np.empty((2, k, 6))
        state, own = (q, v, self._rest), (self.links, self.offsets)
        status = rows_of_nodes(model.tree, model.links, state, *own, work, points, J, moves)
        if status != layout.OK:
            raise not_finite(q=q, v=v)
        at = self.links if self._one is None else self._one
        axes = work[at, layout.ROTATION : layout.ROTATION + 9].reshape(k, 3, 3).copy()
        model.spare.append(work)
        return NodeRows(points, J.reshape(k, 6, model.nv), moves[0], moves[1], axes)


@kernel
def rows_of_nodes(
    tree: IntArray,
    links: Array,
    state: tuple[Array, Array, Array],
    node_links: IntArray,
    offsets: Array,
    work: Array,
    points: Array,
    J: Array,
    moves: Array,
) -> int:
    """Places, Jacobian, and velocities and drifts (2, k, 6) of nodes; poses stay in `work`.

    The state is q, v, and accelerations, which are none.
    """
    q, v, rest = state
    status = node_jacobian_kernel(tree, links, q, node_links, offsets, work, J)
    if status != layout.OK:
        return status
    node_points(node_links, offsets, work, points)
    return node_motion_kernel(tree, links, q, v, rest, node_links, offsets, work, moves)
