"""A flat box on a floor or a slope: what laws of contact are told apart by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from spatialops._arrays import ArrayLike, array, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.fixed_shapes import HalfSpace
from spatialops.collision.shapes import Box, Geom
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

SIZE = (0.3, 0.3, 0.02)  # m
GRAVITY = 9.81  # m/s^2


@dataclass(frozen=True, eq=False)
class Puck:
    """A flat box of 1 kg that lies on a floor.

    Parameters
    ----------
    model : Model
        One free body, "puck".
    state : State
        Flat on the floor z = 0, with its velocity.
    """

    model: Model
    state: State

    def scene(self, *, friction: float = 0.3, **options: Unpack[SceneOptions]) -> Scene:
        """The puck on a floor, on which it rests with its four corners.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient. Default 0.3.
        **options
            Of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        floor = Geom("floor", "world", HalfSpace(), friction=friction)
        puck = Geom("puck", "puck", Box(SIZE), friction=friction)
        return Scene(self.model, [floor, puck], state=self.state, **options)


def puck(slope: float = 0.0, velocity: ArrayLike = (0.0, 0.0), *, spin: float = 0.0) -> Puck:
    """A flat box on a slope that falls along x; the slope leans by turning gravity.

    Parameters
    ----------
    slope : float
        rad. Default 0: a level floor.
    velocity : (2,) array_like
        Along x and y, m/s. Default: at rest.
    spin : float
        About the normal, rad/s. Default 0.

    Returns
    -------
    Puck
        Model and state.

    Raises
    ------
    ArgumentError
        For numbers that are not finite.

    Examples
    --------
    A puck thrown at 2 m/s stops after v / (mu g) = 0.68 s:

    >>> import spatialops as so
    >>> thrown = so.models.puck(velocity=(2.0, 0.0))
    >>> record = so.Simulator(thrown.scene(friction=0.3)).run(duration=0.7)
    >>> round(float(record.q[-1, 0]), 3), round(2.0**2 / (2.0 * 0.3 * 9.81), 3)
    (0.68, 0.68)
    """
    lean = scalar(slope, "slope")
    given = array(velocity, (2,), "velocity", finite=True)
    turn = scalar(spin, "spin")
    builder = TreeBuilder(gravity=GRAVITY * np.array([np.sin(lean), 0.0, -np.cos(lean)]))
    builder.add_body("puck", joint=Joint("free"), inertia=Inertia.box(SIZE, mass=1.0))
    model = builder.build()
    q, v = model.neutral(), np.zeros(6)
    q[2] = 0.5 * SIZE[2]
    v[2] = turn
    v[3:5] = given
    return Puck(model, State(q, v))
