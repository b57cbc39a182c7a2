"""Rows of closures that others imply, where a step of a closed mechanism is evaluated.

See `closed_piece`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.closures import motions_kernel
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.rows import closure_accelerations
from spatialops.dynamics.newton_euler import lifted
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

_NOTHING = 1e-13  # of the longest row: what moves nothing


def dependent(span: Span) -> bool:
    """Whether rows depend on others, beside those that nothing moves."""
    moved = np.abs(span.L).max(axis=1, initial=0.0)
    return bool(span.rank < np.sum(moved > _NOTHING * moved.max(initial=0.0)))


def on_pivots(span: Span, forces: Array) -> Array:
    """Multipliers of the rows taken alone, which push as the smallest ones of all rows do."""
    rank, chosen = span.rank, span.order[: span.rank]
    Z = span.Z[:, :rank]
    result = np.zeros_like(forces)
    result[chosen] = np.linalg.solve(Z[chosen].T, Z.T @ forces)
    return result


def nearest_rows(span: Span, answer: ClosureAnswer) -> tuple[Array, Array]:
    """B* and G_P."""
    taken = answer.G[span.order[: span.rank]]
    return taken @ answer.inverse @ answer.G.T, taken


def turned_rows(span: Span, answer: ClosureAnswer, q: Array, f: Array) -> Array:
    """dB* f by q: with Y G* f = w, a motion at rest, it is d(G_P w)."""
    model = span.model
    w = answer.inverse @ (answer.G.T @ f)
    still = np.zeros(model.nv)
    by = [inverse_dynamics_derivatives(model, q, still, a).dq for a in (still, w)]
    stiffness, turned, _ = closure_changes(span, q, still, w, f)
    change = turned + answer.G @ answer.inverse @ (stiffness - (by[1] - by[0]))
    return np.asarray(change[span.order[: span.rank]])


class RowsAnswer(NamedTuple):
    """How a changes, of M a - G* x = force and G a = rows.

    Attributes
    ----------
    by_force : (nv, nv) array
    by_rows : (nv, n_rows) array
    by_q : (nv, nv) array
        What comes of rows that turn, beside d(G a), where they are redundant: a comes nearest to
        them, and leaves some of them open.
    """

    by_force: Array
    by_rows: Array
    by_q: Array


def rows_answer(span: Span, answer: ClosureAnswer, q: Array, left: Array) -> RowsAnswer:
    """The answer of closures at q, of which so much is left open."""
    n, rows = len(answer.inverse), len(answer.G)
    if not dependent(span):
        N, _ = answer.of(np.eye(n), np.zeros((rows, n)))
        K, _ = answer.of(np.zeros((n, rows)), np.eye(rows))
        return RowsAnswer(N, K, np.zeros((n, n)))
    nearest, taken = nearest_rows(span, answer)
    pushes, reply = answer.inverse @ taken.T, nearest @ answer.G
    # K = M^-1 G_P* (B* B)^-1: at a dead centre only the factor R of B = Q R has an inverse.
    _, R = np.linalg.qr(nearest.T)
    K = np.linalg.solve(R, np.linalg.solve(R.T, pushes.T)).T
    N = answer.inverse - K @ (reply @ answer.inverse)
    return RowsAnswer(N, K @ nearest, -K @ turned_rows(span, answer, q, left))


def left_open(t: Tables, span: Span, q: Array, v: Array, a: Array) -> Array:
    """F = G a + Gdot v - dU/dt at q."""
    loops, model = span.loops, span.model
    stack, f = model.stack(), np.empty(loops.n_rows)
    base = lifted(model.links)
    motions_kernel(model.tree, model.links, q, v, a, stack)
    closure_accelerations(loops.ints, loops.floats, loops.term_ints, span.terms, base, stack, f)
    model.stacks.append(stack)
    start, end = t.closure_vectors[at.RATE_START], t.closure_vectors[at.RATE_END]
    return np.asarray(f - (end - start) / float(t.settings[at.DT]))
