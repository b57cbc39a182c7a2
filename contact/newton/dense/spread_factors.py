"""The linear problem of one set of statuses, from rows that are spread out with their zeros.

Whole registers of them are turned into lines as they are. Where nothing slides unknowns act along
the rows that they hold: then there is one table for both, half of the products are those of the
other half, and the diagonal has the pivots.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, Lanes, load
from spatialops.algebra.simd_blocks import Block, transposed
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.dense.factors import add_product, begin, factor
from spatialops.contact.newton.dense.lines import begin_spans, note_columns, put_lines
from spatialops.contact.newton.rows import (
    BATCH,
    ContactRows,
    NewtonScratch,
    contacts_of,
    presser_of,
)
from spatialops.contact.newton.statuses import sliding
from spatialops.contact.newton.unknowns import acts_along


@kernel
def factor_spread(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors of eps I + R G^T (count, count), of unknowns that are listed."""
    dense, columns = scratch.dense, scratch.y.size
    symmetric = acts_along(rows, count, scratch)
    right = dense.left if symmetric else dense.right
    begin(dense, count, eps)
    for low in range(0, columns, BATCH):
        inner = min(BATCH, columns - low)
        begin_spans(dense, inner)
        for c in range(0, count, WIDTH):
            for unknown in range(c, min(c + WIDTH, count)):
                note_columns(rows, scratch, unknown, (low, low + inner))
            first = dense.span[0, c // WIDTH]
            for k in range(first - first % WIDTH, dense.span[1, c // WIDTH], WIDTH):
                put_lines(right, k, c, transposed(held(scratch, (c, count), low + k)))
                if not symmetric:
                    acting = transposed(acts(rows, scratch, (c, count), low + k))
                    put_lines(dense.left, k, c, acting)
        add_product(dense, dense.M, right, count, symmetric)
    if symmetric:
        mirror(dense.M, count)
    factor(dense, count, not symmetric)


@inlined
def held(scratch: NewtonScratch, which: tuple[int, int], k: int) -> Block:
    """Rho of eight unknowns, the first of them and how many there are in all, from column k on."""
    c, count = which
    return (
        held_by(scratch, c, count, k),
        held_by(scratch, c + 1, count, k),
        held_by(scratch, c + 2, count, k),
        held_by(scratch, c + 3, count, k),
        held_by(scratch, c + 4, count, k),
        held_by(scratch, c + 5, count, k),
        held_by(scratch, c + 6, count, k),
        held_by(scratch, c + 7, count, k),
    )


@inlined
def held_by(scratch: NewtonScratch, c: int, count: int, k: int) -> Lanes:
    """Rho of unknown c; zeros where there is none."""
    L, own = scratch.spread.L, min(c, count - 1)
    i, part = scratch.contacts[own], scratch.parts[own]
    share = scratch.vectors[at.SHARE, own] if c < count else 0.0
    if part != at.ALONG_SIDE:
        return share * load(L, 3 * i + part, k)
    e_x, e_y, _ = sliding(scratch.friction, i)
    return (share * e_x) * load(L, 3 * i + 2, k) - (share * e_y) * load(L, 3 * i + 1, k)


@inlined
def acts(rows: ContactRows, scratch: NewtonScratch, which: tuple[int, int], k: int) -> Block:
    """Gamma of eight unknowns likewise."""
    c, count = which
    return (
        acts_by(rows, scratch, c, count, k),
        acts_by(rows, scratch, c + 1, count, k),
        acts_by(rows, scratch, c + 2, count, k),
        acts_by(rows, scratch, c + 3, count, k),
        acts_by(rows, scratch, c + 4, count, k),
        acts_by(rows, scratch, c + 5, count, k),
        acts_by(rows, scratch, c + 6, count, k),
        acts_by(rows, scratch, c + 7, count, k),
    )


@inlined
def acts_by(rows: ContactRows, scratch: NewtonScratch, c: int, count: int, k: int) -> Lanes:
    """Gamma of unknown c: with what slides beside its normal, and moments at their limits."""
    along = held_by(scratch, c, count, k)
    if c >= count or scratch.parts[c] != at.PRESSING:
        return along
    i, share = scratch.contacts[c], scratch.vectors[at.SHARE, c]
    along = along + share * limit_along(rows, scratch, i, k)
    for moment in range(contacts_of(rows), rows.friction.size):
        if presser_of(rows, moment) == i:
            along = along + share * limit_along(rows, scratch, moment, k)
    return along


@inlined
def limit_along(rows: ContactRows, scratch: NewtonScratch, i: int, k: int) -> Lanes:
    """Row of contact i along friction at its limit, for what presses; zeros where it sticks."""
    L = scratch.spread.L
    e_x, e_y, g = sliding(scratch.friction, i)
    g *= rows.friction[i]
    return (g * e_x) * load(L, 3 * i + 1, k) + (g * e_y) * load(L, 3 * i + 2, k)


@inlined
def mirror(M: Array, n: int) -> None:
    """Blocks above the diagonal, which those below it are the transpose of."""
    for j in range(WIDTH, n, WIDTH):
        for i in range(0, j, WIDTH):
            put_lines(M, i, j, transposed(block_of(M, j, i)))


@inlined
def block_of(M: Array, i: int, j: int) -> Block:
    """The block that begins with an entry."""
    return (
        load(M, i, j),
        load(M, i + 1, j),
        load(M, i + 2, j),
        load(M, i + 3, j),
        load(M, i + 4, j),
        load(M, i + 5, j),
        load(M, i + 6, j),
        load(M, i + 7, j),
    )
