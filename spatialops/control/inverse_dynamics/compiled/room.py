"""What a law allows of impulses that do the same, compiled: `force_distribution.allowed`."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.pseudo_inverse import RowSpace, longest_row, row_space_kernel
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import largest, largest_compliance
from spatialops.control.inverse_dynamics.compiled.turning import turn_back, turning
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round, matrix
from spatialops.control.inverse_dynamics.force_distribution import NULL, REST, ROUNDING, STUCK


class Allowed(NamedTuple):
    """Impulses p + basis^T x with rows (p + basis^T x) >= 0; so many of each are in use."""

    basis: Array  # (3 m, 3 m), a direction a row
    rows: Array  # (m (n_f + 1), 3 m)


# How contacts are bound, as `ConeKind` of `force_distribution`.
COULOMB = 0
NO_SLIP = 1
DISSIPATION = 2
RELEASED = 3


@kernel
def put_allowed(
    posture: Posture, at: Round, kind: int, middles: Array, allowed: Allowed
) -> tuple[int, int]:
    """Directions in which impulses may change, and rows that stay >= 0; how many of each."""
    m = at.slip.size
    still = STUCK * max(largest(at.u), REST)
    still += ROUNDING * largest_compliance(posture.W) * largest(at.p)
    used = 0
    count = 0
    for i in range(m):
        u = at.then[3 * i : 3 * i + 3]
        p = at.p[3 * i : 3 * i + 3]
        mu = posture.place[i, of.MU]
        slides = kind < DISSIPATION and math.hypot(u[1], u[2]) > still
        opens = kind != DISSIPATION and u[0] > still
        if opens or (slides and (p[0] <= 0.0 or kind == NO_SLIP)):
            continue  # open, or about to slide with no force to tell where: it stays without
        used = put_axes(allowed.basis, used, i, p, slides, mu)
        clear_row(allowed.rows, count)
        allowed.rows[count, 3 * i] = 1.0
        count += 1
        if not (slides or mu == 0.0 or kind == NO_SLIP):
            count = put_cone_rows(allowed.rows, count, i, mu, middles, posture.place)
    return used, count


@inlined
def clear_row(X: Array, i: int) -> None:
    for c in range(X.shape[1]):
        X[i, c] = 0.0


@inlined
def put_axes(basis: Array, used: int, i: int, p: Array, slides: bool, mu: float) -> int:
    """The ray of what slides, the axes of what sticks; how many rows are in use then."""
    if slides:
        size = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
        clear_row(basis, used)
        for c in range(3):
            basis[used, 3 * i + c] = p[c] / size
        return used + 1
    for c in range(3 if mu > 0.0 else 1):
        clear_row(basis, used)
        basis[used, 3 * i + c] = 1.0
        used += 1
    return used


@inlined
def put_cone_rows(rows: Array, count: int, i: int, mu: float, middles: Array, place: Array) -> int:
    """Rows of the polyhedron inscribed along the round's frame: `force_distribution._cone_rows`."""
    turn = turning(place, i)
    sides = middles.shape[0]
    share = mu * math.cos(math.pi / sides) ** 2
    size = math.hypot(share, math.hypot(middles[0, 0], middles[0, 1]))
    for j in range(sides):
        clear_row(rows, count)
        rows[count, 3 * i] = share / size
        rows[count, 3 * i + 1] = -middles[j, 0] / size
        rows[count, 3 * i + 2] = -middles[j, 1] / size
        turn_back(turn, rows[count], rows[count], 3 * i)
        count += 1
    return count


@kernel
def put_null_space(
    reach: Array,
    basis: Array,
    used: int,
    also: Array,
    null: Array,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Orthonormal combinations of the basis that move nothing, a row each; how many.

    `also` (3 m,) is a row that must keep its value too, of no entries where there is none.
    """
    k, u = reach.shape
    more = 1 if also.size > 0 else 0
    X = matrix(scratch, 0, u + more, used)
    at = (u + more) * used
    Q = matrix(scratch, at, used, used)
    at += used * used
    left = matrix(scratch, at, used, used)
    at += used * used
    T = matrix(scratch, at, max(u + more, used), used)
    for b in range(used):
        for j in range(u):
            total = 0.0
            for r in range(k):
                total += reach[r, j] * basis[b, r]
            X[j, b] = total
        if more == 1:
            total = 0.0
            for r in range(k):
                total += also[r] * basis[b, r]
            X[u, b] = total
    _, size = longest_row(X, u + more, used)
    rank = row_space_kernel(X, u + more, used, NULL * size, used, RowSpace(Q, T, ints))
    for a in range(used):  # 1 - Q^T Q, whose rows span what is left
        for b in range(used):
            total = 1.0 if a == b else 0.0
            for c in range(rank):
                total -= Q[c, a] * Q[c, b]
            left[a, b] = total
    free = row_space_kernel(left, used, used, 1e-6, used - rank, RowSpace(Q, T, ints))
    for a in range(free):
        for r in range(k):
            total = 0.0
            for b in range(used):
                total += Q[a, b] * basis[b, r]
            null[a, r] = total
    return free
