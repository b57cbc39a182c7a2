"""Rows of unknowns as lines of two dense tables, whose product the linear problem is.

A line is what all unknowns have in one column, or what one unknown has in all columns. Rows are as
long as their paths: where a register of a line begins and ends to have entries is noted, and the
product comes to nothing else.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, Lanes, store
from spatialops.algebra.simd_blocks import Block, transposed
from spatialops.algebra.simd_parts import load_first, load_part, store_first
from spatialops.contact.newton.rows import (
    ContactRows,
    DenseScratch,
    NewtonScratch,
    whole_registers,
)
from spatialops.contact.rows import COUNT_A, COUNT_B, FIRST_A, FIRST_B


@inlined
def begin_spans(dense: DenseScratch, inner: int) -> None:
    """No line of this batch has any entry yet."""
    for b in range(dense.span.shape[1]):
        dense.span[0, b], dense.span[1, b] = inner, 0


@inlined
def spread_unknown(rows: ContactRows, scratch: NewtonScratch, c: int, place: int) -> None:
    """Rows of unknown c, for (G^T R)^T = R^T G: rho on the left, gamma on the right."""
    places, i = rows.L.places, scratch.contacts[c]
    dense, at = scratch.dense, scratch.starts[c]
    left, right = dense.left[place], dense.right[place]
    rho, gamma = scratch.rho[0], scratch.gamma
    whole = places[i, FIRST_A] == 0  # what is behind the first tree's entries is none, also before
    for k in range(0, scratch.y.size, WIDTH):
        few = places[i, COUNT_A] - k if whole else 0
        store_first(left, k, WIDTH, load_first(rho, at + k, few))
        store_first(right, k, WIDTH, load_first(gamma, at + k, few))
    for side in range(2):
        first, size = places[i, FIRST_A + 2 * side], places[i, COUNT_A + 2 * side]
        for k in range(0, size if side == 1 or not whole else 0, WIDTH):
            store_first(left, first + k, size - k, load_first(rho, at + k, size - k))
            store_first(right, first + k, size - k, load_first(gamma, at + k, size - k))
        for b in range(first // WIDTH, whole_registers(first + size) // WIDTH if size > 0 else 0):
            extend(dense, b, place, place + 1)
        at += size


@inlined
def spread_columns(
    rows: ContactRows, scratch: NewtonScratch, c: int, count: int, batch: tuple[int, int]
) -> None:
    """What rows of eight unknowns, from c on, have in some columns, for (R G^T)^T = G R^T.

    Lines where none of them has any entry stay what they are: no product comes to them.
    """
    dense, b = scratch.dense, c // WIDTH
    for unknown in range(c, min(c + WIDTH, count)):
        note_columns(rows, scratch, unknown, batch)
    low = dense.span[0, b] - dense.span[0, b] % WIDTH
    for k in range(low, dense.span[1, b], WIDTH):
        put_columns(rows, scratch, (c, count), batch[0] + k, k)


@inlined
def note_columns(rows: ContactRows, scratch: NewtonScratch, c: int, batch: tuple[int, int]) -> None:
    """Let the span of the register of unknown c take in its columns of a batch."""
    places, i = rows.L.places, scratch.contacts[c]
    for side in range(2):
        first, size = places[i, FIRST_A + 2 * side], places[i, COUNT_A + 2 * side]
        low, high = max(first, batch[0]), min(first + size, batch[1])
        if low < high:
            extend(scratch.dense, c // WIDTH, low - batch[0], high - batch[0])


@inlined
def put_columns(
    rows: ContactRows, scratch: NewtonScratch, which: tuple[int, int], k: int, place: int
) -> None:
    """Eight columns from k on of eight unknowns as lines from `place` on."""
    c, count = which
    left_0, right_0 = columns_of(rows, scratch, c, count, k)
    left_1, right_1 = columns_of(rows, scratch, c + 1, count, k)
    left_2, right_2 = columns_of(rows, scratch, c + 2, count, k)
    left_3, right_3 = columns_of(rows, scratch, c + 3, count, k)
    left_4, right_4 = columns_of(rows, scratch, c + 4, count, k)
    left_5, right_5 = columns_of(rows, scratch, c + 5, count, k)
    left_6, right_6 = columns_of(rows, scratch, c + 6, count, k)
    left_7, right_7 = columns_of(rows, scratch, c + 7, count, k)
    left = (left_0, left_1, left_2, left_3, left_4, left_5, left_6, left_7)
    right = (right_0, right_1, right_2, right_3, right_4, right_5, right_6, right_7)
    put_lines(scratch.dense.left, place, c, transposed(left))
    put_lines(scratch.dense.right, place, c, transposed(right))


@inlined
def put_lines(table: Array, row: int, column: int, block: Block) -> None:
    """A block from an entry of a table on."""
    store(table, row, column, block[0])
    store(table, row + 1, column, block[1])
    store(table, row + 2, column, block[2])
    store(table, row + 3, column, block[3])
    store(table, row + 4, column, block[4])
    store(table, row + 5, column, block[5])
    store(table, row + 6, column, block[6])
    store(table, row + 7, column, block[7])


@inlined
def columns_of(
    rows: ContactRows, scratch: NewtonScratch, c: int, count: int, k: int
) -> tuple[Lanes, Lanes]:
    """Gamma and rho of unknown c in eight columns from k on; zeros where there is none."""
    places, own = rows.L.places, min(c, count - 1)
    i, start = scratch.contacts[own], scratch.starts[own]
    size = places[i, COUNT_A] if c < count else 0
    at = k - places[i, FIRST_A]
    gamma = load_part(scratch.gamma, start + at, -at, size - at)
    rho = load_part(scratch.rho[0], start + at, -at, size - at)
    if places[i, COUNT_B] > 0 and c < count:
        at = k - places[i, FIRST_B]
        start += size
        size = places[i, COUNT_B]
        gamma = gamma + load_part(scratch.gamma, start + at, -at, size - at)
        rho = rho + load_part(scratch.rho[0], start + at, -at, size - at)
    return gamma, rho


@inlined
def extend(dense: DenseScratch, register: int, low: int, high: int) -> None:
    """Let the span of a register of columns take in these lines."""
    dense.span[0, register] = min(dense.span[0, register], low)
    dense.span[1, register] = max(dense.span[1, register], high)
