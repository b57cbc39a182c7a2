"""MuJoCo's `mj_step` with its default solver, integrator, tolerances and contact softness."""

from __future__ import annotations

import numpy as np

from spatialops.bench.contacts.engines import MuJoCo as Loop
from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.scene import motion_of, scene_of
from spatialops.bench.engines.world import World


class MuJoCo:
    """As `Engine` says; contacts are soft, and have no coefficient of restitution."""

    name = "mujoco"
    module = "mujoco"
    distribution = "mujoco"

    def __init__(self, world: World, dt: float) -> None:
        if world.restitution:
            raise LeftOut("no coefficient of restitution")
        self.world = world
        self.scene = scene_of(world)
        self.loop = Loop(self.scene, dt)

    def step(self, count: int) -> None:
        """Go on by so many steps."""
        self.loop.run(count)

    def motion(self) -> Motion:
        """Where everything is."""
        return motion_of(self.world, self.scene, self.loop.state)

    def contacts(self) -> list[Contact]:
        """Contacts of the last step; bodies are numbered from 1 there, the world is 0."""
        model, data = self.loop.twin.model, self.loop.data
        bodies = model.geom_bodyid - 1
        found, force = [], np.zeros(6)
        for i in range(data.ncon):
            self.loop.lib.mj_contactForce(model, data, i, force)
            contact = data.contact[i]
            # Along a frame whose first axis points from the first geom to the second.
            on_second = contact.frame.reshape(3, 3).T @ force[:3]
            first, second = bodies[list(contact.geom)].tolist()
            found.append(Contact(second, first, on_second))
        return found
