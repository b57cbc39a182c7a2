"""Solving a guessed basis: the complementary point of an active set, refined and checked in the original data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.lcp.problem import MixedLCP, residual_kernel


@kernel
def factor_lu(M: Array, n: int, rows: IntArray) -> bool:
    """LU with partial pivoting of M[:n, :n] in place, row order in `rows`; False if it is singular to rounding."""
    scale = 0.0
    for i in range(n):
        rows[i] = i
        for j in range(n):
            scale = max(scale, abs(M[i, j]))
    for c in range(n):
        best, pivot = c, abs(M[c, c])
        for i in range(c + 1, n):
            if abs(M[i, c]) > pivot:
                best, pivot = i, abs(M[i, c])
        if not pivot > 1e-13 * scale:
            return False
        if best != c:
            for j in range(n):
                M[c, j], M[best, j] = M[best, j], M[c, j]
            rows[c], rows[best] = rows[best], rows[c]
        inverse = 1.0 / M[c, c]
        for i in range(c + 1, n):
            f = M[i, c] * inverse
            if f != 0.0:
                M[i, c] = f
                for j in range(c + 1, n):
                    M[i, j] -= f * M[c, j]
            else:
                M[i, c] = 0.0
    return True


@kernel
def substitute_lu(M: Array, n: int, rows: IntArray, right: Array, out: Array) -> None:
    """Solve with the factors of `factor_lu`: out = M^-1 right."""
    for i in range(n):
        total = right[rows[i]]
        for j in range(i):
            total -= M[i, j] * out[j]
        out[i] = total
    for i in range(n - 1, -1, -1):
        total = out[i]
        for j in range(i + 1, n):
            total -= M[i, j] * out[j]
        out[i] = total / M[i, i]


@kernel
def solve_basis(
    A: Array, b: Array, n_free: int, active: IntArray, z: Array, w: Array, M: Array, ints: IntArray, vectors: Array
) -> float:
    """z with w = 0 on the active rows and z = 0 elsewhere; returns the residual (infinity where the basis is singular).

    Up to two steps of iterative refinement; then negative z are clipped, and the residual is that of what is returned.
    """
    n, m = b.size, 0
    chosen, rows = ints[0], ints[1]
    for i in range(n):
        z[i] = 0.0
        if i < n_free or active[i] != 0:
            chosen[m] = i
            m += 1
    for i in range(m):
        for j in range(m):
            M[i, j] = A[chosen[i], chosen[j]]
    if not factor_lu(M, m, rows):
        return 1e300
    right, step = vectors[0], vectors[1]
    for _ in range(3):
        for i in range(m):
            total = b[chosen[i]]
            for j in range(m):
                total += A[chosen[i], chosen[j]] * z[chosen[j]]
            right[i] = -total
        substitute_lu(M, m, rows, right, step)
        largest, change = 0.0, 0.0
        for i in range(m):
            z[chosen[i]] += step[i]
            largest, change = max(largest, abs(z[chosen[i]])), max(change, abs(step[i]))
        if change <= 1e-13 * largest:
            break
    for i in range(n_free, n):
        z[i] = max(z[i], 0.0)
    return residual_kernel(A, b, n_free, z, w)


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
        if residual <= tolerance or residual == 1e300:
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
    active = unit * z > w
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
    for _ in range(4):
        z = np.where(active, z, 0.0)
        block = problem.A[np.ix_(active, active)]
        for _ in range(2):
            w = problem.A @ z + problem.b
            try:
                z[active] -= linalg.lstsq(block, w[active], lapack_driver="gelsy", cond=1e-12)[0]
            except (linalg.LinAlgError, ValueError):
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
