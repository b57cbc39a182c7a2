"""What the solver is given, and the arrays it works in.

A contact problem is its rows: G M^-1 G^T = L L^T, so that in the coordinates y = L^T p the mass is
one and the rows' velocities are v = u + L y. The product W = L L^T is never formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.block_structure import (
    BlockStructure,
    structure_in,
    structure_room,
    widest_of,
)
from spatialops.contact.rows import SparseRows

# Columns of several trees, or unknowns; with more, and more than the widest tree has, linear
# problems are solved tree by tree.
_DENSE = 64


class ContactRows(NamedTuple):
    """Contacts as their rows along normal, first and second tangent."""

    L: SparseRows
    trees: IntArray  # (n + 1,) first column of every tree, and one past the last
    u: Array  # (3 m,) velocities without impulses, with the gaps' part
    friction: Array  # (m,)
    prior: Array  # (m,) normal impulses that press already
    dry: Array  # (m,) friction impulse that needs no normal one
    corners: Array  # (n_f, 2) directions of friction


class NewtonScratch(NamedTuple):
    """What the solver works in, for m contacts whose trees have so many columns."""

    status: IntArray  # (m, STATUS_COLUMNS)
    contacts: IntArray  # (3 m,) contact of each unknown
    parts: IntArray  # (3 m,) which of its components that is
    starts: IntArray  # (3 m,) of its rows rho and gamma
    blocks_of: IntArray  # (m,) block of the two trees of each contact
    order: IntArray  # (3 m,) of rows after pivoting
    columns: IntArray  # (3 m,)
    vectors: Array  # (VECTORS, 3 m)
    y: Array  # one of every column
    rho: Array  # (1, k) rows that must not move, entries as those of the contacts' rows
    gamma: Array  # (k,) and what acts on them
    M: Array  # (k, k), for the linear problems of `dense_size`
    blocks: BlockStructure


class NewtonRoom(NamedTuple):
    """Most of everything that a solver may meet."""

    m: int  # contacts
    columns: int  # of all trees
    entries: int  # of the contacts' rows
    trees: int
    widest: int  # columns of one tree


@inlined
def is_dense(rows: ContactRows) -> bool:
    """Whether linear problems are small as a whole: by columns, or by unknowns."""
    trees = rows.trees.size - 1
    if trees == 1 or rows.trees[trees] <= _DENSE:
        return True
    return 3 * rows.friction.size <= max(widest_of(rows.trees), _DENSE)


@inlined
def dense_size(m: int, widest: int) -> int:
    """Largest dense linear problem: unknowns, or columns where these are fewer."""
    return min(3 * m, max(widest, _DENSE))


@inlined
def newton_scratch(
    ints: IntArray, floats: Array, blocks: tuple[IntArray, Array], room: NewtonRoom
) -> NewtonScratch:
    """Name the parts of the buffers of `newton_room`."""
    n = 3 * room.m
    a = at.STATUS_COLUMNS * room.m
    e = a + 3 * n + room.m
    b = at.VECTORS * n
    c = b + room.columns
    d = c + 2 * (room.entries + WIDTH)
    k = dense_size(room.m, room.widest)
    return NewtonScratch(
        ints[:a].reshape(room.m, at.STATUS_COLUMNS),
        ints[a : a + n],
        ints[a + n : a + 2 * n],
        ints[a + 2 * n : a + 3 * n],
        ints[a + 3 * n : e],
        ints[e : e + n],
        ints[e + n : e + 2 * n],
        floats[:b].reshape(at.VECTORS, n),
        floats[b:c],
        floats[c : c + room.entries + WIDTH].reshape(1, room.entries + WIDTH),
        floats[c + room.entries + WIDTH : d],
        floats[d : d + k * k].reshape(k, k),
        structure_in(blocks[0], blocks[1], room.trees),
    )


def newton_room(room: NewtonRoom) -> tuple[int, int]:
    """Whole numbers and numbers that `newton_scratch` cuts up."""
    n = 3 * room.m
    k = dense_size(room.m, room.widest)
    ints = (at.STATUS_COLUMNS + 1) * room.m + 5 * n
    return ints, at.VECTORS * n + room.columns + 2 * (room.entries + WIDTH) + k * k


def new_blocks(room: NewtonRoom) -> tuple[IntArray, Array]:
    """Buffers of the elimination tree by tree: none where linear problems are dense."""
    if room.trees == 1 or room.columns <= _DENSE:
        return np.zeros(0, dtype=np.int64), np.zeros((0, WIDTH))
    ints, floats = structure_room(room.trees, room.widest)
    return np.zeros(ints, dtype=np.int64), aligned(floats, WIDTH)
