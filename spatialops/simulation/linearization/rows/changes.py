"""Rows of changes by coordinates, velocities and forces: sums of them, and where they begin.

Eight numbers at a time, and what is left over one by one: rows are too short for what compilers
make of loops.
"""

from __future__ import annotations

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH as LANES
from spatialops.algebra.simd import load, store, store_six
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDEST, WIDTH
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.lone_moves import add_by_centers, add_by_forces
from spatialops.simulation.linearization.made_step import Room


@inlined
def add_row(out: Array, i: int, first: int, d: Vec3, rows: Array, row: int) -> None:
    """Add d . rows[row : row + 3] to row i of `out` from entry `first` on."""
    n = rows.shape[1]
    whole = n // LANES * LANES
    for j in range(0, whole, LANES):
        more = d[0] * load(rows, row, j) + d[1] * load(rows, row + 1, j)
        more = load(out, i, first + j) + (more + d[2] * load(rows, row + 2, j))
        store(out, i, first + j, more)
    for j in range(whole, n):
        more = d[0] * rows[row, j] + d[1] * rows[row + 1, j] + d[2] * rows[row + 2, j]
        out[i, first + j] += more


@inlined
def put_row(out: Array, i: int, first: int, d: Vec3, rows: Array, row: int) -> None:
    """Write d . rows[row : row + 3] to row i of `out` from entry `first` on."""
    n = rows.shape[1]
    whole = n // LANES * LANES
    for j in range(0, whole, LANES):
        more = d[0] * load(rows, row, j) + d[1] * load(rows, row + 1, j)
        store(out, i, first + j, more + d[2] * load(rows, row + 2, j))
    for j in range(whole, n):
        more = d[0] * rows[row, j] + d[1] * rows[row + 1, j]
        out[i, first + j] = more + d[2] * rows[row + 2, j]


@inlined
def add_reached(room: Room, row: Array) -> None:
    """Add to the last entries of a row what comes of the state that a piece reaches.

    By the time that it takes, and by the centres of lone bodies.
    """
    n = room.side.shape[0]
    add_by_centers(room, row)
    for j in range(n):
        row[3 * n] += row[j] * room.vectors[of.LEAD_Q, j] + row[n + j] * room.vectors[of.LEAD_V, j]


@inlined
def to_start(room: Room, rows: Array, i: int) -> None:
    """Row i of changes by q and v where the step is evaluated: the same by those of its start."""
    vectors, n = room.vectors, room.side.shape[0]
    row = rows[i]
    add_by_forces(room, row)
    whole = n // LANES * LANES
    for k in range(0, whole, LANES):
        q, v = load(rows, i, k), load(rows, i, n + k)
        v = q * load(vectors, of.START_BY_V, k) + v * load(vectors, of.START_CARRIED, k)
        store(rows, i, n + k, v)
        store(rows, i, k, q * load(vectors, of.START_BY_Q, k))
    for k in range(whole, n):
        row[n + k] = row[k] * vectors[of.START_BY_V, k] + row[n + k] * vectors[of.START_CARRIED, k]
        row[k] *= vectors[of.START_BY_Q, k]
    # What turns together has been left alone so far: eights are not loaded soon after parts of them
    # were stored.
    for k in range(n):
        if room.spans[k, FIRST] != k or room.spans[k, WIDTH] == 1:
            continue
        if room.spans[k, WIDTH] == WIDEST:
            free_to_start(rows, i, n, k, room.blocks[of.START])
        else:
            ball_to_start(row, n, k, room.blocks[of.START])


@inlined
def free_to_start(rows: Array, i: int, n: int, first: int, moves: Array) -> None:
    """The same of a free joint: tables of moves are read six numbers at a time."""
    by_q, by_v = moves[BY_Q], moves[BY_V]
    carried = moves[CARRIED]
    q = rows[i, first]
    v = rows[i, n + first]
    q_sum = q * load(by_q, first, 0)
    v_sum = q * load(by_v, first, 0) + v * load(carried, first, 0)
    for j in range(1, WIDEST):
        q = rows[i, first + j]
        v = rows[i, n + first + j]
        q_sum = q_sum + q * load(by_q, first + j, 0)
        v_sum = v_sum + (q * load(by_v, first + j, 0) + v * load(carried, first + j, 0))
    store_six(rows, i, first, q_sum)
    store_six(rows, i, n + first, v_sum)


@inlined
def ball_to_start(row: Array, n: int, first: int, moves: Array) -> None:
    """The same of three velocities that turn together."""
    q = (row[first], row[first + 1], row[first + 2])
    v = (row[n + first], row[n + first + 1], row[n + first + 2])
    for j in range(3):
        by_q = by_v = 0.0
        for i in range(3):
            k = first + i
            by_q += q[i] * moves[BY_Q, k, j]
            by_v += q[i] * moves[BY_V, k, j] + v[i] * moves[CARRIED, k, j]
        row[first + j] = by_q
        row[n + first + j] = by_v
