"""Table 2 of [J] as whole simulations: the pendulum on the floor, a formulation in every step."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.pendulum import RAISED, build_scene, sliding
from spatialops.contact.formulations import check_formulation
from spatialops.models.pendulum import pendulum
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.maximal_scene import (
    maximal_scene,
    maximal_state,
    tree_state,
)
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

BY_PYTHON = ("os", "rmc", "mc", "nmc/os", "nmc")
_DURATION = 3.0  # s, as the paper's figure of it
_STEPS = 60  # that are timed: those with the most contacts
_DT = 1e-3  # s
_RUNS = 5


@dataclass(frozen=True)
class Simulation:
    """Microseconds a step of `_STEPS` steps, of which most have contacts.

    Attributes
    ----------
    what : str
        "falls", the paper's motion where most links touch, or "lies", half of the links on the
        floor and sliding.
    links, contacts : int
        Number of links, and the most contacts together.
    loops : dict of str to float
        Each in a compiled loop of its own, all steps in one call: "os" in tree coordinates,
        "nmc/os" as free bodies with closures for hinges, which the loop eliminates.
    handed : dict of str to float
        The problem of each step handed to Python, stated by a formulation and solved by dense
        Lemke; median of the steps with contacts.
    difference : float
        Largest difference of an angle (rad) at the end from that of OS in the loop, of what is
        handed to Python, and
    free_difference : float
        of the free bodies, whose midpoints are others.
    """

    what: str
    links: int
    contacts: int
    loops: dict[str, float]
    handed: dict[str, float]
    difference: float
    free_difference: float


def whole_simulation(links: int, what: str = "falls") -> Simulation:
    """Steps of a pendulum while it touches most, or while half of it slides on the floor."""
    if what == "lies":
        scene, state = build_scene(links, RAISED), sliding(links, RAISED)
    else:
        scene = pendulum(links).scene(restitution=0.0)
        state = _touching_most(Simulator(scene, dt=_DT).run(duration=_DURATION))
    free = maximal_scene(scene)
    bodies = maximal_state(scene.model, state)
    contacts, handed = 0, {}
    ends = []
    for name in BY_PYTHON:
        simulator = Simulator(scene, dt=_DT, formulation=check_formulation(name), solver="lemke")
        handed[name], end, contacts = _handed(simulator, state)
        ends.append(end)
    own, own_end = _looped(Simulator(scene, dt=_DT), state)
    other, other_end = _looped(Simulator(free, dt=_DT), bodies)
    as_tree = tree_state(scene.model, other_end)
    return Simulation(
        what,
        links,
        contacts,
        {"os": own, "nmc/os": other},
        handed,
        max(_turn(own_end.q, end) for end in ends),
        _turn(own_end.q, as_tree.q),
    )


def _looped(simulator: Simulator, state: State) -> tuple[float, State]:
    """Median time of a step in runs of `_STEPS` (us), and where they end."""
    spent = []
    for _ in range(1 + _RUNS):  # the first loads the kernels
        begin = thread_time()
        record = simulator.run(state, duration=_STEPS * _DT, record_every=_STEPS)
        spent.append(thread_time() - begin)
    return 1e6 * float(np.median(spent[1:])) / _STEPS, State(record.q[-1], record.v[-1])


def _handed(simulator: Simulator, state: State) -> tuple[float, Array, int]:
    """Median of steps with contacts (us), where `_STEPS` end, and the most contacts."""
    simulator.step(state)  # loads the kernels
    now = state
    spent = [np.nan]  # where there is no contact at all
    contacts = 0
    for _ in range(_STEPS):
        begin = thread_time()
        now, info = simulator.step(now)
        if len(info.contacts):
            spent.append(thread_time() - begin)
        contacts = max(contacts, len(info.contacts))
    return 1e6 * float(np.median(spent[1:] or spent)), now.q, contacts


def _turn(one: Array, other: Array) -> float:
    return float(np.abs((one - other + np.pi) % (2.0 * np.pi) - np.pi).max())


def _touching_most(record: Record) -> State:
    """Where the steps begin that have the most contacts together; the first such place."""
    together = np.convolve(record.contact_counts, np.ones(_STEPS), "valid")
    row = int(together.argmax())
    return State(record.q[row], record.v[row])
