"""G^T R + eps I by blocks of trees: factors and solutions, without pivoting.

Each unknown adds gamma rho^T to the blocks of its trees. With D the block of the tree that is
eliminated, H_i those below it and E_j those to its right, its neighbours keep H_ij - H_i D^-1 E_j;
kept are D^-1, H_i D^-1 and E_j. Where nothing slides the matrix is symmetric and positive; what
sliding adds is small beside that, or it breaks down, and the residual says so.

Rows of blocks are whole registers of eight numbers. What stands beyond a block's columns is never
read back into them.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import load, spread, store
from spatialops.contact.newton.block_structure import BLOCKS, DIAGONAL, BlockStructure, eights_of
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.rows import COUNT_A, COUNT_B, TREE_A, TREE_B


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
    for c in range(count):
        add_unknown(rows, c, scratch)
    for step in range(places):
        eliminate(step, blocks)


@inlined
def size_at(blocks: BlockStructure, step: int) -> int:
    """Columns of the tree at a place."""
    return blocks.widths[blocks.order[step]]


@inlined
def add_unknown(rows: ContactRows, c: int, scratch: NewtonScratch) -> None:
    """Add gamma rho^T of an unknown to the blocks of its trees."""
    blocks, places = scratch.blocks, rows.L.places
    i, start = scratch.contacts[c], scratch.starts[c]
    a, b = places[i, TREE_A], places[i, TREE_B]
    if a < 0:
        return
    first = (start, places[i, COUNT_A], blocks.widths[a])
    add_product(scratch, first, first, blocks.diagonal[blocks.place[a]])
    if b < 0:
        return
    second = (start + first[1], places[i, COUNT_B], blocks.widths[b])
    add_product(scratch, second, second, blocks.diagonal[blocks.place[b]])
    below = blocks.header[DIAGONAL] + blocks.offsets[scratch.blocks_of[i]]
    right = below + blocks.header[BLOCKS]
    early = blocks.place[a] < blocks.place[b]
    add_product(scratch, second, first, below if early else right)
    add_product(scratch, first, second, right if early else below)


@inlined
def add_product(
    scratch: NewtonScratch, x: tuple[int, int, int], y: tuple[int, int, int], at: int
) -> None:
    """Add gamma rho^T, their parts along two trees, to a block.

    Parts are given by where they start, their entries, and the columns of their tree.
    """
    rho, gamma = scratch.rho, scratch.gamma
    numbers = scratch.blocks.numbers
    start, count, columns = y
    width = eights_of(columns)
    whole = count >> 3 if count < columns else width
    for i in range(x[1]):
        factor = gamma[x[0] + i]
        row = at + i * width
        for k in range(whole):
            value = load(numbers, row + k, 0) + factor * load(rho, 0, start + 8 * k)
            store(numbers, row + k, 0, value)
        for j in range(8 * whole, count):
            numbers[row + (j >> 3), j & 7] += factor * rho[0, start + j]


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
        numbers[pivot_row + chunk, lane] = 1.0
        for k in range(width):
            store(numbers, pivot_row + k, 0, pivot * load(numbers, pivot_row + k, 0))
        for i in range(n):
            if i == c:
                continue
            row = at + i * width
            factor = numbers[row + chunk, lane]
            numbers[row + chunk, lane] = 0.0
            for k in range(width):
                value = load(numbers, row + k, 0) - factor * load(numbers, pivot_row + k, 0)
                store(numbers, row + k, 0, value)


@inlined
def multiply(numbers: Array, at: int, rows: int, own: int, n: int) -> None:
    """X D in place of X, (rows, n): D (n, n) is at `own`. For n to 8 a row is one register."""
    width = eights_of(n)
    for i in range(rows):
        row = at + i * width
        if width == 1:
            total = spread(numbers, row, 0) * load(numbers, own, 0)
            for k in range(1, n):
                total = total + spread(numbers, row, k) * load(numbers, own + k, 0)
            store(numbers, row, 0, total)
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
        total = spread(numbers, spare, 0) * load(numbers, own + c, 0)
        for k in range(1, n):
            factor = spread(numbers, spare + (k >> 3), k & 7)
            total = total + factor * load(numbers, own + k * width + c, 0)
        store(numbers, row + c, 0, total)


@inlined
def subtract(
    numbers: Array, at: int, left: tuple[int, int], right: tuple[int, int], n: int
) -> None:
    """Take X Y from a block: X (rows, n) and Y (n, columns), each where it is and its size."""
    width, inner = eights_of(right[1]), eights_of(n)
    for i in range(left[1]):
        for c in range(width):
            total = load(numbers, at + i * width + c, 0)
            for k in range(n):
                factor = spread(numbers, left[0] + i * inner + (k >> 3), k & 7)
                total = total - factor * load(numbers, right[0] + k * width + c, 0)
            store(numbers, at + i * width + c, 0, total)


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
        total = 0.0
        row = at + i * width
        for j in range(columns):
            total += numbers[row + (j >> 3), j & 7] * y[source + j]
        y[target + i] -= total


@kernel
def turn(numbers: Array, at: int, n: int, y: Array, first: int) -> None:
    """D^-1 times a part of y in its place; the spare rows at the end hold it meanwhile."""
    width = eights_of(n)
    spare = numbers.shape[0] - width
    for j in range(n):
        numbers[spare + (j >> 3), j & 7] = y[first + j]
    for i in range(n):
        total = 0.0
        row = at + i * width
        for j in range(n):
            total += numbers[row + (j >> 3), j & 7] * numbers[spare + (j >> 3), j & 7]
        y[first + i] = total
