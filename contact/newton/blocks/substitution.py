"""Solutions by the factors of blocks of trees, see `factors`."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import LIST, VECTOR, late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, zeros
from spatialops.algebra.simd_parts import load_first, total
from spatialops.contact.newton.blocks.factors import size_at
from spatialops.contact.newton.blocks.structure import (
    BLOCK_STRUCTURE,
    BLOCKS,
    DIAGONAL,
    BlockStructure,
    eights_of,
)


@late(LIST, BLOCK_STRUCTURE, VECTOR)
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
            part = load_first(y, source + WIDTH * k, columns - WIDTH * k)
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
            part = load_first(numbers[spare + k], 0, n - WIDTH * k)
            turned = turned + load(numbers, at + i * width + k, 0) * part
        y[first + i] = total(turned)
