"""What the solver is given, and the arrays it works in.

A contact problem is its rows: G M^-1 G^T = L L^T, so that in the coordinates y = L^T p the mass is
one and the rows' velocities are v = u + L y. The product W = L L^T is never formed.

Torsional and rolling friction of a contact are contacts of their own, moments: with tangents alone,
whose rows are spins, and limits that the normal impulse of their contact gives. They come last.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import types
from spatialops._compile.jit import inlined
from spatialops._compile.references import Reference
from spatialops.algebra.memory import matrix, table_in
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.blocks.structure import (
    BlockStructure,
    structure_in,
    structure_room,
    widest_of,
)
from spatialops.contact.rows import PLACE_COLUMNS, SparseRows

# Columns of several trees, or unknowns; with more, and more than the widest tree has, linear
# problems are solved tree by tree. Free bodies have blocks of one size, which stay in registers: of
# 200 boxes that fall on a heap, in islands of up to ten, 300 steps take 0.89 of the time with the
# second (0.91 with 36).
_DENSE, _DENSE_OF_BODIES = 64, 24
_FREE = 6  # columns of a free body
# Rows and columns that are spread out: with more, zeros cost more than waiting.
_MOST_ROWS, _MOST_COLUMNS = 384, 128
BATCH = 64  # columns, or unknowns, whose products are added to a dense problem at a time


class ContactRows(NamedTuple):
    """Contacts as their rows along normal, first and second tangent."""

    L: SparseRows
    trees: IntArray  # (n + 1,) first column of every tree, and one past the last
    u: Array  # (3 m,) velocities without impulses, with the gaps' part
    friction: Array  # (m,) coefficients; impulse over slip of a drag; < 0: let go (`no_slip`)
    prior: Array  # (m,) normal impulses that press already
    dry: Array  # (m,) friction impulse that needs no normal one
    corners: Array  # (n_f, 2) directions of friction
    law: int  # of friction
    # (k,) of the last k, which are moments: the contacts that they belong to
    owners: IntArray = np.zeros(0, dtype=np.int64)
    # (m,) to begin with, then those of the answer, see `known_statuses`; -1: unknown; or none
    statuses: IntArray = np.zeros(0, dtype=np.int64)
    moves: Array = np.zeros(0)  # (n,) fastest velocity of each tree before; or none: not known


class Problem(NamedTuple):
    """One of contacts, with its scales."""

    rows: ContactRows
    s: float  # largest entry of the diagonal of W
    scale: float  # of velocities


class DenseScratch(NamedTuple):
    """What a dense linear problem of n unknowns is put together and factored in.

    n is of whole registers, as are the lines of all tables.
    """

    M: Array  # (n, n), by columns
    left: Array  # (BATCH, n), transposed
    right: Array  # (BATCH, n)
    line: Array  # (2, n + 8)
    order: IntArray  # (n,) of rows after pivoting
    span: IntArray  # (2, n / 8) where each register of the columns of `left` begins and ends
    sums: Array  # (n, n), by columns, what of M is of contacts
    summed: Array  # (m, TERMS) what each of them has in it
    terms: Array  # (m, TERMS) and shall have


class SpreadScratch(NamedTuple):
    """The rows with their zeros, of `row_products`."""

    L: Array  # (3 m, n), lines of whole registers


class NewtonScratch(NamedTuple):
    """What the solver works in, for m contacts whose trees have so many columns."""

    status: IntArray  # (m, STATUS_COLUMNS)
    friction: Array  # (m, FRICTION_COLUMNS)
    contacts: IntArray  # (3 m,) contact of each unknown
    parts: IntArray  # (3 m,) which of its components that is
    starts: IntArray  # (3 m,) of its rows rho and gamma
    blocks_of: IntArray  # (m,) block of the two trees of each contact
    vectors: Array  # (VECTORS, 3 m)
    pairs: Array  # (PAIR_TABLES, n_f + 2, m), m of whole registers
    lanes: Array  # (LANE_ROWS, m) likewise
    factored: Array  # (FACTORED,) what the factors at hand are of
    y: Array  # one of every column
    rho: Array  # (1, k) rows that must not move, entries as those of the contacts' rows
    gamma: Array  # (k,) and what acts on them
    dense: DenseScratch
    spread: SpreadScratch
    blocks: BlockStructure


class NewtonRoom(NamedTuple):
    """Most of everything that a solver may meet."""

    m: int  # contacts
    columns: int  # of all trees
    entries: int  # of the contacts' rows
    trees: int
    widest: int  # columns of one tree
    sides: int  # of the polygon of friction


@inlined
def contacts_of(rows: ContactRows) -> int:
    """How many are contacts: moments come behind them."""
    return rows.friction.size - rows.owners.size


@inlined
def is_moment(rows: ContactRows, i: int) -> bool:
    """Whether contact i is torsional or rolling friction of another."""
    return i >= contacts_of(rows)


@inlined
def presser_of(rows: ContactRows, i: int) -> int:
    """The contact whose normal impulse presses contact i: itself, or of a moment its owner."""
    contacts = contacts_of(rows)
    return i if i < contacts else rows.owners[i - contacts]


@inlined
def is_idle(dry: Array, i: int) -> bool:
    """Whether row i is one of a joint's dry friction, of which only the first tangent moves."""
    return dry[i // 3] > 0.0 and i % 3 != 1


@inlined
def is_round(rows: ContactRows, i: int) -> bool:
    """Whether the limit of friction of contact i is a circle: with POLYGON of none."""
    return rows.law == at.CONE or (is_moment(rows, i) and rows.law != at.POLYGON)


@inlined
def turns_on(rows: ContactRows) -> bool:
    """Whether directions of friction at its limit turn on as the problem is solved."""
    return rows.law == at.CONE or (rows.owners.size > 0 and rows.law != at.POLYGON)


@inlined
def is_dense(rows: ContactRows) -> bool:
    """Whether linear problems are small as a whole: by columns, or by unknowns."""
    trees = rows.trees.size - 1
    columns = rows.trees[trees]
    most = _DENSE_OF_BODIES if columns <= _FREE * trees else _DENSE
    if trees == 1 or columns <= most:
        return True
    return 3 * rows.friction.size <= max(widest_of(rows.trees), most)


@inlined
def is_one_tree(rows: ContactRows) -> bool:
    """Whether contacts are those of a mechanism, and not of a pile of bodies."""
    return rows.trees.size == 2


@inlined
def is_spread(rows: ContactRows) -> bool:
    """Whether a problem is small enough for its rows to be kept with their zeros."""
    if 3 * rows.friction.size > _MOST_ROWS or rows.trees[rows.trees.size - 1] > _MOST_COLUMNS:
        return False
    return is_dense(rows)


@inlined
def dense_size(m: int, widest: int) -> int:
    """Largest dense linear problem: unknowns, or columns where these are fewer."""
    return min(3 * m, max(widest, _DENSE))


@inlined
def whole_registers(n: int) -> int:
    """Numbers of whole registers of eight."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@inlined
def newton_scratch(
    ints: IntArray, floats: Array, blocks: tuple[IntArray, Array], room: NewtonRoom
) -> NewtonScratch:
    """Name the parts of the buffers of `newton_room`."""
    n = 3 * room.m
    a = at.STATUS_COLUMNS * room.m
    b = at.VECTORS * n
    c = b + room.columns
    d = c + room.entries + WIDTH
    e = d + room.entries + WIDTH
    f = e + at.FRICTION_COLUMNS * room.m
    eights = whole_registers(room.m)
    g = f + at.LANE_ROWS * eights
    h = g + at.PAIR_TABLES * eights * (room.sides + 2)
    last = h + at.FACTORED
    return NewtonScratch(
        matrix(ints, 0, room.m, at.STATUS_COLUMNS),
        matrix(floats, e, room.m, at.FRICTION_COLUMNS),
        ints[a : a + n],
        ints[a + n : a + 2 * n],
        ints[a + 2 * n : a + 3 * n],
        ints[a + 3 * n : ints_of_rows(room)],
        matrix(floats, 0, at.VECTORS, n),
        table_in(floats, g, (at.PAIR_TABLES, room.sides + 2, eights)),
        matrix(floats, f, at.LANE_ROWS, eights),
        floats[h:last],
        floats[b:c],
        matrix(floats, c, 1, room.entries + WIDTH),
        floats[d:e],
        dense_scratch(ints, floats, room),
        spread_scratch(floats, room),
        structure_in(blocks[0], blocks[1], room.trees),
    )


@inlined
def dense_scratch(ints: IntArray, floats: Array, room: NewtonRoom) -> DenseScratch:
    """The dense problem's part of the buffers."""
    n = whole_registers(dense_size(room.m, room.widest))
    first = ints_of_rows(room)
    last = first + n
    a = floats_of_rows(room)
    b = a + n * n
    c = b + BATCH * n
    d = c + BATCH * n
    e = d + 2 * (n + WIDTH)
    f = e + n * n
    return DenseScratch(
        matrix(floats, a, n, n),
        matrix(floats, b, BATCH, n),
        matrix(floats, c, BATCH, n),
        matrix(floats, d, 2, n + WIDTH),
        ints[first:last],
        matrix(ints, last, 2, n // WIDTH),
        matrix(floats, e, n, n),
        matrix(floats, f, room.m, at.TERMS),
        matrix(floats, f + at.TERMS * room.m, room.m, at.TERMS),
    )


@inlined
def spread_size(room: NewtonRoom) -> tuple[int, int]:
    """Most rows and columns that are spread out."""
    return min(3 * room.m, _MOST_ROWS), min(room.columns, _MOST_COLUMNS)


@inlined
def spread_scratch(floats: Array, room: NewtonRoom) -> SpreadScratch:
    """Part of the buffers for rows with their zeros."""
    rows, columns = spread_size(room)
    a = floats_of_rows(room) + floats_of_dense(room)
    return SpreadScratch(matrix(floats, a, rows, whole_registers(columns)))


@inlined
def ints_of_rows(room: NewtonRoom) -> int:
    """Whole numbers of what is kept of contacts and unknowns."""
    return (at.STATUS_COLUMNS + 10) * room.m


@inlined
def floats_of_rows(room: NewtonRoom) -> int:
    """Numbers of vectors and rows."""
    of_pairs = (at.PAIR_TABLES * (room.sides + 2) + at.LANE_ROWS) * whole_registers(room.m)
    of_contacts = (3 * at.VECTORS + at.FRICTION_COLUMNS) * room.m
    of_rows = room.columns + 2 * (room.entries + WIDTH)
    return whole_registers(of_contacts + of_pairs + of_rows + at.FACTORED)


@inlined
def floats_of_dense(room: NewtonRoom) -> int:
    """Numbers of a dense linear problem."""
    n = whole_registers(dense_size(room.m, room.widest))
    of_sum = n * n + 2 * at.TERMS * room.m
    return whole_registers(n * (n + 2 * BATCH) + 2 * (n + WIDTH) + of_sum)


def newton_room(room: NewtonRoom) -> tuple[int, int]:
    """Whole numbers and numbers that `newton_scratch` cuts up."""
    rows, columns = spread_size(room)
    spread = rows * whole_registers(columns)
    floats = floats_of_rows(room) + floats_of_dense(room) + spread
    n = whole_registers(dense_size(room.m, room.widest))
    return ints_of_rows(room) + n + n // 4, floats


def new_blocks(room: NewtonRoom) -> tuple[IntArray, Array]:
    """Buffers of the elimination tree by tree: none where linear problems are dense."""
    if room.trees == 1 or room.columns <= _DENSE_OF_BODIES:
        return np.zeros(0, dtype=np.int64), np.zeros((0, WIDTH))
    ints, floats = structure_room(room.trees, room.widest)
    return np.zeros(ints, dtype=np.int64), aligned(floats, WIDTH)


def _example() -> tuple[ContactRows, NewtonScratch]:
    """Of one contact, one tree and one column."""
    room = NewtonRoom(1, 1, 3, 1, 1, 4)
    ints, floats = newton_room(room)
    names, lines = structure_room(1, 1)
    one, trees = np.zeros(1), np.zeros(2, dtype=np.int64)
    L = SparseRows(np.zeros(3), np.zeros((1, PLACE_COLUMNS), dtype=np.int64))
    blocks = np.zeros(names, dtype=np.int64), np.zeros((lines, WIDTH))
    scratch = newton_scratch(np.zeros(ints, dtype=np.int64), np.zeros(floats), blocks, room)
    return ContactRows(L, trees, np.zeros(3), one, one, one, np.zeros((4, 2)), 0), scratch


ROWS, SCRATCH = (Reference(numba.typeof(tables)) for tables in _example())
PROBLEM = types.NamedTuple([ROWS, types.float64, types.float64], Problem)
"""Numba's types of what kernels apart take."""
