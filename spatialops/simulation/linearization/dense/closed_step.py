"""The derivative of a step of a closed mechanism.

Where the step is evaluated, closures are lines as contacts are: with f = G a + Gdot v of
`derivatives/closures.py`,

    s f(q_e, v_m, x / s - w x v) = 0,    pushes G*,

and inverse dynamics loses d(G* lambda) / dq_e. Where rows are redundant the loop takes as many as
are independent at closed configurations, P, and the accelerations that come nearest to f = 0
(`dynamics/loops/elimination.py`):

    pushes G_P*,    B* f = 0,    B = G Y G_P*,    dB* f + B* df = 0,

where f is what is open there, of second order in the step. The end is brought back onto the
closures by steps of Newton's method, the least motions d with G d = -e, and by the least change of
the velocity with G (v + d) = U. Each is a small dynamics at rest, M d = G* mu, and differentiated
as such:

    M dd - G* dmu = (d(G* mu) - d(M d)) dq,    G dd = goal - d(G d) dq.

A driven distance or coupler begins with the length that it has at the start.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, dense_blocks, spans
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.constrained_dynamics import loop_jacobian
from spatialops.dynamics.loops.elimination import TOLERANCE
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_slips import closed_slips
from spatialops.simulation.linearization.dense.pieces import (
    KEPT,
    TURNED,
    flow_blocks,
    piece_held,
)
from spatialops.simulation.linearization.dense.redundant_rows import (
    answer_of_nearest,
    dependent,
    left_open,
    nearest_rows,
    on_pivots,
    turned_rows,
)
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops
from spatialops.tree.state import integrate

_CLOSED = 1e-13  # as in `stepping/constraints/loop_constraints.py`
_WHOLE = 1e-12  # s: as in `step_derivative`
_REDUNDANT = 1e-11  # as in `step_equations`


class End(NamedTuple):
    """A state, and its changes by those at the start of the step, a row a velocity."""

    q: Array
    v: Array
    dq: Array
    dv: Array


def differentiate_closed(
    loop: HeldLoop, held_start: Held, held_room: Held, loops: Loops
) -> tuple[int, Array, Array]:
    """A status, A and B of the step that the loop has made from `start`."""
    start: Start = held_start.tables
    room: Room = held_room.tables
    t, n = loop.tables, start.v.size
    nothing = np.empty((2 * n, 2 * n)), np.empty((2 * n, n))
    if t.control[at.EVENT_ROWS] > 0 or abs(t.monitor[at.PIECE] - t.settings[at.DT]) > _WHOLE:
        return of.CUT_CLOSED, *nothing
    status = piece_held(loop.address, held_start.address, held_room.address)
    if status == of.KNOWN and room.results[of.LONE] > 0:
        status = of.ALONE
    if status != of.KNOWN:
        return status, *nothing
    loops = copy.copy(loops)
    loops.floats = t.loops  # where driven ones have come to
    span = placed(loops, t.vectors[at.Q_E, : start.q.size].copy(), independent(loops, start.q))
    if dependent(span) and (room.point_ints[: room.results[of.COUNT], of.SLIP] == 1).any():
        return of.REDUNDANT, *nothing
    first, lengths = fitted(loops, start)
    end = open_end(t, room, span)
    end = End(end.q, end.v, *(_from(first, change) for change in (end.dq, end.dv)))
    end = closed(loops, end, np.hstack([lengths, np.zeros((loops.n_rows, n))]), _rates(t))
    whole = np.concatenate([end.dq, end.dv])
    return of.KNOWN, whole[:, : 2 * n].copy(), whole[:, 2 * n :].copy()


def _from(first: Array, change: Array) -> Array:
    """Changes by a state before it is fitted, of those by one that fits and by forces."""
    n = len(first)
    return np.hstack([change[:, :n] @ first, change[:, n:]])


def _rates(t: Tables) -> Array:
    """Prescribed rates at the end of the step."""
    return np.asarray(t.closure_vectors[at.RATE_END].copy())


def independent(loops: Loops, q: Array) -> int:
    """How many rows are independent at a closed configuration."""
    return placed(loops, q).rank


def placed(loops: Loops, q: Array, most: int | None = None, tolerance: float = TOLERANCE) -> Span:
    """Closures at q, factored: so many rows at most."""
    span = Span(loops.model, loops)
    span.place(q)
    factor_kernel(loops.model.tree, loops.model.links, span.work)
    span.factor(tolerance, most)
    return span


def fitted(loops: Loops, start: Start) -> tuple[Array, Array]:
    """What becomes (2 nv, 2 nv) of changes of a state that are first fitted to the closures.

    States that are open by a little are closed, as `constraints/initial_closure.py` does. Driven
    closures follow the state instead: by how much, (n_rows, 2 nv), is the second result.
    """
    n = start.v.size
    one = np.eye(2 * n)
    state = End(start.q, start.v, one[:n], one[n:])
    span = placed(loops, start.q)
    none = np.zeros(loops.n_rows)
    lengths = driven(loops)[:, None] * (loop_jacobian(loops.model, loops, start.q) @ state.dq)
    state = state._replace(dq=state.dq + _least(span, state, none, None, lengths)[1])
    state = state._replace(dv=state.dv + _least(span, state, none, state.v)[1])
    return np.concatenate([state.dq, state.dv]), lengths


def driven(loops: Loops) -> Array:
    """1 for rows of driven closures, else 0."""
    found = np.zeros(loops.n_rows)
    for loop in loops.items:
        if loop.rate is not None:
            found[loops.rows(loop.name)] = 1.0
    return found


def open_end(t: Tables, room: Room, span: Span) -> End:
    """The end of the step before it is brought back onto the closures."""
    n, m = t.v.size, int(room.results[of.HELD])
    s = float(t.monitor[at.PIECE])
    half = 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    squares, vectors = room.squares, room.vectors
    forces = t.closure_vectors[at.FORCES].copy()
    if dependent(span):
        forces = on_pivots(span, forces)
    stiffness, by_q, by_v = closure_changes(
        span, q_e, vectors[of.V_MIDDLE], vectors[of.WHOLE], forces
    )
    answer = ClosureAnswer(span, squares[of.MASS])
    bend = convection(t, vectors[of.V_MIDDLE])
    slips = closed_slips(t, room, span, answer, bend)
    by_v = by_v - answer.G @ bend
    first = [dense_blocks(room.spans, block) for block in room.blocks[of.START]]
    none = np.zeros((n, n))
    dq_e = np.hstack([first[BY_Q], first[BY_V], none])
    dv_e = np.hstack([none, first[CARRIED], none])
    given = np.concatenate([dq_e, dv_e, np.hstack([none, none, np.eye(n)])])
    side = room.side[:, : 3 * n] + s * stiffness @ dq_e + slips.side @ given
    rows, pushed = answer.G + s * half * by_v, answer.G
    missed = -s * (by_q @ dq_e + by_v @ dv_e)
    if dependent(span):
        nearest, pushed = nearest_rows(span, answer)
        rows, missed = nearest @ rows, nearest @ missed
        missed = missed - s * turned_rows(span, answer, q_e, left_open(t, room, span, q_e)) @ dq_e
    lines = np.concatenate([room.lines[:m] + slips.lines, rows])
    pushes = np.concatenate([room.pushes[:m], pushed])
    goal = np.concatenate([room.goal[:m, : 3 * n] + slips.goal @ given, missed])
    resistances = np.concatenate([room.resistances[:m], np.zeros(len(rows))])
    inverse = np.linalg.inv(squares[of.MASS] + half * s * squares[of.BY_V] - slips.system)
    free, reply = inverse @ side, inverse @ pushes.T
    W = lines @ reply + np.diag(resistances)
    dx = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    v, left = vectors[of.V_END].copy(), (1.0 - half) * s
    flow = flow_blocks(t.tree, room.spans, left * v, v)
    dv = dv_e + dx
    q = integrate(span.model, q_e, left * v)
    turned = flow[TURNED] @ (left * dv) + flow[KEPT] @ dv
    return End(q, _carried(flow, v), flow[BY_Q] @ dq_e + flow[BY_V] @ (left * dv), turned)


def _carried(flow: list[Array], v: Array) -> Array:
    """Velocities in the axes that a move leads to."""
    moved: Array = flow[KEPT] @ v
    return moved


def convection(t: Tables, v: Array) -> Array:
    """Derivative (nv, nv) of w x v of free joints."""
    result = np.zeros((v.size, v.size))
    for k in np.flatnonzero(t.tree[:, layout.FRAME] == layout.POSE):
        for j, unit in enumerate(np.eye(3)):
            result[k + 3 : k + 6, k + j] = np.cross(unit, v[k + 3 : k + 6])
            result[k + 3 : k + 6, k + 3 + j] = np.cross(v[k : k + 3], unit)
    return result


def closed(loops: Loops, end: End, lengths: Array, rates: Array) -> End:
    """The end on the closures: positions by Newton's method, then velocities with G v = rates.

    Of driven closures, the length changes by `lengths`.
    """
    before = np.inf
    span = placed(loops, end.q)
    while True:
        errors = span.errors(end.q)
        worst = np.abs(errors).max(initial=0.0)
        if worst <= _CLOSED or not worst < 0.5 * before:
            break
        before = worst
        span = placed(loops, end.q, tolerance=max(TOLERANCE, 10.0 * worst))
        end = _moved(span, end, *_least(span, end, -errors, None, lengths))
        span = placed(loops, end.q)
    d, dd = _least(span, end, rates - loop_jacobian(loops.model, loops, end.q) @ end.v, end.v)
    return end._replace(v=end.v + d, dv=end.dv + dd)


def _least(
    span: Span, end: End, goal: Array, v: Array | None, lengths: Array | None = None
) -> tuple[Array, Array]:
    """The least motion d with G d = goal, and its change; d ends what moves with v, if given.

    The goal changes by lengths - G dq of errors, or by -d(G v).
    """
    q, model = end.q, span.model
    still = np.zeros(model.nv)
    by = inverse_dynamics_derivatives(model, q, still, still)
    answer = ClosureAnswer(span, by.da)
    forces = answer.stiffness @ goal
    several = dependent(span)
    if several:
        forces = on_pivots(span, forces)
    d = answer.inverse @ (answer.G.T @ forces)
    pushed = inverse_dynamics_derivatives(model, q, still, d).dq - by.dq
    stiffness, turned, _ = closure_changes(span, q, still, d if v is None else v + d, forces)
    shift = end.dq if v is None else end.dv
    rows = -answer.G @ shift - turned @ end.dq
    if lengths is not None:
        rows = rows + lengths
    side = (stiffness - pushed) @ end.dq
    if not several:
        return d, answer.of(side, rows)[0]
    rows = nearest_rows(span, answer)[0] @ rows
    rows = rows - turned_rows(span, answer, q, answer.G @ d - goal) @ end.dq
    return d, answer_of_nearest(span, answer, side, rows)


def _moved(span: Span, end: End, d: Array, dd: Array) -> End:
    """The end after a move by d, that changes by dd."""
    flow = flow_blocks(span.model.tree, spans(span.model), d, end.v)
    return End(
        integrate(span.model, end.q, d),
        _carried(flow, end.v),
        flow[BY_Q] @ end.dq + flow[BY_V] @ dd,
        flow[TURNED] @ dd + flow[KEPT] @ end.dv,
    )
