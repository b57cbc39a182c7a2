"""The transpose of G^T R + eps I by blocks of trees: its factors, without pivoting.

Each unknown adds rho gamma^T to the blocks of its trees. With D the block of the tree that is
eliminated, H_i those below it and E_j those to its right, its neighbours keep H_ij - H_i D^-1 E_j;
kept are D^-1, H_i D^-1 and E_j. Where nothing slides the matrix is symmetric and positive; what
sliding adds is small beside that, or it breaks down, and the residual says so. Of the transpose,
since every row of its factors is added to a solution as it stands (`substitution`).

Rows of blocks are whole registers of eight numbers, with zeros beyond a block's columns. What a
factorisation waits for is memory: unknowns between the same trees are added in one pass.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_logic import where
from spatialops.algebra.simd import WIDTH, load, spread, store
from spatialops.algebra.simd_parts import load_first
from spatialops.contact.newton.blocks.free_bodies import (
    LANES_ALONE,
    SIX,
    add_six,
    add_twelve,
    invert_six,
    multiply_six,
    subtract_six,
)
from spatialops.contact.newton.blocks.structure import BLOCKS, DIAGONAL, BlockStructure, eights_of
from spatialops.contact.newton.rows import ROWS, SCRATCH, ContactRows, NewtonScratch
from spatialops.contact.rows import COUNT_A, COUNT_B, TREE_A, TREE_B

_AT_ONCE = 6  # rows of a product


@late(ROWS, types.float64, types.int64, SCRATCH)
def factor_blocks(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors of eps I + the sum of gamma rho^T over the unknowns."""
    blocks = scratch.blocks
    places = rows.trees.size - 1
    for i in range(blocks.header[DIAGONAL] + 2 * blocks.header[BLOCKS]):
        for j in range(8):
            blocks.numbers[i, j] = 0.0
    for step in range(places):
        size = size_at(blocks, step)
        row = blocks.diagonal[step]
        for j in range(size):
            blocks.numbers[row + j * eights_of(size) + (j >> 3), j & 7] = eps
    c = 0
    while c < count:
        last = last_alike(rows, scratch, c, count)
        add_unknowns(rows, (c, last), scratch)
        c = last
    for step in range(places):
        eliminate(step, blocks)


@inlined
def size_at(blocks: BlockStructure, step: int) -> int:
    """Columns of the tree at a place."""
    return blocks.widths[blocks.order[step]]


@inlined
def last_alike(rows: ContactRows, scratch: NewtonScratch, c: int, count: int) -> int:
    """One past the last of the unknowns from c on whose rows reach as far along the same trees."""
    places, i = rows.L.places, scratch.contacts[c]
    last = c + 1
    while last < count:
        j = scratch.contacts[last]
        alike = places[i, TREE_A] == places[j, TREE_A] and places[i, TREE_B] == places[j, TREE_B]
        alike = alike and places[i, COUNT_A] == places[j, COUNT_A]
        if not (alike and places[i, COUNT_B] == places[j, COUNT_B]):
            break
        last += 1
    return last


@inlined
def add_unknowns(rows: ContactRows, named: tuple[int, int], scratch: NewtonScratch) -> None:
    """Add rho gamma^T of unknowns, first and one past the last, between the same trees."""
    blocks, places = scratch.blocks, rows.L.places
    i = scratch.contacts[named[0]]
    a, b = places[i, TREE_A], places[i, TREE_B]
    if a < 0:
        return
    first = (0, places[i, COUNT_A], blocks.widths[a])
    own = blocks.diagonal[blocks.place[a]]
    six = first[1] == SIX and first[2] == SIX
    starts = scratch.starts[named[0] : named[1]]
    if b < 0:
        if six:
            add_six(blocks.numbers, own, scratch.gamma, scratch.rho[0], starts)
        else:
            add_products(scratch, named, first, first, own)
        return
    second = (first[1], places[i, COUNT_B], blocks.widths[b])
    other = blocks.diagonal[blocks.place[b]]
    late = blocks.header[DIAGONAL] + blocks.offsets[scratch.blocks_of[i]]
    early = late + blocks.header[BLOCKS]
    if blocks.place[b] < blocks.place[a]:
        early, late = late, early
    if six and second[1] == SIX and second[2] == SIX:
        add_twelve(blocks.numbers, (own, early), scratch.gamma, scratch.rho[0], starts, 0)
        add_twelve(blocks.numbers, (late, other), scratch.gamma, scratch.rho[0], starts, SIX)
        return
    add_products(scratch, named, first, first, own)
    add_products(scratch, named, second, second, other)
    add_products(scratch, named, second, first, late)
    add_products(scratch, named, first, second, early)


@kernel
def add_products(
    scratch: NewtonScratch,
    named: tuple[int, int],
    x: tuple[int, int, int],
    y: tuple[int, int, int],
    at: int,
) -> None:
    """Add rho gamma^T of these unknowns, their parts along two trees, to a block.

    Parts are given by where they start in a row, their entries, and the columns of their tree.
    Six rows at a time, which have gamma in common; beyond the last one it is that row again.
    """
    rho, gamma = scratch.rho[0], scratch.gamma
    numbers = scratch.blocks.numbers
    width, last = eights_of(y[2]), x[1] - 1
    for eight in range(eights_of(y[1])):
        few = y[1] - WIDTH * eight
        for i in range(0, x[1], _AT_ONCE):
            j, k = min(i + 1, last), min(i + 2, last)
            m, n = min(i + 3, last), min(i + 4, last)
            o = min(i + 5, last)
            row = at + eight
            a = load(numbers, row + i * width, 0)
            b = load(numbers, row + j * width, 0)
            c = load(numbers, row + k * width, 0)
            d = load(numbers, row + m * width, 0)
            e = load(numbers, row + n * width, 0)
            f = load(numbers, row + o * width, 0)
            for unknown in range(named[0], named[1]):
                start = scratch.starts[unknown]
                line = load_first(gamma, start + y[0] + WIDTH * eight, few)
                start += x[0]
                a = a + rho[start + i] * line
                b = b + rho[start + j] * line
                c = c + rho[start + k] * line
                d = d + rho[start + m] * line
                e = e + rho[start + n] * line
                f = f + rho[start + o] * line
            store(numbers, row + i * width, 0, a)
            store(numbers, row + j * width, 0, b)
            store(numbers, row + k * width, 0, c)
            store(numbers, row + m * width, 0, d)
            store(numbers, row + n * width, 0, e)
            store(numbers, row + o * width, 0, f)


@kernel
def eliminate(step: int, blocks: BlockStructure) -> None:
    """Invert the block at a place, and take what it does from the blocks of its neighbours."""
    numbers = blocks.numbers
    n = size_at(blocks, step)
    own, below = blocks.diagonal[step], blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    invert(numbers, own, n)
    for b in range(blocks.starts[step], blocks.starts[step + 1]):
        at_below = below + blocks.offsets[b]
        multiply(numbers, at_below, size_at(blocks, blocks.below[b]), own, n)
    for b in range(blocks.starts[step], blocks.starts[step + 1]):
        first = blocks.below[b]
        size = size_at(blocks, first)
        at_below, at_right = below + blocks.offsets[b], right + blocks.offsets[b]
        subtract(numbers, blocks.diagonal[first], (at_below, size), (at_right, size), n)
        target = blocks.starts[first]
        for c in range(b + 1, blocks.starts[step + 1]):
            second = blocks.below[c]
            while blocks.below[target] != second:
                target += 1
            other = size_at(blocks, second)
            low, high = below + blocks.offsets[target], right + blocks.offsets[target]
            subtract(numbers, low, (below + blocks.offsets[c], other), (at_right, size), n)
            subtract(numbers, high, (at_below, size), (right + blocks.offsets[c], other), n)


@kernel
def invert(numbers: Array, at: int, n: int) -> None:
    """Inverse of a block in place, by Gauss and Jordan's method.

    Without pivoting: of what does not slide pivots are positive, none smaller than eps.
    """
    if n == SIX:
        invert_six(numbers, at)
        return
    width = eights_of(n)
    for c in range(n):
        chunk, lane = c >> 3, c & 7
        pivot_row = at + c * width
        pivot = 1.0 / numbers[pivot_row + chunk, lane]
        own = load(LANES_ALONE, lane, 0)
        for k in range(width):
            row = load(numbers, pivot_row + k, 0)
            row = where(own, 1.0, row) if k == chunk else row
            store(numbers, pivot_row + k, 0, pivot * row)
        for i in range(n):
            if i == c:
                continue
            factor = numbers[at + i * width + chunk, lane]
            for k in range(width):
                row = load(numbers, at + i * width + k, 0)
                row = where(own, 0.0, row) if k == chunk else row
                row = row - factor * load(numbers, pivot_row + k, 0)
                store(numbers, at + i * width + k, 0, row)


@inlined
def multiply(numbers: Array, at: int, rows: int, own: int, n: int) -> None:
    """X D in place of X, (rows, n): D (n, n) is at `own`. For n to 8 a row is one register."""
    if rows == SIX and n == SIX:
        multiply_six(numbers, at, own)
        return
    width = eights_of(n)
    for i in range(rows):
        row = at + i * width
        if width == 1:
            turned = spread(numbers, row, 0) * load(numbers, own, 0)
            for k in range(1, n):
                turned = turned + spread(numbers, row, k) * load(numbers, own + k, 0)
            store(numbers, row, 0, turned)
        else:
            multiply_long(numbers, row, own, n)


@kernel
def multiply_long(numbers: Array, row: int, own: int, n: int) -> None:
    """x D in place of a row x of more than one register; the spare rows at the end hold x."""
    width = eights_of(n)
    for k in range(width):
        for j in range(8):
            numbers[numbers.shape[0] - width + k, j] = numbers[row + k, j]
    spare = numbers.shape[0] - width
    for c in range(width):
        turned = spread(numbers, spare, 0) * load(numbers, own + c, 0)
        for k in range(1, n):
            factor = spread(numbers, spare + (k >> 3), k & 7)
            turned = turned + factor * load(numbers, own + k * width + c, 0)
        store(numbers, row + c, 0, turned)


@inlined
def subtract(
    numbers: Array, at: int, left: tuple[int, int], right: tuple[int, int], n: int
) -> None:
    """Take X Y from a block: X (rows, n) and Y (n, columns), each where it is and its size.

    Six rows at a time, as `add_products`.
    """
    if left[1] == SIX and right[1] == SIX and n == SIX:
        subtract_six(numbers, at, left[0], right[0])
        return
    width, inner = eights_of(right[1]), eights_of(n)
    last = left[1] - 1
    for eight in range(width):
        for i in range(0, left[1], _AT_ONCE):
            j, k = min(i + 1, last), min(i + 2, last)
            m, p = min(i + 3, last), min(i + 4, last)
            o = min(i + 5, last)
            row = at + eight
            a = load(numbers, row + i * width, 0)
            b = load(numbers, row + j * width, 0)
            c = load(numbers, row + k * width, 0)
            d = load(numbers, row + m * width, 0)
            e = load(numbers, row + p * width, 0)
            f = load(numbers, row + o * width, 0)
            for q in range(n):
                own, lane = left[0] + (q >> 3), q & 7
                line = load(numbers, right[0] + q * width + eight, 0)
                a = a - spread(numbers, own + i * inner, lane) * line
                b = b - spread(numbers, own + j * inner, lane) * line
                c = c - spread(numbers, own + k * inner, lane) * line
                d = d - spread(numbers, own + m * inner, lane) * line
                e = e - spread(numbers, own + p * inner, lane) * line
                f = f - spread(numbers, own + o * inner, lane) * line
            store(numbers, row + i * width, 0, a)
            store(numbers, row + j * width, 0, b)
            store(numbers, row + k * width, 0, c)
            store(numbers, row + m * width, 0, d)
            store(numbers, row + p * width, 0, e)
            store(numbers, row + o * width, 0, f)
