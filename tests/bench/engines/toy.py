"""An engine as an outsider would write it: free flight by the semi-implicit rule, nothing else."""

from __future__ import annotations

import os

import numpy as np

from spatialops.bench.engines.engine import Contact, Motion
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.probes.probe import start
from spatialops.bench.engines.world import World


class Flight:
    name = "flight"
    module = "numpy"
    distribution = "numpy"

    def __init__(self, world: World, dt: float) -> None:
        if world.floor or any(body.hinge is not None for body in world.bodies):
            raise LeftOut("only free flight")
        self.dt = dt
        self.gravity = np.array(world.gravity)
        self.now = start(world)

    def step(self, count: int) -> None:
        for _ in range(count):
            velocities = self.now.velocities + self.dt * self.gravity
            places = self.now.positions + self.dt * velocities
            self.now = self.now._replace(positions=places, velocities=velocities)

    def motion(self) -> Motion:
        return self.now

    def contacts(self) -> list[Contact]:
        raise LeftOut("no contacts")


class Chatty(Flight):
    name = "chatty"

    def step(self, count: int) -> None:
        print("from Python")
        os.write(1, b"from C\n")
        super().step(count)


class Absent(Flight):
    name = "absent"
    module = "an_engine_that_nobody_has"
    distribution = "an-engine-that-nobody-has"
