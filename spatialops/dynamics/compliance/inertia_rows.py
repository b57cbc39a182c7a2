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
from spatialops.algebra.simd import WIDTH, Lanes, at, load, spread1, store
from spatialops.algebra.simd_rows import (
    Six,
    first_of,
    force_moment,
    load_half,
    load_rows,
    minus_product,
    rigid_rows,
    shifted_rows,
    spreads,
    store_rows,
    sum_of_rows,
)
from spatialops.dynamics.compliance.link_rows import (
    CENTER,
    LEVER,
    OWN_COLUMNS,
    SECOND,
    axis_of,
    lever_of,
)
from spatialops.tree.branches import ALONG, FREE, LAST

# Further columns of a link's row: D^-1/2 phi U,
GAIN = OWN_COLUMNS
RESULT = (
    OWN_COLUMNS + WIDTH
)  # and what is made of these. First, where branches meet, what they leave.
MET_COLUMNS = 48
ROOT = 38  # D^-1/2: a row of the workspace, in which no coordinates are needed by then


@inlined
def along(tree: IntArray, constants: Array, rows: Array, k: int, P: Six) -> Lanes:
    """S* P of link k: P S where P is symmetric, and S* times six numbers that are in all lanes."""
    motion = tree[k, layout.MOTION]
    x, y, z = axis_of(tree, rows, k)
    if motion == layout.LINEAR:
        return x * P[3] + (y * P[4] + z * P[5])
    turning = x * P[0] + (y * P[1] + z * P[2])
    if motion == layout.ROTARY:
        return turning
    return turning + spread1(constants, ALONG, k) * (x * P[3] + (y * P[4] + z * P[5]))


@inlined
def begin_branch(tree: IntArray, constants: Array, rows: Array, k: int) -> tuple[Six, Lanes, Lanes]:
    """P, U and D of a link that carries no others."""
    P = rigid_rows(load(rows, k, SECOND), load(rows, k, CENTER))
    U = along(tree, constants, rows, k, P)
    D = spread1(constants, layout.ARMATURE, k) + along(tree, constants, rows, k, spreads(U))
    return P, U, D


@inlined
def own_and_met(tree: IntArray, rows: Array, k: int) -> Six:
    """Inertia of link k, with what all its branches but the one that starts next to it leave."""
    own = rigid_rows(load(rows, k, SECOND), load(rows, k, CENTER))
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
def put_factors(work: Array, rows: Array, k: int, U: Lanes, D: Lanes) -> Lanes:
    """D^-1/2 and D^-1/2 U into the tables; D^-1 is returned."""
    f = 1.0 / D
    root = math.sqrt(max(first_of(f), 0.0))
    work[at(ROOT, k)] = root
    store(rows, k, GAIN, root * U)
    return f


@inlined
def factor_free_base(work: Array, rows: Array, k: int, P: Six) -> bool:
    """The six axes of the free joint whose last link is k, with the world's in their place.

    P S are then rows of P themselves. Returns whether all D are positive.
    """
    a = spreads(P[5])
    f = put_factors(work, rows, k, P[5], a[5])
    d4 = spreads(P[4])[4] - f * (a[4] * a[4])
    P = minus_product(P, a, f * P[5])
    b = spreads(P[4])
    f = put_factors(work, rows, k - 1, P[4], d4)
    d3 = spreads(P[3])[3] - f * (b[3] * b[3])
    P = minus_product(P, b, f * P[4])
    c = spreads(P[3])
    f = put_factors(work, rows, k - 2, P[3], d3)
    d2 = spreads(P[2])[2] - f * (c[2] * c[2])
    P = minus_product(P, c, f * P[3])
    d = spreads(P[2])
    f = put_factors(work, rows, k - 3, P[2], d2)
    d1 = spreads(P[1])[1] - f * (d[1] * d[1])
    P = minus_product(P, d, f * P[2])
    e = spreads(P[1])
    f = put_factors(work, rows, k - 4, P[1], d1)
    d0 = spreads(P[0])[0] - f * (e[0] * e[0])
    P = minus_product(P, e, f * P[1])
    put_factors(work, rows, k - 5, P[0], d0)
    linear = first_of(a[5]) > 0.0 and first_of(d4) > 0.0 and first_of(d3) > 0.0
    return linear and first_of(d2) > 0.0 and first_of(d1) > 0.0 and first_of(d0) > 0.0


@inlined
def factor_rows(tree: IntArray, constants: Array, work: Array, rows: Array) -> int:
    """D^-1/2 and D^-1/2 phi U of all links, into `work` and `rows`."""
    status, k = layout.OK, tree.shape[0] - 1
    P, U, D = begin_branch(tree, constants, rows, k)
    while k >= 0:
        parent = tree[k, layout.PARENT]
        if tree[k, FREE]:
            if not factor_free_base(work, rows, k, P):
                status = layout.SINGULAR
            k -= 6
        else:
            if not first_of(D) > 0.0:
                status = layout.SINGULAR
            f = 1.0 / D
            root = math.sqrt(max(first_of(f), 0.0))
            work[at(ROOT, k)] = root
            if tree[k, layout.FRAME] != layout.SAME:
                r = load_half(rows, k, LEVER)
                P = shifted_rows(P, lever_of(rows, k), r)
                U = U + force_moment(r, U)
            store(rows, k, GAIN, root * U)
            pushed, pull = spreads(U), f * U
            if parent == k - 1 and parent >= 0:
                P = sum_of_rows(P, own_and_met(tree, rows, parent))
                U = along(tree, constants, rows, parent, P)
                D = spread1(constants, layout.ARMATURE, parent)
                D = D + along(tree, constants, rows, parent, spreads(U))
                t = along(tree, constants, rows, parent, pushed)
                D = D - f * (t * t)
                U = U - t * pull
                P = minus_product(P, pushed, pull)
                k = parent
                continue
            if parent >= 0:
                leave_at(tree, rows, k, parent, minus_product(P, pushed, pull))
            k -= 1
        if k >= 0:
            P, U, D = begin_branch(tree, constants, rows, k)
    return status
