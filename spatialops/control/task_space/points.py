"""Points of bodies that a controller asks for at every command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import jacobian, node_motion, node_positions
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
    """

    points: Array
    J: Array
    velocities: Array
    drift: Array


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
        self.nodes = model.resolve(nodes)
        self._rest = np.zeros(model.nv)

    def rows(self, q: Array, v: Array) -> NodeRows:
        """What `jacobian`, `node_velocities` and `jacobian_drift` say of them at a state."""
        model, nodes = self.model, self.nodes
        J = jacobian(model, q, nodes).reshape(-1, 6, model.nv)
        velocities, drift = node_motion(model, q, v, self._rest, nodes)
        return NodeRows(node_positions(model, q, nodes), J, velocities, drift)
