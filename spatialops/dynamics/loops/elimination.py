"""Elimination of closures in the coordinates y = S^-1 v, where kinetic energy is y.y / 2.

The closures' rows are factored as L = Z R Q: Q an orthonormal basis of the motions that they
forbid, Z orthonormal columns, R upper triangular, all of the rank r. What would take several
matrices of G M^-1 G* ([J] 37-39, which supposes full rank) is then a projection, and redundant rows
need no care of their own:

    least motion with G v = u           y = Q* R^-1 Z* u
    multipliers of that motion          lambda = Z R^-* (R^-1 Z* u), the smallest
                                        where rows are redundant
    compliance of other rows with the   L_c' = L_c - (L_c Q*) Q, so that
    closures answering                  W' = L_c' L_c'* = G_c Y G_c* with the Y of [J] 39

Rank is decided by pivoting: of the rows of which most is left, relative to their own length, when
those taken before have been projected out (a measure that no choice of units changes), the earliest
is taken, until no more than TOLERANCE is left.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel

TOLERANCE = 1e-8
_NOTHING = 1e-12  # a row this much shorter than the longest moves nothing
_GOOD = 0.1  # a row may be taken before others of which at most ten times as much is left
_HELD = 1e-10  # what is left of a row that the closures hold altogether, relative


@inlined
def product(a: Array, i: int, b: Array, j: int) -> float:
    """Inner product of two rows, in four sums side by side, so that additions do not wait."""
    n = a.shape[1]
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    whole = n - n % 4
    for k in range(0, whole, 4):
        s0 += a[i, k] * b[j, k]
        s1 += a[i, k + 1] * b[j, k + 1]
        s2 += a[i, k + 2] * b[j, k + 2]
        s3 += a[i, k + 3] * b[j, k + 3]
    for k in range(whole, n):
        s0 += a[i, k] * b[j, k]
    return (s0 + s1) + (s2 + s3)


@inlined
def subtract(a: Array, i: int, factor: float, b: Array, j: int) -> None:
    """Row i of a minus a multiple of row j of b."""
    for k in range(a.shape[1]):
        a[i, k] -= factor * b[j, k]


@inlined
def swap(a: Array, i: int, j: int) -> None:
    """Swap two rows."""
    if i != j:
        for k in range(a.shape[1]):
            a[i, k], a[j, k] = a[j, k], a[i, k]


@kernel
def factor_rows(
    L: Array,
    limit: int,
    tolerance: float,
    Q: Array,
    Z: Array,
    R: Array,
    order: IntArray,
    length: Array,
    left: Array,
) -> int:
    """Factor L (n, m) into Z R Q, rows of Z in the order of L; returns the rank, at most `limit`.

    Modified Gram-Schmidt with pivoting, every pivot row orthogonalised a second time. `order` gets
    the rows taken, then the redundant ones; `length` and `left` are room for n numbers each. Only
    the first `rank` rows of Q, columns of Z, and rows and columns of R hold something."""
    n, rank = L.shape[0], 0
    measure_rows(L, Q, Z, order, length, left)
    while rank < min(limit, n, L.shape[1]):
        largest, best = 0.0, -1
        for i in range(rank, n):
            largest = max(largest, left[i])
        if not largest > tolerance:
            break
        for i in range(
            rank, n
        ):  # the earliest of the good ones: what is found redundant comes late
            if left[i] >= _GOOD * largest and (best < 0 or order[i] < order[best]):
                best = i
        swap(Q, best, rank)
        order[best], order[rank] = order[rank], order[best]
        left[best] = left[rank]
        take_row(Q, Z, order, rank, length, left)
        rank += 1
    if rank < n:
        factor_columns(Z, R, rank)
    return rank


@inlined
def measure_rows(L: Array, Q: Array, Z: Array, order: IntArray, length: Array, left: Array) -> None:
    """Start of the factorisation: all of a row is left, but nothing of one that moves nothing."""
    longest = 0.0
    for i in range(L.shape[0]):
        order[i] = i
        for k in range(L.shape[1]):
            Q[i, k] = L[i, k]
        for k in range(L.shape[0]):
            Z[i, k] = 0.0
        length[i] = math.sqrt(product(L, i, L, i))
        longest = max(longest, length[i])
    for i in range(L.shape[0]):
        left[i] = 1.0 if length[i] > _NOTHING * longest else 0.0


@inlined
def take_row(Q: Array, Z: Array, order: IntArray, r: int, length: Array, left: Array) -> None:
    """Make row r of Q the next of the basis, and project it out of later rows; parts go into Z."""
    pivot = order[r]
    for j in range(r):
        part = product(Q, r, Q, j)
        Z[pivot, j] += part
        subtract(Q, r, part, Q, j)
    norm = math.sqrt(product(Q, r, Q, r))
    Z[pivot, r] = norm
    inverse = 1.0 / norm
    for k in range(Q.shape[1]):
        Q[r, k] *= inverse
    for i in range(r + 1, Q.shape[0]):
        if left[i] > 0.0:
            part = product(Q, i, Q, r)
            Z[order[i], r] = part
            subtract(Q, i, part, Q, r)
            left[i] = math.sqrt(product(Q, i, Q, i)) / length[order[i]]


@kernel
def factor_columns(Z: Array, R: Array, rank: int) -> None:
    """The first `rank` columns of Z into orthonormal ones times R, by Gram-Schmidt done twice."""
    n = Z.shape[0]
    for j in range(rank):
        for i in range(rank):
            R[i, j] = 0.0
        for _ in range(2):
            for i in range(j):
                part = 0.0
                for k in range(n):
                    part += Z[k, i] * Z[k, j]
                R[i, j] += part
                for k in range(n):
                    Z[k, j] -= part * Z[k, i]
        norm = 0.0
        for k in range(n):
            norm += Z[k, j] * Z[k, j]
        R[j, j] = math.sqrt(norm)
        for k in range(n):
            Z[k, j] /= R[j, j]


@kernel
def coordinates_of(Z: Array, R: Array, order: IntArray, rank: int, u: Array, x: Array) -> None:
    """x = R^-1 Z* u: the least motion with G v = u along the basis Q."""
    if rank == u.size:  # Z x = u with Z lower triangular
        for j in range(rank):
            total = u[order[j]]
            for i in range(j):
                total -= Z[order[j], i] * x[i]
            x[j] = total / Z[order[j], j]
        return
    for j in range(rank - 1, -1, -1):
        total = 0.0
        for k in range(u.size):
            total += Z[k, j] * u[k]
        for i in range(j + 1, rank):
            total -= R[j, i] * x[i]
        x[j] = total / R[j, j]


@kernel
def agree(Z: Array, R: Array, order: IntArray, rank: int, u: Array, x: Array) -> None:
    """Make of velocities u of all rows those that the rows taken ask for, by x along the basis Q.

    Where closures are open, what redundant rows ask besides is no motion along Q.
    """
    if rank == u.size:
        return
    for j in range(rank):
        total = u[order[j]]
        for i in range(j):
            total -= part_of(Z, R, order[j], i) * x[i]
        x[j] = total / part_of(Z, R, order[j], j)
    for k in range(u.size):
        u[k] = 0.0
        for i in range(rank):
            u[k] += part_of(Z, R, k, i) * x[i]


@inlined
def part_of(Z: Array, R: Array, k: int, i: int) -> float:
    """The part of row k along the basis's row i, of Z R."""
    total = 0.0
    for j in range(i + 1):
        total += Z[k, j] * R[j, i]
    return total


@kernel
def multipliers_of(Z: Array, R: Array, order: IntArray, rank: int, x: Array, forces: Array) -> None:
    """forces = Z R^-* x: the smallest multipliers whose response along Q is x; x is overwritten."""
    if rank == forces.size:  # Z* forces = x with Z lower triangular
        for j in range(rank - 1, -1, -1):
            total = x[j]
            for i in range(j + 1, rank):
                total -= Z[order[i], j] * forces[order[i]]
            forces[order[j]] = total / Z[order[j], j]
        return
    for j in range(rank):
        for i in range(j):
            x[j] -= R[i, j] * x[i]
        x[j] /= R[j, j]
    for k in range(forces.size):
        forces[k] = 0.0
        for j in range(rank):
            forces[k] += Z[k, j] * x[j]


@kernel
def combine_rows(Q: Array, rank: int, x: Array, y: Array) -> None:
    """y = Q* x."""
    for k in range(y.size):
        y[k] = 0.0
    for j in range(rank):
        for k in range(y.size):
            y[k] += x[j] * Q[j, k]


@kernel
def project_rows(Q: Array, rank: int, L: Array, size: int, parts: Array) -> None:
    """L_c' = L_c - (L_c Q*) Q in place for the first `size` rows, and L_c Q* into `parts`.

    L is flat, one row after the other. Rows of which nothing but rounding is left become zero: the
    closures hold them.
    """
    width = Q.shape[1]
    for i in range(size):
        place = i * width
        whole = square_at(L, place, width)
        for j in range(rank):
            parts[i, j] = 0.0
        for _ in range(2):
            project_entries(Q, rank, L, place, (0, width), parts[i])
        clear_held(L, place, width, whole)


@inlined
def project_entries(
    Q: Array, rank: int, entries: Array, place: int, within: tuple[int, int], parts: Array
) -> None:
    """Take off a row what lies along the basis, and add it to `parts`.

    Its entries begin at a place, and stand for columns of Q `within` which both have something.
    """
    begin, end = within
    for j in range(rank):
        part = product_at(entries, place - begin, Q, j, begin, end)
        parts[j] += part
        for k in range(begin, end):
            entries[place - begin + k] -= part * Q[j, k]


@inlined
def product_at(entries: Array, origin: int, Q: Array, j: int, begin: int, end: int) -> float:
    """Product of row j of Q with entries whose columns are counted from an origin; as `product`."""
    whole = end - (end - begin) % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for k in range(begin, whole, 4):
        s0 += entries[origin + k] * Q[j, k]
        s1 += entries[origin + k + 1] * Q[j, k + 1]
        s2 += entries[origin + k + 2] * Q[j, k + 2]
        s3 += entries[origin + k + 3] * Q[j, k + 3]
    for k in range(whole, end):
        s0 += entries[origin + k] * Q[j, k]
    return (s0 + s1) + (s2 + s3)


@inlined
def square_at(entries: Array, place: int, count: int) -> float:
    """Sum of squares of so many entries at a place."""
    total = 0.0
    for k in range(place, place + count):
        total += entries[k] * entries[k]
    return total


@inlined
def clear_held(entries: Array, place: int, count: int, whole: float) -> None:
    """Make a row zero of whose square nothing but rounding is left."""
    if square_at(entries, place, count) <= _HELD * _HELD * whole:
        for k in range(place, place + count):
            entries[k] = 0.0
