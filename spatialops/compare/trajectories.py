"""The same motion in minimal and in maximal coordinates ([J] figure 6), with smaller steps."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Final

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import node_positions, node_velocities
from spatialops.models.pendulum import pendulum
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.maximal_scene import maximal_scene, tree_state
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.time_methods import EventDriven
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

PAPER_STEP = 1e-4  # s, [J] section 8
# Steps of RK4 in one of the paper's: with a single one its error is more than what differs.
PARTS = 4
# Of order 4: at the paper's step Moreau's rule is off by 1e-5 rad, and nothing else would be seen.
_INTEGRATOR: Final = "rk4"
_SHOWN = 4e-3  # s between rows that are kept: a multiple of all steps that are compared


@dataclass(frozen=True, eq=False)
class Motion:
    """Height (m) and vertical velocity (m/s) of the last link, impacts, and seconds a step took."""

    times: Array
    heights: Array
    velocities: Array
    impacts: Array
    q: Array
    seconds: float


def pendulum_motions(
    links: int = 12,
    *,
    dt: float = 1e-3,
    duration: float = 3.0,
    time: EventDriven | None = None,
) -> dict[str, Motion]:
    """The paper's pendulum by OS in tree coordinates and by OS on free bodies (NMC/OS).

    By RK4 in the compiled loop, or with `EventDriven` by its own rule, far slower.
    """
    scene = pendulum(links).scene()
    chosen = {"os": scene, "nmc/os": maximal_scene(scene)}
    return {name: _run(scene.model, one, dt, duration, time) for name, one in chosen.items()}


def pendulum_motion(
    links: int = 12, *, dt: float, duration: float, time: EventDriven | None = None
) -> Motion:
    """The same by OS in tree coordinates alone."""
    scene = pendulum(links).scene()
    return _run(scene.model, scene, dt, duration, time)


def _run(
    model: Model, scene: Scene, dt: float, duration: float, time: EventDriven | None
) -> Motion:
    # Rows of the record are at the same times for every step that divides 1 ms.
    steps = round(duration / dt)
    if time is None:
        simulator = Simulator(scene, dt=dt, integrator=_INTEGRATOR)
    else:
        simulator = Simulator(scene, dt=dt, time=time)
    simulator.run(duration=dt)  # loads the kernels
    begin = perf_counter()
    record = simulator.run(duration=duration, record_every=max(1, round(_SHOWN / dt)))
    return _motion(model, record, (perf_counter() - begin) / max(steps, 1))


def _motion(model: Model, record: Record, seconds: float) -> Motion:
    states = [State(q, v) for q, v in zip(record.q, record.v, strict=True)]
    if record.q.shape[1] != model.nq:
        states = [tree_state(model, state) for state in states]
    last = [Node(model.n_bodies - 1)]
    heights = np.array([node_positions(model, state.q, last)[0, 2] for state in states])
    velocities = np.array(
        [node_velocities(model, state.q, state.v, last)[0, 5] for state in states]
    )
    q = np.array([state.q for state in states])
    return Motion(record.times, heights, velocities, record.events[:, 0].copy(), q, seconds)


def largest_difference(motions: dict[str, Motion], until: float) -> float:
    """Largest difference (rad) of any joint's angle up to the time `until`."""
    one, other = motions.values()
    early = one.times <= until
    turn = one.q[early] - other.q[early]
    return float(np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi).max())
