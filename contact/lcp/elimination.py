"""Free rows eliminated by one LU of their block; what is left is small and dense.

    [F E; C D] [x; z] + [b_f; b_c] = [0; w]   ->   w = S z + q,
    S = D - C F^-1 E,   q = b_c - C F^-1 b_f

Maximal-coordinate problems have hundreds of free rows (sparse) and a few dozen constrained ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.problem import Matrix, MixedLCP
from spatialops.contact.sparse.lu import sparse_factor

_REGULAR = 1e-13  # smallest pivot of a dense LU, relative to its largest, that is not rounding
_RANK = 1e-12  # singular values of the active block, relative to the largest, that count as zero


@dataclass(frozen=True, eq=False)
class Elimination:
    """A problem without its free rows, and the way back.

    Attributes
    ----------
    original, reduced : MixedLCP
    solve_free : callable
        F^-1 times a vector or a matrix.
    influence : (f, m) array
        F^-1 E.
    offset : (f,) array
        F^-1 b_f.
    lower : (m, f) array or csr_array
        C.
    """

    original: MixedLCP
    reduced: MixedLCP
    solve_free: Callable[[Array], Array]
    influence: Array
    offset: Array
    lower: Matrix

    def back(self, z_c: Array, tolerance: float = 1e-13, steps: int = 3) -> tuple[Array, float]:
        """The original problem's z, refined there on the active set of `z_c`, and its residual."""
        problem, f = self.original, self.original.n_free
        z = np.concatenate([-(self.offset + self.influence @ z_c), z_c])
        w, residual = problem.evaluate(z)
        active = np.flatnonzero(z_c > 0.0)
        for _ in range(steps):
            if residual <= tolerance or not np.isfinite(residual):
                break
            shift = self.solve_free(w[:f])
            change = np.zeros(z_c.size)
            if active.size:
                right = (w[f:] - self.lower @ shift)[active]
                block = self.reduced.A[np.ix_(active, active)]
                change[active] = scipy.linalg.lstsq(
                    block, right, lapack_driver="gelsy", cond=_RANK
                )[0]
            trial = z.copy()
            trial[:f] -= shift - self.influence @ change
            trial[f:] = np.maximum(trial[f:] - change, 0.0)
            w_trial, found = problem.evaluate(trial)
            if not found < residual:
                break
            z = trial
            w = w_trial
            residual = found
        return z, residual


def eliminate(problem: MixedLCP) -> Elimination | None:
    """Eliminate the free rows; None where their block is singular."""
    f = problem.n_free
    F, E, C, D = _sparse_blocks(problem) if problem.is_sparse else _dense_blocks(problem)
    solve_free = _sparse_lu(F) if problem.is_sparse else _dense_lu(F)
    if solve_free is None:
        return None
    both = solve_free(np.column_stack([E, problem.b[:f]]))
    if not np.isfinite(both).all():
        return None
    influence, offset = np.ascontiguousarray(both[:, :-1]), both[:, -1].copy()
    S, q = D - C @ influence, problem.b[f:] - C @ offset
    if not (np.isfinite(S).all() and np.isfinite(q).all()):
        return None
    return Elimination(problem, MixedLCP(S, q), solve_free, influence, offset, C)


def _dense_blocks(problem: MixedLCP) -> tuple[Matrix, Array, Matrix, Array]:
    A, f = problem.A, problem.n_free
    return A[:f, :f], A[:f, f:], A[f:, :f], A[f:, f:]


def _sparse_blocks(problem: MixedLCP) -> tuple[Matrix, Array, Matrix, Array]:
    """F and C sparse, E and D dense, cut by hand: slicing costs more than factoring."""
    A = problem.A
    f = problem.n_free
    n = problem.size
    cut = A.indptr[f]
    rows, data = A.indices[:cut], A.data[:cut]
    top = rows < f
    starts = np.concatenate([[0], np.cumsum(top)])[A.indptr[: f + 1]].astype(np.int32)
    below = A.indptr[: f + 1] - starts
    F = scipy.sparse.csc_matrix((data[top], rows[top], starts), shape=(f, f))
    C = scipy.sparse.csc_matrix((data[~top], rows[~top] - f, below), shape=(n - f, f))
    right = np.zeros((n, n - f))
    columns = np.repeat(np.arange(n - f), np.diff(A.indptr[f:]))
    right[A.indices[cut:], columns] = A.data[cut:]
    return F, right[:f], C, right[f:]


def _sparse_lu(F: Matrix) -> Callable[[Array], Array] | None:
    try:
        return sparse_factor(F).solve
    except RuntimeError:  # exactly singular
        return None


def _dense_lu(F: Array) -> Callable[[Array], Array] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        factors = scipy.linalg.lu_factor(F, check_finite=False)
    pivots = np.abs(np.diag(factors[0]))
    if not pivots.min(initial=np.inf) > _REGULAR * pivots.max(initial=0.0):
        return None
    return lambda right: scipy.linalg.lu_solve(factors, right, check_finite=False)
