"""The derivative of a step of a closed mechanism.

Where the step is evaluated, closures are lines as contacts are: with f = G a + Gdot v of
`derivatives/closures.py`,

    s f(q_e, v_m, x / s - w x v) = 0,    pushes G*,

and inverse dynamics loses d(G* lambda) / dq_e. The end is brought back onto the closures by steps
of Newton's method, the least motions d with G d = -e, and by the least change of the velocity with
G (v + d) = 0. Each is a small dynamics at rest, M d = G* mu, and differentiated as such:

    M dd - G* dmu = (d(G* mu) - d(M d)) dq,    G dd = goal - d(G d) dq.
"""

from __future__ import annotations

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
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_slips import closed_slips
from spatialops.simulation.linearization.impacts.step_parts import flow_blocks, piece_held
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
    if status != of.KNOWN:
        return status, *nothing
    span = placed(loops, t.vectors[at.Q_E, : start.q.size].copy())
    if dependent(span):
        return of.REDUNDANT, *nothing
    end = closed(loops, open_end(t, room, span))
    whole = np.concatenate([end.dq, end.dv])
    return of.KNOWN, whole[:, : 2 * n] @ fitted(loops, start), whole[:, 2 * n :].copy()


def placed(loops: Loops, q: Array) -> Span:
    """Closures at q, factored."""
    span = Span(loops.model, loops)
    span.place(q)
    factor_kernel(loops.model.tree, loops.model.links, span.work)
    span.factor()
    return span


def dependent(span: Span) -> bool:
    """Whether rows depend on others, beside those that nothing moves."""
    moved = np.abs(span.L).max(axis=1, initial=0.0)
    return bool(span.rank < np.sum(moved > _CLOSED * moved.max(initial=0.0)))


def fitted(loops: Loops, start: Start) -> Array:
    """What becomes (2 nv, 2 nv) of changes of a state that are first fitted to the closures.

    States that are open by a little are closed, as `constraints/initial_closure.py` does.
    """
    n = start.v.size
    one = np.eye(2 * n)
    state = End(start.q, start.v, one[:n], one[n:])
    span = placed(loops, start.q)
    none = np.zeros(loops.n_rows)
    state = state._replace(dq=state.dq + _least(span, state, none, None)[1])
    state = state._replace(dv=state.dv + _least(span, state, none, state.v)[1])
    return np.concatenate([state.dq, state.dv])


def open_end(t: Tables, room: Room, span: Span) -> End:
    """The end of the step before it is brought back onto the closures."""
    n, m = t.v.size, int(room.results[of.HELD])
    s = float(t.monitor[at.PIECE])
    half = 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    squares, vectors = room.squares, room.vectors
    stiffness, by_q, by_v = closure_changes(
        span, q_e, vectors[of.V_MIDDLE], vectors[of.WHOLE], t.closure_vectors[at.FORCES].copy()
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
    lines = np.concatenate([room.lines[:m] + slips.lines, answer.G + s * half * by_v])
    pushes = np.concatenate([room.pushes[:m], answer.G])
    goal = room.goal[:m, : 3 * n] + slips.goal @ given
    goal = np.concatenate([goal, -s * (by_q @ dq_e + by_v @ dv_e)])
    resistances = np.concatenate([room.resistances[:m], np.zeros(len(answer.G))])
    inverse = np.linalg.inv(squares[of.MASS] + half * s * squares[of.BY_V] - slips.system)
    free, reply = inverse @ side, inverse @ pushes.T
    W = lines @ reply + np.diag(resistances)
    dx = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    v, left = vectors[of.V_END].copy(), (1.0 - half) * s
    flow = flow_blocks(t.tree, room.spans, left * v, v)
    dv = dv_e + dx
    q = integrate(span.model, q_e, left * v)
    turned = flow[_TURNED] @ (left * dv) + flow[_KEPT] @ dv
    return End(q, _carried(flow, v), flow[BY_Q] @ dq_e + flow[BY_V] @ (left * dv), turned)


_TURNED, _KEPT = 2, 3  # of `flow_blocks`


def _carried(flow: list[Array], v: Array) -> Array:
    """Velocities in the axes that a move leads to."""
    moved: Array = flow[_KEPT] @ v
    return moved


def convection(t: Tables, v: Array) -> Array:
    """Derivative (nv, nv) of w x v of free joints."""
    result = np.zeros((v.size, v.size))
    for k in np.flatnonzero(t.tree[:, layout.FRAME] == layout.POSE):
        for j, unit in enumerate(np.eye(3)):
            result[k + 3 : k + 6, k + j] = np.cross(unit, v[k + 3 : k + 6])
            result[k + 3 : k + 6, k + 3 + j] = np.cross(v[k : k + 3], unit)
    return result


def closed(loops: Loops, end: End) -> End:
    """The end on the closures: positions by Newton's method, then velocities."""
    before = np.inf
    while True:
        span = placed(loops, end.q)
        errors = span.errors(end.q)
        worst = np.abs(errors).max(initial=0.0)
        if worst <= _CLOSED or not worst < 0.5 * before:
            break
        before = worst
        end = _moved(span, end, *_least(span, end, -errors, None))
    goal = -loop_jacobian(loops.model, loops, end.q) @ end.v
    d, dd = _least(span, end, goal, end.v)
    return end._replace(v=end.v + d, dv=end.dv + dd)


def _least(span: Span, end: End, goal: Array, v: Array | None) -> tuple[Array, Array]:
    """The least motion d with G d = goal, and its change; d ends what moves with v, if given.

    The goal changes by -G dq of errors, or by -d(G v).
    """
    q, model = end.q, span.model
    still = np.zeros(model.nv)
    by = inverse_dynamics_derivatives(model, q, still, still)
    answer = ClosureAnswer(span, by.da)
    forces = answer.stiffness @ goal
    d = answer.inverse @ (answer.G.T @ forces)
    pushed = inverse_dynamics_derivatives(model, q, still, d).dq - by.dq
    stiffness, turned, _ = closure_changes(span, q, still, d if v is None else v + d, forces)
    shift = end.dq if v is None else end.dv
    rows = -answer.G @ shift - turned @ end.dq
    return d, answer.of((stiffness - pushed) @ end.dq, rows)[0]


def _moved(span: Span, end: End, d: Array, dd: Array) -> End:
    """The end after a move by d, that changes by dd."""
    flow = flow_blocks(span.model.tree, spans(span.model), d, end.v)
    return End(
        integrate(span.model, end.q, d),
        _carried(flow, end.v),
        flow[BY_Q] @ end.dq + flow[BY_V] @ dd,
        flow[_TURNED] @ dd + flow[_KEPT] @ end.dv,
    )
