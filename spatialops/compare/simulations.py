"""Table 2 of [J] as whole simulations: the pendulum on the floor, a formulation in every step."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time

import numpy as np

from spatialops.contact.formulations import check_formulation
from spatialops.models.pendulum import pendulum
from spatialops.simulation.records.record import Record
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

_DURATION = 3.0  # s, as the paper's figure of it
_STEPS = 60  # that are timed: those with the most contacts
_DT = 1e-3  # s


@dataclass(frozen=True)
class Simulation:
    """Median microseconds of a step that has contacts, the most contacts, how far ends are apart.

    `loop` is OS in the compiled loop; `os` and `nmc_os` are handed to Python at each step, both
    with dense Lemke.
    """

    links: int
    loop: float
    os: float
    nmc_os: float
    contacts: int
    difference: float


def whole_simulation(links: int) -> Simulation:
    """Steps of a pendulum without restitution while it touches most, by OS and by NMC/OS."""
    scene = pendulum(links).scene(restitution=0.0)
    state = _touching_most(Simulator(scene, dt=_DT).run(duration=_DURATION))
    times, ends = {}, {}
    contacts = 0
    for name in ("loop", "os", "nmc/os"):
        simulator = (
            Simulator(scene, dt=_DT)
            if name == "loop"
            else Simulator(scene, dt=_DT, formulation=check_formulation(name), solver="lemke")
        )
        now, _ = simulator.step(state)  # loads the kernels
        spent = [np.nan]  # where there is no contact at all
        for _ in range(_STEPS):
            begin = thread_time()
            now, info = simulator.step(now)
            if len(info.contacts):
                spent.append(thread_time() - begin)
            contacts = max(contacts, len(info.contacts))
        times[name] = 1e6 * float(np.median(spent[1:] or spent))
        ends[name] = now.q
    apart = float(np.abs(ends["os"] - ends["nmc/os"]).max())
    return Simulation(links, times["loop"], times["os"], times["nmc/os"], contacts, apart)


def _touching_most(record: Record) -> State:
    """Where the steps begin that have the most contacts together; the first such place."""
    together = np.convolve(record.contact_counts, np.ones(_STEPS), "valid")
    row = int(together.argmax())
    return State(record.q[row], record.v[row])
