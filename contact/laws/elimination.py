"""Rows that are held at zero velocity, taken out of a contact problem: closures, and tangents that must not slip.

With W = L L^T, holding rows B means working in the null space of L_B: L_B^T = Q R for independent rows, others see
L (I - Q Q^T). R^T R is the Cholesky factor of B M^-1 B^T, which [Z] algorithm 1 (FIND-INDICES) grows row by row and
asks for singularity; here by columns of L^T with pivoting, the longest remainder first, so that the pivots are not
squared and the order of the contacts does not decide which rows are called dependent. O(nv^2) a row, as there.
"""

from __future__ import annotations

import numpy as np
import scipy

from spatialops._arrays import Array

_RANK = 1e-9  # remainder of a row of length one below which others imply it


class Elimination:
    """Rows (k, nv) with velocities (k,) that are brought to zero, by impulses on an independent choice of them.

    Attributes
    ----------
    chosen : (r,) int array
        The independent rows.
    """

    def __init__(self, rows: Array, velocities: Array) -> None:
        self.size, n = rows.shape
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        lengths[lengths == 0.0] = 1.0
        self.chosen, self._Q, self._R = np.zeros(0, dtype=np.int64), np.zeros((n, 0)), np.zeros((0, 0))
        if self.size:
            Q, R, order = scipy.linalg.qr(
                (rows / lengths[:, None]).T, mode="economic", pivoting=True, check_finite=False
            )
            rank = int((np.abs(np.diag(R)) > _RANK).sum())
            self.chosen, self._Q, self._R = order[:rank], Q[:, :rank], R[:rank, :rank]
        self._lengths = lengths[self.chosen]
        self._rows = rows[self.chosen] / self._lengths[:, None]
        self._u = velocities[self.chosen] / self._lengths
        self._y = scipy.linalg.solve_triangular(self._R, self._u, trans="T")

    def reduce(self, L: Array, velocities: Array) -> tuple[Array, Array]:
        """Rows L (n, nv) and their velocities (n,) as others see them while the eliminated ones are held.

        Rows that cannot move any more are zero to the last bit: what rounding leaves of them is no direction to push.
        """
        rows = L - (L @ self._Q) @ self._Q.T
        rows -= (rows @ self._Q) @ self._Q.T
        u = velocities - L @ (self._Q @ self._y)
        locked = np.einsum("ij,ij->i", rows, rows) <= _RANK**2 * np.einsum("ij,ij->i", L, L)
        rows[locked] = 0.0
        size = max(np.abs(velocities).max(initial=0.0), np.abs(self._y).max(initial=0.0) * np.abs(L).max(initial=0.0))
        u[locked & (np.abs(u) <= 1e-12 * size)] = 0.0
        return rows, u

    def impulses(self, x: Array) -> Array:
        """Impulses (k,) on the eliminated rows when all others add up to x = L^T p (nv,); zero on dependent ones."""
        p = np.zeros(self.size)
        first = -scipy.linalg.solve_triangular(self._R, self._y + self._Q.T @ x)
        left = self._u + self._rows @ (self._rows.T @ first + x)  # one step of refinement, for rows nearly dependent
        step = scipy.linalg.solve_triangular(self._R, scipy.linalg.solve_triangular(self._R, left, trans="T"))
        p[self.chosen] = (first - step) / self._lengths
        return p
