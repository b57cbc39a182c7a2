"""Two engines that go on from where they are: our compiled loop, and `mj_step`.

Both keep their warm starts from call to call, as in a run, and ours tables that are described once,
as runs and steppers do. What `Simulator.run` does beside the
loop (a record in chunks) is left out, what the loop does for it (contacts written down at every
step) is not.
"""

from __future__ import annotations

from time import thread_time

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.stage import below
from spatialops.bench.contacts.twin import Twin
from spatialops.simulation import _layout as at
from spatialops.simulation.options import LawName
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import acting, load_state
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import advance_held
from spatialops.simulation.stepping.record_rows import start
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.time_methods import TimeStepping
from spatialops.tree.state import State

_NEVER = 1 << 40  # steps between rows of the record
_ROWS = 16


class Ours:
    """Our loop with default options but for law and sleep, and what it says of its own steps.

    Attributes
    ----------
    residual : float
        Worst of all contact problems so far.
    depth : float
        Largest penetration so far, m.
    above : int
        Calls with a residual above 1e-9.
    """

    def __init__(
        self, scene: Scene, dt: float, law: LawName = "coulomb", *, sleep: bool = True
    ) -> None:
        time = TimeStepping(sleep=sleep)
        self.simulator = Simulator(scene, dt=dt, law=law, certify="off", time=time)
        stepping = self.simulator.stepping
        stepping.external.begin()
        self.loop = HeldLoop(
            stepping, stepping.tables(steps=(_ROWS, _ROWS)), np.full(at.LIMITS, np.inf)
        )
        self.begin()
        _load(self.loop)
        self.residual = self.depth = 0.0
        self.above = 0

    def begin(self) -> None:
        """At the scene's state, with nothing remembered."""
        scene = self.simulator.scene
        load_state(self.tables, scene.state, np.zeros(scene.model.nv), 0)
        self.tables.control[[at.EVERY, at.LOOKED]] = _NEVER, 0
        start(self.tables)
        self._empty(self.tables)

    def _empty(self, t: Tables) -> None:
        t.control[[at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]] = 0

    @property
    def tables(self) -> Tables:
        """Those of the loop: they grow."""
        return self.loop.tables

    def run(self, steps: int) -> float:
        """So many steps; their seconds of this thread."""
        self.tables.control[at.STEPS_LEFT] = steps
        begin = thread_time()
        try:
            self.loop.advance(emptied=self._empty)
        finally:
            spent = thread_time() - begin
            self._note(self.tables)
        return spent

    def _note(self, t: Tables) -> None:
        """Take what the monitors saw, and empty the record."""
        self.residual = max(self.residual, float(t.monitor[at.RESIDUAL]))
        self.above += bool(t.monitor[at.RESIDUAL] > 1e-9)
        self.depth = max(self.depth, -float(t.monitor[at.LOWEST_GAP]))
        t.monitor[[at.RESIDUAL, at.LOWEST_GAP]] = 0.0
        self._empty(t)

    @property
    def state(self) -> State:
        """Where it is."""
        t = self.tables
        return State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))

    def push(self, tau: Array) -> None:
        """Joint forces from now on."""
        self.tables.tau[:] = tau

    @property
    def contacts(self) -> int:
        """Contacts of geoms that acted last."""
        return len(acting(self.tables))

    @property
    def normal_force(self) -> float:
        """Sum of the normal impulses that acted last over the step, N."""
        return float(acting(self.tables).impulses[:, 0].sum() / self.simulator.dt)

    @property
    def counts(self) -> dict[str, int]:
        """Problems solved, those answered by pivoting, and those by the ladder outside."""
        control = self.tables.control
        return {
            "solves": int(control[at.SOLVES]),
            "pivoted": int(control[at.PIVOTED]),
            "fallbacks": self.simulator.fallbacks,
        }


def _load(loop: HeldLoop) -> None:
    """Read all parts of the loop from the cache, or compile them, before anything is measured."""
    loop.tables.control[at.STEPS_LEFT] = 0
    loop.advance()  # whatever is below it is told of what types the tables are
    for part in below(advance_held):
        part.compile()


class MuJoCo:
    """`mj_step` with its default solver, tolerances and integrator."""

    def __init__(self, scene: Scene, dt: float) -> None:
        self.twin = Twin(scene, dt)
        self.lib = self.twin.lib
        self.data = self.lib.MjData(self.twin.model)
        self.twin.put_state(self.data, scene.state)
        self.lib.mj_forward(self.twin.model, self.data)
        self.depth = 0.0

    def run(self, steps: int) -> float:
        """So many steps; their seconds of this thread."""
        begin = thread_time()
        self.lib.mj_step(self.twin.model, self.data, nstep=steps)
        spent = thread_time() - begin
        if self.data.ncon:
            self.depth = max(self.depth, -float(np.min(self.data.contact.dist)))
        return spent

    @property
    def state(self) -> State:
        """Where it is, in our coordinates."""
        return self.twin.state(self.data)

    def push(self, tau: Array) -> None:
        """Joint forces from now on."""
        self.twin.put_forces(self.data, tau)

    @property
    def contacts(self) -> int:
        """Contacts of the last step."""
        return int(self.data.ncon)

    @property
    def normal_force(self) -> float:
        """Sum of the normal forces of all contacts, N."""
        force, total = np.zeros(6), 0.0
        self.lib.mj_forward(self.twin.model, self.data)
        for i in range(self.data.ncon):
            self.lib.mj_contactForce(self.twin.model, self.data, i, force)
            total += force[0]
        return float(total)

    @property
    def warnings(self) -> dict[str, int]:
        """What MuJoCo complained of, and how often."""
        kinds = self.lib.mjtWarning
        names = [name for name in dir(kinds) if name.startswith("mjWARN_")]
        found = {
            name.removeprefix("mjWARN_").lower(): int(
                self.data.warning[int(getattr(kinds, name))].number
            )
            for name in names
        }
        return {name: count for name, count in found.items() if count}
