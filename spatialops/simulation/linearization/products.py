"""Products of a step's derivative with vectors, from either side, without forming it.

With x = K^-1 side, p = S^-1 (goal - L x) and dx = x + R p, R = K^-1 P, weights w of dx are

    b = S^-T R* w,    a = K^-T (w - L* b),    side* a + goal* b

of what was changed at the start: the work of a few vectors, once the equations are factored.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.dense_lu import solve_lu, solve_transposed_lu
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDTH
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.lone_ends import add_ahead, add_back
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.rows.factors import solve_system, solve_transposed_system


@inlined
def add_product(room: Room, move: int, table: int, x: Array, out: Array) -> None:
    """Add a block table's product with x."""
    for k in range(x.size):
        first = room.spans[k, FIRST]
        for i in range(room.spans[k, WIDTH]):
            out[k] += room.blocks[move, table, k, i] * x[first + i]


@inlined
def add_product_back(room: Room, move: int, table: int, x: Array, out: Array) -> None:
    """Add the product of its transpose."""
    for k in range(x.size):
        first = room.spans[k, FIRST]
        for i in range(room.spans[k, WIDTH]):
            out[first + i] += room.blocks[move, table, k, i] * x[k]


@kernel
def put_jvp(room: Room, given: Array, out: Array) -> None:
    """Change (2, nv) of the end for changes (3, nv) of q, v and forces at the start."""
    n, m = room.side.shape[0], room.results[of.HELD]
    x, moved = room.vectors[of.ANSWER], room.vectors[of.BELOW]
    lines = room.shares[:m]
    flat = given.reshape(3 * n)
    for i in range(n):
        x[i] = moved[i] = 0.0
        out[0, i] = out[1, i] = 0.0
        for j in range(3 * n):
            x[i] += room.side[i, j] * flat[j]
    column, order = x.reshape((n, 1)), room.order
    rank = room.results[of.SYSTEM_RANK]
    solve_system(room.system, room.upper, rank, order, column, 1)
    if m > 0:
        for i in range(m):
            lines[i] = 0.0
            for j in range(3 * n):
                lines[i] += room.goal[i, j] * flat[j]
            for j in range(n):
                lines[i] -= room.lines[i, j] * x[j]
        rank = room.results[of.CONTACT_RANK]
        pushes = lines.reshape((m, 1))
        solve_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], pushes, 1)
        for i in range(n):
            for j in range(m):
                x[i] += room.reply[i, j] * lines[j]
    add_product(room, of.START, CARRIED, given[1], x)
    add_product(room, of.START, BY_Q, given[0], moved)
    add_product(room, of.START, BY_V, given[1], moved)
    add_ahead(room, given, x, moved, out)
    add_product(room, of.LAST, BY_Q, moved, out[0])
    add_product(room, of.LAST, BY_V, x, out[0])
    add_product(room, of.LAST, CARRIED, x, out[1])


@kernel
def put_vjp(room: Room, weights: Array, out: Array) -> None:
    """Weights (3, nv) of q, v and forces at the start for those (2, nv) of the end."""
    n, m = room.side.shape[0], room.results[of.HELD]
    w, moved = room.vectors[of.ANSWER], room.vectors[of.BELOW]
    lines, order = room.shares[:m], room.order
    flat = out.reshape(3 * n)
    for i in range(n):
        w[i] = moved[i] = 0.0
    for j in range(3 * n):
        flat[j] = 0.0
    add_product_back(room, of.LAST, BY_V, weights[0], w)
    add_product_back(room, of.LAST, CARRIED, weights[1], w)
    add_product_back(room, of.LAST, BY_Q, weights[0], moved)
    add_product_back(room, of.START, BY_Q, moved, out[0])
    add_product_back(room, of.START, BY_V, moved, out[1])
    add_product_back(room, of.START, CARRIED, w, out[1])
    add_back(room, weights, w, moved, out)
    for j in range(m):
        lines[j] = 0.0
    for i in range(n):
        for j in range(m):
            lines[j] += room.reply[i, j] * w[i]
    if m > 0:
        rank = room.results[of.CONTACT_RANK]
        solve_transposed_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], lines)
    for i in range(m):
        for j in range(n):
            w[j] -= room.lines[i, j] * lines[i]
        for j in range(3 * n):
            flat[j] += room.goal[i, j] * lines[i]
    rank = room.results[of.SYSTEM_RANK]
    solve_transposed_system(room.system, room.upper, rank, order, w)
    for i in range(n):
        for j in range(3 * n):
            flat[j] += room.side[i, j] * w[i]
