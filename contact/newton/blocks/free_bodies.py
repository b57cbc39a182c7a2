"""Blocks of two free bodies, six by six: a line of each is a register, and loops are of one length.

What `factors` does with blocks of any size, for those that piles are made of.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_logic import where
from spatialops.algebra.simd import WIDTH, Lanes, load, spread, store
from spatialops.algebra.simd_parts import lane, load_first
from spatialops.algebra.simd_rows import Six

SIX = 6  # columns of a free body
# One lane of a register is put by choosing, not written by itself: reading the register again would
# wait until that is in memory.
LANES_ALONE = np.eye(WIDTH)


@inlined
def lines_of(numbers: Array, at: int) -> Six:
    """The lines of a block."""
    return (
        load(numbers, at, 0),
        load(numbers, at + 1, 0),
        load(numbers, at + 2, 0),
        load(numbers, at + 3, 0),
        load(numbers, at + 4, 0),
        load(numbers, at + 5, 0),
    )


@inlined
def put_lines(numbers: Array, at: int, lines: Six) -> None:
    """Make these the lines of a block."""
    for i in range(SIX):
        store(numbers, at + i, 0, lines[i])


@inlined
def combined(numbers: Array, row: int, lines: Six) -> Lanes:
    """The sum of lines, each times its number in a row."""
    early = spread(numbers, row, 0) * lines[0]
    early = early + spread(numbers, row, 1) * lines[1]
    early = early + spread(numbers, row, 2) * lines[2]
    late = spread(numbers, row, 3) * lines[3]
    late = late + spread(numbers, row, 4) * lines[4]
    late = late + spread(numbers, row, 5) * lines[5]
    return early + late


@kernel
def add_six(numbers: Array, at: int, gamma: Array, rho: Array, starts: IntArray) -> None:
    """Add rho gamma^T of unknowns whose rows start there, of one body, to its block."""
    a, b, c, d, e, f = lines_of(numbers, at)
    for start in starts:
        line = load_first(gamma, start, SIX)
        a = a + rho[start] * line
        b = b + rho[start + 1] * line
        c = c + rho[start + 2] * line
        d = d + rho[start + 3] * line
        e = e + rho[start + 4] * line
        f = f + rho[start + 5] * line
    put_lines(numbers, at, (a, b, c, d, e, f))


@kernel
def add_twelve(
    numbers: Array, at: tuple[int, int], gamma: Array, rho: Array, starts: IntArray, own: int
) -> None:
    """Add rho gamma^T of unknowns between two bodies to two blocks, beside each other.

    Those of the body whose part of rho is so far behind the start, along the one and the other.
    """
    a, b, c, d, e, f = lines_of(numbers, at[0])
    g, h, i, j, k, m = lines_of(numbers, at[1])
    for start in starts:
        first, second = load_first(gamma, start, SIX), load_first(gamma, start + SIX, SIX)
        n = start + own
        a, g = a + rho[n] * first, g + rho[n] * second
        b, h = b + rho[n + 1] * first, h + rho[n + 1] * second
        c, i = c + rho[n + 2] * first, i + rho[n + 2] * second
        d, j = d + rho[n + 3] * first, j + rho[n + 3] * second
        e, k = e + rho[n + 4] * first, k + rho[n + 4] * second
        f, m = f + rho[n + 5] * first, m + rho[n + 5] * second
    put_lines(numbers, at[0], (a, b, c, d, e, f))
    put_lines(numbers, at[1], (g, h, i, j, k, m))


@kernel
def subtract_six(numbers: Array, at: int, left: int, right: int) -> None:
    """Take X Y from a block."""
    lines = lines_of(numbers, right)
    for i in range(SIX):
        store(numbers, at + i, 0, load(numbers, at + i, 0) - combined(numbers, left + i, lines))


@kernel
def multiply_six(numbers: Array, at: int, own: int) -> None:
    """X D in place of X: D is at `own`."""
    lines = lines_of(numbers, own)
    for i in range(SIX):
        store(numbers, at + i, 0, combined(numbers, at + i, lines))


@kernel
def invert_six(numbers: Array, at: int) -> None:
    """Inverse of a block in place, by Gauss and Jordan's method without pivoting."""
    lines = lines_of(numbers, at)
    for c in range(SIX):
        lines = swept(lines, c)
    put_lines(numbers, at, lines)


@inlined
def swept(lines: Six, c: int) -> Six:
    """Exchange column c with its unknown, which is that of the first line: the last one then."""
    own = load(LANES_ALONE, c, 0)
    first = (1.0 / lane(lines[0], c)) * where(own, 1.0, lines[0])
    return (
        cleared(lines[1], c, first),
        cleared(lines[2], c, first),
        cleared(lines[3], c, first),
        cleared(lines[4], c, first),
        cleared(lines[5], c, first),
        first,
    )


@inlined
def cleared(line: Lanes, c: int, first: Lanes) -> Lanes:
    """A line less its number in column c times the exchanged one."""
    return where(load(LANES_ALONE, c, 0), 0.0, line) - lane(line, c) * first
