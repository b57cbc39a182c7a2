"""How a piece of a step changes the velocity of a closed mechanism, linearised.

Where the piece is evaluated, closures are lines as contacts are: with f = G a + Gdot v of
`derivatives/closures.py`,

    s f(q_e, v_m, x / s - w x v) = s dU/dt,    pushes G*,

and inverse dynamics loses d(G* lambda) / dq_e. A piece that takes ds longer has G x / s ds on the
right of the lines. Where rows are redundant the loop takes as many as are independent at closed
configurations, P, and the accelerations that come nearest to f = dU/dt
(`dynamics/loops/elimination.py`):

    pushes G_P*,    B* (f - dU/dt) = 0,    B = G Y G_P*,    dB* f + B* df = 0,

where f - dU/dt is what is open there, of second order in the step.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.newton_euler import inverse_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_slips import (
    closed_slips,
    held_back,
    pushed_by_contacts,
)
from spatialops.simulation.linearization.dense.redundant_contacts import apart
from spatialops.simulation.linearization.dense.redundant_rows import (
    dependent,
    left_open,
    nearest_rows,
    turned_rows,
)
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.parameters import Own
from spatialops.simulation.stepping.tables import Tables

_REDUNDANT = 1e-11  # as in `step_equations`


def closed_change(
    t: Tables,
    room: Room,
    span: Span,
    given: Array,
    there: tuple[Array, Array],
    own: Own | None,
) -> Array:
    """Change (nv, columns) of what the velocity changes by in the piece that is in the tables.

    Given are changes of [q; v; forces; its time; centres] at its start, and of q and v where it is
    evaluated, by columns; and what parameters add to the last of these.
    """
    n, m = t.v.size, int(room.results[of.HELD])
    s = float(t.monitor[at.PIECE])
    half = 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    squares, vectors = room.squares, room.vectors
    middle, whole = vectors[of.V_MIDDLE].copy(), vectors[of.WHOLE].copy()
    answer = ClosureAnswer(span, squares[of.MASS])
    forces = multipliers(t, room, span, answer)
    stiffness, by_q, by_v = closure_changes(span, q_e, middle, whole, forces)
    bend = convection(t, middle)
    slips = closed_slips(t, room, span, answer, forces, bend)
    by_v = by_v - answer.G @ bend
    dq, dv = there
    arrived = np.concatenate([dq, dv, given[2 * n : 3 * n + 1]])
    if own is not None:
        arrived[2 * n : 3 * n] += own.forces
    pushed = room.side[:, : len(given)] @ given + slips.side @ arrived
    goal = room.goal[:m, : len(given)] @ given + slips.goal @ arrived
    if own is not None:
        pushed, goal = pushed + own.side, goal + own.goal
    rows, taken = answer.G + s * half * by_v, answer.G
    replies: Array | float = 0.0
    rate = (vectors[of.V_END] - t.vectors[at.V_E, :n]) / s
    missed = np.outer(answer.G @ rate, given[3 * n]) - s * (by_q @ dq + by_v @ dv)
    if dependent(span):
        nearest, taken = nearest_rows(span, answer)
        more = apart(t, room, span, answer, slips.system, (pushed, arrived))
        left = left_open(t, span, q_e, middle, whole) - answer.G @ t.vectors[at.DVC, :n] / s
        missed = nearest @ missed + more.goal - s * turned_rows(span, answer, q_e, left) @ dq
        rows, replies = nearest @ rows - more.lines, more.replies
    lines = np.concatenate([room.lines[:m] + slips.lines, rows])
    pushes = np.concatenate([room.pushes[:m], taken])
    goal = np.concatenate([goal, missed])
    resistances = np.concatenate([room.resistances[:m], np.zeros(len(rows))])
    inverse = np.linalg.inv(squares[of.MASS] + half * s * squares[of.BY_V] - slips.system)
    free, reply = inverse @ (pushed + s * stiffness @ dq), inverse @ pushes.T
    W = lines @ reply + np.diag(resistances)
    W[m:, :m] -= replies
    dx: Array = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    return dx


def multipliers(t: Tables, room: Room, span: Span, answer: ClosureAnswer) -> Array:
    """Forces along rows of closures in the piece, contacts' share among them."""
    n, q_e = t.v.size, t.vectors[at.Q_E, : t.q.size].copy()
    whole = room.vectors[of.WHOLE].copy()
    needed = inverse_dynamics(span.model, q_e, room.vectors[of.V_MIDDLE].copy(), whole)
    needed += (t.damped - t.links)[:, layout.ARMATURE] * whole - t.vectors[at.DRIVEN, :n]
    needed += t.links[:, layout.DAMPING] * t.vectors[at.V_E, :n]
    needed -= pushed_by_contacts(t, room) / float(t.monitor[at.PIECE])
    return held_back(span, answer, needed)


def convection(t: Tables, v: Array) -> Array:
    """Derivative (nv, nv) of w x v of free joints."""
    result = np.zeros((v.size, v.size))
    for k in np.flatnonzero(t.tree[:, layout.FRAME] == layout.POSE):
        for j, unit in enumerate(np.eye(3)):
            result[k + 3 : k + 6, k + j] = np.cross(unit, v[k + 3 : k + 6])
            result[k + 3 : k + 6, k + 3 + j] = np.cross(v[k : k + 3], unit)
    return result
