"""Principal pivoting for normals only: p >= 0, w = u + L L^T p >= 0, p w = 0, without forming L L^T.

[D] algorithm 1 and [Z] algorithm 2 pivot on active rows A that are independent, at most as many as there are degrees
of freedom, and see the others through x = L_A^T p alone: O(nv^2) a pivot by updates of the factor L_A^T = Q R, O(n nv)
for the velocities. Their exchange of two rows at once can cycle. Here the row of the largest violation is driven to
zero, and active rows that would pull on the way leave (Cottle's principal pivoting method I with its blocking rule):
|x|^2 / 2, the energy to reach the rows met so far, grows with every row that is met, so no active set comes back.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.solve import solve

_DEPENDENT = 1e-10  # remainder of a row, relative to its length, below which active rows imply it
_MET = 1e-13  # violation, relative to the velocities, that counts as none


class Pivoted(NamedTuple):
    """Impulses (n,), the active rows, pivots, and whether the ladder of LCP solvers had to help."""

    p: Array
    active: IntArray
    iterations: int
    fell_back: bool


class _Factor:
    """Active rows, their impulses, and L_A^T = Q R with Q square."""

    def __init__(self, L: Array) -> None:
        self.L, self.rows = L, list[int]()
        self.Q: Array
        self.R: Array
        self.p: Array
        self.clear()
        self.p = np.zeros(0)

    def clear(self) -> None:
        n = self.L.shape[1]
        self.Q, self.R = np.eye(n), np.zeros((n, 0))

    @property
    def x(self) -> Array:
        return np.asarray(self.L[self.rows].T @ self.p)

    def triangular(self, b: Array, trans: Literal[0, 1] = 0) -> Array:
        k = len(self.rows)
        return np.asarray(scipy.linalg.solve_triangular(self.R[:k], b, trans=trans, check_finite=False))

    def add(self, i: int, p: float) -> None:
        if self.rows:
            Q, R = scipy.linalg.qr_insert(self.Q, self.R, self.L[i], len(self.rows), "col", check_finite=False)
        else:
            Q, R = scipy.linalg.qr(self.L[i][:, None], check_finite=False)
        self.Q, self.R = np.asarray(Q, dtype=np.float64), np.asarray(R, dtype=np.float64)
        self.rows.append(i)
        self.p = np.append(self.p, p)

    def drop(self, k: int) -> None:
        if len(self.rows) > 1:
            Q, R = scipy.linalg.qr_delete(self.Q, self.R, k, 1, "col", check_finite=False)
            self.Q, self.R = np.asarray(Q, dtype=np.float64), np.asarray(R, dtype=np.float64)
        else:
            self.clear()
        self.rows.pop(k)
        self.p = np.delete(self.p, k)

    def hold(self, u: Array) -> None:
        """Impulses that bring the active rows to zero, with one step of refinement."""
        self.p = np.zeros(len(self.rows))
        for _ in range(2 if self.rows else 0):
            w = u[self.rows] + self.L[self.rows] @ self.x
            self.p = self.p - self.triangular(self.triangular(w, 1))

    def begin(self, rows: Any, u: Array, lengths: Array) -> None:
        """Start from those of `rows` that are independent and push."""
        for i in rows:
            rest = self.Q[:, len(self.rows) :].T @ self.L[i]
            if np.sqrt(rest @ rest) > 1e-6 * lengths[i]:
                self.add(int(i), 0.0)
        self.hold(u)
        while self.rows and self.p.min() < 0.0:
            self.drop(int(np.argmin(self.p)))
            self.hold(u)


def pivot(L: Array, u: Array, active: Any = (), *, lengths: Array | None = None, scale: float | None = None) -> Pivoted:
    """Solve p >= 0, w = u + L L^T p >= 0, p w = 0.

    Parameters
    ----------
    L : (n, nv) array
    u : (n,) array
    active : sequence of int, optional
        Rows to begin with: those that pushed in a similar problem, which keeps loads where they were ([Z] 4.6).
    lengths : (n,) array, optional
        Sizes against which a row of L counts as zero: those before other rows were eliminated. Default: its own.
    scale : float, optional
        Size against which a velocity counts as zero. Default: the largest of u.

    Returns
    -------
    Pivoted
        At most nv rows push. Where rounding or a problem without a solution stops the pivots, the answer is that of
        the ladder of `contact.solve` on the whole L L^T: to be judged by its residual.
    """
    n = len(u)
    lengths = np.sqrt(np.einsum("ij,ij->i", L, L)) if lengths is None else lengths
    scale = float(np.abs(u).max(initial=0.0)) if scale is None else scale
    factor = _Factor(L)
    factor.begin(active, u, lengths)
    pivots, limit = 0, 20 * (n + L.shape[1]) + 100
    while True:
        x = factor.x
        if not np.abs(x).max(initial=0.0) < 1e100:  # rows that hardly move and must: no factor has digits for that
            return _by_ladder(L, u, pivots)
        w = u + L @ x
        short = w + _MET * (scale + lengths * np.sqrt(x @ x))
        short[factor.rows] = 0.0
        i = int(np.argmin(short)) if n else -1
        if n == 0 or short[i] >= 0.0:
            break
        steps = _drive(factor, i, float(w[i]), _DEPENDENT * float(lengths[i]))
        pivots += abs(steps)
        if steps <= 0 or pivots > limit:
            return _by_ladder(L, u, pivots)
    factor.hold(u)
    if factor.rows and factor.p.min() < -1e-9 * np.abs(factor.p).max():
        return _by_ladder(L, u, pivots)
    p = np.zeros(n)
    p[factor.rows] = np.maximum(factor.p, 0.0)
    return Pivoted(p, np.flatnonzero(p > 0.0), pivots, False)


def _drive(factor: _Factor, i: int, w: float, dependent: float) -> int:
    """Push on row i until its velocity w < 0 is zero; active rows that would pull leave.

    Returns the pivots; less than zero if nothing stops the row.
    """
    pushed, pivots = 0.0, 0
    while True:
        k = len(factor.rows)
        d = factor.Q.T @ factor.L[i]
        gain = float(d[k:] @ d[k:])
        falls = factor.triangular(d[:k]) if k else d[:0]  # of active impulses for each unit of push on row i
        ratios = np.full(k, np.inf)
        np.divide(factor.p, falls, out=ratios, where=falls > 1e-14 * np.abs(falls).max(initial=0.0))
        block = int(np.argmin(ratios)) if k else -1
        most = max(float(ratios[block]), 0.0) if k else np.inf
        reach = -w / gain if gain > dependent**2 else np.inf
        if min(most, reach) == np.inf:
            return -pivots - 1
        pivots, step = pivots + 1, min(most, reach)
        factor.p, pushed = factor.p - step * falls, pushed + step
        if reach <= most:
            factor.add(i, pushed)
            return pivots
        w += step * gain
        factor.drop(block)


def _by_ladder(L: Array, u: Array, pivots: int) -> Pivoted:
    answer = solve(MixedLCP(L @ L.T, u))
    return Pivoted(answer.z, np.flatnonzero(answer.z > 0.0), pivots + answer.iterations, True)
