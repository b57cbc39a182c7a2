"""Rows of unknowns as lines of two dense tables, whose product the linear problem is.

A line is what all unknowns have in one column, or what one unknown has in all columns. Rows are as
long as their paths: where a register of a line begins and ends to have entries is noted, and the
product comes to nothing else.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, Lanes, store
from spatialops.algebra.simd_blocks import transposed
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
    rho, gamma = scratch.rho[0], scratch.gamma
    for unknown in range(c, min(c + WIDTH, count)):
        note_columns(rows, scratch, unknown, batch)
    low = dense.span[0, b] - dense.span[0, b] % WIDTH
    for k in range(low, dense.span[1, b], WIDTH):
        put_columns(rows, scratch, gamma, (c, count, batch[0] + k), dense.left, k)
        put_columns(rows, scratch, rho, (c, count, batch[0] + k), dense.right, k)


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
    rows: ContactRows,
    scratch: NewtonScratch,
    entries: Array,
    which: tuple[int, int, int],
    lines: Array,
    place: int,
) -> None:
    """Eight columns of eight unknowns as lines from `place` on."""
    c, count, k = which
    block = transposed(
        (
            columns_of(rows, scratch, entries, c, count, k),
            columns_of(rows, scratch, entries, c + 1, count, k),
            columns_of(rows, scratch, entries, c + 2, count, k),
            columns_of(rows, scratch, entries, c + 3, count, k),
            columns_of(rows, scratch, entries, c + 4, count, k),
            columns_of(rows, scratch, entries, c + 5, count, k),
            columns_of(rows, scratch, entries, c + 6, count, k),
            columns_of(rows, scratch, entries, c + 7, count, k),
        )
    )
    store(lines, place, c, block[0])
    store(lines, place + 1, c, block[1])
    store(lines, place + 2, c, block[2])
    store(lines, place + 3, c, block[3])
    store(lines, place + 4, c, block[4])
    store(lines, place + 5, c, block[5])
    store(lines, place + 6, c, block[6])
    store(lines, place + 7, c, block[7])


@inlined
def columns_of(
    rows: ContactRows, scratch: NewtonScratch, entries: Array, c: int, count: int, k: int
) -> Lanes:
    """Entries of unknown c in eight columns from k on; zeros where there is no such unknown."""
    places, own = rows.L.places, min(c, count - 1)
    i, start = scratch.contacts[own], scratch.starts[own]
    size = places[i, COUNT_A]
    at = k - places[i, FIRST_A]
    found = load_part(entries, start + at, -at, size - at if c < count else 0)
    if places[i, COUNT_B] > 0 and c < count:
        at = k - places[i, FIRST_B]
        found = found + load_part(entries, start + size + at, -at, places[i, COUNT_B] - at)
    return found


@inlined
def extend(dense: DenseScratch, register: int, low: int, high: int) -> None:
    """Let the span of a register of columns take in these lines."""
    dense.span[0, register] = min(dense.span[0, register], low)
    dense.span[1, register] = max(dense.span[1, register], high)
