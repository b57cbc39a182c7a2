"""How slips of a closed mechanism turn, beside what `slip_turning.py` has of one without closures.

The change ddv of the smooth part keeps the closures, whose multipliers mu change with it. With
Y = M^-1, K = Y G* (G Y G*)^-1 and N = Y - K G Y, in the place of Y alone,

    ddv = N s (dF - ID_q dq_e + d(G* mu) / dq_e dq_e - C dv_m) - K s (f_q dq_e + f_v dv_m).

A row b of it has b N for b M^-1, and b K. Equations that a polygon's friction turns with are
corrected by the difference. Where rows are redundant (`closed_piece`), f comes nearest to dU/dt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.redundant_rows import (
    dependent,
    left_open,
    rows_answer,
)
from spatialops.simulation.linearization.made_step import Room, pulls_change
from spatialops.simulation.linearization.parameters import friction_of_mu, gains_of
from spatialops.simulation.stepping.tables import Tables


class Turned(NamedTuple):
    """What slips take off K, and add to right-hand sides, lines and goals of contacts.

    Attributes
    ----------
    system : (nv, nv) array
    side : (nv, 3 nv + 1) array
        By [q_e; v_e; forces; time], as
    goal : (m, 3 nv + 1) array
    lines : (m, nv) array
    """

    system: Array
    side: Array
    goal: Array
    lines: Array


def closed_slips(
    t: Tables, room: Room, span: Span, answer: ClosureAnswer, forces: Array, bend: Array
) -> Turned:
    """Of all points that slip; `bend` is d(w x v) by v, `answer` of the step's mass matrix.

    Closures have the multipliers `forces`.
    """
    n, m = t.v.size, int(room.results[of.HELD])
    s = float(t.monitor[at.PIECE])
    half = 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0
    side, goal = np.zeros((n, 3 * n + 1)), np.zeros((m, 3 * n + 1))
    turned = Turned(np.zeros((n, n)), side, goal, np.zeros((m, n)))
    points = [k for k in range(room.results[of.COUNT]) if room.point_ints[k, of.SLIP] == 1]
    if not points:
        return turned
    q_e = t.vectors[at.Q_E, : span.model.nq].copy()
    smooth = room.vectors[of.SMOOTH].copy()
    smooth_forces = forces - reaction(t, room, span, answer) / s
    stiffness, by_q, by_v = closure_changes(
        span, q_e, room.vectors[of.V_MIDDLE], smooth, smooth_forces
    )
    by_v = by_v - answer.G @ bend
    left = left_open(t, span, q_e, room.vectors[of.V_MIDDLE].copy(), smooth)
    held = rows_answer(span, answer, q_e, left)
    for k in points:
        b, open_y = room.slips[of.SLIP_BY_V, k], room.slips[of.SLIP_ANSWER, k]
        y, by_rows = b @ held.by_force, b @ held.by_rows
        turn = y @ stiffness - by_rows @ by_q + b @ held.by_q
        row = np.concatenate([turn, -by_rows @ by_v, np.zeros(n + 1)])
        row = s * (row + _smooth_row(t, room, y - open_y))
        change = -half * s * ((y - open_y) @ room.squares[of.BY_V] + by_rows @ by_v)
        rows = room.found[of.LATE, k, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
        push = rows.T @ friction_of_mu(t, room, k)[1]
        turned.side[:] += np.outer(push, row)
        turned.system[:] += np.outer(push, room.slips[of.SLIP_BY_CHANGE, k] + change)
        first = room.point_ints[k, of.FIRST_LINE]
        for line, gain in gains_of(room, k):
            turned.lines[first + line] += gain * change
            turned.goal[first + line] -= gain * row
    return turned


def reaction(t: Tables, room: Room, span: Span, answer: ClosureAnswer) -> Array:
    """What closures answer to contacts' impulses, N s or N m s along their rows."""
    return held_back(span, answer, -pushed_by_contacts(t, room))


def pushed_by_contacts(t: Tables, room: Room) -> Array:
    """Joint impulses of a step's contacts, of stops and of dry friction."""
    pushed = pushed_by_points(room)
    for k, ints in enumerate(room.point_ints[: room.results[of.COUNT]]):
        if ints[of.KIND] == of.JOINT:
            normal, along = t.floats[ints[of.ROW], col.IMPULSE : col.IMPULSE + 2]
            pushed[ints[of.LINK]] += room.points[k, of.ALONG] * normal + along
    return pushed


def pushed_by_points(room: Room) -> Array:
    """Those of all points that have impulses in space: in impacts stops, too."""
    count = int(room.results[of.COUNT])
    rows = room.found[of.LATE, :count, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
    impulses = room.points[:count, of.IMPULSE : of.IMPULSE + 3]
    return np.asarray(np.einsum("kin,ki->n", rows, impulses))


def held_back(span: Span, answer: ClosureAnswer, force: Array) -> Array:
    """Multipliers that push with joint forces, less what moves; of rows that are taken alone."""
    moved = answer.G @ (answer.inverse @ force)
    if not dependent(span):
        return np.asarray(answer.stiffness @ moved)
    chosen, forces = span.order[: span.rank], np.zeros(len(moved))
    W = answer.G[chosen] @ answer.inverse @ answer.G[chosen].T
    forces[chosen] = np.linalg.solve(W, moved[chosen])
    return forces


def _smooth_row(t: Tables, room: Room, y: Array) -> Array:
    """A row y times forces of the smooth part, as `slip_turning.put_answer`."""
    squares = room.squares
    by_q, by_v = -y @ squares[of.SMOOTH_BY_Q], -y @ squares[of.BY_V]
    by_time = 0.0
    if pulls_change(t):
        push = y * room.vectors[of.SMOOTH]
        by_q = by_q + y @ squares[of.PULL_BY_Q] - push @ squares[of.FIT]
        by_v = by_v + y @ squares[of.PULL_BY_V]
        by_time = y @ room.vectors[of.PULL_BY_TIME] - push @ room.vectors[of.FIT_BY_TIME]
    return np.concatenate([by_q, by_v, y, [by_time]])
