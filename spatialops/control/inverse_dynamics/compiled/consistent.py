"""The nearest demand with which contacts that stand neither slip nor part, compiled.

What `consistent_demand` states, with pseudoinverses by orthogonal rows in place of singular values.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.algebra.pseudo_inverse import (
    inverting,
    longest_row,
    pseudo_inverse_kernel,
)
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round, Tying
from spatialops.control.inverse_dynamics.consistent_demand import WEIGHT
from spatialops.control.inverse_dynamics.inverse_geometry import RANK

# How contacts are tied.
STANDS = 1
WITHOUT_PASSIVE = 2  # and nothing is asked of how they would stop by themselves


@kernel
def put_tying(
    posture: Posture,
    given: IntArray,
    others: IntArray,
    tying: Tying,
    scratch: Array,
    ints: IntArray,
) -> None:
    """J, its answer, L^+ and the passive answer of the contacts that stand."""
    k = stacked(posture, tying, given, scratch, ints)
    put_change(tying, k, given.size, others.size, scratch, ints)
    for i in range(tying.stands.size):
        if tying.stands[i] == STANDS:
            put_passive(posture, tying, k, given, scratch, ints)
            break


@inlined
def stacked(posture: Posture, tying: Tying, given: IntArray, scratch: Array, ints: IntArray) -> int:
    """Rows that shall not move: J into its place, L into scratch, their numbers into ints."""
    u = posture.reach.shape[1]
    k = 0
    for i in range(tying.stands.size):
        for c in range(3):
            if tying.stands[i] != 0:
                ints[k] = 3 * i + c
                k += 1
    L = matrix(scratch, 0, k, u)
    for r in range(k):
        row = ints[r]
        for j in range(u):
            L[r, j] = posture.reach[row, j]
        for a in range(given.size):
            total = posture.G[row, given[a]]
            for j in range(u):
                total -= L[r, j] * posture.coupling[j, a]
            tying.rows[r, a] = total
    return k


@inlined
def put_change(tying: Tying, k: int, n: int, u: int, scratch: Array, ints: IntArray) -> None:
    """L^+, and (N J)^+ N with the projector N = 1 - U^T U on the complement of L's range."""
    L = matrix(scratch, 0, k, u)
    at = k * u
    back = matrix(scratch, at, u, k)
    at += u * k
    NJ = matrix(scratch, at, k, n)
    at += k * n
    answer = matrix(scratch, at, n, k)
    at += n * k
    _, size = longest_row(L, k, u)
    room = inverting(k, u, scratch[at:], ints[k:])
    rank = pseudo_inverse_kernel(L, k, u, RANK * size, min(k, u), back, room)
    for j in range(u):
        for r in range(k):
            tying.back[j, r] = back[j, r]
    U = room.second.Q
    for r in range(k):
        for a in range(n):
            NJ[r, a] = tying.rows[r, a]
    for a in range(n):
        for b in range(rank):
            part = 0.0
            for r in range(k):
                part += U[b, r] * NJ[r, a]
            for r in range(k):
                NJ[r, a] -= part * U[b, r]
    # U is done with: its place is free for the second inverse, whose answer lies in N's range
    _, size = longest_row(tying.rows, k, n)
    second = inverting(k, n, scratch[at:], ints[k:])
    pseudo_inverse_kernel(NJ, k, n, RANK * size, k - rank, answer, second)
    for a in range(n):
        for r in range(k):
            tying.change[a, r] = answer[a, r]


@inlined
def put_passive(
    posture: Posture, tying: Tying, k: int, given: IntArray, scratch: Array, ints: IntArray
) -> None:
    """How given velocities answer those of the rows, were all free: of the least w^T M w."""
    nv = posture.mass.shape[0]
    whole = posture.whole
    rows = matrix(scratch, 0, k, nv)
    at = k * nv
    least = matrix(scratch, at, nv, k)
    at += nv * k
    for r in range(k):
        for i in range(nv):
            total = 0.0
            for c in range(i + 1):
                total += posture.G[ints[r], c] * whole[i, c]
            rows[r, i] = total
    _, size = longest_row(rows, k, nv)
    room = inverting(k, nv, scratch[at:], ints[k:])
    pseudo_inverse_kernel(rows, k, nv, RANK * size, min(k, nv), least, room)
    for a in range(given.size):
        for r in range(k):
            total = 0.0
            for i in range(given[a], nv):
                total += whole[i, given[a]] * least[i, r]
            tying.passive[a, r] = total


@kernel
def change_demand(
    posture: Posture,
    tying: Tying,
    at: Round,
    before: Array,
    others: IntArray,
    limit: float,
    wanted: Array,
    scratch: Array,
    ints: IntArray,
) -> None:
    """Add the smallest change to the demand `wanted`; velocities and speeds must be those of it."""
    n = wanted.size
    u = others.size
    k = 0
    for i in range(tying.stands.size):
        for c in range(3):
            if tying.stands[i] != 0:
                ints[k] = 3 * i + c
                k += 1
    g = scratch[:k]
    want = scratch[k : 2 * k]
    change = scratch[2 * k : 2 * k + n]
    x = scratch[2 * k + n : 2 * k + n + u]
    keep = scratch[2 * k + n + u : 2 * k + n + 2 * u]
    for r in range(k):
        row = ints[r]
        total = 0.0
        for j in range(before.size):
            total += posture.G[row, j] * before[j]
        if row % 3 == 0:
            total = min(total + posture.place[row // 3, of.OPEN], 0.0)
        g[r] = total
        want[r] = at.u[row] - total
    for a in range(n):
        change[a] = 0.0
        for r in range(k):
            change[a] -= tying.change[a, r] * want[r]
    distance = thrown(posture, tying, at, before, others, k, want, change, x, keep)
    if distance > limit:
        share_between(posture, tying, k, want, keep, change, scratch[2 * k + n + 2 * u :], ints)
    for a in range(n):
        total = change[a]
        for r in range(k):
            total -= tying.passive[a, r] * g[r]
        wanted[a] += total


@inlined
def thrown(
    posture: Posture,
    tying: Tying,
    at: Round,
    before: Array,
    others: IntArray,
    k: int,
    want: Array,
    change: Array,
    x: Array,
    keep: Array,
) -> float:
    """|x - x_0|: what the other velocities have to make good against what keeps them as they are.

    x_0 solves C^-T x_0 = v_before - v, from its last row on.
    """
    u = others.size
    for j in range(u):
        x[j] = 0.0
    for r in range(k):
        left = want[r]
        for a in range(change.size):
            left += tying.rows[r, a] * change[a]
        for j in range(u):
            x[j] -= tying.back[j, r] * left
    total = 0.0
    for j in range(u - 1, -1, -1):
        part = before[others[j]] - at.v[others[j]]
        for i in range(j + 1, u):
            part -= posture.factor[i, j] * keep[i]
        keep[j] = part / posture.factor[j, j]
        total += (x[j] - keep[j]) ** 2
    return math.sqrt(total)


@inlined
def share_between(
    posture: Posture,
    tying: Tying,
    k: int,
    want: Array,
    keep: Array,
    change: Array,
    scratch: Array,
    ints: IntArray,
) -> None:
    """The smallest |d|^2 + c^2 |x - x_0|^2 with want + J d + L x = 0, its d into `change`."""
    n = change.size
    u = keep.size
    both = matrix(scratch, 0, k, n + u)
    at = k * (n + u)
    answer = matrix(scratch, at, n + u, k)
    at += (n + u) * k
    for r in range(k):
        for a in range(n):
            both[r, a] = tying.rows[r, a]
        for j in range(u):
            reach = posture.reach[ints[r], j]
            both[r, n + j] = reach / WEIGHT
            want[r] += reach * keep[j]
    _, size = longest_row(both, k, n + u)
    room = inverting(k, n + u, scratch[at:], ints[k:])
    pseudo_inverse_kernel(both, k, n + u, RANK * size, min(k, n + u), answer, room)
    for a in range(n):
        change[a] = 0.0
        for r in range(k):
            change[a] -= answer[a, r] * want[r]
