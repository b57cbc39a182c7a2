"""Where a step's time goes: the loop's own kernels, each on its own, at given states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.collision import _layout as col
from spatialops.contact.delassus import contact_rows, multiply_rows, velocity_change
from spatialops.contact.formulations.operational_space import assemble_kernel, recover_kernel
from spatialops.contact.lcp.basis import solve_basis
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.lcp.scratch import LemkeScratch, new_lemke_scratch
from spatialops.dynamics.articulated_body import forward_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.contact_stage import detect_contacts
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

STAGES = ("dynamics", "collision", "Lambda", "LCP", "recovery")


def stage_times(
    simulator: Simulator, states: Sequence[State], taus: Sequence[ArrayLike], *, repeats: int = 20
) -> Array:
    """Time of every stage of a step at every state, (n, 5), s, in the order of `STAGES`.

    Dynamics is the articulated-body sweep; collision poses, velocities and contacts, which a step
    detects twice; Lambda the contacts' rows and their product; LCP assembly and the check of the
    basis of the step before (a problem that changed costs Lemke's pivots besides); recovery
    impulses and the change of velocities. Without contacts only the first two take time. Time is
    the thread's: other processes do not count.
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
    pieces = _pieces(t, m)
    _assemble(t, m, pieces)
    A, b, z, w, active, scratch = pieces
    lemke_kernel(
        A,
        b,
        0,
        t.covers,
        10 * len(b) + 100,
        t.settings[at.TOLERANCE],
        active,
        z,
        w,
        scratch,
    )
    lcp = _time(lambda: _check(t, m, pieces), repeats)
    recovery = _time(lambda: _recover(t, m, z), repeats)
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


class _Pieces(NamedTuple):
    """The parts of the tables that belong to a problem of n variables."""

    A: Array
    b: Array
    z: Array
    w: Array
    active: IntArray
    scratch: LemkeScratch


def _pieces(t: Tables, m: int) -> _Pieces:
    n = m * (t.facets.shape[0] + 2)
    return _Pieces(
        t.A[: n * n].reshape(n, n),
        t.b[:n],
        t.z[:n],
        t.w[:n],
        t.active[:n],
        new_lemke_scratch(n),
    )


def _compliance(t: Tables, m: int) -> None:
    contact_rows(t.tree, t.links, t.work, t.ints, t.floats, m, t.L)
    multiply_rows(t.L, 3 * m, t.W[: 9 * m * m].reshape(3 * m, 3 * m))


def _assemble(t: Tables, m: int, pieces: _Pieces) -> None:
    W = t.W[: 9 * m * m].reshape(3 * m, 3 * m)
    friction = t.floats[:m, col.MU].copy()
    t.monitor[at.SCALE] = assemble_kernel(
        W, t.u[: 3 * m], friction, t.prior[:m], t.facets, pieces.A, pieces.b
    )


def _check(t: Tables, m: int, pieces: _Pieces) -> None:
    A, b, z, w, active, scratch = pieces
    _assemble(t, m, pieces)
    solve_basis(A, b, 0, active, z, w, scratch.basis)


def _recover(t: Tables, m: int, z: Array) -> None:
    recover_kernel(z, 0, t.facets, t.monitor[at.SCALE], t.impulses[: 3 * m])
    velocity_change(t.tree, t.links, t.work, t.L, 3 * m, t.impulses, t.vectors[at.DVC, : t.v.size])
