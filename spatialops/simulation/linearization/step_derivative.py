"""The derivative of a step, and its products with vectors, from the equations of `step_equations`.

With the factors of K and of S = L K^-1 P, a change of the state at the start gives

    x = K^-1 side,    p = S^-1 (goal - L x),    dx = x + K^-1 P p,

and the step ends where the velocity v_e + dx leads to.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.dense_lu import solve_lu
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDTH
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import (
    Room,
    Start,
    made_step,
    pulls,
    touched,
)
from spatialops.simulation.linearization.step_equations import state_equations
from spatialops.simulation.stepping.integrators.joint_forces import is_damped, n_lone
from spatialops.simulation.stepping.tables import Tables

_WHOLE = 1e-12  # s: a piece that is shorter than a step is one of several


@held
def differentiate_held(t: Tables, start: Start, room: Room, A: Array, B: Array) -> int:
    """A and B of the step that the loop has made from `start`; a status."""
    status = equations_of(t, start, room)
    if status == of.KNOWN:
        put_derivative(room, A, B)
    return status


@merged
def equations_of(t: Tables, start: Start, room: Room) -> int:
    """The equations of the step that the loop has made from `start`; a status."""
    if t.control[at.EVENT_ROWS] > 0 or abs(t.monitor[at.PIECE] - t.settings[at.DT]) > _WHOLE:
        return of.SEVERAL
    return piece_of(t, start, room)


@merged
def piece_of(t: Tables, start: Start, room: Room) -> int:
    """The equations of a piece of a step, which began at `start`; a status."""
    if t.monitor[at.LOWEST_GAP] < -t.settings[at.DEPTH]:
        return of.PUSHED_OUT
    if t.control[at.SCHEME] == at.MOREAU and n_lone(t) > 0:
        return of.ALONE
    made = made_step(t, start)
    status = state_equations(made, touched(t), pulls(t), is_damped(t), room)
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
    for k in range(n):
        for j in range(2 * n):
            A[k, j] = 0.0
            A[n + k, j] = 0.0
        for j in range(n):
            B[k, j] = 0.0
            B[n + k, j] = 0.0
        first, width = room.spans[k, FIRST], room.spans[k, WIDTH]
        last = room.blocks[of.LAST]
        for i in range(width):
            add_scaled(A, k, last[BY_V, k, i], X, first + i, 0)
            add_scaled(B, k, last[BY_V, k, i], X, first + i, 2 * n)
            add_scaled(A, n + k, last[CARRIED, k, i], X, first + i, 0)
            add_scaled(B, n + k, last[CARRIED, k, i], X, first + i, 2 * n)
            for j in range(width):
                by_q = room.blocks[of.START, BY_Q, first + i, j]
                A[k, first + j] += last[BY_Q, k, i] * by_q
                by_v = room.blocks[of.START, BY_V, first + i, j]
                A[k, n + first + j] += last[BY_Q, k, i] * by_v


@inlined
def add_scaled(out: Array, row: int, factor: float, X: Array, i: int, first: int) -> None:
    """Add the columns of row i of X, from `first` on, to a row of `out`."""
    for j in range(out.shape[1]):
        out[row, j] += factor * X[i, first + j]


@kernel
def solve_all(room: Room) -> None:
    """Changes dx for all right-hand sides, in the place of `side`."""
    n, m = room.side.shape[0], room.results[of.HELD]
    X, P = room.side, room.goal[:m]
    order = room.order
    rank = room.results[of.SYSTEM_RANK]
    solve_lu(room.squares[of.SYSTEM], n, rank, order[of.SYSTEM_ORDER :], X, X.shape[1])
    if m == 0:
        return
    for i in range(m):
        for k in range(n):
            subtract_row_of(P, i, room.lines[i, k], X, k)
    rank = room.results[of.CONTACT_RANK]
    solve_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], P, P.shape[1])
    for i in range(n):
        for k in range(m):
            subtract_row_of(X, i, -room.reply[i, k], P, k)


@inlined
def subtract_row_of(X: Array, i: int, factor: float, Y: Array, k: int) -> None:
    """X[i] -= factor Y[k]."""
    for j in range(X.shape[1]):
        X[i, j] -= factor * Y[k, j]
