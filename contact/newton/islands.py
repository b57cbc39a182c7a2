"""Islands: contacts whose trees touch no other contacts' trees do not feel each other.

Contacts i and j are coupled by L_i L_j^T, which is zero where they share no tree. Each island is
solved by itself, from its own rows and columns alone; residuals are measured by the fastest of all
rows, as those of one problem would be.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops._compile.references import Reference, refer
from spatialops.algebra.memory import matrix
from spatialops.algebra.simd import aligned
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.blocks.structure import lacks_room, structure_in, widest_of
from spatialops.contact.newton.central import AIM, Aim
from spatialops.contact.newton.no_slip import impulses_of_law
from spatialops.contact.newton.rows import (
    ROWS,
    ContactRows,
    NewtonRoom,
    is_moment,
    new_blocks,
    newton_room,
    newton_scratch,
    presser_of,
)
from spatialops.contact.rows import (
    FIRST_A,
    FIRST_B,
    PLACE_COLUMNS,
    START,
    TREE_A,
    TREE_B,
    SparseRows,
    width_of,
)


class Buffers(NamedTuple):
    """What islands are cut into, and what each is solved in."""

    newton_ints: IntArray
    newton_floats: Array
    island_ints: IntArray  # see `Islands`; then places and trees of one of them
    # Entries of its rows; u, impulses, friction, prior and dry of contacts; what moved of trees.
    island_floats: Array
    block_ints: IntArray
    block_floats: Array


class Islands(NamedTuple):
    """Which contacts are in which."""

    owners: IntArray  # (n,) of trees: one of the same island, itself where it stands for that
    numbers: IntArray  # (n,) of trees within the island that is being solved; -1: not in it
    heads: IntArray  # (n + 2,) first member of the island that a tree stands for; n: no tree
    members: IntArray  # (m,) contacts, island by island
    positions: IntArray  # (m,) of contacts in the island that is being solved
    moments: IntArray  # (m,) owners of the moments of the island
    places: IntArray  # (m, PLACE_COLUMNS) of the island
    trees: IntArray  # (n + 1,)
    statuses: IntArray  # (m,) of the island


def new_buffers(room: NewtonRoom) -> Buffers:
    """Buffers for problems up to a size."""
    ints, floats = newton_room(room)
    n, m = room.trees, room.m
    return Buffers(
        np.zeros(ints, dtype=np.int64),
        aligned(1, floats)[0],
        np.zeros(4 * n + 3 + (4 + PLACE_COLUMNS) * m, dtype=np.int64),
        np.zeros(room.entries + 9 * m + n),
        *new_blocks(room),
    )


def room_of(rows: ContactRows) -> NewtonRoom:
    """Room for these rows."""
    trees = rows.trees
    return NewtonRoom(
        rows.friction.size,
        int(trees[-1]),
        rows.L.entries.size,
        len(trees) - 1,
        int(widest_of(trees)),
        len(rows.corners),
    )


@inlined
def islands_in(ints: IntArray, n: int, m: int) -> Islands:
    """Name the parts of the buffer."""
    a = 2 * n
    b = a + n + 2
    c = b + 3 * m
    d = c + PLACE_COLUMNS * m
    return Islands(
        ints[:n],
        ints[n:a],
        ints[a:b],
        ints[b : b + m],
        ints[b + m : b + 2 * m],
        ints[b + 2 * m : c],
        matrix(ints, c, m, PLACE_COLUMNS),
        ints[d : d + n + 1],
        ints[d + n + 1 : d + n + 1 + m],
    )


BUFFERS = Reference(numba.typeof(new_buffers(NewtonRoom(1, 1, 3, 1, 1, 4))))
"""Numba's type of their address."""


@late(ROWS, AIM, VECTOR, BUFFERS)
def solve_islands(rows: ContactRows, aim: Aim, p: Array, buffers: Buffers) -> tuple[int, float]:
    """`impulses_of_law` of every island: iterations, negative where one began at zero again.

    And the largest residual, without bound where buffers are too short for the factors. Contacts of
    islands without an answer are UNSOLVED.
    """
    m, n = rows.friction.size, rows.trees.size - 1
    if n == 1:
        room = NewtonRoom(
            m, rows.trees[1], rows.L.entries.size, 1, rows.trees[1], rows.corners.shape[0]
        )
        scratch = newton_scratch(
            buffers.newton_ints,
            buffers.newton_floats,
            (buffers.block_ints, buffers.block_floats),
            room,
        )
        count, worst = impulses_of_law(rows, 0.0, aim, p, refer(scratch))
        if not worst <= aim.tolerance:
            for i in range(rows.statuses.size):
                rows.statuses[i] = at.UNSOLVED
        return count, worst
    islands = islands_in(buffers.island_ints, n, m)
    find_islands(rows.L.places, islands)
    fastest = 0.0
    for i in range(3 * m):
        fastest = max(fastest, abs(rows.u[i]))
    total = 0
    worst = 0.0
    stayed = True
    for k in range(n + 1):
        if islands.heads[k] == islands.heads[k + 1]:
            continue
        count, residual = solve_island(rows, k, fastest, aim, p, buffers)
        total += abs(count)
        stayed = stayed and count >= 0
        worst = max(worst, residual if residual == residual else INFINITE)
    return (total if stayed else -total), worst


@inlined
def owner_of(owners: IntArray, k: int) -> int:
    """The tree that stands for the island of tree k."""
    while owners[k] != k:
        owners[k] = owners[owners[k]]
        k = owners[k]
    return k


@kernel
def join_trees(places: IntArray, owners: IntArray) -> None:
    """Owners of trees, the same of those that contacts join."""
    for k in range(owners.size):
        owners[k] = k
    for i in range(places.shape[0]):
        if places[i, TREE_B] >= 0:
            a, b = owner_of(owners, places[i, TREE_A]), owner_of(owners, places[i, TREE_B])
            owners[max(a, b)] = min(a, b)


@kernel
def find_islands(places: IntArray, islands: Islands) -> None:
    """Join trees that contacts join, and list the contacts of each island in their order."""
    owners, heads = islands.owners, islands.heads
    n = owners.size
    join_trees(places, owners)
    for k in range(n):
        islands.numbers[k] = -1
    for k in range(n + 2):
        heads[k] = 0
    for i in range(places.shape[0]):
        heads[label_of(places, i, owners) + 1] += 1
    for k in range(n + 1):
        heads[k + 1] += heads[k]
    for i in range(places.shape[0] - 1, -1, -1):
        label = label_of(places, i, owners)
        heads[label + 1] -= 1
        islands.members[heads[label + 1]] = i
    # Each head has come down to its own island's start, one place too far to the right.
    for k in range(n + 1):
        heads[k] = heads[k + 1]
    heads[n + 1] = places.shape[0]


@inlined
def label_of(places: IntArray, i: int, owners: IntArray) -> int:
    """The island of contact i: n where nothing moves."""
    tree = places[i, TREE_A]
    return owner_of(owners, tree) if tree >= 0 else owners.size


@late(ROWS, types.int64, types.float64, AIM, VECTOR, BUFFERS)
def solve_island(
    rows: ContactRows,
    k: int,
    fastest: float,
    aim: Aim,
    p: Array,
    buffers: Buffers,
) -> tuple[int, float]:
    """The island that tree k stands for: its rows copied, solved, its impulses put back."""
    m, n = rows.friction.size, rows.trees.size - 1
    islands = islands_in(buffers.island_ints, n, m)
    members = islands.members[islands.heads[k] : islands.heads[k + 1]]
    trees = number_trees(rows, members, islands)
    size = put_places(rows.L.places, members, islands)
    count = members.size
    floats = buffers.island_floats
    of_contacts = matrix(floats, size + 6 * count, 3, count)
    island = refer(
        ContactRows(
            SparseRows(floats[:size], islands.places[:count]),
            islands.trees[: trees + 1],
            floats[size : size + 3 * count],
            of_contacts[0],
            of_contacts[1],
            of_contacts[2],
            rows.corners,
            rows.law,
            islands.moments[: put_moments(rows, members, islands)],
            islands.statuses[: count if rows.statuses.size > 0 else 0],
            floats[size + 9 * count : size + 9 * count + (trees if rows.moves.size > 0 else 0)],
        )
    )
    own = floats[size + 3 * count : size + 6 * count]
    copy_contacts(rows, p, members, island, own)
    copy_moves(rows, members, islands, island)
    scratch = newton_scratch(
        buffers.newton_ints,
        buffers.newton_floats,
        (buffers.block_ints, buffers.block_floats),
        NewtonRoom(
            count,
            island.trees[trees],
            size,
            n,
            widest_of(island.trees),
            rows.corners.shape[0],
        ),
    )
    # Scratch is that of all islands.
    anew = Aim(aim.warm, aim.tolerance, aim.attempts, False, aim.more, aim.stands)
    iterations, residual = impulses_of_law(island, fastest, anew, own, refer(scratch))
    for c in range(count):
        for j in range(3):
            p[3 * members[c] + j] = own[3 * c + j]
    solved = residual <= aim.tolerance
    for c in range(island.statuses.size):
        rows.statuses[members[c]] = island.statuses[c] if solved else at.UNSOLVED
    return iterations, residual


@kernel
def number_trees(rows: ContactRows, members: IntArray, islands: Islands) -> int:
    """Number the trees of an island as its contacts meet them, and place their columns; how many.

    Where nothing moves it is one tree without columns.
    """
    count = 0
    islands.trees[0] = 0
    for i in members:
        for side in range(TREE_A, TREE_B + 1):
            tree = rows.L.places[i, side]
            if tree >= 0 and islands.numbers[tree] < 0:
                islands.numbers[tree] = count
                count += 1
                islands.trees[count] = (
                    islands.trees[count - 1] + rows.trees[tree + 1] - rows.trees[tree]
                )
    if count == 0:
        count, islands.trees[1] = 1, 0
    return count


@kernel
def put_places(places: IntArray, members: IntArray, islands: Islands) -> int:
    """Places of an island's contacts among its own trees; numbers of all of their entries."""
    start = 0
    for c in range(members.size):
        i = members[c]
        for column in range(PLACE_COLUMNS):
            islands.places[c, column] = places[i, column]
        islands.places[c, START] = start
        for side in range(2):
            tree = places[i, TREE_A + side]
            if tree >= 0:
                number = islands.numbers[tree]
                islands.places[c, TREE_A + side] = number
                islands.places[c, FIRST_A + side * (FIRST_B - FIRST_A)] = islands.trees[number]
        start += 3 * width_of(places, i)
    return start


@kernel
def put_moments(rows: ContactRows, members: IntArray, islands: Islands) -> int:
    """Owners of an island's moments, which are the last of its contacts too; how many."""
    count = 0
    for c in range(members.size):
        islands.positions[members[c]] = c
        if is_moment(rows, members[c]):
            islands.moments[count] = islands.positions[presser_of(rows, members[c])]
            count += 1
    return count


@kernel
def copy_contacts(
    rows: ContactRows, p: Array, members: IntArray, island: ContactRows, own: Array
) -> None:
    """Rows, velocities, impulses and coefficients of an island's contacts."""
    for c in range(members.size):
        i = members[c]
        size = 3 * width_of(rows.L.places, i)
        start, begin = island.L.places[c, START], rows.L.places[i, START]
        copy_into(island.L.entries[start : start + size], rows.L.entries[begin : begin + size])
        for j in range(3):
            island.u[3 * c + j], own[3 * c + j] = rows.u[3 * i + j], p[3 * i + j]
        island.friction[c], island.prior[c] = rows.friction[i], rows.prior[i]
        island.dry[c] = rows.dry[i]
    for c in range(island.statuses.size):
        island.statuses[c] = rows.statuses[members[c]]


@kernel
def copy_moves(rows: ContactRows, members: IntArray, islands: Islands, island: ContactRows) -> None:
    """How fast an island's trees are before, where that is known."""
    if island.moves.size == 0:
        return
    for k in range(island.moves.size):
        island.moves[k] = 0.0
    for i in members:
        for side in range(TREE_A, TREE_B + 1):
            tree = rows.L.places[i, side]
            if tree >= 0:
                island.moves[islands.numbers[tree]] = rows.moves[tree]


@kernel
def have_no_room(rows: ContactRows, buffers: Buffers) -> bool:
    """Whether the buffers were too short for the factors of an island; its header says for what."""
    kept = structure_in(buffers.block_ints, buffers.block_floats, rows.trees.size - 1)
    return lacks_room(kept, buffers.block_ints.size)
