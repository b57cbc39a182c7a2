"""Points of bodies that a controller asks for at every command, in one pass of kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import (
    _placed,
    jacobian_kernel,
    node_motion_kernel,
    node_points,
)
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.newton_euler import accelerate_kernel
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
        self.links, self.offsets = model.resolve(nodes)
        self._rest = np.zeros(model.nv)

    def rows(self, q: Array, v: Array) -> NodeRows:
        """What `jacobian`, `node_velocities` and `jacobian_drift` say of them at a state."""
        model, k = self.model, len(self.links)
        work = _placed(model, q)
        points, J = np.empty((k, 3)), np.empty((6 * k, model.nv))
        velocities, drift = np.empty((k, 6)), np.empty((k, 6))
        node_points(self.links, self.offsets, work, points)
        jacobian_kernel(model.tree, model.links, self.links, points, work, J)
        velocities_kernel(model.tree, model.links, v, work)
        accelerate_kernel(model.tree, model.links, (0.0, 0.0, 0.0), self._rest, work)
        node_motion_kernel(self.links, points, work, velocities, drift)
        return NodeRows(points, J.reshape(k, 6, model.nv), velocities, drift)
