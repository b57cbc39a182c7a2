"""States that are brought onto the closures of a mechanism: where a step begins, and at its ends.

A state that is open by a little is closed before a step; the end of every piece is brought back
onto the closures by steps of Newton's method, the least motions d with G d = -e, and by the least
change of the velocity with G (v + d) = U. Each is a small dynamics at rest, M d = G* mu, and
differentiated as such:

    M dd - G* dmu = (d(G* mu) - d(M d)) dq,    G dd = goal - d(G d) dq.

A driven distance or coupler begins with the length that it has at the start.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import BY_Q, BY_V, spans
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.constrained_dynamics import loop_jacobian
from spatialops.dynamics.loops.elimination import TOLERANCE
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.dense.pieces import KEPT, TURNED, flow_blocks
from spatialops.simulation.linearization.dense.redundant_rows import (
    dependent,
    on_pivots,
    rows_answer,
)
from spatialops.simulation.linearization.masses.resistance_by_masses import momentum_regressor
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops
from spatialops.tree.state import integrate

_CLOSED = 1e-13  # as in `stepping/constraints/loop_constraints.py`


class End(NamedTuple):
    """A state, and its changes, by columns: a row a velocity."""

    q: Array
    v: Array
    dq: Array
    dv: Array


class Closures(NamedTuple):
    """Closures of a step that is differentiated.

    Attributes
    ----------
    loops : Loops
        With the loop's own frames, which go where the step has come to.
    lengths : (n_rows, columns) array
        Changes of what driven ones have come to at the start of the step.
    masses : slice or None
        Columns of changes by inertial parameters, if there are some.
    """

    loops: Loops
    lengths: Array
    masses: slice | None


def begin(
    loops: Loops, t: Tables, columns: int, masses: slice | None
) -> tuple[Closures, Array, Array]:
    """Closures where a step begins, with the loop's own frames; changes of q and v there.

    Those of the state before it is fitted to the closures come first of the columns.
    """
    n = t.v.size
    one = np.eye(2 * n, columns)
    if not len(loops):
        return Closures(loops, np.zeros((0, columns)), masses), one[:n], one[n:]
    loops = copy.copy(loops)
    loops.floats = t.loops
    closures = Closures(loops, np.zeros((loops.n_rows, columns)), masses)
    start, lengths = fitted(closures, End(t.q.copy(), t.v.copy(), one[:n], one[n:]))
    return closures._replace(lengths=lengths), start.dq, start.dv


def independent(loops: Loops, q: Array) -> list[int]:
    """How many rows of each mechanism are independent at a closed configuration."""
    return placed(loops, q).ranks


def placed(loops: Loops, q: Array, tolerance: float = TOLERANCE) -> Span:
    """Closures at q, factored."""
    return factored(loops, q, loops.model.links, None, tolerance)


def factored(
    loops: Loops,
    q: Array,
    links: Array,
    most: Sequence[int] | None,
    tolerance: float = TOLERANCE,
) -> Span:
    """The same of so many rows of each mechanism at most; links may have armature of their own."""
    span = Span(loops.model, loops)
    span.place(q)
    factor_kernel(loops.model.tree, links, span.work)
    span.factor(tolerance, most)
    return span


def fitted(closures: Closures, state: End) -> tuple[End, Array]:
    """A state that has been fitted to the closures, whose changes are of one that has not.

    States that are open by a little are closed, as `constraints/initial_closure.py` does. Driven
    closures follow the state instead: by how much, (n_rows, columns), is the second result.
    """
    loops = closures.loops
    span = placed(loops, state.q)
    none, same = np.zeros(loops.n_rows), np.zeros_like(closures.lengths)
    lengths = driven(loops)[:, None] * (loop_jacobian(loops.model, loops, state.q) @ state.dq)
    state = state._replace(dq=state.dq + _least(span, state, (none, lengths))[1])
    state = state._replace(dv=state.dv + _least(span, state, (none, same), state.v)[1])
    return state, lengths


def driven(loops: Loops) -> Array:
    """1 for rows of driven closures, else 0."""
    found = np.zeros(loops.n_rows)
    for loop in loops.items:
        if loop.rate is not None:
            found[loops.rows(loop.name)] = 1.0
    return found


def brought_back(closures: Closures, t: Tables, end: End, late: Array) -> End:
    """The end of a piece on the closures, where it comes later by `late` (columns,).

    Positions by Newton's method, then velocities with G v = U. The last column is by where it ends.
    """
    loops, before = closures.loops, np.inf
    share = 1.0 - float(t.monitor[at.REMAINING] / t.settings[at.DT])
    start = t.closure_vectors[at.RATE_START]
    growth = t.closure_vectors[at.RATE_END] - start
    rates = start + share * growth
    lengths = np.column_stack([closures.lengths, np.zeros(loops.n_rows)]) + np.outer(rates, late)
    span = placed(loops, end.q)
    while True:
        errors = span.errors(end.q)
        worst = np.abs(errors).max(initial=0.0)
        if worst <= _CLOSED or not worst < 0.5 * before:
            break
        before = worst
        span = placed(loops, end.q, tolerance=max(TOLERANCE, 10.0 * worst))
        end = _moved(span, end, *_least(span, end, (-errors, lengths), None, closures.masses))
        span = placed(loops, end.q)
    missed = rates - loop_jacobian(loops.model, loops, end.q) @ end.v
    faster = np.outer(growth / float(t.settings[at.DT]), late)
    d, dd = _least(span, end, (missed, faster), end.v, closures.masses)
    return end._replace(v=end.v + d, dv=end.dv + dd)


def _least(
    span: Span,
    end: End,
    goal: tuple[Array, Array],
    v: Array | None = None,
    masses: slice | None = None,
) -> tuple[Array, Array]:
    """The least motion d with G d = goal, and its change; d ends what moves with v, if given.

    The goal changes by what is given beside it less G dq, or less d(G v).
    """
    q, model = end.q, span.model
    still = np.zeros(model.nv)
    by = inverse_dynamics_derivatives(model, q, still, still)
    answer = ClosureAnswer(span, by.da)
    forces = answer.stiffness @ goal[0]
    if dependent(span):
        forces = on_pivots(span, forces)
    d = answer.inverse @ (answer.G.T @ forces)
    pushed = inverse_dynamics_derivatives(model, q, still, d).dq - by.dq
    stiffness, turned, _ = closure_changes(span, q, still, d if v is None else v + d, forces)
    shift = end.dq if v is None else end.dv
    rows = goal[1] - answer.G @ shift - turned @ end.dq
    held = rows_answer(span, answer, q, answer.G @ d - goal[0])
    side = (stiffness - pushed) @ end.dq
    if masses is not None:
        side[:, masses] -= momentum_regressor(model, q, d)
    return d, held.by_force @ side + held.by_rows @ rows + held.by_q @ end.dq


def _moved(span: Span, end: End, d: Array, dd: Array) -> End:
    """The end after a move by d, that changes by dd."""
    flow = flow_blocks(span.model.tree, spans(span.model), d, end.v)
    return End(
        integrate(span.model, end.q, d),
        flow[KEPT] @ end.v,
        flow[BY_Q] @ end.dq + flow[BY_V] @ dd,
        flow[TURNED] @ dd + flow[KEPT] @ end.dv,
    )
