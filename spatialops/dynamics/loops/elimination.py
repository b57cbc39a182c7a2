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

Of many mechanisms side by side each has columns of its own: no sum goes beyond those of a row, from
its first entry to its last, nor beyond the rows of a column of Z, so that mechanisms cost what they
cost one by one.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel

TOLERANCE = 1e-8
_NOTHING = 1e-12  # a row this much shorter than the longest moves nothing
_GOOD = 0.1  # a row may be taken before others of which at most ten times as much is left
_HELD = 1e-10  # what is left of a row that the closures hold altogether, relative


# Columns of `spans`: where row j of Q begins and ends, and column j of Z.
_BEGIN = 0
_END = 1
_TOP = 2
_BOTTOM = 3
SPAN_COLUMNS = 4


@inlined
def product(a: Array, i: int, b: Array, j: int) -> float:
    """Inner product of two rows, in four sums side by side, so that additions do not wait."""
    return product_within(a, i, b, j, 0, a.shape[1])


@inlined
def product_within(a: Array, i: int, b: Array, j: int, begin: int, end: int) -> float:
    """The same of rows one of which is zero outside these columns."""
    whole = a.shape[1] - a.shape[1] % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for k in range(begin - begin % 4, min(end, whole), 4):
        s0 += a[i, k] * b[j, k]
        s1 += a[i, k + 1] * b[j, k + 1]
        s2 += a[i, k + 2] * b[j, k + 2]
        s3 += a[i, k + 3] * b[j, k + 3]
    for k in range(whole, end):
        s0 += a[i, k] * b[j, k]
    return (s0 + s1) + (s2 + s3)


@inlined
def subtract(a: Array, i: int, factor: float, b: Array, j: int) -> None:
    """Row i of a minus a multiple of row j of b."""
    for k in range(a.shape[1]):
        a[i, k] -= factor * b[j, k]


@inlined
def subtract_within(
    a: Array, i: int, factor: float, b: Array, j: int, begin: int, end: int
) -> None:
    """The same where row j of b is zero outside these columns."""
    for k in range(begin, end):
        a[i, k] -= factor * b[j, k]


@inlined
def meet(spans: IntArray, i: int, j: int) -> bool:
    """Whether rows i and j of Q have columns in common."""
    return max(spans[i, _BEGIN], spans[j, _BEGIN]) < min(spans[i, _END], spans[j, _END])


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
    spans: IntArray,
    length: Array,
    left: Array,
) -> int:
    """Factor L (n, m) into Z R Q, rows of Z in the order of L; returns the rank, at most `limit`.

    Modified Gram-Schmidt with pivoting, every pivot row orthogonalised a second time. `order` gets
    the rows taken, then the redundant ones, `spans` (n, SPAN_COLUMNS) where they have entries;
    `length` and `left` are room for n numbers each. Only the first `rank` rows of Q, columns of Z,
    and rows and columns of R hold something."""
    n, rank = L.shape[0], 0
    measure_rows(L, Q, Z, order, length, left)
    find_spans(L, spans)
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
        for k in range(2):
            spans[best, k], spans[rank, k] = spans[rank, k], spans[best, k]
        order[best], order[rank] = order[rank], order[best]
        left[best] = left[rank]
        take_row(Q, Z, order, spans, rank, length, left)
        rank += 1
    if rank < n:
        factor_columns(Z, R, spans, rank)
    return rank


@inlined
def find_spans(L: Array, spans: IntArray) -> None:
    """Where each row has entries: from the first that is not zero to the last."""
    for i in range(L.shape[0]):
        begin, end = 0, L.shape[1]
        while begin < end and L[i, begin] == 0.0:
            begin += 1
        while end > begin and L[i, end - 1] == 0.0:
            end -= 1
        spans[i, _BEGIN], spans[i, _END] = begin, end


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
def take_row(
    Q: Array, Z: Array, order: IntArray, spans: IntArray, r: int, length: Array, left: Array
) -> None:
    """Make row r of Q the next of the basis, and project it out of later rows; parts go into Z."""
    pivot = order[r]
    for j in range(r):
        if meet(spans, r, j):
            Z[pivot, j] += project_row(Q, spans, r, j)
    norm = length_of(Q, spans, r)
    Z[pivot, r] = norm
    inverse = 1.0 / norm
    for k in range(spans[r, _BEGIN], spans[r, _END]):
        Q[r, k] *= inverse
    spans[r, _TOP], spans[r, _BOTTOM] = pivot, pivot + 1
    for i in range(r + 1, Q.shape[0]):
        if left[i] > 0.0 and meet(spans, i, r):
            row = order[i]
            Z[row, r] = project_row(Q, spans, i, r)
            spans[r, _TOP] = min(spans[r, _TOP], row)
            spans[r, _BOTTOM] = max(spans[r, _BOTTOM], row + 1)
            left[i] = length_of(Q, spans, i) / length[row]


@inlined
def length_of(Q: Array, spans: IntArray, i: int) -> float:
    """Length of row i of Q."""
    return math.sqrt(product_within(Q, i, Q, i, spans[i, _BEGIN], spans[i, _END]))


@inlined
def project_row(Q: Array, spans: IntArray, i: int, j: int) -> float:
    """Take the part along row j of the basis off row i of Q; returns it."""
    begin, end = spans[j, _BEGIN], spans[j, _END]
    part = product_within(Q, i, Q, j, begin, end)
    subtract_within(Q, i, part, Q, j, begin, end)
    spans[i, _BEGIN] = min(spans[i, _BEGIN], begin)
    spans[i, _END] = max(spans[i, _END], end)
    return part


@inlined
def factor_columns(Z: Array, R: Array, spans: IntArray, rank: int) -> None:
    """The first `rank` columns of Z into orthonormal ones times R, by Gram-Schmidt done twice."""
    for j in range(rank):
        for i in range(rank):
            R[i, j] = 0.0
        for _ in range(2):
            for i in range(j):
                top, bottom = spans[i, _TOP], spans[i, _BOTTOM]
                if max(top, spans[j, _TOP]) >= min(bottom, spans[j, _BOTTOM]):
                    continue
                part = 0.0
                for k in range(top, bottom):
                    part += Z[k, i] * Z[k, j]
                R[i, j] += part
                for k in range(top, bottom):
                    Z[k, j] -= part * Z[k, i]
                spans[j, _TOP] = min(spans[j, _TOP], top)
                spans[j, _BOTTOM] = max(spans[j, _BOTTOM], bottom)
        norm = 0.0
        for k in range(spans[j, _TOP], spans[j, _BOTTOM]):
            norm += Z[k, j] * Z[k, j]
        R[j, j] = math.sqrt(norm)
        for k in range(spans[j, _TOP], spans[j, _BOTTOM]):
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
def combine_rows(Q: Array, spans: IntArray, rank: int, x: Array, y: Array) -> None:
    """y = Q* x."""
    for k in range(y.size):
        y[k] = 0.0
    for j in range(rank):
        for k in range(spans[j, _BEGIN], spans[j, _END]):
            y[k] += x[j] * Q[j, k]


@kernel
def project_rows(Q: Array, spans: IntArray, rank: int, L: Array, size: int, parts: Array) -> None:
    """L_c' = L_c - (L_c Q*) Q in place for the first `size` rows, and L_c Q* into `parts`.

    L is flat, all entries of a row after those of the one before. Rows of which nothing but
    rounding is left become zero: the closures hold them.
    """
    width = Q.shape[1]
    for i in range(size):
        place = i * width
        whole = square_at(L, place, width)
        for j in range(rank):
            parts[i, j] = 0.0
        for _ in range(2):
            project_entries(Q, spans, rank, L, place, 0, width, parts[i])
        clear_held(L, place, width, whole)


@inlined
def project_entries(
    Q: Array,
    spans: IntArray,
    rank: int,
    entries: Array,
    place: int,
    first: int,
    count: int,
    parts: Array,
) -> None:
    """Take off a row what lies along the basis, and add it to `parts`, of entries at a place.

    They stand for so many columns, from the first on; whole mechanisms, or nothing of them.
    """
    for j in range(rank):
        begin, end = max(spans[j, _BEGIN], first), min(spans[j, _END], first + count)
        if begin >= end:
            continue
        at = place - first
        part = product_at(entries, at, Q, j, max(begin - begin % 4, first), end)
        parts[j] += part
        for k in range(begin, end):
            entries[at + k] -= part * Q[j, k]


@inlined
def product_at(entries: Array, at: int, Q: Array, j: int, begin: int, end: int) -> float:
    """Product of row j of Q with entries that stand for its columns, in four sums."""
    whole = end - (end - begin) % 4
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    for k in range(begin, whole, 4):
        s0 += entries[at + k] * Q[j, k]
        s1 += entries[at + k + 1] * Q[j, k + 1]
        s2 += entries[at + k + 2] * Q[j, k + 2]
        s3 += entries[at + k + 3] * Q[j, k + 3]
    for k in range(whole, end):
        s0 += entries[at + k] * Q[j, k]
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
