"""Lemke's path by the inverse of the active block alone.

For large problems of which few rows are active.

Redundant contacts leave most rows inactive: of 288 rows of 48 contacts under one body some 55. With
S the basic z (the artificial one among them) and R the non-basic w, equally many, K = [A d]_RS is
the active block, X its inverse, and

    z_S = -X b_R,   w = b + [A d]_S z_S.

A pivot borders, cuts or exchanges a row or column of K: O(k^2), and the entering column costs O(n
k), where the dictionary of `lemke` costs n^2. Ties are broken by the largest pivot; `lemke` is
there for what fails.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.contact.lcp.basis import corrected
from spatialops.contact.lcp.problem import MixedLCP

SMALLEST = 32  # rows below which the dictionary is as quick
_TIE = 1e-8  # relative difference of two ratios that counts as none
_PIVOT = 1e-11  # rates, relative to the largest, that are no pivots but rounding
_SMALL_RATIO = 1e-3  # ratios below this, of max |b| = 1, are tied by their difference

_R, _S, _BASIC = range(3)  # rows of `ints`: R, S, and whether w_i is basic
_Z, _W, _DZ, _DW, _V = range(5)  # of `vectors`: z_S and w, their rates, and a row times X


@kernel
def direction(
    columns: Array,
    X: Array,
    k: int,
    R: IntArray,
    S: IntArray,
    name: int,
    place: int,
    dz: Array,
    dw: Array,
) -> None:
    """Rates of z_S and w as the variable `name` grows: w_i is i (at `place` of R), z_i n + i."""
    n = dw.size
    for c in range(k):
        if name < n:
            dz[c] = X[c, place]
        else:
            total = 0.0
            for r in range(k):
                total -= X[c, r] * columns[name - n, R[r]]
            dz[c] = total
    for i in range(n):
        dw[i] = columns[name - n, i] if name >= n else 0.0
    for c in range(k):
        f, column = dz[c], columns[S[c]]
        for i in range(n):
            dw[i] += f * column[i]


@kernel
def blocking(
    k: int, S: IntArray, basic: IntArray, z: Array, w: Array, dz: Array, dw: Array, tie: float
) -> tuple[int, float]:
    """Which basic variable reaches zero first, and after how long.

    c for z_S[c], k + i for w_i; -1 on a ray.
    """
    n = w.size
    largest = 1.0
    least = math.inf
    for c in range(k):
        largest = max(largest, abs(dz[c]))
    for i in range(n):
        largest = max(largest, abs(dw[i]))
    threshold = -_PIVOT * largest
    for c in range(k):
        if dz[c] < threshold:
            least = min(least, max(z[c], 0.0) / -dz[c])
    for i in range(n):
        if basic[i] != 0 and dw[i] < threshold:
            least = min(least, max(w[i], 0.0) / -dw[i])
    if least == math.inf:
        return -1, 0.0
    limit = least + tie * max(least, _SMALL_RATIO)
    found = -1
    pivot = 0.0
    for c in range(k):
        if dz[c] < threshold and max(z[c], 0.0) / -dz[c] <= limit:
            if S[c] == n:
                return c, max(z[c], 0.0) / -dz[c]  # the artificial variable leaves whenever it may
            if -dz[c] > pivot:
                found, pivot = c, -dz[c]
    for i in range(n):
        if (
            basic[i] != 0
            and dw[i] < threshold
            and max(w[i], 0.0) / -dw[i] <= limit
            and -dw[i] > pivot
        ):
            found, pivot = k + i, -dw[i]
    return found, least


@kernel
def row_times_inverse(columns: Array, X: Array, k: int, S: IntArray, i: int, v: Array) -> None:
    """v = [A d]_iS X."""
    for r in range(k):
        v[r] = 0.0
    for c in range(k):
        f = columns[S[c], i]
        if f != 0.0:
            for r in range(k):
                v[r] += f * X[c, r]


@kernel
def border(X: Array, k: int, dz: Array, v: Array, s: float) -> None:
    """K gains a last row and column: Schur's complement s, -dz and v its neighbours times X."""
    inverse = 1.0 / s
    for c in range(k):
        f = -dz[c] * inverse
        for r in range(k):
            X[c, r] += f * v[r]
        X[c, k] = -f
    for r in range(k):
        X[k, r] = -v[r] * inverse
    X[k, k] = inverse


@kernel
def cut(X: Array, k: int, c: int, r: int) -> None:
    """K loses row r and column c, where its last ones move."""
    last, inverse = k - 1, 1.0 / X[c, r]
    for a in range(k):
        f = X[a, r] * inverse
        if a != c and f != 0.0:
            for b in range(k):
                if b != r:
                    X[a, b] -= f * X[c, b]
    for b in range(k):
        X[c, b] = X[last, b]
    for a in range(k):
        X[a, r] = X[a, last]


@kernel
def replace_column(X: Array, k: int, c: int, dz: Array) -> None:
    """Column c of K becomes another one, g; dz = -X g."""
    inverse = -1.0 / dz[c]
    for b in range(k):
        X[c, b] *= inverse
    for a in range(k):
        if a != c and dz[a] != 0.0:
            for b in range(k):
                X[a, b] += dz[a] * X[c, b]


@kernel
def replace_row(X: Array, k: int, r: int, v: Array) -> None:
    """Row r of K becomes another one, h; v = h X."""
    inverse = 1.0 / v[r]
    for a in range(k):
        f = X[a, r] * inverse
        for b in range(k):
            if b != r:
                X[a, b] -= f * v[b]
        X[a, r] = f


@kernel
def begin(columns: Array, b: Array, X: Array, ints: IntArray, vectors: Array) -> int:
    """The artificial variable becomes basic for the row that is violated most: that row, or -1."""
    n = b.size
    basic, w = ints[_BASIC], vectors[_W]
    row, worst = -1, 0.0
    for i in range(n):
        basic[i] = 1
        if b[i] / columns[n, i] < worst:
            row, worst = i, b[i] / columns[n, i]
    if row < 0:
        return -1
    for i in range(n):
        w[i] = b[i] - worst * columns[n, i]
    X[0, 0] = 1.0 / columns[n, row]
    ints[_R, 0] = row
    ints[_S, 0] = n
    vectors[_Z, 0] = -worst
    basic[row] = 0
    w[row] = 0.0
    return row


@kernel
def activate_row(
    columns: Array,
    X: Array,
    k: int,
    i: int,
    entering: int,
    place: int,
    t: float,
    ints: IntArray,
    vectors: Array,
) -> int:
    """w_i leaves where `entering` (at `place` of R) comes in with the value t; the new k."""
    R = ints[_R]
    S = ints[_S]
    basic = ints[_BASIC]
    w, v = vectors[_W], vectors[_V]
    n = columns.shape[1]
    row_times_inverse(columns, X, k, S, i, v)
    w[i], basic[i] = 0.0, 0
    if entering >= n:
        border(X, k, vectors[_DZ], v, vectors[_DW, i])
        R[k] = i
        S[k] = entering - n
        vectors[_Z, k] = t
        return k + 1
    replace_row(X, k, place, v)
    R[place] = i
    basic[entering] = 1
    w[entering] = t
    return k


@kernel
def release_column(
    X: Array, k: int, c: int, entering: int, place: int, t: float, ints: IntArray, vectors: Array
) -> int:
    """z_S[c] leaves where `entering` (at `place` of R) comes in with the value t; the new k."""
    R = ints[_R]
    S = ints[_S]
    z = vectors[_Z]
    n = X.shape[0] - 1
    if entering >= n:
        replace_column(X, k, c, vectors[_DZ])
        S[c], z[c] = entering - n, t
        return k
    cut(X, k, c, place)
    ints[_BASIC, entering], vectors[_W, entering] = 1, t
    R[place] = R[k - 1]
    S[c] = S[k - 1]
    z[c] = z[k - 1]
    return k - 1


@kernel
def revised_pivots(
    columns: Array,
    b: Array,
    limit: int,
    tie: float,
    X: Array,
    ints: IntArray,
    vectors: Array,
    active: IntArray,
) -> tuple[bool, int]:
    """Pivot until the artificial variable has left; returns whether it did, and pivots.

    Marks the basic z in `active`. `columns` is (n + 1, n), the columns of A and the covering
    vector; X (n + 1, n + 1), `ints` (3, n + 1), `vectors` (5, n + 1).
    """
    n = b.size
    R = ints[_R]
    S = ints[_S]
    basic = ints[_BASIC, :n]
    z, w = vectors[_Z], vectors[_W, :n]
    dz, dw = vectors[_DZ], vectors[_DW, :n]
    for i in range(n):
        active[i] = 0
    row = begin(columns, b, X, ints, vectors)
    if row < 0:
        return True, 0
    k, entering = 1, n + row
    for pivots in range(1, limit):
        place = -1
        for r in range(k):
            if R[r] == entering:
                place = r
        direction(columns, X, k, R, S, entering, place, dz, dw)
        left, t = blocking(k, S, basic, z, w, dz, dw, tie)
        if left < 0 or 2 * k > n:  # a ray, or so many active rows that the dictionary is quicker
            return False, pivots
        for c in range(k):
            z[c] += t * dz[c]
        for i in range(n):
            w[i] += t * dw[i]
        if left >= k:
            i = left - k
            k = activate_row(columns, X, k, i, entering, place, t, ints, vectors)
            entering = n + i
            continue
        gone = S[left]
        k = release_column(X, k, left, entering, place, t, ints, vectors)
        if gone == n:
            for c in range(k):
                active[S[c]] = 1
            return True, pivots
        entering = gone
    return False, limit


def lemke_by_active_block(
    problem: MixedLCP, cover: Array, limit: int, tolerance: float
) -> tuple[Array, float, int] | None:
    """z, residual and pivots of a large dense problem without free rows; None without success."""
    n, unit = problem.size, float(np.abs(problem.b).max())
    if unit == 0.0:
        return None
    columns = np.empty((n + 1, n))
    columns[:n], columns[n] = problem.A.T, cover
    X = np.empty((n + 1, n + 1))
    ints = np.empty((3, n + 1), dtype=np.int64)
    vectors = np.empty((5, n + 1))
    active = np.empty(n, dtype=np.int64)
    ended, pivots = revised_pivots(columns, problem.b / unit, limit, _TIE, X, ints, vectors, active)
    if not ended:
        return None
    z, residual = corrected(problem, active, tolerance, 3)
    return (z, residual, int(pivots)) if residual <= tolerance else None
