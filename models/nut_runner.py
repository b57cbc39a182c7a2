"""An impact driver with a hexagonal socket on its spindle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from spatialops._arrays import scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Cylinder, Geom
from spatialops.models.impact_driver import ALONG_X, HOUSING_HEIGHT, ImpactDriver, impact_driver
from spatialops.models.lug_nut import APOTHEM, hexagon_walls
from spatialops.models.scene_options import SceneOptions
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

SPINDLE = (0.135, 0.0, HOUSING_HEIGHT)  # m, the chuck's end in the driver's frame
BOTTOM_THICKNESS, RECESS = 0.004, 0.030  # m: a stud that sticks out of its nut has room
LENGTH = BOTTOM_THICKNESS + RECESS  # m, of the socket
_WALL = 0.0035  # m
_MASS = 0.08  # kg
_ROTOR = 2e-5  # kg m^2, of the motor behind its gear


@dataclass(frozen=True, eq=False)
class NutRunner:
    """A driver that stands on its battery at the origin, its socket open towards +x.

    Parameters
    ----------
    model : Model
        "driver", a free body as `ImpactDriver` has it, and "socket" on the joint "socket", which
        turns about +x; the socket's frame is in the middle of the chuck's end.
    state : State
        At rest, standing on z = 0.
    play : float
        Between the flats of a nut and those of the socket, m.
    driver : ImpactDriver
        The driver without its socket.
    """

    model: Model
    state: State
    play: float
    driver: ImpactDriver

    def scene(
        self,
        extra: Sequence[Geom] = (),
        *,
        friction: float = 0.7,
        steel_friction: float = 0.15,
        **options: Unpack[SceneOptions],
    ) -> Scene:
        """The driver and `extra` geoms, which should give it something to stand on.

        Parameters
        ----------
        extra : sequence of Geom
            What else is there.
        friction, steel_friction : float
            Coulomb's coefficients of the driver and of its socket.
        **options
            `loops`, `include` and `pair_laws` of `Scene`.

        Returns
        -------
        Scene
            It starts at `state`.
        """
        own = self.driver.scene(friction=friction).geoms
        recess = hexagon_walls(APOTHEM + self.play, _WALL, RECESS)
        walls = [
            Geom(
                f"socket {i}",
                "socket",
                Box(size),
                position=place + np.array([BOTTOM_THICKNESS, 0.0, 0.0]),
                rotation=turn,
                friction=steel_friction,
            )
            for i, (size, turn, place) in enumerate(recess)
        ]
        bottom = Geom(
            "socket bottom",
            "socket",
            Cylinder(APOTHEM + self.play, BOTTOM_THICKNESS),
            position=(0.5 * BOTTOM_THICKNESS, 0.0, 0.0),
            rotation=ALONG_X,
            friction=steel_friction,
        )
        return Scene(self.model, [*own, bottom, *walls, *extra], state=self.state, **options)


def nut_runner(*, mass: float = 1.8, play: float = 3e-4) -> NutRunner:
    """A cordless driver for nuts of 19 mm.

    Parameters
    ----------
    mass : float
        Of the driver without its socket, kg. Default 1.8.
    play : float
        Between the flats of nut and socket, m. Default 0.3 mm.

    Returns
    -------
    NutRunner
        At rest, standing on z = 0.

    Raises
    ------
    ArgumentError
        For a mass or a play that is not positive.

    Examples
    --------
    >>> import spatialops as so
    >>> so.models.nut_runner().model.nv
    7
    """
    play = scalar(play, "play", low=0.0, strict=True)
    driver = impact_driver(mass=mass)
    socket = Inertia.cylinder(APOTHEM + _WALL, LENGTH, mass=_MASS).rotated(ALONG_X)
    builder = TreeBuilder().add_body("driver", joint=Joint("free"), inertia=driver.inertia)
    builder.add_body(
        "socket",
        parent="driver",
        joint=Joint("revolute", axis="x", armature=_ROTOR),
        inertia=socket.shifted((0.5 * LENGTH, 0.0, 0.0)),
        position=SPINDLE,
    )
    model = builder.build()
    q = np.concatenate([driver.state.q, [0.0]])
    return NutRunner(model, State(q, np.zeros(model.nv)), play, driver)
