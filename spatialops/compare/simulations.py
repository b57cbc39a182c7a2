"""Table 2 of [J] as whole simulations of the pendulum, every formulation in a compiled loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import thread_time

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.pendulum import RAISED, build_scene, sliding
from spatialops.compare.formulation_loop import IN_LOOPS, FormulationLoop
from spatialops.models.pendulum import pendulum
from spatialops.simulation import _layout as at
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.maximal_scene import (
    maximal_scene,
    maximal_state,
    tree_state,
)
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

MOTIONS = ("falls", "lies", "paper")
_DURATION = 3.0  # s, as the paper's figure of it
_STEPS = 60  # that are timed: those with the most contacts
_DT = 1e-3  # s
_PAPER_STEP = 1e-4  # s
_RUNS = 5


@dataclass(frozen=True)
class Simulation:
    """Microseconds a step of some or all steps of a pendulum.

    Attributes
    ----------
    what : str
        "falls": `_STEPS` steps of the paper's motion without restitution, where most links touch;
        "lies": half of the links on the floor and sliding; "paper": the whole 3 s at 0.1 ms, with
        restitution, most of it in free flight.
    links, contacts, problems : int
        Number of links, the most contacts together, and contact problems on the way.
    loops : dict of str to float
        By the loop's own solver: "os" in tree coordinates, "nmc/os" as free bodies with closures
        for hinges, which it eliminates (not of "paper": NaN).
    lemke : dict of str to float
        Each formulation's problems, stated and solved by dense Lemke in a compiled loop.
    unsolved : int
        Problems that Lemke did not solve there.
    difference : float
        Largest difference of an angle (rad) at the end of what is in `lemke`, from the loop's own
        OS, and
    free_difference : float
        of the free bodies, whose midpoints are others.
    """

    what: str
    links: int
    contacts: int
    problems: int
    loops: dict[str, float]
    lemke: dict[str, float]
    unsolved: int
    difference: float
    free_difference: float


def whole_simulation(links: int, what: str = "falls") -> Simulation:
    """Steps of a pendulum where it touches most, lies on the floor, or moves as the paper's."""
    scene, state, dt, steps = _motion(links, what)
    own_runs = Simulator(scene, dt=dt)
    record = own_runs.run(state, duration=steps * dt)
    own, own_end = _timed(partial(_simulated, own_runs, state, steps), steps)
    other, apart = math.nan, math.nan
    if what != "paper":
        bodies = maximal_state(scene.model, state)
        free_runs = Simulator(maximal_scene(scene), dt=dt)
        other, free_end = _timed(partial(_simulated, free_runs, bodies, steps), steps)
        apart = _turn(own_end.q, tree_state(scene.model, free_end).q)
    each = {name: FormulationLoop(scene, name, dt) for name in IN_LOOPS}
    lemke = {name: _timed(partial(loop.run, state, steps), steps) for name, loop in each.items()}
    return Simulation(
        what,
        links,
        int(record.contact_counts.max()),
        each["os"].problems,
        {"os": own, "nmc/os": other},
        {name: spent for name, (spent, _) in lemke.items()},
        sum(loop.unsolved for loop in each.values()),
        max(_turn(own_end.q, end.q) for _, end in lemke.values()),
        apart,
    )


def _motion(links: int, what: str) -> tuple[Scene, State, float, int]:
    """Scene, where steps begin, how long they are, and how many."""
    if what == "lies":
        return build_scene(links, RAISED), sliding(links, RAISED), _DT, _STEPS
    if what == "paper":
        scene = pendulum(links).scene()
        return scene, scene.state, _PAPER_STEP, round(_DURATION / _PAPER_STEP)
    scene = pendulum(links).scene(restitution=0.0)
    state = _touching_most(Simulator(scene, dt=_DT).run(duration=_DURATION))
    return scene, state, _DT, _STEPS


def _timed(run: Callable[[], State], steps: int) -> tuple[float, State]:
    """Median time of a step in several runs (us), and where they end."""
    end = run()  # loads the kernels
    spent = []
    for _ in range(_RUNS if steps == _STEPS else 1):
        begin = thread_time()
        end = run()
        spent.append(thread_time() - begin)
    return 1e6 * float(np.median(spent)) / steps, end


def _simulated(simulator: Simulator, state: State, steps: int) -> State:
    dt = float(simulator.stepping.settings[at.DT])
    record = simulator.run(state, duration=steps * dt, record_every=steps)
    return State(record.q[-1], record.v[-1])


def _turn(one: Array, other: Array) -> float:
    return float(np.abs((one - other + np.pi) % (2.0 * np.pi) - np.pi).max())


def _touching_most(record: Record) -> State:
    """Where the steps begin that have the most contacts together; the first such place."""
    together = np.convolve(record.contact_counts, np.ones(_STEPS), "valid")
    row = int(together.argmax())
    return State(record.q[row], record.v[row])
