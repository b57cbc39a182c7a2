"""The complementary point of a guessed active set, refined and checked in the original data."""

from __future__ import annotations

import math

import numpy as np
import scipy

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.lcp.problem import MixedLCP, residual_kernel
from spatialops.contact.lcp.scratch import BasisScratch, new_basis_scratch
from spatialops.contact.lu import factor_lu, largest_entry, substitute_lu

CORRECTIONS = 6  # of a guessed basis; one that needs more does not converge
_DEPENDENT = 1e-13  # pivot, relative to the block's largest entry, below which rounding is left
_REFINED = 1e-13  # change of z, relative to z, that no further refinement makes smaller
_SHORTEST_RANK = 1e-12  # singular values of a block, relative to the largest, that count as zero


@kernel
def nudge_basis(
    A: Array, b: Array, n_free: int, active: IntArray, z: Array, w: Array, scratch: BasisScratch
) -> float:
    """Move z to where w = 0 on the active rows, and z = 0 elsewhere; returns the residual.

    Up to three steps (iterative refinement); then negative z are clipped, and the residual is that
    of what is returned. Where the active block is singular, as with redundant contacts, what
    depends on others stays where it is.
    """
    n, m = b.size, 0
    M, chosen = scratch.M, scratch.chosen
    for i in range(n):
        if i < n_free or active[i] != 0:
            chosen[m] = i
            m += 1
        else:
            z[i] = 0.0
    for i in range(m):
        for j in range(m):
            M[i, j] = A[chosen[i], chosen[j]]
    least = _DEPENDENT * largest_entry(M, m)
    rank = factor_lu(M, m, least, scratch.rows, chosen)
    right, step = scratch.right, scratch.step
    for _ in range(3):
        for i in range(m):
            p = chosen[i] if chosen[i] >= 0 else -1 - chosen[i]
            total = b[p]
            for j in range(m):
                q = chosen[j] if chosen[j] >= 0 else -1 - chosen[j]
                total += A[p, q] * z[q]
            right[i] = -total
        substitute_lu(M, m, rank, scratch.rows, chosen, right, step)
        largest, change = 0.0, 0.0
        for i in range(m):
            if chosen[i] >= 0:
                z[chosen[i]] += step[i]
                largest, change = max(largest, abs(z[chosen[i]])), max(change, abs(step[i]))
        if change <= _REFINED * largest:
            break
    for i in range(n_free, n):
        z[i] = max(z[i], 0.0)
    return residual_kernel(A, b, n_free, z, w)


@kernel
def solve_basis(
    A: Array, b: Array, n_free: int, active: IntArray, z: Array, w: Array, scratch: BasisScratch
) -> float:
    """`nudge_basis` from z = 0: the complementary point of a basis."""
    for i in range(b.size):
        z[i] = 0.0
    return nudge_basis(A, b, n_free, active, z, w, scratch)


@kernel
def warm_basis(
    A: Array,
    b: Array,
    n_free: int,
    active: IntArray,
    tolerance: float,
    z: Array,
    w: Array,
    scratch: BasisScratch,
) -> float:
    """Nudge an earlier z on its active set, or else correct that set; returns the residual."""
    for i in range(b.size):
        active[i] = 1 if z[i] > 0.0 else 0
        z[i] = z[i] if i < n_free else max(z[i], 0.0)
    residual = nudge_basis(A, b, n_free, active, z, w, scratch)
    if not residual <= tolerance:
        swap_violated(n_free, active, z, w)
        residual = correct_basis(A, b, n_free, active, CORRECTIONS, tolerance, z, w, scratch)
    return residual


@inlined
def swap_violated(n_free: int, active: IntArray, z: Array, w: Array) -> None:
    """Clipped z drop out of the active set and negative w come in, all at once."""
    for i in range(n_free, z.size):
        stays, enters = active[i] != 0 and z[i] > 0.0, active[i] == 0 and w[i] < 0.0
        active[i] = 1 if stays or enters else 0


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
    scratch: BasisScratch,
) -> float:
    """Solve a guessed basis, swap what violates, and again; returns the last residual.

    At most `limit` times. (Block principal pivoting, which need not converge.)
    """
    residual = math.inf
    for _ in range(limit):
        residual = solve_basis(A, b, n_free, active, z, w, scratch)
        if residual <= tolerance:
            break
        swap_violated(n_free, active, z, w)
    return residual


def corrected(
    problem: MixedLCP, active: BoolArray | IntArray, tolerance: float, limit: int = CORRECTIONS
) -> tuple[Array, float]:
    """The z that `correct_basis` reaches from `active` (n,) of a dense problem, its residual."""
    n = problem.size
    z, w = np.zeros(n), np.empty(n)
    chosen = np.asarray(active).astype(np.int64)
    scratch = new_basis_scratch(n)
    residual = correct_basis(
        problem.A, problem.b, problem.n_free, chosen, limit, tolerance, z, w, scratch
    )
    return z, float(residual)


def polish(
    problem: MixedLCP, z: Array, tolerance: float, limit: int = CORRECTIONS
) -> tuple[Array, float]:
    """A point near `z` made exact on the basis where z, in the units of w, exceeds w; its residual.

    Where that basis is singular (redundant contacts) z moves by the shortest step that makes w
    vanish on it. The better of old and new counts.
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


def _shortest_step(problem: MixedLCP, z: Array, active: BoolArray) -> tuple[Array, float]:
    """Least-squares steps onto w = 0 over the active set; what would become negative leaves it."""
    n_free, active = problem.n_free, active.copy()
    best, smallest = z, np.inf
    for _ in range(4 if active.sum() <= 150 else 1):  # O(n^3) each, with a large factor
        z = np.where(active, z, 0.0)
        block = problem.A[np.ix_(active, active)]
        for _ in range(2):
            w = problem.A @ z + problem.b
            try:
                z[active] -= scipy.linalg.lstsq(
                    block, w[active], lapack_driver="gelsy", cond=_SHORTEST_RANK
                )[0]
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
