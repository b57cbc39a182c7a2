"""R^T G + eps I by blocks of trees: factors and solutions, without pivots outside of a block.

Each contact that acts adds gamma rho^T to the blocks of its trees. Where nothing slides the matrix
is symmetric and positive; sliding adds what is small beside it, or pivots break down and the
residual says so.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton.block_structure import BLOCKS, DIAGONAL, BlockStructure
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.rows import COUNT_A, COUNT_B, TREE_A, TREE_B


@kernel
def factor_blocks(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors L U of eps I + the sum of gamma rho^T over the unknowns."""
    blocks = scratch.blocks
    trees = rows.trees
    below = blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    for i in range(right + blocks.header[BLOCKS]):
        blocks.numbers[i] = 0.0
    for step in range(trees.size - 1):
        size = size_at(blocks, step)
        for j in range(size):
            blocks.numbers[blocks.diagonal[step] + j * size + j] = eps
    for c in range(count):
        add_unknown(rows, c, scratch)
    for step in range(trees.size - 1):
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
    n_a, n_b = places[i, COUNT_A], places[i, COUNT_B]
    other = start + n_a
    rho, gamma, numbers = scratch.rho, scratch.gamma, blocks.numbers
    add_product(
        gamma,
        start,
        n_a,
        rho,
        start,
        n_a,
        numbers,
        blocks.diagonal[blocks.place[a]],
        blocks.widths[a],
    )
    if b < 0:
        return
    add_product(
        gamma,
        other,
        n_b,
        rho,
        other,
        n_b,
        numbers,
        blocks.diagonal[blocks.place[b]],
        blocks.widths[b],
    )
    below = blocks.header[DIAGONAL] + blocks.offsets[scratch.blocks_of[i]]
    right = below + blocks.header[BLOCKS]
    if blocks.place[a] < blocks.place[b]:
        add_product(gamma, other, n_b, rho, start, n_a, numbers, below, blocks.widths[a])
        add_product(gamma, start, n_a, rho, other, n_b, numbers, right, blocks.widths[b])
    else:
        add_product(gamma, start, n_a, rho, other, n_b, numbers, below, blocks.widths[b])
        add_product(gamma, other, n_b, rho, start, n_a, numbers, right, blocks.widths[a])


@inlined
def add_product(
    x: Array,
    at_x: int,
    n_x: int,
    y: Array,
    at_y: int,
    n_y: int,
    numbers: Array,
    at: int,
    width: int,
) -> None:
    """Add x y^T to a block of so many columns."""
    for i in range(n_x):
        factor = x[at_x + i]
        if factor != 0.0:
            for j in range(n_y):
                numbers[at + i * width + j] += factor * y[at_y + j]


@kernel
def eliminate(step: int, blocks: BlockStructure) -> None:
    """Factor the block at a place, and take what it does from the blocks of its neighbours."""
    n = size_at(blocks, step)
    own = blocks.diagonal[step]
    below = blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    factor_block(blocks.numbers, own, n)
    for b in range(blocks.starts[step], blocks.starts[step + 1]):
        size = size_at(blocks, blocks.below[b])
        solve_from_right(blocks.numbers, own, n, below + blocks.offsets[b], size)
        solve_from_left(blocks.numbers, own, n, right + blocks.offsets[b], size)
    for b in range(blocks.starts[step], blocks.starts[step + 1]):
        first = blocks.below[b]
        size = size_at(blocks, first)
        at_below, at_right = below + blocks.offsets[b], right + blocks.offsets[b]
        subtract(blocks.numbers, blocks.diagonal[first], at_below, size, at_right, size, n)
        target = blocks.starts[first]
        for c in range(b + 1, blocks.starts[step + 1]):
            second = blocks.below[c]
            while blocks.below[target] != second:
                target += 1
            other = size_at(blocks, second)
            low, high = below + blocks.offsets[target], right + blocks.offsets[target]
            subtract(blocks.numbers, low, below + blocks.offsets[c], other, at_right, size, n)
            subtract(blocks.numbers, high, at_below, size, right + blocks.offsets[c], other, n)


@inlined
def factor_block(numbers: Array, at: int, n: int) -> None:
    """L U of a block in place."""
    for c in range(n):
        inverse = 1.0 / numbers[at + c * n + c]
        for i in range(c + 1, n):
            factor = numbers[at + i * n + c] * inverse
            numbers[at + i * n + c] = factor
            if factor != 0.0:
                for j in range(c + 1, n):
                    numbers[at + i * n + j] -= factor * numbers[at + c * n + j]


@inlined
def solve_from_right(numbers: Array, own: int, n: int, at: int, size: int) -> None:
    """X U^-1 in place of X, (size, n)."""
    for i in range(size):
        row = at + i * n
        for c in range(n):
            value = numbers[row + c] / numbers[own + c * n + c]
            numbers[row + c] = value
            if value != 0.0:
                for j in range(c + 1, n):
                    numbers[row + j] -= value * numbers[own + c * n + j]


@inlined
def solve_from_left(numbers: Array, own: int, n: int, at: int, size: int) -> None:
    """L^-1 X in place of X, (n, size)."""
    for c in range(n):
        for i in range(c + 1, n):
            factor = numbers[own + i * n + c]
            if factor != 0.0:
                for j in range(size):
                    numbers[at + i * size + j] -= factor * numbers[at + c * size + j]


@inlined
def subtract(
    numbers: Array, at: int, left: int, n_left: int, right: int, n_right: int, n: int
) -> None:
    """Take X Y from a block: X (n_left, n) and Y (n, n_right)."""
    for i in range(n_left):
        for k in range(n):
            factor = numbers[left + i * n + k]
            if factor != 0.0:
                for j in range(n_right):
                    numbers[at + i * n_right + j] -= factor * numbers[right + k * n_right + j]


@kernel
def substitute_blocks(trees: IntArray, blocks: BlockStructure, y: Array) -> None:
    """Solve with the factors, in place of y."""
    places = trees.size - 1
    below = blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    for step in range(places):
        n = size_at(blocks, step)
        own, first = blocks.diagonal[step], trees[blocks.order[step]]
        for i in range(n):
            for j in range(i):
                y[first + i] -= blocks.numbers[own + i * n + j] * y[first + j]
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            tree = blocks.order[blocks.below[b]]
            at = below + blocks.offsets[b]
            for i in range(blocks.widths[tree]):
                total = 0.0
                for j in range(n):
                    total += blocks.numbers[at + i * n + j] * y[first + j]
                y[trees[tree] + i] -= total
    for step in range(places - 1, -1, -1):
        n = size_at(blocks, step)
        own, first = blocks.diagonal[step], trees[blocks.order[step]]
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            tree = blocks.order[blocks.below[b]]
            at, size = right + blocks.offsets[b], blocks.widths[tree]
            for i in range(n):
                total = 0.0
                for j in range(size):
                    total += blocks.numbers[at + i * size + j] * y[trees[tree] + j]
                y[first + i] -= total
        for i in range(n - 1, -1, -1):
            total = y[first + i]
            for j in range(i + 1, n):
                total -= blocks.numbers[own + i * n + j] * y[first + j]
            y[first + i] = total / blocks.numbers[own + i * n + i]
