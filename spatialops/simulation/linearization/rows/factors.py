"""The two matrices of a step's equations, factored: K, and the lines' answer to impulses.

K, the mass matrix with a little more, is factored from the tips to the base, where zeros stay. If
that is not sound, as with friction that turns with fast slips, or at spins of a turn within the
step, rows are exchanged.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.backward_lu import (
    factor_backward,
    solve_backward,
    solve_transposed_backward,
)
from spatialops.algebra.dense_lu import (
    factor_by_rows,
    factor_lu,
    filled,
    solve_lu,
    solve_transposed_lu,
    subtract_product,
)
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room

_REDUNDANT = 1e-11  # of the largest pivot: lines that others imply
_INDEPENDENT = 1e-6  # and those that are surely not


@kernel
def factor_system(K: Array, system: Array, upper: Array, order: IntArray, scratch: Array) -> int:
    """Factors of K; its rank, or BACKWARD."""
    n = K.shape[0]
    own = order[of.SYSTEM_ORDER :]
    if factor_backward(K, n, system, upper, scratch, own):
        return of.BACKWARD
    for i in range(n):
        for j in range(n):
            system[i, j] = K[i, j]
    return factor_by_rows(system, n, 0.0, own)


@kernel
def solve_system(
    system: Array, upper: Array, rank: int, order: IntArray, X: Array, columns: int
) -> None:
    """X <- K^-1 X for so many columns."""
    n = X.shape[0]
    own = order[of.SYSTEM_ORDER :]
    if rank == of.BACKWARD:
        solve_backward(system, upper, n, own, X, columns)
    else:
        solve_lu(system, n, rank, own, X, columns)


@kernel
def solve_transposed_system(
    system: Array, upper: Array, rank: int, order: IntArray, x: Array
) -> None:
    """X <- K^-T x."""
    if rank == of.BACKWARD:
        solve_transposed_backward(system, upper, x.size, x)
    else:
        solve_transposed_lu(system, x.size, rank, order[of.SYSTEM_ORDER :], x)


@inlined
def factor_equations(room: Room) -> None:
    """Factors of both; of lines that others imply some have none."""
    n, m = room.side.shape[0], room.results[of.HELD]
    scratch = room.vectors[of.BELOW : of.ANSWER + 1]
    rank = factor_system(room.squares[of.SYSTEM], room.system, room.upper, room.order, scratch)
    room.results[of.SYSTEM_RANK] = rank
    if m == 0:
        return
    for i in range(n):
        for j in range(m):
            room.reply[i, j] = room.pushes[j, i]
        for j in range(m, filled(m)):
            room.reply[i, j] = 0.0
    solve_system(room.system, room.upper, rank, room.order, room.reply, filled(m))
    order = room.order[of.CONTACT_ORDER :]
    put_contact(room)
    rank = factor_by_rows(room.contact, m, _INDEPENDENT, order)
    if rank < m:
        put_contact(room)
        rank = factor_lu(room.contact, m, _REDUNDANT, order)
    room.results[of.CONTACT_RANK] = rank


@inlined
def put_contact(room: Room) -> None:
    """What lines do for each impulse."""
    n, m = room.side.shape[0], room.results[of.HELD]
    contact = room.contact
    for i in range(m):
        for j in range(filled(m)):
            contact[i, j] = 0.0
        contact[i, i] = room.resistances[i]
    subtract_product(contact, room.lines, room.reply, (m, n, filled(m)), -1.0)
