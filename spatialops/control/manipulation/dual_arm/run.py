"""A task run to its end, and what its record says."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import numpy as np

from spatialops._arrays import Array, IntArray, scalar
from spatialops.collision.contact_set import ContactSet
from spatialops.control.manipulation.controller import ManipulationController
from spatialops.control.manipulation.dual_arm.task import DT, Task
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.models.dual_arm import SIDES
from spatialops.simulation.options import FormulationName, SolverName
from spatialops.simulation.records.loading import joined
from spatialops.simulation.records.record import Record
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

_ROUNDING = 1e-9  # s before a limit, from which on it is reached
_CHUNK = 0.25  # s after which it is asked again whether the task is over


@dataclass(frozen=True, eq=False)
class Run:
    """A task that was run.

    Attributes
    ----------
    task : Task
    record : Record
    controller : ManipulationController
    error : str
        Why the simulation stopped before the script was over; empty if it did not.
    stopped : bool
        Whether it was ended on purpose before the script was over.
    seconds, cpu : float
        Wall time and processor time of all, s.
    work, damping : float
        What the motors put in and joint damping took out, J.
    """

    task: Task
    record: Record
    controller: ManipulationController
    error: str
    seconds: float
    cpu: float
    work: float
    damping: float
    stopped: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the script came to its end."""
        return self.controller.script.succeeded and not self.error

    @property
    def reason(self) -> str:
        """Why it failed; empty if it did not."""
        script = self.controller.script
        over = script.succeeded or self.stopped
        return (
            self.error
            or script.failure
            or ("" if over else "the time was up before the script was over")
        )

    def span(self, phase: str) -> tuple[float, float]:
        """When a phase began and ended, s.

        Raises
        ------
        ArgumentError
            If it was not passed.
        """
        found = next(
            (passed for passed in self.controller.script.passed if passed.name == phase), None
        )
        if found is None:
            raise ArgumentError(f"phase {phase!r} was not passed: {self.reason}")
        return found.begin, found.end

    def rows(self, phase: str) -> IntArray:
        """Indices of recorded rows within a phase that was passed."""
        begin, end = self.span(phase)
        return np.flatnonzero((self.record.times >= begin) & (self.record.times <= end))

    def slip(self, phase: str, sides: Sequence[str] = SIDES) -> float:
        """Largest move of the object in its hands within a phase that was passed, m."""
        rows, poses = self.rows(phase), self.task.object_poses(self.record)
        largest = 0.0
        for side in sides:
            held = [
                palm.inverse() @ poses[row]
                for palm, row in zip(
                    self.task.palm_poses(self.record, side, rows), rows, strict=True
                )
            ]
            points = np.array([pose.position for pose in held])
            largest = max(largest, float(np.linalg.norm(points - points[0], axis=1).max()))
        return largest

    def supported(self, begin: float, end: float) -> bool:
        """Whether the object touched the world between two times, in recorded steps or impacts."""
        contact_records, scene = self.record.contact_records, self.task.scene
        bodies = {geom.name: geom.body for geom in scene.geoms}
        met = {
            int(pair)
            for pair in contact_records[
                (contact_records[:, 0] > begin) & (contact_records[:, 0] <= end), 1
            ]
        }
        return any(
            {bodies[a], bodies[b]} == {self.task.body, "world"}
            for a, b in map(scene.pair_names, met)
        )


class _NoisyController:
    """The controller's torques with the motors' noise, and the work that they do."""

    def __init__(self, task: Task, controller: ManipulationController, dt: float) -> None:
        self.controller = controller
        self._n = task.robot.model.nv
        self._dt = dt
        self._noise = task.variation.torque_noise
        self._rng = np.random.default_rng(task.variation.seed)
        self._drag = task.robot.model.damping
        self._before: tuple[Array, Array] | None = None
        self.work = self.damping = 0.0
        self.begins = False  # a stretch of the run begins: its first contacts are not known yet
        self._contacts: ContactSet | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The command of the controller; its motors do work, and make noise."""
        if self.begins and self._contacts is not None:
            contacts = self._contacts
        self.begins, self._contacts = False, contacts
        tau = self.controller(time, state, contacts)
        if self._noise:
            tau[: self._n] *= 1.0 + self._noise * self._rng.normal(size=self._n)
        q = state.q[: self._n].copy()
        if self._before is not None:
            push, old = self._before
            moved = q - old
            self.work += float(push @ moved)
            self.damping += float(self._drag @ (moved * moved)) / self._dt
        self._before = tau[: self._n], q
        return tau


def run_task(
    task: Task,
    *,
    formulation: FormulationName = "os",
    solver: SolverName = "auto",
    dt: float = DT,
    limit: float = 40.0,
    stop_after: str = "",
    record_every: int = 10,
    progress: bool = False,
) -> Run:
    """Simulate until the script is over, the time is up, or a phase has been passed.

    The certificate is on: what breaks it ends the run, and is the run's `error`.

    Parameters
    ----------
    task : Task
        What is to be done.
    formulation, solver : str
        As of `Simulator`.
    dt : float, default 5e-4
        Step, s.
    limit : float, default 40
        Simulated time after which it ends, s.
    stop_after : str, optional
        Name of the phase after which it ends.
    record_every : int, default 10
        Steps from one recorded row to the next.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    Run
        What happened.

    Raises
    ------
    ArgumentError
        For a phase that the task does not have, or options that `Simulator` does not take.
    """
    names = [phase.name for phase in task.phases]
    if stop_after and stop_after not in names:
        raise ArgumentError(
            f"stop_after: there is no phase {stop_after!r}; there are {', '.join(names)}"
        )
    limit = scalar(limit, "limit", low=0.0, strict=True)
    controller = task.controller(dt)
    motors = _NoisyController(task, controller, dt)
    simulator = Simulator(task.scene, formulation=formulation, solver=solver, dt=dt)
    records: list[Record] = []
    state = task.scene.state
    error = ""
    stopped = False
    begin, cpu = clock.perf_counter(), clock.process_time()
    with _PhaseBar(len(task.phases), progress) as bar:
        while not controller.finished and state.time < limit - _ROUNDING:
            motors.begins = True
            try:
                record = simulator.run(state, _CHUNK, controller=motors, record_every=record_every)
            except SpatialOpsError as failed:
                error = str(failed)
                break
            records.append(record)
            state = record.final
            bar.update(controller, state.time)
            if stopped := any(passed.name == stop_after for passed in controller.script.passed):
                break
    seconds, cpu = clock.perf_counter() - begin, clock.process_time() - cpu
    whole = joined_runs(records or [simulator.run(task.scene.state, 0.0)])
    return Run(task, whole, controller, error, seconds, cpu, motors.work, motors.damping, stopped)


def joined_runs(records: Sequence[Record]) -> Record:
    """One record of several runs that follow one another, with the sums of their counts."""
    counts = (
        "steps",
        "contact_problems",
        "warm_started",
        "position_projections",
        "solver_fallbacks",
    )
    sums = {name: sum(int(record.metadata[name]) for record in records) for name in counts}
    whole = joined(records)
    return replace(whole, metadata=whole.metadata | sums)


class _PhaseBar:
    """A progress bar over phases, or nothing."""

    def __init__(self, total: int, show: bool) -> None:
        self._show = show
        self._total = total
        self._bar: Any = None  # of tqdm, which has no types

    def __enter__(self) -> Self:
        if self._show:
            from tqdm import tqdm

            self._bar = tqdm(total=self._total, unit="phase", leave=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, controller: ManipulationController, time: float) -> None:
        if self._bar is None:
            return
        phase = controller.script.phase
        self._bar.n = len(controller.script.passed)
        self._bar.set_description(f"{time:6.2f} s  {phase.name if phase else 'over':<12}")
