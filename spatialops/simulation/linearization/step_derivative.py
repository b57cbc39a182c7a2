"""The derivative of a step, and its products with vectors, from the equations of `step_equations`.

With the factors of K and of S = L K^-1 P, a change of the state at the start gives

    x = K^-1 side,    p = S^-1 (goal - L x),    dx = x + K^-1 P p,

and the step ends where the velocity v_e + dx leads to.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import refer
from spatialops.algebra.dense_lu import solve_lu, subtract_product
from spatialops.algebra.vectors import copy_into
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDTH
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.lone_ends import add_ends, add_there
from spatialops.simulation.linearization.made_step import (
    Room,
    Start,
    made_step,
    pulls,
    touched,
)
from spatialops.simulation.linearization.next_state import begin_near
from spatialops.simulation.linearization.step_equations import state_equations
from spatialops.simulation.stepping.integrators.joint_forces import is_damped
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables

_WHOLE = 1e-12  # s: a piece that is shorter than a step is one of several


@held
def linearize_held(
    t: Tables, start: Start, room: Room, q: Array, v: Array, tau: Array, A: Array, B: Array
) -> int:
    """A and B of a step from q and v; SEVERAL also where it was not done without Python."""
    copy_into(start.q, q)
    copy_into(start.v, v)
    copy_into(start.tau, tau)
    begin_near(t, start)
    if run(t) != at.DONE or t.ints.shape[0] > room.points.shape[0] or is_together(t):
        return of.SEVERAL
    status = equations_of(t, start, room)
    if status == of.KNOWN:
        put_derivative(room, A, B)
    return status


@merged
def is_together(t: Tables) -> bool:
    """Whether arrivals were met together under a rule whose derivative is not known."""
    return t.control[at.TOGETHER] != 0 and t.control[at.SCHEME] == at.MOREAU


@held
def differentiate_held(t: Tables, start: Start, room: Room, A: Array, B: Array) -> int:
    """A and B of the step that the loop has made from `start`; a status.

    Of what is UNTOUCHED they are those before it is given its momentum.
    """
    status = equations_of(t, start, room)
    if status == of.KNOWN or status == of.UNTOUCHED:
        put_derivative(room, A, B)
    return status


@merged
def equations_of(t: Tables, start: Start, room: Room) -> int:
    """The equations of the step that the loop has made from `start`; a status."""
    if t.control[at.EVENT_ROWS] > 0 or abs(t.monitor[at.PIECE] - t.settings[at.DT]) > _WHOLE:
        return of.SEVERAL
    return piece_of(t, start, room, False)


@merged
def piece_of(t: Tables, start: Start, room: Room, timed: bool) -> int:
    """The equations of a piece of a step, which began at `start`; a status."""
    if t.control[at.PROJECTIONS] > 0:
        return of.PUSHED_OUT
    made = refer(made_step(t, start, timed))
    status = state_equations(made, refer(touched(t)), refer(pulls(t, start)), is_damped(t), room)
    if status != of.KNOWN or made.half == 0.0:
        return status
    for i in range(t.roots.size):
        if t.floating[i, at.PUT_RIGHT] != 0.0:
            return of.UNTOUCHED
    return of.KNOWN


@kernel
def put_derivative(room: Room, A: Array, B: Array) -> None:
    """A (2 nv, 2 nv) and B (2 nv, nv); what is in `side` and `goal` is lost."""
    n, X = room.side.shape[0], room.side
    solve_all(room)
    for k in range(n):
        first, width = room.spans[k, FIRST], room.spans[k, WIDTH]
        for i in range(width):  # of v_e
            X[k, n + first + i] += room.blocks[of.START, CARRIED, k, i]
    add_there(room)
    for k in range(n):
        first, width = room.spans[k, FIRST], room.spans[k, WIDTH]
        last = room.blocks[of.LAST]
        for i in range(width):
            by_v, carried = last[BY_V, k, i], last[CARRIED, k, i]
            put_scaled(A, k, by_v, X, first + i, 0, i > 0)
            put_scaled(B, k, by_v, X, first + i, 2 * n, i > 0)
            put_scaled(A, n + k, carried, X, first + i, 0, i > 0)
            put_scaled(B, n + k, carried, X, first + i, 2 * n, i > 0)
        for i in range(width):
            for j in range(width):
                by_q = room.blocks[of.START, BY_Q, first + i, j]
                A[k, first + j] += last[BY_Q, k, i] * by_q
                moved = room.blocks[of.START, BY_V, first + i, j]
                A[k, n + first + j] += last[BY_Q, k, i] * moved
    add_ends(room, A, B)


@inlined
def put_scaled(
    out: Array, row: int, factor: float, X: Array, i: int, first: int, add: bool
) -> None:
    """Put the columns of row i of X, from `first` on, into a row of `out`, or add them to it."""
    for j in range(out.shape[1]):
        out[row, j] = (out[row, j] if add else 0.0) + factor * X[i, first + j]


@kernel
def solve_all(room: Room) -> None:
    """Changes dx for all right-hand sides, in the place of `side`."""
    n, m = room.side.shape[0], room.results[of.HELD]
    X, P = room.side, room.goal[:m]
    columns = X.shape[1]
    order = room.order
    rank = room.results[of.SYSTEM_RANK]
    solve_lu(room.system, n, rank, order[of.SYSTEM_ORDER :], X, columns)
    if m == 0:
        return
    subtract_product(P, room.lines, X, (m, n, columns), 1.0)
    rank = room.results[of.CONTACT_RANK]
    solve_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], P, columns)
    subtract_product(X, room.reply, P, (n, m, columns), -1.0)
