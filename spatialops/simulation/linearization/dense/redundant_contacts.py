"""Contacts beside closures of which some rows imply others, where a piece is evaluated.

There the smooth part alone comes nearest to f = dU/dt; what contacts change, w, is held by the rows
P taken alone (`constraints/loop_constraints.py`):

    B* (s f(x) - G w - s dU/dt) = 0,    M w = G_c* p + G_P* mu,    G_P w = 0.

So lines of closures have G w beside G x, of second order in the step. With N and K the answers of
rows P,

    dw = N (d(G_c* p) + d(G_P* mu) - dM w) - K d(G_P w).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_slips import reaction
from spatialops.simulation.linearization.dense.redundant_rows import nearest_rows
from spatialops.simulation.linearization.made_step import Room, pulls_change
from spatialops.simulation.stepping.tables import Tables


class Apart(NamedTuple):
    """What G w takes off lines of closures, off their answers to pushes, and adds to their goals.

    Attributes
    ----------
    lines : (r, nv) array
    replies : (r, m) array
    goal : (r, columns) array
    """

    lines: Array
    replies: Array
    goal: Array


def apart(
    t: Tables,
    room: Room,
    span: Span,
    answer: ClosureAnswer,
    turning: Array,
    given: tuple[Array, Array],
) -> Apart:
    """By columns, of right-hand sides and of changes of [q; v; forces; time] where it is evaluated.

    Friction turns with the change of the velocity by a matrix.
    """
    n, m = t.v.size, int(room.results[of.HELD])
    q_e, w = t.vectors[at.Q_E, : t.q.size].copy(), t.vectors[at.DVC, :n].copy()
    pushed, arrived = given
    dq = arrived[:n]
    forces = reaction(t, room, span, answer)
    stiffness, turned, _ = closure_changes(span, q_e, np.zeros(n), w, forces)
    nearest, taken = nearest_rows(span, answer)
    pushes = answer.inverse @ taken.T
    K = pushes @ np.linalg.inv(taken @ pushes)
    N = answer.inverse - K @ (taken @ answer.inverse)
    side = pushed + stiffness @ dq - _smooth_side(t, room, span) @ arrived
    rows = nearest @ answer.G
    changes = N @ side - K @ (turned[span.order[: span.rank]] @ dq)
    goal = nearest @ (turned @ dq) + rows @ changes
    return Apart(rows @ N @ turning, rows @ N @ room.pushes[:m].T, goal)


def _smooth_side(t: Tables, room: Room, span: Span) -> Array:
    """Right-hand sides (nv, 3 nv + 1) of the smooth part, by [q_e; v_e; forces; time]."""
    n, s = t.v.size, float(t.monitor[at.PIECE])
    squares, a = room.squares, room.vectors[of.SMOOTH].copy()
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    middle = room.vectors[of.V_MIDDLE].copy()
    by_q = -s * inverse_dynamics_derivatives(span.model, q_e, middle, a).dq
    by_v = -s * squares[of.BY_V]
    by_time = squares[of.MASS] @ t.vectors[at.DV, :n] / s
    if pulls_change(t):
        by_q = by_q + s * squares[of.PULL_BY_Q] - s * a[:, None] * squares[of.FIT]
        by_v = by_v + s * squares[of.PULL_BY_V]
        by_time = by_time + s * room.vectors[of.PULL_BY_TIME]
        by_time -= s * a * room.vectors[of.FIT_BY_TIME]
    return np.column_stack([by_q, by_v, s * np.eye(n), by_time])
