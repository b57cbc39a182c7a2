"""What a run says of itself: phases, contacts, certificate, energy, problem sizes, stage times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations import check_formulation
from spatialops.control.manipulation.dual_arm.run import Run
from spatialops.dynamics.newton_euler import bias
from spatialops.models.dual_arm import FINGERS
from spatialops.simulation.profile import STAGES, stage_times
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

FORMULATIONS = ("nmc", "mc", "rmc", "os")


def phases(run: Run) -> list[dict[str, str | float]]:
    """Name, beginning and length (s) of the phases that were passed."""
    return [
        {"name": passed.name, "begin": passed.begin, "seconds": passed.end - passed.begin}
        for passed in run.controller.script.passed
    ]


def contact_kinds(run: Run) -> dict[str, dict[str, int]]:
    """How many contacts acted (summed over recorded steps) and met in impacts, by what touched."""
    contact_records, scene = run.record.contact_records, run.task.scene
    bodies = {geom.name: geom.body for geom in scene.geoms}
    totals: Counter[tuple[str, int]] = Counter()
    pairs, counts = np.unique(
        contact_records[:, [1, 2]].astype(np.int64), axis=0, return_counts=True
    )
    for (pair, impact), count in zip(pairs, counts, strict=True):
        kinds = sorted(_kind(bodies[name], run.task.body) for name in scene.pair_names(int(pair)))
        totals[" on ".join(kinds), int(impact)] += int(count)
    names = sorted({name for name, _ in totals})
    return {name: {"contacts": totals[name, 0], "in_impacts": totals[name, 1]} for name in names}


def _kind(body: str, thing: str) -> str:
    if body in ("world", thing):
        return body
    return "finger" if any(name in body for name in FINGERS) else "robot"


def energy_balance(run: Run) -> dict[str, float]:
    """Work of motors, loss by joint damping, gain, and what is left: friction and impacts, J."""
    gain = float(run.record.energy[-1] - run.record.energy[0])
    events = run.record.events
    impacts = float((events[:, 3] - events[:, 4]).sum()) if len(events) else 0.0
    return {
        "motors": run.work,
        "damping": run.damping,
        "gain": gain,
        "friction_and_impacts": run.work - run.damping - gain,
        "impacts": impacts,
    }


def samples(run: Run, count: int) -> Array:
    """Recorded rows, evenly spread."""
    result: Array = np.unique(np.linspace(0, len(run.record.times) - 1, count).astype(np.int64))
    return result


def problem_sizes(run: Run, *, count: int = 60) -> dict[str, list[float]]:
    """Times, and rows of the problem in every formulation then; 0 without contacts."""
    simulator = _simulator(run)
    made = {name: check_formulation(name) for name in FORMULATIONS}
    rows = samples(run, count)
    sizes: dict[str, list[float]] = {"time": [float(run.record.times[row]) for row in rows]}
    sizes |= {name: [] for name in made}
    for row in rows:
        problem = simulator.problem(_state(run, row), _holding(run, row))
        for name, formulation in made.items():
            sizes[name].append(
                float(formulation.assemble(problem).size) if problem is not None else 0.0
            )
    return sizes


def stages(run: Run, *, count: int = 24) -> dict[str, float]:
    """Mean time of every stage of a step over `count` moments, and of the controller's call, us.

    "other" is what is left of the processor time that a step took: moving, projecting, recording,
    and the way in and out of the loop.
    """
    rows = samples(run, count)
    times = stage_times(
        _simulator(run), [_state(run, row) for row in rows], [_holding(run, row) for row in rows]
    )
    mean = dict(zip(STAGES, (1e6 * times.mean(axis=0)).tolist(), strict=True))
    steps = max(int(run.record.metadata["steps"]), 1)
    mean["controller"] = 1e6 * run.controller.cpu / steps
    step = 1e6 * run.cpu / steps
    return {**mean, "other": step - sum(mean.values()), "step": step}


def report(run: Run, verdict: Mapping[str, object]) -> dict[str, Any]:
    """Everything in plain numbers."""
    record, steps = run.record.summary(), int(run.record.metadata["steps"])
    return {
        "task": run.task.name,
        "verdict": verdict,
        "phases": phases(run),
        "contacts": contact_kinds(run),
        "contacts_max": record["contacts_max"],
        "penetration_max": record["penetration_max"],
        "residual_max": record["residual_max"],
        "solver_fallbacks": record["solver_fallbacks"],
        "warm_started": record["warm_started"],
        "contact_problems": record["contact_problems"],
        "energy": energy_balance(run),
        "simulated": float(run.record.times[-1]),
        "seconds": run.seconds,
        "cpu": run.cpu,
        "steps": steps,
        "steps_per_second": steps / run.seconds if run.seconds else 0.0,
        "steps_per_cpu_second": steps / run.cpu if run.cpu else 0.0,
        "real_time": float(run.record.times[-1]) / run.cpu if run.cpu else 0.0,
        "formulation": run.record.metadata["formulation"],
        "solver": run.record.metadata["solver"],
        "stages_us": stages(run),
        "sizes": problem_sizes(run),
    }


def _simulator(run: Run) -> Simulator:
    return Simulator(run.task.scene, dt=float(run.record.metadata["dt"]), certify="off")


def _state(run: Run, row: int) -> State:
    return State(run.record.q[row].copy(), run.record.v[row].copy(), float(run.record.times[row]))


def _holding(run: Run, row: int) -> Array:
    """Joint forces that hold the robot up."""
    robot = run.task.robot.model
    tau = np.zeros(run.task.scene.model.nv)
    tau[: robot.nv] = bias(robot, run.record.q[row, : robot.nq], np.zeros(robot.nv))
    return tau
