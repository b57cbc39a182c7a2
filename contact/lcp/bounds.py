"""Mixed complementarity with bounds as a mixed LCP: shifted, reflected, paired rows for two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, IntArray, array
from spatialops.contact.lcp.problem import LCPSolution, Matrix, MixedLCP, sparse_array
from spatialops.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Recovery:
    """The way back from the mixed LCP to z of the problem with bounds: ``recover(solution)``.

    Parameters
    ----------
    M : (n, n) array or csc_array
        Matrix of F = M z + q.
    q, lower, upper : (n,) array
        F where z is zero, and the bounds of z.
    origin : (n,) array
        The bound that each z is counted from; zero where it is free.
    sign : (n,) array
        z = origin + sign y with y >= 0: -1 where z hangs from its upper bound.
    order : (k,) array
        The z that the first k rows of the mixed LCP stand for, free ones first; the fixed ones are
        missing.
    """

    M: Matrix
    q: Array
    lower: Array
    upper: Array
    origin: Array
    sign: Array
    order: IntArray

    def __call__(self, solution: LCPSolution | ArrayLike) -> Array:
        """Find z of the problem with bounds, within them.

        Parameters
        ----------
        solution : LCPSolution or (k,) array_like
            Of the mixed LCP, or its z.

        Returns
        -------
        (n,) array
            z.
        """
        given = solution.z if isinstance(solution, LCPSolution) else solution
        y = array(given, (None,), "solution")
        if y.size < self.order.size:
            raise ArgumentError(f"solution: expected {self.order.size} numbers, got {y.size}")
        z = self.origin.copy()
        z[self.order] += self.sign[self.order] * y[: self.order.size]
        return np.clip(z, self.lower, self.upper)

    def residual(self, z: ArrayLike) -> float:
        """Residual of z in the problem with bounds; that of `MixedLCP` where they are (0, inf).

        Parameters
        ----------
        z : (n,) array_like
            Any point.

        Returns
        -------
        float
            max |s z - mid(s lower, s z - F, s upper)| / max(|q|, s |finite bounds|), s = max |M|;
            zero at a solution.
        """
        z = array(z, (self.q.size,), "z")
        F = self.M @ z + self.q
        s = float(np.abs(self.M).max()) if self.q.size else 1.0
        s = s if s > 0.0 else 1.0
        gap = np.abs(s * z - np.clip(s * z - F, s * self.lower, s * self.upper)).max(initial=0.0)
        ends = np.concatenate([self.lower, self.upper])
        scale = max(
            np.abs(self.q).max(initial=0.0), s * np.abs(ends[np.isfinite(ends)]).max(initial=0.0)
        )
        return float(gap / scale) if scale > 0.0 else float(gap)


def from_bounds(
    M: Matrix, q: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[MixedLCP, Recovery]:
    """See `MixedLCP.from_bounds`.

    With y = z - lower and a multiplier t of the upper bound, two finite bounds are the rows F + s t
    >= 0 of y and s (upper - lower - y) >= 0 of t; the matrix stays positive semidefinite where M
    is, and s = max |M| its scale.
    """
    q = array(q, (None,), "q", finite=True)
    lower, upper = (
        _bound(values, q.size, name) for values, name in ((lower, "lower"), (upper, "upper"))
    )
    M = (
        sparse_array(M, q.size, "M")
        if scipy.sparse.issparse(M)
        else array(M, (q.size, q.size), "M", finite=True)
    )
    wrong = np.flatnonzero(~(lower <= upper) | (lower == np.inf) | (upper == -np.inf))
    if wrong.size:
        i = wrong[0]
        raise ArgumentError(
            f"bounds: expected lower <= upper, got {lower[i]:g} and {upper[i]:g} at index {i}"
        )
    below, above = np.isfinite(lower), np.isfinite(upper)
    origin = np.where(below, lower, np.where(above, upper, 0.0))
    sign = np.where(above & ~below, -1.0, 1.0)
    free, fixed = ~(below | above), lower == upper
    order = np.concatenate([np.flatnonzero(free), np.flatnonzero(~free & ~fixed)])
    both = np.flatnonzero((below & above & ~fixed)[order])
    b = sign[order] * (M @ origin + q)[order]
    A, b = _with_upper_bounds(_signed(M, sign, order), b, (upper - lower)[order[both]], both)
    return MixedLCP(A, b, int(free.sum())), Recovery(M, q, lower, upper, origin, sign, order)


def _bound(values: ArrayLike, size: int, name: str) -> Array:
    result = array(values, (size,), name)
    if np.isnan(result).any():
        raise ArgumentError(f"{name}: holds NaN")
    return result


def _signed(M: Matrix, sign: Array, order: IntArray) -> Matrix:
    """Rows and columns `order` of M, those of reflected z turned round."""
    chosen = sign[order]
    if isinstance(M, np.ndarray):
        return M[np.ix_(order, order)] * chosen[:, None] * chosen
    D = scipy.sparse.diags_array(chosen)
    return D @ M[:, order][order, :] @ D


def _with_upper_bounds(A: Matrix, b: Array, widths: Array, rows: IntArray) -> tuple[Matrix, Array]:
    """Rows and columns of the multipliers of upper bounds appended."""
    k, m = b.size, rows.size
    if m == 0:
        return A, b
    unit = float(np.abs(A).max())
    unit = unit if unit > 0.0 else 1.0
    E = scipy.sparse.csc_array((np.full(m, unit), (rows, np.arange(m))), shape=(k, m))
    bordered: Matrix
    if not isinstance(A, np.ndarray):
        bordered = scipy.sparse.block_array(
            [[A, E], [-E.T, scipy.sparse.csc_array((m, m))]], format="csc"
        )
    else:
        bordered = np.block([[A, E.toarray()], [-E.T.toarray(), np.zeros((m, m))]])
    return bordered, np.concatenate([b, unit * widths])
