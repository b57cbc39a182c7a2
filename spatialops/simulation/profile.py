"""Where a step's time goes: the loop's own kernels, each on its own, at given states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim
from spatialops.contact.newton.islands import new_buffers, room_of, solve_islands
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.rows import SparseRows
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.contact_stage import put_change, put_entries
from spatialops.simulation.stepping.detection_stage import detect_contacts
from spatialops.simulation.stepping.tables import Tables, rows_of
from spatialops.tree.state import State

STAGES = ("dynamics", "collision", "Lambda", "LCP", "recovery")


def stage_times(
    simulator: Simulator, states: Sequence[State], taus: Sequence[ArrayLike], *, repeats: int = 20
) -> Array:
    """Time of every stage of a step at every state, (n, 5), s, in the order of `STAGES`.

    Dynamics is the articulated-body sweep; collision poses, velocities and contacts, which a step
    detects twice; Lambda the contacts' rows; LCP the solver, from impulses that solve already (a
    problem that changed costs Newton steps besides); recovery the change of velocities. Without
    contacts only the first two take time. Time is the thread's: other processes do not count.
    """
    rows = [_times(simulator, state, tau, repeats) for state, tau in zip(states, taus, strict=True)]
    result: Array = np.array(rows).reshape(-1, len(STAGES))
    return result


def _times(simulator: Simulator, state: State, tau: ArrayLike, repeats: int) -> list[float]:
    model = simulator.scene.model
    forces = np.asarray(tau, dtype=np.float64)
    dynamics = _time(lambda: forward_dynamics(model, state.q, state.v, forces), repeats)
    t = _prepared(simulator, state, tau)
    m = int(t.control[at.ACTING]) if t.control[at.STAGE] == at.CONTACT else 0
    if m == 0:
        return [dynamics, 2.0 * _time(lambda: detect_contacts(t), repeats), 0.0, 0.0, 0.0]
    Lambda = _time(lambda: _compliance(t, m), repeats)
    prepared = rows_of(t, m)
    rows = ContactRows(
        SparseRows(t.entries.copy(), prepared.L.places.copy()),
        prepared.trees.copy(),
        prepared.u.copy(),
        prepared.friction.copy(),
        prepared.prior.copy(),
        prepared.dry.copy(),
        t.facets,
        int(t.control[at.LAW]),
        prepared.owners.copy(),
    )
    p, buffers = np.zeros(3 * m), new_buffers(room_of(rows))
    tolerance = float(t.settings[at.TOLERANCE])
    solve_islands(rows, Aim(False, tolerance, ALL_ATTEMPTS, False, False), p, buffers)
    lcp = _time(
        lambda: solve_islands(rows, Aim(True, tolerance, ALL_ATTEMPTS, False, False), p, buffers),
        repeats,
    )
    recovery = _time(lambda: _recover(t, m, p), repeats)
    collision = 2.0 * _time(lambda: detect_contacts(t), repeats)
    return [dynamics, collision, Lambda, lcp, recovery]


def _prepared(simulator: Simulator, state: State, tau: ArrayLike) -> Tables:
    """The loop's tables where the first contact problem of a step is ready."""
    t = simulator.stepping.tables()
    load_state(t, state, np.asarray(tau, dtype=np.float64), 1)
    t, _ = simulator.stepping.prepare(t)
    return t


def _time(call: Callable[[], object], repeats: int) -> float:
    """Least time of a call: what disturbs only ever adds."""
    least = float("inf")
    for _ in range(repeats):
        begin = thread_time()
        call()
        least = min(least, thread_time() - begin)
    return least


def _compliance(t: Tables, m: int) -> None:
    put_entries(t, t.ints, t.floats, m)


def _recover(t: Tables, m: int, p: Array) -> None:
    put_change(t, p[: 3 * m], t.vectors[at.DVC, : t.v.size])
