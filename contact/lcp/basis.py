"""Solving a guessed basis: the complementary point of an active set, refined and checked in the original data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.lcp.problem import MixedLCP, residual_kernel


@kernel
def factor_lu(M: Array, n: int, rows: IntArray, columns: IntArray) -> int:
    """Row echelon form P M = L U of M[:n, :n] in place, row order in `rows`; returns the rank.

    Where a column depends on those before it, to rounding, it is dropped: its entry of `columns` i becomes -1 - i.
    """
    scale, rank = 0.0, 0
    for i in range(n):
        rows[i] = i
        for j in range(n):
            scale = max(scale, abs(M[i, j]))
    for c in range(n):
        best, pivot = rank, 0.0
        for i in range(rank, n):
            if abs(M[i, c]) > pivot:
                best, pivot = i, abs(M[i, c])
        if not pivot > 1e-13 * scale:
            columns[c] = -1 - columns[c]
            continue
        if best != rank:
            for j in range(n):
                M[rank, j], M[best, j] = M[best, j], M[rank, j]
            rows[rank], rows[best] = rows[best], rows[rank]
        inverse = 1.0 / M[rank, c]
        for i in range(rank + 1, n):
            f = M[i, c] * inverse
            if f != 0.0:
                M[i, c] = f
                for j in range(c + 1, n):
                    M[i, j] -= f * M[rank, j]
            else:
                M[i, c] = 0.0
        rank += 1
    return rank


@kernel
def substitute_lu(M: Array, n: int, rank: int, rows: IntArray, columns: IntArray, right: Array, out: Array) -> None:
    """Solve with the factors of `factor_lu`, zero where a column was dropped; `right` is overwritten."""
    for i in range(n):
        out[i] = right[rows[i]]
    row = 0
    for c in range(n):
        right[c] = 0.0
        if columns[c] >= 0:
            for i in range(row + 1, n):
                out[i] -= M[i, c] * out[row]
            row += 1
    row = rank
    for c in range(n - 1, -1, -1):
        if columns[c] < 0:
            continue
        row -= 1
        total = out[row]
        for j in range(c + 1, n):
            total -= M[row, j] * right[j]
        right[c] = total / M[row, c]
    for i in range(n):
        out[i] = right[i]


@kernel
def nudge_basis(
    A: Array, b: Array, n_free: int, active: IntArray, z: Array, w: Array, M: Array, ints: IntArray, vectors: Array
) -> float:
    """Move z to where w = 0 on the active rows, and z = 0 elsewhere; returns the residual.

    Up to three steps (iterative refinement); then negative z are clipped, and the residual is that of what is returned.
    Where the active block is singular, as with redundant contacts, what depends on others stays where it is.
    """
    n, m = b.size, 0
    chosen, rows = ints[0], ints[1]
    for i in range(n):
        if i < n_free or active[i] != 0:
            chosen[m] = i
            m += 1
        else:
            z[i] = 0.0
    for i in range(m):
        for j in range(m):
            M[i, j] = A[chosen[i], chosen[j]]
    rank = factor_lu(M, m, rows, chosen)
    right, step = vectors[0], vectors[1]
    for _ in range(3):
        for i in range(m):
            p = chosen[i] if chosen[i] >= 0 else -1 - chosen[i]
            total = b[p]
            for j in range(m):
                q = chosen[j] if chosen[j] >= 0 else -1 - chosen[j]
                total += A[p, q] * z[q]
            right[i] = -total
        substitute_lu(M, m, rank, rows, chosen, right, step)
        largest, change = 0.0, 0.0
        for i in range(m):
            if chosen[i] >= 0:
                z[chosen[i]] += step[i]
                largest, change = max(largest, abs(z[chosen[i]])), max(change, abs(step[i]))
        if change <= 1e-13 * largest:
            break
    for i in range(n_free, n):
        z[i] = max(z[i], 0.0)
    return residual_kernel(A, b, n_free, z, w)


@kernel
def solve_basis(
    A: Array, b: Array, n_free: int, active: IntArray, z: Array, w: Array, M: Array, ints: IntArray, vectors: Array
) -> float:
    """`nudge_basis` from z = 0: the complementary point of a basis."""
    for i in range(b.size):
        z[i] = 0.0
    return nudge_basis(A, b, n_free, active, z, w, M, ints, vectors)


@kernel
def warm_basis(
    A: Array,
    b: Array,
    n_free: int,
    active: IntArray,
    tolerance: float,
    z: Array,
    w: Array,
    M: Array,
    ints: IntArray,
    vectors: Array,
) -> float:
    """Start from an earlier z: nudge it on its active set, or else correct that set. Returns the residual."""
    for i in range(b.size):
        active[i] = 1 if z[i] > 0.0 else 0
        z[i] = z[i] if i < n_free else max(z[i], 0.0)
    residual = nudge_basis(A, b, n_free, active, z, w, M, ints, vectors)
    if not residual <= tolerance:
        for i in range(n_free, b.size):
            active[i] = 1 if (active[i] != 0 and z[i] > 0.0) or (active[i] == 0 and w[i] < 0.0) else 0
        residual = correct_basis(A, b, n_free, active, 6, tolerance, z, w, M, ints, vectors)
    return residual


@kernel
def correct_basis(
    A: Array,
    b: Array,
    n_free: int,
    active: IntArray,
    limit: int,
    tolerance: float,
    z: Array,
    w: Array,
    M: Array,
    ints: IntArray,
    vectors: Array,
) -> float:
    """Solve a guessed basis, swap what violates, and again, at most `limit` times; returns the last residual.

    Clipped z drop out and negative w come in, all at once (block principal pivoting); it need not converge.
    """
    n, residual = b.size, 1e300
    for _ in range(limit):
        residual = solve_basis(A, b, n_free, active, z, w, M, ints, vectors)
        if residual <= tolerance:
            break
        for i in range(n_free, n):
            active[i] = 1 if (active[i] != 0 and z[i] > 0.0) or (active[i] == 0 and w[i] < 0.0) else 0
    return residual


def corrected(problem: MixedLCP, active: Any, tolerance: float, limit: int = 6) -> tuple[Array, float]:
    """The z and residual that `correct_basis` comes to from the basis `active` (n,) of a dense problem."""
    n = problem.size
    z, w, chosen = np.zeros(n), np.empty(n), np.asarray(active).astype(np.int64)
    M, ints, vectors = np.empty((n, n)), np.empty((2, n), dtype=np.int64), np.empty((2, n))
    A, b, n_free = problem.A, problem.b, problem.n_free
    return z, float(correct_basis(A, b, n_free, chosen, limit, tolerance, z, w, M, ints, vectors))


def polish(problem: MixedLCP, z: Array, tolerance: float, limit: int = 6) -> tuple[Array, float]:
    """A point near `z` made exact: the basis where z, in the units of w, exceeds w; returns z and its residual.

    Where that basis is singular (redundant contacts) z moves by the shortest step that makes w vanish on it. The
    better of old and new counts.
    """
    w, residual = problem.evaluate(z)
    if not np.isfinite(residual):
        return z, np.inf
    unit = np.abs(problem.A).max(initial=0.0)
    active = (unit * z > w) & (z > 0.0)
    active[: problem.n_free] = True
    best, smallest = z, residual
    candidate, found = corrected(problem, active, tolerance, limit)
    if found < smallest:
        best, smallest = candidate, found
    if not smallest <= tolerance:
        candidate, found = _shortest_step(problem, z, active)
        if found < smallest:
            best, smallest = candidate, found
    return best, smallest


def _shortest_step(problem: MixedLCP, z: Array, active: Any) -> tuple[Array, float]:
    """Least-squares steps onto w = 0 over the active set; what would become negative leaves it."""
    n_free, active = problem.n_free, active.copy()
    best, smallest = z, np.inf
    for _ in range(4 if active.sum() <= 150 else 1):  # O(n^3) each, with a large factor
        z = np.where(active, z, 0.0)
        block = problem.A[np.ix_(active, active)]
        for _ in range(2):
            w = problem.A @ z + problem.b
            try:
                z[active] -= scipy.linalg.lstsq(block, w[active], lapack_driver="gelsy", cond=1e-12)[0]
            except (scipy.linalg.LinAlgError, ValueError):
                return best, smallest
        low = (z < 0.0) & active
        low[:n_free] = False
        z[low] = 0.0
        residual = problem.evaluate(z)[1]
        if residual < smallest:
            best, smallest = z.copy(), residual
        if not low.any():
            break
        active &= ~low
    return best, smallest
