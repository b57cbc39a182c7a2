"""A simulation in step with a clock on the wall: paused, slower, begun anew, pulled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.dynamics.energy import energy
from spatialops.errors import SpatialOpsError
from spatialops.forces.external import External, ExternalWrenches, Field
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.runner import Controller, commanded
from spatialops.tree.state import State
from spatialops.view.frame_forces import pair_arrows
from spatialops.view.live.pull import Grip, pulling

if TYPE_CHECKING:
    from spatialops.simulation.simulator import Simulator

_BUSY = 0.8  # of a frame that may be spent on steps: the rest draws, and lets others run


class Driving(NamedTuple):
    """What acts besides the hand: as of `Simulator.run`."""

    controller: Controller | None = None
    ctrl: ArrayLike | None = None
    external: External | None = None


class Frame(NamedTuple):
    """What is drawn.

    The state, arrows (k, 7) of contact forces as of `frame_forces`, readings of the sensors, and
    the share of real time that was reached.
    """

    state: State
    arrows: Array
    readings: Array
    pace: float


class Course:
    """Runs a simulator frame after frame.

    Attributes
    ----------
    paused : bool
        Whether time stands still.
    speed : float
        Simulated seconds a second.
    grip : Grip or None
        Where a hand pulls.
    failure : str
        What stopped it; empty while all is well.
    clock : callable
        The wall's clock, s: steps of a frame end when it says so.
    """

    def __init__(self, simulator: Simulator, start: State | None, driving: Driving) -> None:
        self.simulator = simulator
        self.scene = simulator.scene
        self.start = self.scene.state if start is None else start
        self.driving = driving._replace(ctrl=self.scene.checked_ctrl(driving.ctrl))
        self.paused = False
        self.speed = 1.0
        self.grip: Grip | None = None
        self.failure = ""
        self.clock: Callable[[], float] = perf_counter
        self._stepper = simulator.stepper(self.start)
        self._external = self._without_hand()
        self._owed = 0.0  # simulated time that is not stepped yet, s
        self._readings = np.full(simulator.setup.sensing.width, np.nan)

    @property
    def now(self) -> State:
        """Where it stands."""
        return self._stepper.state

    def reset(self) -> None:
        """Begin anew."""
        self._stepper.reset(self.start)
        self.grip = None
        self.failure = ""
        self._owed = 0.0

    def frame(self, seconds: float) -> Frame:
        """Go on for so many seconds of the wall's clock."""
        self._owed = 0.0 if self.paused or self.failure else self._owed + self.speed * seconds
        began, before = self.clock(), self._stepper.time
        rows = []
        while self._owed >= self.simulator.dt and self.clock() - began < _BUSY * seconds:
            self._owed -= self.simulator.dt
            if not self._step():
                break
            rows.append(self._stepper.contact_records)
        self._owed = min(self._owed, self.simulator.dt)  # what was not reached is let go
        return self._seen(rows, self._stepper.time - before, seconds)

    def single_step(self) -> Frame:
        """One step, of a paused simulation."""
        rows = [self._stepper.contact_records] if not self.failure and self._step() else []
        return self._seen(rows, self.simulator.dt, self.simulator.dt)

    def _seen(self, rows: Sequence[Array], gone: float, seconds: float) -> Frame:
        arrows = np.zeros((0, 7))
        if rows:
            joined = np.concatenate(rows)
            joined = joined[joined[:, at.RECORD_PAIR] >= 0.0]
            forces = joined[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3] / gone
            points = joined[:, at.RECORD_POINT : at.RECORD_POINT + 3]
            pairs, kinds = (joined[:, c].astype(np.int64) for c in (at.RECORD_PAIR, at.RECORD_KIND))
            arrows = pair_arrows(self.scene, pairs, kinds, points, forces)
        return Frame(self._stepper.state, arrows, self._readings, gone / seconds)

    def _step(self) -> bool:
        """One step; False where it fails, with the reason in `failure`."""
        given, stepper = self.driving, self._stepper
        before = stepper.state
        try:
            tau, ctrl = None, given.ctrl
            if given.controller is not None:
                asked = commanded(given.controller, before.time, before, stepper.contacts)
                tau = asked.tau
                ctrl = given.ctrl if asked.ctrl is None else asked.ctrl
            stepper.step(tau, ctrl=ctrl, external=self._acting(before))
        except SpatialOpsError as error:
            self.failure = str(error)
            return False
        except Exception as error:  # of a controller: whoever watches is told, not only a thread
            self.failure = f"the controller raised {type(error).__name__}: {error}"
            return False
        sensing = self.simulator.setup.sensing
        if sensing:
            self._readings = sensing.read(stepper.observed(before))
        return True

    def _without_hand(self) -> ExternalWrenches | None:
        given, model = self.driving.external, self.scene.model
        return None if given is None else ExternalWrenches(model, given)

    def _acting(self, now: State) -> External | None:
        """What acts from outside, the hand with the rest."""
        grip = self.grip
        if grip is None:
            return self._external
        pull = pulling(self.scene.model, grip, now.q, self.simulator.dt)
        both: list[Field] = [pull] if self._external is None else [self._external, pull]
        return both

    def energies(self, state: State) -> Array:
        """Kinetic, potential and total energy, J."""
        found = energy(self.scene.model, state.q, state.v)
        return np.array([found.kinetic, found.potential, found.total])
