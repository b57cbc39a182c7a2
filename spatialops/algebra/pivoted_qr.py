"""QR with column pivoting: bases of row spaces and null spaces at a fifth of an SVD's time.

LAPACK's `dgeqp3` (Quintana-Orti, Sun, Bischof 1998). Its pivots fall as singular values do, within
a factor that is small but for matrices made to show otherwise (Golub and Van Loan, section 5.4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from spatialops._arrays import Array, IntArray


class RowBasis(NamedTuple):
    """E[order] = T Q_1^T, with Q = (Q_1, Q_2) orthonormal: a complete orthogonal decomposition.

    Attributes
    ----------
    Q : (n, n) array
        Columns after the `rank` first are a basis of what E maps to zero.
    T : (k, rank) array
        Lower triangular in its first rows.
    order : (k,) int array
        Rows of E, those that the others are made of first.
    """

    Q: Array
    T: Array
    order: IntArray

    @property
    def rank(self) -> int:
        """Of E."""
        return self.T.shape[1]

    @property
    def null(self) -> Array:
        """Orthonormal columns (n, n - rank) that E maps to zero."""
        return self.Q[:, self.T.shape[1] :]

    def particular(self, e: Array) -> Array:
        """The shortest x that meets the `rank` first rows of E x = e; e (k,) of all."""
        rank = self.T.shape[1]
        if not rank:
            return np.zeros(len(self.Q))
        y, _ = lapack.dtrtrs(self.T[:rank], e[self.order[:rank]], lower=1)
        return np.asarray(self.Q[:, :rank] @ y)

    def inverse_and_idle(self) -> tuple[Array, Array]:
        """E^+ (n, k), and orthonormal columns (k, k - rank) with which rows add up to nothing."""
        k, rank = self.T.shape
        inverse = np.zeros((len(self.Q), k))
        idle = np.zeros((k, k - rank))
        if not rank:
            idle[self.order] = np.eye(k)
        elif k == rank:
            back, _ = lapack.dtrtri(self.T, lower=1)
            inverse[:, self.order] = self.Q[:, :rank] @ back
        else:
            factors, tau, _, _ = lapack.dgeqrf(self.T)
            U = _square(factors, tau, k)
            back, _ = lapack.dtrtri(factors[:rank])
            inverse[:, self.order] = self.Q[:, :rank] @ (np.triu(back) @ U[:, :rank].T)
            idle[self.order] = U[:, rank:]
        return inverse, idle


def row_basis(E: Array, least: float, *, share: float = 0.0) -> RowBasis:
    """Factor rows E (k, n).

    Rows count as implied of which others leave no more than `least`, or this `share` of the
    longest.
    """
    k, n = E.shape
    if not k or not n:
        return RowBasis(np.eye(n), np.zeros((k, 0)), np.arange(k))
    factors, order, tau, _, _ = lapack.dgeqp3(E.T)
    pivots = np.abs(factors.diagonal())
    rank = int((pivots > max(least, share * float(pivots[0]))).sum())
    T = np.tril(factors[:rank].T)
    return RowBasis(_square(factors, tau, n), T, order - 1)


def _square(factors: Array, tau: Array, n: int) -> Array:
    """All of Q (n, n) from LAPACK's reflections."""
    most = tau.size
    square = np.zeros((n, n), order="F")
    square[:, :most] = factors[:, :most]
    Q, _, _ = lapack.dorgqr(square, tau, overwrite_a=1)
    return np.asarray(Q)
