"""Our compiled loop with default options."""

from __future__ import annotations

import numpy as np

from spatialops.bench.contacts.engines import Ours as Loop
from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.scene import motion_of, scene_of
from spatialops.bench.engines.world import World
from spatialops.simulation.stepping.adapter import acting


class Ours:
    """As `Engine` says; forces are the impulses of the last contact problem over the step."""

    name = "spatialops"
    module = "spatialops"
    distribution = "spatialops"

    def __init__(self, world: World, dt: float) -> None:
        self.world = world
        self.loop = Loop(scene_of(world), dt)

    def step(self, count: int) -> None:
        """Go on by so many steps."""
        self.loop.run(count)

    def motion(self) -> Motion:
        """Where everything is."""
        return motion_of(self.world, self.loop.simulator.scene, self.loop.state)

    def contacts(self) -> list[Contact]:
        """Contacts of the last step."""
        scene = self.loop.simulator.scene
        # By link, and behind all of them, at -1, the world.
        bodies = np.full(len(scene.model.links) + 1, -1)
        bodies[scene.model.body_links] = np.arange(scene.model.n_bodies)
        found = acting(self.loop.tables)
        forces = found.world_impulses / self.loop.simulator.dt
        return [
            Contact(int(first), int(second), force)
            for (first, second), force in zip(bodies[found.links], forces, strict=True)
        ]
