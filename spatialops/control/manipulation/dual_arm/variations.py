"""The same task many times over with mass, friction, places and torques varied."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from typing import Any

from spatialops._arrays import whole
from spatialops.control.manipulation.dual_arm.run import Run, run_task
from spatialops.control.manipulation.dual_arm.task import Task, Variation
from spatialops.errors import ArgumentError

Outcome = dict[str, Any]
TASKS = ("wheel-removal", "driver-handoff")


def task_module(
    name: str,
) -> tuple[Callable[[Variation | None], Task], Callable[[Run], Outcome]]:
    """The function that makes a task, and the one that judges its run.

    Raises
    ------
    ArgumentError
        For a name that is not in `TASKS`.
    """
    if name == "wheel-removal":
        from spatialops.control.manipulation.dual_arm import wheel_removal

        return wheel_removal.wheel_removal, wheel_removal.judge
    if name == "driver-handoff":
        from spatialops.control.manipulation.dual_arm import driver_handoff

        return driver_handoff.driver_handoff, driver_handoff.judge
    raise ArgumentError(f"task: expected one of {', '.join(TASKS)}, got {name!r}")


def run_variation(name: str, seed: int, options: Mapping[str, Any] | None = None) -> Outcome:
    """Run one random variation: it, the verdict and the run's certificate in plain numbers."""
    make, judge = task_module(name)
    variation = Variation.random(seed)
    run = run_task(make(variation), **(options or {}))
    summary = run.record.summary()
    return {
        "seed": seed,
        "variation": asdict(variation),
        **judge(run),
        "time": float(run.record.times[-1]),
        "penetration_max": summary["penetration_max"],
        "residual_max": summary["residual_max"],
        "cpu": run.cpu,
    }


def run_variations(
    name: str, count: int, *, processes: int = 1, first: int = 0, **options: Any
) -> Iterator[Outcome]:
    """Outcomes of `count` variations with seeds from `first` on, in the order of the seeds."""
    task_module(name)
    count, processes = whole(count, "variations", low=1), whole(processes, "processes", low=1)
    seeds = range(first, first + count)
    if processes == 1:
        yield from (run_variation(name, seed, options) for seed in seeds)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(run_variation, name, seed, options) for seed in seeds]
        for outcome in waiting:
            yield outcome.result()
