"""Nuts turned off, scene after scene: where a thread ends its nut goes on as a free body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops.algebra.rotation import to_quaternion
from spatialops.control.manipulation.dual_arm.nut_removal import (
    N_NUTS,
    TRAVEL,
    NutRunnerController,
    nut_removal,
    nut_scene,
)
from spatialops.control.manipulation.dual_arm.run import joined_runs
from spatialops.control.manipulation.dual_arm.task import DT, Task
from spatialops.control.manipulation.dual_arm.wheel_removal import wheel_removal
from spatialops.dynamics.jacobian import body_poses, node_velocities
from spatialops.errors import SpatialOpsError
from spatialops.models.lug_nut import PITCH
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.model import Model
from spatialops.tree.state import State

_CHUNK = 0.25  # s after which it is asked again whether the task is over
_ROUNDING = 1e-9  # s


@dataclass(frozen=True, eq=False)
class Span:
    """What happened while the same nuts were on their threads.

    Attributes
    ----------
    scene : Scene
    threaded : tuple of bool
        Which nuts were on their threads.
    record : Record
    """

    scene: Scene
    threaded: tuple[bool, ...]
    record: Record


@dataclass(frozen=True, eq=False)
class NutRun:
    """Nuts turned off.

    Attributes
    ----------
    task : Task
    controller : NutRunnerController
    spans : list of Span
        One after the other: each begins where the one before ended.
    error : str
        Why it failed; empty if it did not.
    """

    task: Task
    controller: NutRunnerController
    spans: list[Span]
    error: str

    @property
    def final(self) -> State:
        """Where it ended, in the scene of the last span."""
        return self.spans[-1].record.final


def run_nuts(*, dt: float = DT, limit: float = 90.0, record_every: int = 10) -> NutRun:
    """Simulate the hand-over and the nuts, until the script is over or it fails.

    Parameters
    ----------
    dt : float
        Step, s. Default 5e-4.
    limit : float
        Simulated time after which it ends, s. Default 90.
    record_every : int
        Steps from one recorded row to the next. Default 10.

    Returns
    -------
    NutRun
        What happened.
    """
    task = nut_removal()
    controller = NutRunnerController(task, dt)
    threaded = (True,) * N_NUTS
    scene, state = task.scene, task.scene.state
    spans: list[Span] = []
    while True:
        record, error = _until_a_thread_ends(
            scene, state, threaded, controller, (dt, limit, record_every)
        )
        spans.append(Span(scene, threaded, record))
        state = record.final
        freed = _at_the_end(scene.model, threaded, state)
        if error or freed < 0:
            break
        after = tuple(on and i != freed for i, on in enumerate(threaded))
        other = nut_scene(after)
        state = carried_over(scene.model, state, other.model)
        scene, threaded = other, after
        controller.go_on_in(scene, threaded)
    script = controller.hands.script
    late = "" if script.succeeded else "the time was up before the script was over"
    return NutRun(task, controller, spans, error or script.failure or late)


def _until_a_thread_ends(
    scene: Scene,
    state: State,
    threaded: tuple[bool, ...],
    controller: NutRunnerController,
    times: tuple[float, float, int],
) -> tuple[Record, str]:
    """Go on until a nut is at the end of its thread, the script is over or the time is up."""
    dt, limit, record_every = times
    simulator = Simulator(scene, dt=dt)
    records: list[Record] = []
    while not records or (
        _at_the_end(scene.model, threaded, state) < 0
        and not controller.hands.finished
        and state.time < limit - _ROUNDING
    ):
        chunk = max(dt, min(_CHUNK, 0.5 * _time_left(scene.model, threaded, state)))
        controller.begins = True
        try:
            record = simulator.run(state, chunk, controller=controller, record_every=record_every)
        except SpatialOpsError as failed:
            return joined_runs(records or [simulator.run(state, 0.0)]), str(failed)
        records.append(record)
        state = record.final
    return joined_runs(records), ""


def _at_the_end(model: Model, threaded: tuple[bool, ...], state: State) -> int:
    """The nut that is at the end of its thread; -1: none."""
    for i, on in enumerate(threaded):
        if on and PITCH * state.q[model.q_slice(f"nut{i}").start] >= TRAVEL:
            return i
    return -1


def _time_left(model: Model, threaded: tuple[bool, ...], state: State) -> float:
    """Until the first thread ends if nuts go on turning as now, s."""
    left = np.inf
    for i, on in enumerate(threaded):
        rate = state.v[model.v_slice(f"nut{i}").start] if on else 0.0
        if rate > 0.0:
            way = TRAVEL / PITCH - state.q[model.q_slice(f"nut{i}").start]
            left = min(left, way / rate)
    return left


def carried_over(before: Model, state: State, after: Model) -> State:
    """The same poses and velocities in a model in which screws have become free bodies.

    Parameters
    ----------
    before, after : Model
        With the same bodies; each joint is the same in both, or a screw and then free.
    state : State
        Of the first.

    Returns
    -------
    State
        Of the second.
    """
    q, v = np.empty(after.nq), np.empty(after.nv)
    poses = body_poses(before, state.q)
    for name in after.joint_names:
        here, there = before.q_slice(name), after.q_slice(name)
        rates, new_rates = before.v_slice(name), after.v_slice(name)
        if here.stop - here.start == there.stop - there.start:
            q[there], v[new_rates] = state.q[here], state.v[rates]
            continue
        k = before.body_index(name)
        turn = poses.rotations[k]
        q[there] = [*poses.positions[k], *to_quaternion(turn)]
        angular, linear = node_velocities(before, state.q, state.v, [name]).reshape(2, 3)
        v[new_rates] = np.concatenate([turn.T @ angular, turn.T @ linear])
    return State(q, v, state.time)


def removal_after(run: NutRun) -> Task:
    """The removal of the wheel as the nuts have left it: its pose and velocity go on.

    The driver is put away and the hands are beside the wheel again, which is not simulated.
    """
    task = wheel_removal()
    before, after = run.spans[-1].scene.model, task.scene.model
    q, v = task.scene.state.q.copy(), task.scene.state.v.copy()
    q[after.q_slice("wheel")] = run.final.q[before.q_slice("wheel")]
    v[after.v_slice("wheel")] = run.final.v[before.v_slice("wheel")]
    task.scene.state = State(q, v)
    return task
