"""Where a step's time goes: the loop's own kernels, each on its own, at given states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as of_table
from spatialops.contact.formulations.operational_space import assemble_kernel, recover_kernel
from spatialops.contact.lcp.basis import solve_basis
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.response import contact_rows, multiply_rows, velocity_change
from spatialops.dynamics.articulated_body import forward_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.prepared import load_state
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stages import look_now
from spatialops.simulation.tables import Tables
from spatialops.tree.state import State

STAGES = ("dynamics", "collision", "Lambda", "LCP", "recovery")


def stage_times(simulator: Simulator, states: Sequence[State], taus: Sequence[Any], *, repeats: int = 20) -> Array:
    """Time of every stage of a step at every state, (n, 5), s, in the order of `STAGES`.

    Dynamics is the articulated-body sweep; collision poses, velocities and contacts, which a step looks for twice;
    Lambda the contacts' rows and their product; LCP assembly and the check of the basis of the step before (a problem
    that changed costs Lemke's pivots besides); recovery impulses and the change of velocities. Without contacts only
    the first two take time. Time is the thread's: other processes do not count.
    """
    rows = [_times(simulator, state, tau, repeats) for state, tau in zip(states, taus, strict=True)]
    result: Array = np.array(rows).reshape(-1, len(STAGES))
    return result


def _times(simulator: Simulator, state: State, tau: Any, repeats: int) -> list[float]:
    model = simulator.scene.model
    dynamics = _time(lambda: forward_dynamics(model, state.q, state.v, tau), repeats)
    t = _prepared(simulator, state, tau)
    m = int(t.control[at.ACTING]) if t.control[at.STAGE] == at.CONTACT else 0
    if m == 0:
        return [dynamics, 2.0 * _time(lambda: look_now(t), repeats), 0.0, 0.0, 0.0]
    Lambda = _time(lambda: _compliance(t, m), repeats)
    pieces = _pieces(t, m)
    _assemble(t, m, pieces)
    A, b, z, w, active, D, ints, vectors = pieces
    lemke_kernel(A, b, 0, t.covers, 10 * len(b) + 100, 1e-9, D.reshape(len(b), -1), ints, vectors, active, z, w)
    lcp = _time(lambda: _check(t, m, pieces), repeats)
    recovery = _time(lambda: _recover(t, m, z), repeats)
    collision = 2.0 * _time(lambda: look_now(t), repeats)
    return [dynamics, collision, Lambda, lcp, recovery]


def _prepared(simulator: Simulator, state: State, tau: Any) -> Tables:
    """The loop's tables as they are when the first contact problem of a step is ready, as in `Simulator.problem`."""
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


def _pieces(t: Tables, m: int) -> tuple[Any, ...]:
    n = m * (t.facets.shape[0] + 2)
    return (
        t.A[: n * n].reshape(n, n),
        t.b[:n],
        t.z[:n],
        t.w[:n],
        t.active[:n],
        t.D[: n * (n + 2)],
        t.lcp_ints[: 6 * (n + 1)].reshape(6, n + 1),
        t.lcp_vectors[: 3 * n].reshape(3, n),
    )


def _compliance(t: Tables, m: int) -> None:
    contact_rows(t.tree, t.links, t.work, t.ints, t.floats, m, t.L)
    multiply_rows(t.L, 3 * m, t.W[: 9 * m * m].reshape(3 * m, 3 * m))


def _assemble(t: Tables, m: int, pieces: tuple[Any, ...]) -> None:
    W, friction = t.W[: 9 * m * m].reshape(3 * m, 3 * m), t.floats[:m, of_table.MU].copy()
    t.monitor[at.SCALE] = assemble_kernel(W, t.u[: 3 * m], friction, t.offset[:m], t.facets, pieces[0], pieces[1])


def _check(t: Tables, m: int, pieces: tuple[Any, ...]) -> None:
    A, b, z, w, active, D, ints, vectors = pieces
    _assemble(t, m, pieces)
    solve_basis(A, b, 0, active, z, w, D[: len(b) ** 2].reshape(len(b), len(b)), ints[4:6], vectors)


def _recover(t: Tables, m: int, z: Array) -> None:
    recover_kernel(z, 0, t.facets, t.monitor[at.SCALE], t.impulses[: 3 * m])
    velocity_change(t.tree, t.links, t.work, t.L, 3 * m, t.impulses, t.vectors[at.DVC, : t.v.size])
