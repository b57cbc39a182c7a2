"""Fields: wrenches as functions of time and state, for `external=` of simulations.

Each is a function (time, state) that returns wrenches on nodes; write your own in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, three_numbers
from spatialops.dynamics.jacobian import body_poses, node_positions, node_velocities
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import NodeLike
from spatialops.tree.state import State


@dataclass(frozen=True, eq=False)
class ChangingGravity:
    """Gravity that changes: what it has more than the model's own.

    Parameters
    ----------
    model : Model
        On whose masses it acts.
    gravity : callable
        gravity(time) -> (3,) acceleration in world axes, m/s^2.

    Examples
    --------
    >>> import spatialops as so
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> model = so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build()
    >>> off = so.ChangingGravity(model, lambda time: (0.0, 0.0, 0.0))
    >>> record = so.Simulator(so.Scene(model)).run(duration=0.1, external=off)
    >>> bool(abs(record.final.v).max() < 1e-12)
    True
    """

    model: Model
    gravity: Callable[[float], ArrayLike]

    def __call__(self, time: float, state: State) -> Array:
        """Wrenches (n_bodies, 6) about the bodies' origins."""
        model = self.model
        more = three_numbers(self.gravity(time), "gravity", ArgumentError) - model.gravity
        rows = model.links[model.body_links]
        forces = rows[:, layout.MASS, None] * more
        rotations = body_poses(model, state.q).rotations @ model.turns[model.body_links]
        arms = np.einsum("bij,bj->bi", rotations, rows[:, layout.COM : layout.COM + 3])
        return np.hstack([np.cross(arms, forces), forces])


@dataclass(frozen=True, eq=False)
class Wind:
    """Drag of moving air or water on points of bodies: c |w - v| (w - v).

    Parameters
    ----------
    model : Model
        On whose bodies it acts.
    drag : mapping of body or node to float
        c = density x drag coefficient x area / 2, kg/m.
    wind : (3,) array_like or callable
        Velocity of the air in world axes, m/s, or wind(time, position) -> (3,).
    """

    model: Model
    drag: Mapping[NodeLike, float]
    wind: ArrayLike | Callable[[float, Array], ArrayLike] = (0.0, 0.0, 0.0)

    def __call__(self, time: float, state: State) -> dict[NodeLike, Array]:
        """Wrenches on the nodes."""
        nodes = list(self.drag)
        places = node_positions(self.model, state.q, nodes)
        moving = node_velocities(self.model, state.q, state.v, nodes)[:, 3:]
        wrenches = {}
        for node, place, velocity in zip(nodes, places, moving, strict=True):
            wind = self.wind(time, place) if callable(self.wind) else self.wind
            past = three_numbers(wind, "wind", ArgumentError) - velocity
            force = self.drag[node] * float(np.linalg.norm(past)) * past
            wrenches[node] = np.concatenate([np.zeros(3), force])
        return wrenches


@dataclass(frozen=True, eq=False)
class Buoyancy:
    """Lift of a liquid below a level on balls about points of bodies.

    Parameters
    ----------
    model : Model
        On whose bodies it acts.
    radii : mapping of body or node to float
        Of the balls, m.
    density : float
        Of the liquid, kg/m^3. Default 1000.
    level : float
        z of its surface, m. Default 0.
    """

    model: Model
    radii: Mapping[NodeLike, float]
    density: float = 1000.0
    level: float = 0.0

    def __call__(self, time: float, state: State) -> dict[NodeLike, Array]:
        """Wrenches on the nodes: the weight of the liquid that each ball takes the place of."""
        nodes = list(self.radii)
        places = node_positions(self.model, state.q, nodes)
        wrenches = {}
        for node, place in zip(nodes, places, strict=True):
            r = self.radii[node]
            depth = np.clip(self.level - place[2] + r, 0.0, 2.0 * r)
            volume = np.pi * depth * depth * (r - depth / 3.0)  # of a cap of this height
            lift = -self.density * volume * self.model.gravity
            wrenches[node] = np.concatenate([np.zeros(3), lift])
        return wrenches
