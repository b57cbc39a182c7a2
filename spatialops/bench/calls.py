"""What steps cost from Python beside the compiled step: bars in microseconds, no peer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts.robots import standing_quadruped
from spatialops.bench.measure import Effort, Quartiles, Row, take_turns
from spatialops.models.pendulum import pendulum
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator

DT = 1e-3
STEPS = 200  # of a run
_FIXED = 50e-6  # s, of a run
_CONTROLLED = 15e-6  # s, of a step
_LIGHT = 10e-6


def run(effort: Effort, *, quick: bool = False) -> Iterator[Row]:
    """The fixed cost of `run`, and of a step with a controller and by a stepper."""
    scenes = {"pendulum of 2 links": pendulum(2).scene()}
    if not quick:
        scenes["pendulum of 12 links"] = pendulum(12).scene()
        scenes["quadruped standing"] = standing_quadruped().scene
    for name, scene in scenes.items():
        timing = take_turns(_contestants(scene), effort)
        compiled = (timing.seconds["run"] - timing.seconds["no steps"]) / STEPS
        controlled = (timing.seconds["controlled"] - timing.seconds["no steps"]) / STEPS
        light = timing.seconds["light"] / STEPS
        yield _row("run, fixed cost", name, timing.seconds["no steps"], _FIXED, "")
        note = f"a compiled step takes {1e6 * np.median(compiled):.2f} us"
        yield _row("controlled step", name, controlled - compiled, _CONTROLLED, note)
        yield _row("light step", name, light - compiled, _LIGHT, note)


def _contestants(scene: Scene) -> dict[str, Callable[[], object]]:
    simulator = Simulator(scene, dt=DT)
    stepper = simulator.stepper()
    tau = np.zeros(scene.model.nv)
    duration = STEPS * DT

    def light() -> None:
        stepper.reset()
        for _ in range(STEPS):
            stepper.step(tau)

    return {
        "no steps": lambda: simulator.run(duration=0.0),
        "run": lambda: simulator.run(duration=duration),
        "controlled": lambda: simulator.run(
            duration=duration, controller=lambda time, state, contacts: tau
        ),
        "light": light,
    }


def _row(what: str, case: str, seconds: Array, bar: float, note: str) -> Row:
    found = Quartiles.of(seconds)
    limit = Quartiles(bar, bar, bar)
    return Row("calls", what, case, found, limit, "the bar", found / bar, 1.0, 0.0, note)
