"""Articulated inertias as rows of registers, tips to base: the factors of Lambda.

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
from spatialops.algebra.simd import WIDTH, Lanes, spread1, store, zeros
from spatialops.algebra.simd_parts import lane
from spatialops.algebra.simd_rows import (
    Six,
    force_moment,
    load_half,
    load_rows,
    minus_product,
    shifted_rows,
    spreads,
    store_rows,
    sum_of_rows,
)
from spatialops.dynamics.compliance.link_rows import (
    LEVER,
    MET,
    OWN_ROWS,
    POSE_COLUMNS,
    axis_of,
    lever_of,
    own_rows,
    weigh_block,
)
from spatialops.tree.branches import ALONG, FREE

# Further columns of a link's row: D^-1/2, which no axis needs,
ROOT = 3
GAIN = POSE_COLUMNS  # D^-1/2 phi U,
RESULT = POSE_COLUMNS + WIDTH  # and what is made of these.


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
def about_parent(tree: IntArray, rows: Array, k: int, P: Six, U: Lanes) -> tuple[Six, Lanes]:
    """P and U of link k about its parent's origin."""
    if tree[k, layout.FRAME] == layout.SAME:
        return P, U
    r = load_half(rows, k, LEVER)
    return shifted_rows(P, lever_of(rows, k), r), U + force_moment(r, U)


@inlined
def add_met(rows: Array, held: Array, k: int, P: Six) -> Six:
    """P with what branches have left at link k."""
    row = int(rows[k, MET])
    return sum_of_rows(P, load_rows(held, row, 0)) if row > 0 else P


@inlined
def leave_at(rows: Array, held: Array, k: int, free: int, P: Six) -> int:
    """Add to link k what a branch hands to it that does not start next to it.

    `free` is the first row of `held` that is, before and after.
    """
    P = add_met(rows, held, k, P)
    if rows[k, MET] == 0.0:
        rows[k, MET] = float(free)
        free += 1
    store_rows(held, int(rows[k, MET]), 0, P)
    return free


@inlined
def arrive_at(
    tree: IntArray, constants: Array, rows: Array, k: int, P: Six, f: Lanes, U: Lanes
) -> tuple[Six, Lanes, Lanes]:
    """P, U and D of link k, from P' with its own inertia, and D^-1 and U' of the link before."""
    pushed, pull = spreads(U), f * U
    A = along(tree, constants, rows, k, P)
    D = spread1(constants, layout.ARMATURE, k) + along(tree, constants, rows, k, spreads(A))
    t = along(tree, constants, rows, k, pushed)
    return minus_product(P, pushed, pull), A - t * pull, D - f * (t * t)


@inlined
def put_factors(rows: Array, k: int, U: Lanes, D: Lanes) -> Lanes:
    """D^-1/2 and D^-1/2 U into the table; D^-1 is returned."""
    f = 1.0 / D
    root = math.sqrt(max(lane(f, 0), 0.0))
    rows[k, ROOT] = root
    store(rows, k, GAIN, root * U)
    return f


@inlined
def factor_free_base(rows: Array, k: int, P: Six) -> bool:
    """The six axes of the free joint whose last link is k, with the world's in their place.

    P S are then rows of P themselves. Returns whether all D are positive.
    """
    a = spreads(P[5])
    f = put_factors(rows, k, P[5], a[5])
    d4 = spreads(P[4])[4] - f * (a[4] * a[4])
    P = minus_product(P, a, f * P[5])
    b = spreads(P[4])
    f = put_factors(rows, k - 1, P[4], d4)
    d3 = spreads(P[3])[3] - f * (b[3] * b[3])
    P = minus_product(P, b, f * P[4])
    c = spreads(P[3])
    f = put_factors(rows, k - 2, P[3], d3)
    d2 = spreads(P[2])[2] - f * (c[2] * c[2])
    P = minus_product(P, c, f * P[3])
    d = spreads(P[2])
    f = put_factors(rows, k - 3, P[2], d2)
    d1 = spreads(P[1])[1] - f * (d[1] * d[1])
    P = minus_product(P, d, f * P[2])
    e = spreads(P[1])
    f = put_factors(rows, k - 4, P[1], d1)
    d0 = spreads(P[0])[0] - f * (e[0] * e[0])
    P = minus_product(P, e, f * P[1])
    put_factors(rows, k - 5, P[0], d0)
    linear = lane(a[5], 0) > 0.0 and lane(d4, 0) > 0.0 and lane(d3, 0) > 0.0
    return linear and lane(d2, 0) > 0.0 and lane(d1, 0) > 0.0 and lane(d0, 0) > 0.0


@inlined
def factor_rows(tree: IntArray, constants: Array, rows: Array, held: Array) -> int:
    """D^-1/2 and D^-1/2 phi U of all links."""
    status, free = layout.OK, OWN_ROWS
    k = tree.shape[0] - 1
    end = constants.shape[0]
    P, U, f = no_inertia()
    while k >= 0:
        end = weigh_block(constants, rows, end, held)
        while k >= WIDTH * end:
            P = add_met(rows, held, k, sum_of_rows(P, own_rows(held, k)))
            P, U, D = arrive_at(tree, constants, rows, k, P, f, U)
            if tree[k, FREE]:
                if not factor_free_base(rows, k, P):
                    status = layout.SINGULAR
                P, U, f = no_inertia()
                k -= 6
                continue
            if not lane(D, 0) > 0.0:
                status = layout.SINGULAR
            P, U = about_parent(tree, rows, k, P, U)
            f = put_factors(rows, k, U, D)
            parent = tree[k, layout.PARENT]
            if parent < 0 or parent != k - 1:
                if parent >= 0:
                    P = minus_product(P, spreads(U), f * U)
                    free = leave_at(rows, held, parent, free, P)
                P, U, f = no_inertia()
            k -= 1
    return status


@inlined
def no_inertia() -> tuple[Six, Lanes, Lanes]:
    """P', U' and D^-1 where no link comes before."""
    none = zeros()
    return (none, none, none, none, none, none), none, none
