"""What lone bodies leave to add to derivatives of a step, and to their products with vectors.

Where the step is evaluated, and where it ends, depends on the turn without contacts, which forces
and the spin at the start make.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.derivatives.manifold import BY_Q
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room


@kernel
def add_there(room: Room) -> None:
    """Add to changes of the velocity at the end those where the step is evaluated, by forces."""
    n = room.side.shape[0]
    for i in range(room.results[of.LONE]):
        k = room.lone[i]
        for r in range(6):
            for j in range(6):
                room.side[k + r, 2 * n + k + j] += room.lone_moves[i, of.V_THERE, r, j]


@kernel
def add_ends(room: Room, A: Array, B: Array) -> None:
    """Add to A and B what is there beside changes by the velocity at the end."""
    n = room.side.shape[0]
    for i in range(room.results[of.LONE]):
        k, tables = room.lone[i], room.lone_moves[i]
        last = room.blocks[of.LAST, BY_Q]
        for r in range(6):
            for j in range(3):
                A[k + r, n + k + j] += tables[of.Q_BY_SPIN, r, j]
                A[n + k + r, n + k + j] += tables[of.V_BY_SPIN, r, j]
            for j in range(6):
                B[n + k + r, k + j] += tables[of.V_BY_FORCE, r, j]
                B[k + r, k + j] += tables[of.Q_BY_FORCE, r, j]
                for m in range(6):
                    B[k + r, k + j] += last[k + r, m] * tables[of.Q_THERE, m, j]


@inlined
def add_times(table: Array, x: Array, first: int, out: Array) -> None:
    """Add the product of a table with six numbers of x to those of `out`."""
    for r in range(6):
        for j in range(6):
            out[first + r] += table[r, j] * x[first + j]


@inlined
def add_times_back(table: Array, x: Array, first: int, out: Array) -> None:
    """Add that of its transpose."""
    for r in range(6):
        for j in range(6):
            out[first + j] += table[r, j] * x[first + r]


@kernel
def add_ahead(room: Room, given: Array, x: Array, moved: Array, out: Array) -> None:
    """Add to the changes x of v and `moved` of q where the step is evaluated, and at the end."""
    for i in range(room.results[of.LONE]):
        k, tables = room.lone[i], room.lone_moves[i]
        add_times(tables[of.V_THERE], given[2], k, x)
        add_times(tables[of.Q_THERE], given[2], k, moved)
        add_times(tables[of.Q_BY_SPIN], given[1], k, out[0])
        add_times(tables[of.V_BY_SPIN], given[1], k, out[1])
        add_times(tables[of.Q_BY_FORCE], given[2], k, out[0])
        add_times(tables[of.V_BY_FORCE], given[2], k, out[1])


@kernel
def add_back(room: Room, weights: Array, w: Array, moved: Array, out: Array) -> None:
    """The same of weights: w and `moved` are those of v and q where the step is evaluated."""
    for i in range(room.results[of.LONE]):
        k, tables = room.lone[i], room.lone_moves[i]
        add_times_back(tables[of.V_THERE], w, k, out[2])
        add_times_back(tables[of.Q_THERE], moved, k, out[2])
        add_times_back(tables[of.Q_BY_SPIN], weights[0], k, out[1])
        add_times_back(tables[of.V_BY_SPIN], weights[1], k, out[1])
        add_times_back(tables[of.Q_BY_FORCE], weights[0], k, out[2])
        add_times_back(tables[of.V_BY_FORCE], weights[1], k, out[2])
