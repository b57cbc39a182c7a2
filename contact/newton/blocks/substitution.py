"""Solutions by the factors of blocks of trees, see `factors`.

The factors are those of the transposed matrix, so that every block takes part column by column:
eight sums side by side, and none of them across a register.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import LIST, VECTOR, late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, spread, store, zeros
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.contact.newton.blocks.factors import size_at
from spatialops.contact.newton.blocks.free_bodies import SIX, combined, lines_of
from spatialops.contact.newton.blocks.structure import (
    BLOCK_STRUCTURE,
    BLOCKS,
    DIAGONAL,
    BlockStructure,
    eights_of,
    right_side,
)


@late(LIST, BLOCK_STRUCTURE, VECTOR)
def substitute_blocks(trees: IntArray, blocks: BlockStructure, y: Array) -> None:
    """Solve with the factors, in place of y."""
    numbers = blocks.numbers
    places, side = trees.size - 1, right_side(blocks)
    below = blocks.header[DIAGONAL]
    right = below + blocks.header[BLOCKS]
    for step in range(places):
        n, first = size_at(blocks, step), trees[blocks.order[step]]
        for k in range(0, n, WIDTH):
            part = load_first(y, first + k, n - k)
            store(numbers, side + blocks.parts[step] + (k >> 3), 0, part)
    for step in range(places):
        n, own = size_at(blocks, step), side + blocks.parts[step]
        turn(numbers, blocks.diagonal[step], n, own)
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            place = blocks.below[b]
            width = eights_of(size_at(blocks, place))
            target = side + blocks.parts[place]
            subtract_turned(numbers, right + blocks.offsets[b], n, own, target, width)
    for step in range(places - 1, -1, -1):
        n, own = size_at(blocks, step), side + blocks.parts[step]
        for b in range(blocks.starts[step], blocks.starts[step + 1]):
            place = blocks.below[b]
            size, source = size_at(blocks, place), side + blocks.parts[place]
            subtract_turned(numbers, below + blocks.offsets[b], size, source, own, eights_of(n))
        first = trees[blocks.order[step]]
        for k in range(0, n, WIDTH):
            store_first(y, first + k, n - k, load(numbers, own + (k >> 3), 0))


@inlined
def subtract_turned(
    numbers: Array, at: int, rows: int, source: int, target: int, width: int
) -> None:
    """Take X^T times a part of the right side from another part: X has rows of so many eights."""
    if rows == SIX and width == 1:
        moved = combined(numbers, source, lines_of(numbers, at))
        store(numbers, target, 0, load(numbers, target, 0) - moved)
        return
    for eight in range(width):
        moved = load(numbers, target + eight, 0)
        for k in range(rows):
            factor = spread(numbers, source + (k >> 3), k & 7)
            moved = moved - factor * load(numbers, at + k * width + eight, 0)
        store(numbers, target + eight, 0, moved)


@kernel
def turn(numbers: Array, at: int, n: int, own: int) -> None:
    """D^-T times a part of the right side in its place; spare rows at the end hold it meanwhile."""
    if n == SIX:
        store(numbers, own, 0, combined(numbers, own, lines_of(numbers, at)))
        return
    width = eights_of(n)
    spare = numbers.shape[0] - width
    for eight in range(width):
        turned = zeros()
        for k in range(n):
            factor = spread(numbers, own + (k >> 3), k & 7)
            turned = turned + factor * load(numbers, at + k * width + eight, 0)
        store(numbers, spare + eight, 0, turned)
    for eight in range(width):
        store(numbers, own + eight, 0, load(numbers, spare + eight, 0))
