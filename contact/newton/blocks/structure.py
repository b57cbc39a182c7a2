"""In which order trees are eliminated, and which blocks that fills in.

Two trees share a block of R^T G where a contact joins them. Eliminating one joins all of its
neighbours to each other; taking the one with the fewest neighbours first (minimum degree, W. F.
Tinney and J. W. Walker, 1967) keeps what fills in small: nothing at all for a tower, a band for a
wall. Neighbours are bits of whole numbers, so that joining takes a few instructions. The order is
kept while the same trees touch.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import LIST, TABLE, late
from spatialops._compile.jit import inlined, kernel
from spatialops._compile.references import Reference
from spatialops.algebra.memory import matrix
from spatialops.contact.rows import TREE_A, TREE_B

_BITS = 32  # of each word: sums of such numbers never overflow

_USUAL = 8  # columns of a tree, to make room for at first
_FIRST = 4  # blocks below each tree to make room for at first

# Header.
KNOWN = 0  # trees of the order that is kept; 0: none
NEED_INTS = 1  # the most that an analysis needed
NEED_FLOATS = 2
DIAGONAL = 3  # eights of the diagonal blocks
BLOCKS = 4  # of the blocks below, and as many of those to the right
HEADER = 5


class BlockStructure(NamedTuple):
    """Order and structure of the factors; places are steps of the elimination."""

    header: IntArray
    touching: IntArray  # (n, words) bits of the neighbours of every tree
    filled: IntArray  # (n, words) the same as elimination joins them
    order: IntArray  # (n,) tree of every place
    place: IntArray  # (n,) place of every tree
    widths: IntArray  # (n,) columns of every tree
    degree: IntArray  # (n,)
    starts: IntArray  # (n + 1,) of the blocks below every place
    diagonal: IntArray  # (n,) where its own block is
    below: IntArray  # places of blocks below, ascending
    offsets: IntArray  # where they are, among blocks below and among those to the right
    parts: IntArray  # (n,) where the part of a right side of every place is, among those
    numbers: Array  # (k, 8)


def structure_room(trees: int, widest: int) -> tuple[int, int]:
    """Whole numbers and eights of numbers to begin with; `analyse` says when it needs more."""
    count = _FIRST * trees
    few = min(widest, _USUAL)
    lines = (1 + 2 * _FIRST) * few + 1
    return fixed_room(trees) + 2 * count, lines * trees * eights_of(few) + eights_of(widest)


@inlined
def eights_of(columns: int) -> int:
    """Registers of eight numbers that a row takes, filled up to whole ones."""
    return (columns + 7) >> 3


@inlined
def widest_of(trees: IntArray) -> int:
    """Columns of the widest tree."""
    widest = 0
    for k in range(trees.size - 1):
        widest = max(widest, trees[k + 1] - trees[k])
    return widest


@inlined
def fixed_room(trees: int) -> int:
    """Whole numbers of everything but blocks."""
    return HEADER + 2 * trees * words_of(trees) + 7 * trees + 1


@inlined
def words_of(trees: int) -> int:
    return (trees + _BITS - 1) // _BITS


@inlined
def structure_in(ints: IntArray, floats: Array, trees: int) -> BlockStructure:
    """Name the parts of two buffers; both are empty where nothing is eliminated tree by tree."""
    if ints.size == 0:
        table = matrix(ints, 0, 0, 0)
        return BlockStructure(
            ints, table, table, ints, ints, ints, ints, ints, ints, ints, ints, ints, floats
        )
    size = trees * words_of(trees)
    a = HEADER + 2 * size
    b = fixed_room(trees)
    half = (ints.size - b) // 2
    return BlockStructure(
        ints[:HEADER],
        matrix(ints, HEADER, trees, words_of(trees)),
        matrix(ints, HEADER + size, trees, words_of(trees)),
        ints[a : a + trees],
        ints[a + trees : a + 2 * trees],
        ints[a + 2 * trees : a + 3 * trees],
        ints[a + 3 * trees : a + 4 * trees],
        ints[a + 4 * trees : a + 5 * trees + 1],
        ints[a + 5 * trees + 1 : b - trees],
        ints[b : b + half],
        ints[b + half : b + 2 * half],
        ints[b - trees : b],
        floats,
    )


BLOCK_STRUCTURE = Reference(
    numba.typeof(structure_in(np.zeros(fixed_room(1) + 2, dtype=np.int64), np.zeros((1, 8)), 1))
)
"""Numba's type of its address."""


@late(TABLE, LIST, BLOCK_STRUCTURE, LIST)
def analyse(places: IntArray, trees: IntArray, blocks: BlockStructure, blocks_of: IntArray) -> bool:
    """Order and structure for these contacts, and the block of the two trees of each.

    False where buffers are too short for them.
    """
    if not neighbours_are_known(places, trees, blocks):
        put_order(trees.size - 1, blocks)
        count = put_structure(trees, blocks)
        numbers = numbers_of(trees, blocks)
        need_room(blocks, fixed_room(blocks.order.size) + 2 * count, numbers)
        if count > blocks.below.size or numbers > blocks.numbers.shape[0]:
            blocks.header[KNOWN] = 0
            return False
        put_blocks(trees, blocks)
    for i in range(places.shape[0]):
        blocks_of[i] = -1
        if places[i, TREE_B] >= 0:
            blocks_of[i] = find_block(blocks, places[i, TREE_A], places[i, TREE_B])
    return True


@inlined
def numbers_of(trees: IntArray, blocks: BlockStructure) -> int:
    """Eights of all blocks, of a right side, and of a spare row at the end to work in."""
    last = trees.size - 2
    side = blocks.parts[last] + eights_of(blocks.widths[blocks.order[last]])
    return right_side(blocks) + side + eights_of(widest_of(trees))


@inlined
def right_side(blocks: BlockStructure) -> int:
    """Where a right side is, behind all blocks."""
    return blocks.header[DIAGONAL] + 2 * blocks.header[BLOCKS]


@inlined
def need_room(blocks: BlockStructure, ints: int, numbers: int) -> None:
    """Note what an island needs: the one that needs most counts."""
    blocks.header[NEED_INTS] = max(blocks.header[NEED_INTS], ints)
    blocks.header[NEED_FLOATS] = max(blocks.header[NEED_FLOATS], numbers)


@kernel
def neighbours_are_known(places: IntArray, trees: IntArray, blocks: BlockStructure) -> bool:
    """Write which trees touch; whether order and structure are already those of these trees."""
    n = trees.size - 1
    words = words_of(n)
    for k in range(n):
        for w in range(words):
            blocks.filled[k, w] = 0
    for i in range(places.shape[0]):
        a, b = places[i, TREE_A], places[i, TREE_B]
        if b >= 0:
            blocks.filled[a, b // _BITS] |= 1 << (b % _BITS)
            blocks.filled[b, a // _BITS] |= 1 << (a % _BITS)
    same = blocks.header[KNOWN] == n
    for k in range(n):
        same = same and blocks.widths[k] == trees[k + 1] - trees[k]
        blocks.widths[k] = trees[k + 1] - trees[k]
        for w in range(words):
            same = same and blocks.touching[k, w] == blocks.filled[k, w]
            blocks.touching[k, w] = blocks.filled[k, w]
    blocks.header[KNOWN] = n
    return same


@inlined
def bits_of(word: int) -> int:
    """How many bits are set, of 32 (H. S. Warren, Hacker's Delight, 2002)."""
    word -= (word >> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) & 0xFFFFFFFF) >> 24


@inlined
def without_lowest(word: int) -> tuple[int, int]:
    """A word without its lowest bit, and the number of that."""
    lowest = word & -word
    return word ^ lowest, bits_of(lowest - 1)


@inlined
def count_bits(row: IntArray, words: int) -> int:
    total = 0
    for w in range(words):
        total += bits_of(row[w])
    return total


@kernel
def put_order(n: int, blocks: BlockStructure) -> None:
    """Eliminate the tree with the fewest neighbours, the first of equals, one after the other."""
    words = words_of(n)
    for k in range(n):
        blocks.place[k] = -1
        blocks.degree[k] = count_bits(blocks.filled[k], words)
    for step in range(n):
        least = n + 1
        tree = -1
        for k in range(n):
            if blocks.place[k] < 0 and blocks.degree[k] < least:
                least, tree = blocks.degree[k], k
        blocks.order[step] = tree
        blocks.place[tree] = step
        join_neighbours(tree, words, blocks)


@kernel
def join_neighbours(tree: int, words: int, blocks: BlockStructure) -> None:
    """Join all neighbours of a tree to each other, and leave the tree out."""
    own = blocks.filled[tree]
    for w in range(words):
        left = own[w]
        while left != 0:
            left, bit = without_lowest(left)
            k = w * _BITS + bit
            row = blocks.filled[k]
            for x in range(words):
                row[x] |= own[x]
            row[tree // _BITS] &= ~(1 << (tree % _BITS))
            row[k // _BITS] &= ~(1 << (k % _BITS))
            blocks.degree[k] = count_bits(row, words)


@kernel
def put_structure(trees: IntArray, blocks: BlockStructure) -> int:
    """Count the blocks below each place, and the numbers of everything; how many blocks."""
    n = trees.size - 1
    diagonal, numbers = 0, 0
    part = 0
    blocks.starts[0] = 0
    for step in range(n):
        tree = blocks.order[step]
        size = blocks.widths[tree]
        blocks.diagonal[step] = diagonal
        blocks.parts[step] = part
        diagonal += size * eights_of(size)
        part += eights_of(size)
        for w in range(words_of(n)):
            left = blocks.filled[tree, w]
            while left != 0:
                left, bit = without_lowest(left)
                numbers += block_room(size, blocks.widths[w * _BITS + bit])
        blocks.starts[step + 1] = blocks.starts[step] + blocks.degree[tree]
    blocks.header[DIAGONAL], blocks.header[BLOCKS] = diagonal, numbers
    return blocks.starts[n]


@inlined
def block_room(a: int, b: int) -> int:
    """Eights of a block of two trees, either way round."""
    return max(a * eights_of(b), b * eights_of(a))


@kernel
def put_blocks(trees: IntArray, blocks: BlockStructure) -> None:
    """Places below each place, ascending, and where their blocks are."""
    n = trees.size - 1
    offset = 0
    for step in range(n):
        tree = blocks.order[step]
        start = end = blocks.starts[step]
        for w in range(words_of(n)):
            left = blocks.filled[tree, w]
            while left != 0:
                left, bit = without_lowest(left)
                put_sorted(blocks.below, start, end, blocks.place[w * _BITS + bit])
                end += 1
        for b in range(start, end):
            blocks.offsets[b] = offset
            offset += block_room(blocks.widths[tree], blocks.widths[blocks.order[blocks.below[b]]])


@inlined
def put_sorted(numbers: IntArray, start: int, end: int, number: int) -> None:
    """Insert a number among those from `start` to `end`, which ascend."""
    j = end
    while j > start and numbers[j - 1] > number:
        numbers[j] = numbers[j - 1]
        j -= 1
    numbers[j] = number


@inlined
def find_block(blocks: BlockStructure, a: int, b: int) -> int:
    """Block of two trees that touch."""
    first, second = blocks.place[a], blocks.place[b]
    if first > second:
        first, second = second, first
    low, high = blocks.starts[first], blocks.starts[first + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if blocks.below[middle] <= second:
            low = middle
        else:
            high = middle
    return low


@inlined
def lacks_room(blocks: BlockStructure, ints: int) -> bool:
    """Whether buffers, so many whole numbers, were too short for an analysis."""
    if blocks.header.size == 0:
        return False
    return blocks.header[NEED_INTS] > ints or blocks.header[NEED_FLOATS] > blocks.numbers.shape[0]
