"""Some environments of a batch at work on one thread, and what is done where one needs it."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.held import addresses_of
from spatialops.errors import SpatialOpsError
from spatialops.simulation import _layout as at
from spatialops.simulation.batch import many_steps as many
from spatialops.simulation.batch.many_steps import step_many
from spatialops.simulation.batch.readings import Observer, Readings
from spatialops.simulation.batch.starts import state_in
from spatialops.simulation.runs.stepping_run import SteppingRunner
from spatialops.simulation.stepping.adapter import load_new
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import begin_held, clear_held


class Begin(Enum):
    """Where environments stand when there is work for them."""

    GOES_ON = "where it was left, which is in the first row of the states"
    HAS_BEGUN = "at its start"
    BEGINS = "anywhere: it begins at its start"


class Failure(NamedTuple):
    """What ended an environment.

    Attributes
    ----------
    step : int
        Index of the step that failed, of those that it was asked for.
    error : SpatialOpsError
        Why.
    """

    step: int
    error: SpatialOpsError


class Work(NamedTuple):
    """Arrays of a whole batch of B environments over T steps.

    Attributes
    ----------
    starts : (B, nq + nv + 1 + n_states) array
        Where each begins, or began: q, v, time and activations.
    taus : (B, T, nv) array
        Joint forces, cut to the effort limits, N m or N.
    ctrls : (B, T, n_actuators) array
        Controls; (B, 0, n_actuators): those of the scenes.
    wrenches : (B, T, n_bodies, 6) array
        On bodies about their origins, world axes; (B, 0, n_bodies, 6): none.
    states : (B, T, nq + nv) array
        Written: states at the ends of steps.
    forces : (B, T, n_geoms, 3) array
        Written: forces on geoms, world axes, N; (0, 0, 0, 3) if they are not wanted.
    """

    starts: Array
    taus: Array
    ctrls: Array
    wrenches: Array
    states: Array
    forces: Array


class Environment(NamedTuple):
    """Tables of an environment, and the simulator's runner that it is of."""

    runner: SteppingRunner
    loop: HeldLoop

    def begin(self, start: Array) -> None:
        """Begin at a state and time, without a past, as a run does."""
        t = self.loop.tables
        self.loop.advance(clear_held)
        load_new(t, state_in(start, self.runner.setup.scene.model))
        self.runner.loops.begin(t)
        self.loop.advance(begin_held)
        self.loop.stepping.external.begin()


class Chunk:
    """Environments that share a thread.

    Parameters
    ----------
    which : (n,) int array
        Their indices in the batch.
    environments : list of Environment
        Likewise; one may stand for many that begin anew. Those that need larger tables are
        exchanged for others.
    """

    def __init__(self, which: IntArray, environments: list[Environment]) -> None:
        self.which = which
        self.environments = environments
        self._addresses = addresses_of([one.loop.address for one in environments])
        self._observer = Observer()

    def __reduce__(self) -> tuple[type[Chunk], tuple[IntArray, list[Environment]]]:
        return type(self), (self.which, self.environments)  # a copy has addresses of its own

    def run(
        self,
        work: Work,
        readings: Readings,
        begin: Begin,
        *,
        resets: bool,
        frozen: Collection[int] = (),
    ) -> dict[int, Failure]:
        """All steps of all but the frozen; the first failure of every environment that has one.

        One that fails stays where it is, or begins anew where it `resets`, and goes on.
        """
        asked = asked_of(self.which, frozen)
        progress = np.zeros(many.PROGRESS, dtype=np.int64)
        if not all(values.flags.carray for values in work):
            raise TypeError("kernels take C-contiguous, writeable arrays only")
        begins = begin is Begin.BEGINS
        progress[[many.LAST, many.STEP, many.BEGINS]] = len(self.which), many.TO_BEGIN, begins
        progress[many.READS] = readings.wanted
        failures: dict[int, Failure] = {}
        helped = -1
        while (code := self._step(progress, asked, work)) != at.DONE:
            place = int(progress[many.PLACE])
            e, step = int(self.which[place]), int(progress[many.STEP])
            if progress[many.READS] and code in (at.READ, at.FAULT):
                self._read(place, readings, e, step)
            if code == at.READ:
                continue
            try:
                if begins and e != helped:  # the memory of what is solved outside is another's
                    self.environments[place].loop.stepping.external.begin()
                    helped = e
                self._help(place, code)
            except SpatialOpsError as error:
                failed = step - (code == at.FAULT)
                failures.setdefault(e, Failure(failed, error))
                stay(work, e, step, begin)
                readings.values[e, step:] = np.nan
                if resets:
                    self.environments[place].begin(work.starts[e])
                    self._observer.begin(self.environments[place].loop.tables)
                    progress[many.STEP] = failed + 1
                else:
                    progress[many.STEP] = many.TO_BEGIN
                    progress[many.PLACE] += 1
        return failures

    def _step(self, progress: IntArray, asked: IntArray, work: Work) -> int:
        first: CompilerObject = self.environments[0].loop
        return step_many(first.address, first.limits, progress, asked, self._addresses, *work)

    def _read(self, place: int, readings: Readings, e: int, steps: int) -> None:
        """Read the sensors behind so many steps, and see where the next one begins."""
        one = self.environments[place]
        t = one.loop.tables
        if not steps:
            self._observer.begin(t)
            return
        row = readings.values[e, steps - 1]
        self._observer.read(one.runner.setup, t, readings.seeds[e], row)

    def _help(self, place: int, code: int) -> None:
        """What an environment has stopped for.

        Raises
        ------
        SpatialOpsError
            If it cannot go on.
        """
        one = self.environments[place]
        if code == at.FAULT:
            one.runner.check(one.loop.tables)
            return
        before = one.loop.tables
        after = one.loop.stepping.provide(before, code)
        if after is not before:
            loop = HeldLoop(one.loop.stepping, after, one.loop.limits)
            self.environments[place] = one._replace(loop=loop)
            self._addresses[place] = loop.address


def asked_of(which: IntArray, frozen: Collection[int]) -> IntArray:
    """Indices of environments, -1 for those that are frozen."""
    if not frozen:
        return which.copy()
    return np.array([-1 if e in frozen else e for e in which.tolist()], dtype=np.int64)


def stay(work: Work, e: int, step: int, begin: Begin) -> None:
    """Where an environment is at a step, from there to the end."""
    if step:
        work.states[e, step:] = work.states[e, step - 1]
    elif begin is not Begin.GOES_ON:
        work.states[e] = work.starts[e, : work.states.shape[2]]
    if len(work.forces):
        work.forces[e, step:] = 0.0
