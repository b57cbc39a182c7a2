"""A body pulled by a point: a spring from where it was grabbed to where the hand is.

The spring is critically damped for the mass that the point has for the hand, 3 / trace of the
linear block of Lambda = J M^-1 J^T ([J]): light and heavy things follow alike, whatever hangs on
them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.jacobian import body_poses, node_positions, node_velocities
from spatialops.forces.external import Field, Wrenches
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

_RATE = 8.0  # rad/s of the spring: it follows within half a second
_FIRMEST = 0.2  # of a radian within a step: beyond, the spring is explicit no more
_FREE = 1e-12  # 1/kg: below, the point cannot be moved


class Grip(NamedTuple):
    """A grabbed point, in the frame of the body, and where the hand is in the world, m."""

    node: Node
    hand: Array


def grip_at(model: Model, q: Array, body: int, place: Array) -> Grip:
    """A moving body grabbed at a place of the world."""
    poses = body_poses(model, q)
    point = poses.rotations[body].T @ (place - poses.positions[body])
    return Grip(Node(body, tuple(point.tolist())), place)


def pulling(model: Model, grip: Grip, q: Array, dt: float) -> Field:
    """The spring as a field of forces for steps of `dt`, its mass as it is at `q`."""
    lam = compliance(model, q, [grip.node])[3:, 3:]
    ease = float(np.trace(lam)) / 3.0
    mass = 1.0 / ease if ease > _FREE else 0.0
    rate = min(_RATE, _FIRMEST / dt)

    def field(time: float, state: State) -> Wrenches:
        place = node_positions(model, state.q, [grip.node])[0]
        speed = node_velocities(model, state.q, state.v, [grip.node])[0, 3:]
        force = mass * (rate * rate * (grip.hand - place) - 2.0 * rate * speed)
        return {grip.node: np.concatenate([np.zeros(3), force])}

    return field
