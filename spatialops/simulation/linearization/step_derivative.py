"""The derivative of a step, and its products with vectors, from the equations of `step_equations`.

With the factors of K and of S = L K^-1 P, a change of the state at the start gives

    x = K^-1 side,    p = S^-1 (goal - L x),    dx = x + K^-1 P p,

and the step ends where the velocity v_e + dx leads to.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.references import refer
from spatialops.algebra.dense_lu import solve_lu, subtract_product
from spatialops.algebra.simd import WIDTH as LANES
from spatialops.algebra.simd import Lanes, load, store
from spatialops.algebra.vectors import copy_into
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDEST, WIDTH
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.lone_ends import add_ends, add_there
from spatialops.simulation.linearization.made_step import (
    Room,
    Start,
    made_step,
    pulls,
    pulls_change,
    touched,
)
from spatialops.simulation.linearization.next_state import begin_near
from spatialops.simulation.linearization.rows.factors import solve_system
from spatialops.simulation.linearization.step_equations import state_equations
from spatialops.simulation.stepping.integrators.joint_forces import put_wrenches
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import UNIT

Six = tuple[Lanes, Lanes, Lanes, Lanes, Lanes, Lanes]

_WHOLE = 1e-12  # s: a piece that is shorter than a step is one of several


@held
def linearize_held(
    t: Tables,
    start: Start,
    room: Room,
    q: Array,
    v: Array,
    tau: Array,
    rest: tuple[float, float],
    A: Array,
    B: Array,
) -> int:
    """A and B of a step from q and v; SEVERAL also where it was not done without Python.

    The `rest` is the time, and up to what sum of squares forces are not cut. The state need not be
    checked, but for its shape.
    """
    if not is_checked(t, q, v, tau, rest):
        return of.SEVERAL
    copy_into(start.q, q)
    copy_into(start.v, v)
    copy_into(start.tau, tau)
    t.monitor[at.TIME] = rest[0]
    begin_near(t, start)
    if run(t) != at.DONE or t.ints.shape[0] > room.points.shape[0] or is_together(t):
        return of.SEVERAL
    status = equations_of(t, start, room)
    if status == of.KNOWN:
        put_derivative(room, A, B)
    return status


@merged
def is_checked(t: Tables, q: Array, v: Array, tau: Array, rest: tuple[float, float]) -> bool:
    """Whether numbers are as `State.checked` leaves them, and no force is cut."""
    total, squares = rest[0], 0.0
    for i in range(q.size):
        total += q[i] * q[i]
    for k in range(v.size):
        total += v[k] * v[k]
        squares += tau[k] * tau[k]
    known = math.isfinite(total) and math.isfinite(squares) and squares <= rest[1]
    for k in range(v.size):
        frame, i = t.tree[k, layout.FRAME], t.tree[k, layout.FIRST_Q]
        if frame == layout.POSE:
            i += 3
        if frame == layout.POSE or frame == layout.ATTITUDE:
            square = q[i] ** 2 + q[i + 1] ** 2 + q[i + 2] ** 2 + q[i + 3] ** 2
            known = known and abs(math.sqrt(square) - 1.0) <= UNIT
    return known


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
    if t.compensation.shape[0] > 0:  # of steps that were kept wrenches are not
        poses_kernel(t.tree, t.links, t.vectors[at.Q_E, : t.q.size], room.work[: t.v.size])
        put_wrenches(t, room.work)
    made = refer(made_step(t, start, timed))
    resists = pulls_change(t)
    status = state_equations(made, refer(touched(t)), refer(pulls(t, start)), resists, room)
    if status != of.KNOWN or made.half == 0.0:
        return status
    for i in range(t.roots.size):
        if t.floating[i, at.PUT_RIGHT] > 0.0:
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
        if room.spans[k, FIRST] == k:
            put_joint(room, A, B, k)
    add_ends(room, A, B)


@inlined
def put_joint(room: Room, A: Array, B: Array, first: int) -> None:
    """Rows of A and B of a joint's coordinates and velocities at the end."""
    n, width = room.side.shape[0], room.spans[first, WIDTH]
    last = room.blocks[of.LAST]
    if width == WIDEST:
        put_rows_of_free(A, last, room.side, first, 0)
        put_rows_of_free(B, last, room.side, first, 2 * n)
    else:
        for k in range(first, first + width):
            put_rows(A, last, room.side, (k, first, width, 0))
            put_rows(B, last, room.side, (k, first, width, 2 * n))
    by_q, by_v = room.blocks[of.START, BY_Q], room.blocks[of.START, BY_V]
    for k in range(first, first + width):
        for j in range(width):
            begun = moved = 0.0
            for i in range(width):
                begun += last[BY_Q, k, i] * by_q[first + i, j]
                moved += last[BY_Q, k, i] * by_v[first + i, j]
            A[k, first + j] += begun
            A[k, n + first + j] += moved


@inlined
def put_rows(out: Array, moves: Array, X: Array, places: tuple[int, int, int, int]) -> None:
    """Row k of `out`, the first of `places`, and that of its velocity: rows of X as they move it.

    Then come its joint's first velocity, its width, and the column of X to begin with. Columns go
    by eights, of which the last begins so that it ends with the row.
    """
    k, first, width, column = places
    n, columns = X.shape[0], out.shape[1]
    by_v, carried = moves[BY_V], moves[CARRIED]
    c = 0
    while c < columns and columns >= LANES:
        c = min(c, columns - LANES)
        x = load(X, first, column + c)
        q, v = by_v[k, 0] * x, carried[k, 0] * x
        for i in range(1, width):
            x = load(X, first + i, column + c)
            q, v = q + by_v[k, i] * x, v + carried[k, i] * x
        store(out, k, c, q)
        store(out, n + k, c, v)
        c += LANES
    for j in range(c, columns):
        out[k, j] = 0.0
        out[n + k, j] = 0.0
        for i in range(width):
            out[k, j] += by_v[k, i] * X[first + i, column + j]
            out[n + k, j] += carried[k, i] * X[first + i, column + j]


@inlined
def put_rows_of_free(out: Array, moves: Array, X: Array, first: int, column: int) -> None:
    """The same of all rows of a free joint, of which six columns are at hand at least."""
    n, columns = X.shape[0], out.shape[1]
    if columns < LANES:
        for k in range(first, first + WIDEST):
            put_rows(out, moves, X, (k, first, WIDEST, column))
    c = 0
    while c < columns and columns >= LANES:
        c = min(c, columns - LANES)
        x = load_six(X, first, column + c)
        for k in range(first, first + WIDEST):
            store(out, k, c, six_times(moves[BY_V], k, x))
            store(out, n + k, c, six_times(moves[CARRIED], k, x))
        c += LANES


@inlined
def load_six(X: Array, i: int, c: int) -> Six:
    """Eight columns of six rows."""
    return (
        load(X, i, c),
        load(X, i + 1, c),
        load(X, i + 2, c),
        load(X, i + 3, c),
        load(X, i + 4, c),
        load(X, i + 5, c),
    )


@inlined
def six_times(block: Array, k: int, x: Six) -> Lanes:
    """Row k of a block times those rows."""
    even = block[k, 0] * x[0] + block[k, 2] * x[2] + block[k, 4] * x[4]
    return even + (block[k, 1] * x[1] + block[k, 3] * x[3] + block[k, 5] * x[5])


@kernel
def solve_all(room: Room) -> None:
    """Changes dx for all right-hand sides, in the place of `side`."""
    n, m = room.side.shape[0], room.results[of.HELD]
    X, P = room.side, room.goal[:m]
    columns = X.shape[1]
    order = room.order
    rank = room.results[of.SYSTEM_RANK]
    solve_system(room.system, room.upper, rank, order, X, columns)
    if m == 0:
        return
    subtract_product(P, room.lines, X, (m, n, columns), 1.0)
    rank = room.results[of.CONTACT_RANK]
    solve_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], P, columns)
    subtract_product(X, room.reply, P, (n, m, columns), -1.0)
