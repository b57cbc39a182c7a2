"""Articulated inertias as rows of registers, tips to base: the factors of Lambda of small trees.

What links do alike is done for eight at a time (`composite_lanes`). Then one after the other, as at
the head of `articulated_body`, with a whole row of P in a register. Every division waits for the
one before; what lies between is kept short by looking ahead. Of the parent p of k, and P' = phi P
phi* with p's own inertia added, U' = phi U,

    D(p) = S* P' S - (S* U')^2 / D(k),    U(p) = P' S - U' (S* U') / D(k),    S = S(p),

so that only the last product waits for D(k).
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import (
    WIDTH,
    Lanes,
    at,
    load,
    load1,
    load3,
    load_mat3,
    load_sym3,
    spread1,
    spread3,
    store,
    store3,
    zeros,
)
from spatialops.algebra.simd_blocks import Block, transposed
from spatialops.algebra.simd_rows import (
    Six,
    first_of,
    force_moment,
    load_rows,
    minus_product,
    rigid_rows,
    shifted_rows,
    spreads,
    store_rows,
    sum_of_rows,
)
from spatialops.algebra.vectors import rotate, scaled, sym_rotated
from spatialops.dynamics.composite_lanes import (
    MOVES,
    NO_POSE,
    REACH,
    TURNED,
    gather_coordinates,
    place_in_parents,
    place_in_world,
)
from spatialops.tree.branches import ALONG, ANGULAR, DIRECTION, LAST

# A link's row: its own inertia in the two registers that `rigid_rows` takes, its lever,
_SECOND, _CENTER = 0, 8
_LEVER = 16
GAIN = 24  # D^-1/2 phi U,
RESULT = 32  # and what is made of these. First, where branches meet, what they leave.
MET_COLUMNS = 48
ROOT = 38  # D^-1/2: a row of the workspace, in which no coordinates are needed by then


@inlined
def place_and_weigh(tree: IntArray, constants: Array, q: Array, work: Array, rows: Array) -> None:
    """Poses and axes of all links into `work`, their own inertias and levers into `rows`."""
    end = work.shape[0]
    gather_coordinates(tree, q, work, 0, end)
    place_in_parents(constants, work, 0, end)
    place_in_world(tree, q, work, 0, end, NO_POSE)
    for eight in range(end):
        weigh(constants, work, rows, eight)


@inlined
def weigh(constants: Array, work: Array, rows: Array, eight: int) -> None:
    """Axes, own inertias and levers of eight links."""
    none, rotation = zeros(), load_mat3(work, TURNED, eight)
    axis = rotate(rotation, load3(constants, DIRECTION, eight))
    store3(work, MOVES, eight, scaled(load1(constants, ANGULAR, eight), axis))
    store3(work, MOVES + 3, eight, scaled(load1(constants, ALONG, eight), axis))
    J = sym_rotated(rotation, load_sym3(constants, layout.INERTIA, eight))
    mass = load1(constants, layout.MASS, eight)
    x, y, z = rotate(rotation, load3(constants, layout.COM, eight))
    put_block(rows, eight, _SECOND, (J[0], J[1], J[2], J[3], J[4], J[5], mass, none))
    put_block(rows, eight, _CENTER, (x, y, z, none, none - x, none - y, none - z, none))
    x, y, z = load3(work, REACH, eight)
    put_block(rows, eight, _LEVER, (x, y, z, none, none, none, none, none))


@inlined
def put_block(rows: Array, eight: int, column: int, block: Block) -> None:
    """Eight numbers of eight links, each link's side by side."""
    a, b, c, d, e, f, g, h = transposed(block)
    k = WIDTH * eight
    store(rows, k, column, a)
    store(rows, k + 1, column, b)
    store(rows, k + 2, column, c)
    store(rows, k + 3, column, d)
    store(rows, k + 4, column, e)
    store(rows, k + 5, column, f)
    store(rows, k + 6, column, g)
    store(rows, k + 7, column, h)


@inlined
def along(tree: IntArray, work: Array, k: int, P: Six) -> Lanes:
    """S* P of link k: P S where P is symmetric, and S* times six numbers that are in all lanes."""
    motion = tree[k, layout.MOTION]
    if motion == layout.LINEAR:
        x, y, z = spread3(work, MOVES + 3, k)
        return x * P[3] + (y * P[4] + z * P[5])
    x, y, z = spread3(work, MOVES, k)
    turning = x * P[0] + (y * P[1] + z * P[2])
    if motion == layout.ROTARY:
        return turning
    x, y, z = spread3(work, MOVES + 3, k)
    return turning + (x * P[3] + (y * P[4] + z * P[5]))


@inlined
def begin_branch(
    tree: IntArray, constants: Array, work: Array, rows: Array, k: int
) -> tuple[Six, Lanes, Lanes]:
    """P, U and D of a link that carries no others."""
    P = rigid_rows(load(rows, k, _SECOND), load(rows, k, _CENTER))
    U = along(tree, work, k, P)
    D = spread1(constants, layout.ARMATURE, k) + along(tree, work, k, spreads(U))
    return P, U, D


@inlined
def own_and_met(tree: IntArray, rows: Array, k: int) -> Six:
    """Inertia of link k, with what all its branches but the one that starts next to it leave."""
    own = rigid_rows(load(rows, k, _SECOND), load(rows, k, _CENTER))
    if tree[k + 1, LAST] != tree[k, LAST]:
        own = sum_of_rows(own, load_rows(rows, k, RESULT))
    return own


@inlined
def leave_at(tree: IntArray, rows: Array, k: int, parent: int, P: Six) -> None:
    """Add to the parent what a branch hands to it that does not start next to it."""
    if tree[k, LAST] != tree[parent, LAST]:
        P = sum_of_rows(P, load_rows(rows, parent, RESULT))
    store_rows(rows, parent, RESULT, P)


@inlined
def factor_rows(tree: IntArray, constants: Array, work: Array, rows: Array) -> int:
    """D^-1/2 and D^-1/2 phi U of all links, into `work` and `rows`."""
    status = layout.OK
    last = tree.shape[0] - 1
    P, U, D = begin_branch(tree, constants, work, rows, last)
    for k in range(last, -1, -1):
        parent, d = tree[k, layout.PARENT], first_of(D)
        if not d > 0.0:
            status = layout.SINGULAR
        f = 1.0 / D
        root = math.sqrt(max(first_of(f), 0.0))
        work[at(ROOT, k)] = root
        if tree[k, layout.FRAME] != layout.SAME:
            r = load(rows, k, _LEVER)
            P = shifted_rows(P, spread3(work, REACH, k), r)
            U = U + force_moment(r, U)
        store(rows, k, GAIN, root * U)
        pushed, pull = spreads(U), f * U
        if parent == k - 1 and parent >= 0:
            P = sum_of_rows(P, own_and_met(tree, rows, parent))
            U = along(tree, work, parent, P)
            D = spread1(constants, layout.ARMATURE, parent)
            D = D + along(tree, work, parent, spreads(U))
            t = along(tree, work, parent, pushed)
            D = D - f * (t * t)
            U = U - t * pull
            P = minus_product(P, pushed, pull)
            continue
        if parent >= 0:
            leave_at(tree, rows, k, parent, minus_product(P, pushed, pull))
        if k > 0:
            P, U, D = begin_branch(tree, constants, work, rows, k - 1)
    return status
