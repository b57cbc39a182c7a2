"""The environments of a task at work: a batch, who acts in it, and who begins anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, array, whole
from spatialops.errors import ArgumentError
from spatialops.gym.task import Moment, Rule, Task
from spatialops.simulation.batch.batch import Batch
from spatialops.simulation.simulator import Simulator

_SEEDS = 2**63  # that noise may have


class Outcome(NamedTuple):
    """What an action of B environments led to.

    Attributes
    ----------
    observations : (B, k) array
        What is seen now.
    rewards : (B,) array
        For what was done.
    ended : (B,) bool array
        Where the task has ended.
    cut : (B,) bool array
        Where the time is over, or the simulation has failed.
    failures : dict of int to str
        Why, by environment.
    """

    observations: Array
    rewards: Array
    ended: BoolArray
    cut: BoolArray
    failures: dict[int, str]


class World:
    """B environments of a task.

    Parameters
    ----------
    task : Task
        What is asked.
    simulators : Simulator or sequence of Simulator
        Of each environment.
    size : int
        B.
    threads : int or None
        Of the batch.
    """

    def __init__(
        self,
        task: Task,
        simulators: Simulator | Sequence[Simulator],
        size: int,
        threads: int | None,
    ) -> None:
        self.task = task
        self.batch = Batch(simulators, size, threads=threads, forces=task.forces)
        self._columns = task.columns()
        self.low, self.high = task.limits()
        size = whole(size, "num_envs", low=1)
        self._actions = np.zeros((size, len(self._columns)))
        scene = task.simulator.scene
        width = len(scene.actuators) if task.by_controls else scene.model.nv
        self._inputs = np.zeros((size, width))
        self._counts = np.zeros(size, dtype=np.int64)  # of actions since each began
        self._seconds = task.steps * task.simulator.dt  # of an action
        self._longest = max(1, round(task.duration / self._seconds))

    @property
    def size(self) -> int:
        """B."""
        return self.batch.size

    def begin(self, generators: Mapping[int, np.random.Generator]) -> None:
        """Have environments begin, each with chance of its own."""
        where = np.array(list(generators), dtype=np.int64)
        own = list(generators.values())
        q = v = activation = seeds = None
        if self.task.begin is not None:
            scene = self.task.simulator.scene
            states = [self.task.begin(generator) for generator in own]
            q, v = [state.q for state in states], [state.v for state in states]
            activation = [scene.activations(state) for state in states]
        if self.batch.sensors:
            seeds = [int(generator.integers(_SEEDS)) for generator in own]
        self.batch.reset(q, v, activation=activation, where=where, seeds=seeds)
        self._counts[where] = 0
        self._actions[where] = 0.0

    def act(self, actions: ArrayLike, again: Mapping[int, np.random.Generator]) -> Outcome:
        """Act everywhere but where an environment begins `again`."""
        asked = array(actions, self._actions.shape, "action", finite=True)
        np.clip(asked, self.low, self.high, out=self._actions)
        self._inputs[:, self._columns] = self._actions
        for _ in range(self.task.steps):
            if self.task.by_controls:
                self.batch.step(ctrls=self._inputs)
            else:
                self.batch.step(self._inputs)
        self._counts += 1
        if again:
            self.begin(again)
        return self._outcome(list(again))

    def observe(self) -> Array:
        """What is seen now, (B, k)."""
        return self._observed(self._moment())

    def _moment(self) -> Moment:
        batch = self.batch
        forces = None if batch.forces is None else batch.forces.copy()
        time: Array = self._seconds * self._counts.astype(np.float64)
        sensors = {name: readings.copy() for name, readings in batch.sensors.items()}
        q, v = batch.q.copy(), batch.v.copy()
        return Moment(q, v, time, self._actions.copy(), forces, sensors, batch.activation)

    def _observed(self, moment: Moment) -> Array:
        if self.task.observe is None:
            return np.hstack([moment.q, moment.v])
        return array(self.task.observe(moment), (self.size, None), "observe").copy()

    def _outcome(self, begun: list[int]) -> Outcome:
        moment = self._moment()
        rewards = self._numbers(self.task.reward, "reward", moment)
        ended = np.zeros(self.size, dtype=bool)
        if self.task.ended is not None:
            ended = self._numbers(self.task.ended, "ended", moment) != 0.0
        failures = {e: str(one.error) for e, one in self.batch.failures.items()}
        cut = self._counts >= self._longest
        cut[list(failures)] = True
        for flags in (rewards, ended, cut):
            flags[begun] = 0
        return Outcome(self._observed(moment), rewards, ended, cut, failures)

    def _numbers(self, rule: Rule, name: str, moment: Moment) -> Array:
        """A number for each environment."""
        try:
            return array(rule(moment), (self.size,), name).copy()
        except ArgumentError as error:
            raise ArgumentError(
                f"{error}; one for each environment, as of moment.q[:, 0]"
            ) from error
