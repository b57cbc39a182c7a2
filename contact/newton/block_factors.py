"""G^T R + eps I by blocks of trees: factors and solutions, without pivoting.

Each unknown adds gamma rho^T to the blocks of its trees. With D the block of the tree that is
eliminated, H_i those below it and E_j those to its right, its neighbours keep H_ij - H_i D^-1 E_j;
kept are D^-1, H_i D^-1 and E_j. Where nothing slides the matrix is symmetric and positive; what
sliding adds is small beside that, or it breaks down, and the residual says so.

Rows of blocks are whole registers of eight numbers. What stands beyond a block's columns is never
read back into them.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_logic import where
from spatialops.algebra.simd import WIDTH, load, spread, store, zeros
from spatialops.algebra.simd_parts import load_first, total
from spatialops.contact.newton.block_structure import BLOCKS, DIAGONAL, BlockStructure, eights_of
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.rows import COUNT_A, COUNT_B, TREE_A, TREE_B

# A number in place of one lane, without writing that alone: registers read again would wait for it.
_LANES = np.eye(WIDTH)


@kernel
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
def add_unknowns(rows: ContactRows, range_: tuple[int, int], scratch: NewtonScratch) -> None:
    """Add gamma rho^T of unknowns between the same trees to their blocks."""
    blocks, places = scratch.blocks, rows.L.places
    i = scratch.contacts[range_[0]]
    a, b = places[i, TREE_A], places[i, TREE_B]
    if a < 0:
        return
    first = (0, places[i, COUNT_A], blocks.widths[a])
    add_products(scratch, range_, first, first, blocks.diagonal[blocks.place[a]])
    if b < 0:
        return
    second = (first[1], places[i, COUNT_B], blocks.widths[b])
    add_products(scratch, range_, second, second, blocks.diagonal[blocks.place[b]])
    below = blocks.header[DIAGONAL] + blocks.offsets[scratch.blocks_of[i]]
    right = below + blocks.header[BLOCKS]
    early = blocks.place[a] < blocks.place[b]
    add_products(scratch, range_, second, first, below if early else right)
    add_products(scratch, range_, first, second, right if early else below)


@kernel
def add_products(
    scratch: NewtonScratch,
    range_: tuple[int, int],
    x: tuple[int, int, int],
    y: tuple[int, int, int],
    at: int,
) -> None:
    """Add gamma rho^T of some unknowns, their parts along two trees, to a block.

    Parts are given by where they start in a row, their entries, and the columns of their tree.
    """
    rho, gamma, starts = scratch.rho[0], scratch.gamma, scratch.starts
    numbers = scratch.blocks.numbers
    offset, count, columns = y
    width = eights_of(columns)
    whole = x[1] - x[1] % 3
    for k in range(0, count, 8):
        few = count - k
        for i in range(0, whole, 3):
            row = at + i * width + (k >> 3)
            v0 = load(numbers, row, 0)
            v1 = load(numbers, row + width, 0)
            v2 = load(numbers, row + 2 * width, 0)
            for c in range(range_[0], range_[1]):
                start = starts[c]
                g = start + x[0] + i
                r = load_first(rho, start + offset + k, few)
                v0 = v0 + gamma[g] * r
                v1 = v1 + gamma[g + 1] * r
                v2 = v2 + gamma[g + 2] * r
            store(numbers, row, 0, v0)
            store(numbers, row + width, 0, v1)
            store(numbers, row + 2 * width, 0, v2)
        for i in range(whole, x[1]):
            row = at + i * width + (k >> 3)
            value = load(numbers, row, 0)
            for c in range(range_[0], range_[1]):
                start = starts[c]
                factor = gamma[start + x[0] + i]
                value = value + factor * load_first(rho, start + offset + k, few)
            store(numbers, row, 0, value)


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
    width = eights_of(n)
    for c in range(n):
        chunk, lane = c >> 3, c & 7
        pivot_row = at + c * width
        pivot = 1.0 / numbers[pivot_row + chunk, lane]
        own = load(_LANES, lane, 0)
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
                store(numbers, at + i * width + k, 0, row - factor * load(numbers, pivot_row + k, 0))


@inlined
def multiply(numbers: Array, at: int, rows: int, own: int, n: int) -> None:
    """X D in place of X, (rows, n): D (n, n) is at `own`. For n to 8 a row is one register."""
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
    """Take X Y from a block: X (rows, n) and Y (n, columns), each where it is and its size."""
    width, inner = eights_of(right[1]), eights_of(n)
    whole = left[1] - left[1] % 3
    for c in range(width):
        for i in range(0, whole, 3):
            row = at + i * width + c
            v0 = load(numbers, row, 0)
            v1 = load(numbers, row + width, 0)
            v2 = load(numbers, row + 2 * width, 0)
            for k in range(n):
                l = left[0] + i * inner + (k >> 3)
                y = load(numbers, right[0] + k * width + c, 0)
                v0 = v0 - spread(numbers, l, k & 7) * y
                v1 = v1 - spread(numbers, l + inner, k & 7) * y
                v2 = v2 - spread(numbers, l + 2 * inner, k & 7) * y
            store(numbers, row, 0, v0)
            store(numbers, row + width, 0, v1)
            store(numbers, row + 2 * width, 0, v2)
        for i in range(whole, left[1]):
            rest = load(numbers, at + i * width + c, 0)
            for k in range(n):
                factor = spread(numbers, left[0] + i * inner + (k >> 3), k & 7)
                rest = rest - factor * load(numbers, right[0] + k * width + c, 0)
            store(numbers, at + i * width + c, 0, rest)


@kernel
def substitute_blocks(trees: IntArray, blocks: BlockStructure, y: Array) -> None:
    """Solve with the factors, in place of y."""
    places = trees.size - 1
    below = blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    for step in range(places):
        n, first = size_at(blocks, step), trees[blocks.order[step]]
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            tree = blocks.order[blocks.below[b]]
            size = blocks.widths[tree]
            subtract_moved(
                blocks.numbers, below + blocks.offsets[b], size, n, y, first, trees[tree]
            )
    for step in range(places - 1, -1, -1):
        n, first = size_at(blocks, step), trees[blocks.order[step]]
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            tree = blocks.order[blocks.below[b]]
            size = blocks.widths[tree]
            subtract_moved(
                blocks.numbers, right + blocks.offsets[b], n, size, y, trees[tree], first
            )
        turn(blocks.numbers, blocks.diagonal[step], n, y, first)


@inlined
def subtract_moved(
    numbers: Array, at: int, rows: int, columns: int, y: Array, source: int, target: int
) -> None:
    """Take X times a part of y from another part of it."""
    width = eights_of(columns)
    for i in range(rows):
        moved = zeros()
        for k in range(width):
            part = load_first(y, source + 8 * k, columns - 8 * k)
            moved = moved + load(numbers, at + i * width + k, 0) * part
        y[target + i] -= total(moved)


@kernel
def turn(numbers: Array, at: int, n: int, y: Array, first: int) -> None:
    """D^-1 times a part of y in its place; the spare rows at the end hold it meanwhile."""
    width = eights_of(n)
    spare = numbers.shape[0] - width
    for j in range(n):
        numbers[spare + (j >> 3), j & 7] = y[first + j]
    for i in range(n):
        turned = zeros()
        for k in range(width):
            part = load_first(numbers[spare + k], 0, n - 8 * k)
            turned = turned + load(numbers, at + i * width + k, 0) * part
        y[first + i] = total(turned)
