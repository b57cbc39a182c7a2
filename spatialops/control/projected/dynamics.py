"""Constrained dynamics by projection onto the motions that constraints admit ([A] section 2).

In dependent coordinates,

    M a + h = tau + A^T lambda with A v = 0, h = C v - tau_g.

With P = I - A^+ A the orthogonal projection onto the null space of A, and L = -A^+ Adot P,

    dP/dt = L + L^T,   (I - P) a = L v = Omega v,   Omega = L - L^T,
    Mbar a + Cbar v = P (tau + tau_g),
    Mbar = P M P + nu (I - P),   Cbar = P C P + P M (L + L^T) - nu L,
    A^T lambda = -S (tau + tau_g - (C + M L) v),   S = I - M Mbar^-1 P.

Signs differ from the paper's where the paper contradicts itself: docs/projection.md says where, and
why these are right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, scalar, vector
from spatialops.algebra.column_reflections import whole_eights
from spatialops.control.projected.control_kernel import half_kernel
from spatialops.control.projected.projection_kernel import (
    ints_of,
    numbers_of,
    projected_of,
    projection_kernel,
)
from spatialops.errors import ArgumentError

RANK_TOLERANCE = 1e-8


class Projection:
    """The orthogonal projection onto the null space of constraint rows, and their pseudo-inverse.

    Parameters
    ----------
    A : (m, n) array_like
        Rows; others may imply some.
    tolerance : float, default 1e-8
        Rows of which others leave less than this share of the longest count as implied, and are
        redundant. A mechanism so close to a singularity is treated as if it were there.

    Attributes
    ----------
    rank : int
        Number of independent rows.
    singular_values : (min(m, n),) array
        In falling order.
    basis : (n, n - rank) array
        Orthonormal columns N that span the null space; P = N N^T.
    pinv : (n, m) array
        A^+.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    A point in the plane that must not move along (1, 1):

    >>> import numpy as np
    >>> from spatialops.control import Projection
    >>> projection = Projection([[1.0, 1.0]])
    >>> projection.rank
    1
    >>> (projection.P @ [2.0, 0.0]).round(12).tolist()
    [1.0, -1.0]
    """

    def __init__(self, A: ArrayLike, *, tolerance: float = RANK_TOLERANCE) -> None:
        self.A = array(A, (None, None), "A", finite=True)
        tolerance = scalar(tolerance, "tolerance", low=0.0)
        m, n = self.A.shape
        floats, ints = np.zeros(numbers_of(m, n)), np.zeros(ints_of(m, n), dtype=np.int64)
        rank = projection_kernel(np.ascontiguousarray(self.A), tolerance, floats, ints)
        found = projected_of(m, n, floats)
        self.rank = rank
        self.basis = found.basis[:, : n - rank].copy()
        self.pinv, self._left = found.pinv[:, :m].copy(), found.internal[:, : m - rank].copy()

    @cached_property
    def singular_values(self) -> Array:
        """Of A, the largest first."""
        return np.asarray(np.linalg.svd(self.A, compute_uv=False))

    @cached_property
    def P(self) -> Array:
        """The projection, (n, n)."""
        result: Array = self.basis @ self.basis.T
        return result

    @property
    def internal(self) -> Array:
        """Multipliers (m, m - rank) that push nothing: an orthonormal basis of A^T's null space."""
        return self._left

    @property
    def gap(self) -> float:
        """How clear the rank is: the largest singular value taken for zero over the least kept."""
        values, r = self.singular_values, self.rank
        return float(values[r] / values[r - 1]) if 0 < r < values.size else 0.0

    def drift(self, rate: ArrayLike) -> Array:
        """L = -A^+ Adot P: L v is the acceleration outside the null space.

        Parameters
        ----------
        rate : (m, n) array_like
            Adot, the rate of the rows.

        Returns
        -------
        (n, n) array
            L.
        """
        rate = array(rate, self.A.shape, "rate")
        result: Array = -self.pinv @ rate @ self.P
        return result

    def omega(self, rate: ArrayLike) -> Array:
        """Omega = L - L^T with (I - P) a = Omega v, of the sign that [A] 4 should have.

        Parameters
        ----------
        rate : (m, n) array_like
            Adot, the rate of the rows.

        Returns
        -------
        (n, n) array
            Omega, skew-symmetric.

        Examples
        --------
        >>> import numpy as np
        >>> from spatialops.control import Projection
        >>> omega = Projection([[1.0, 0.0]]).omega([[0.0, 2.0]])
        >>> omega.round(12).tolist(), bool((omega == -omega.T).all())
        ([[0.0, -2.0], [2.0, 0.0]], True)
        """
        L = self.drift(rate)
        return L - L.T


@dataclass(frozen=True, eq=False)
class ProjectedDynamics:
    """A mechanism under constraints, at one state.

    Parameters
    ----------
    M : (n, n) array
        Mass matrix.
    bias : (n,) array
        h = C v - tau_g: forces that hold the mechanism at zero acceleration.
    projection : Projection
        Of the constraints' rows A.
    drift : (m,) array
        Adot v.
    nu : float, optional
        A positive scalar; default: the mean of M's diagonal. Motions and forces do not depend on
        it.

    Examples
    --------
    A mass of 2 kg that can move along (1, -1) only, pushed by 4 N along x:

    >>> import numpy as np
    >>> from spatialops.control import ProjectedDynamics, Projection
    >>> rows = Projection([[1.0, 1.0]])
    >>> mass = ProjectedDynamics(2.0 * np.eye(2), np.zeros(2), rows, np.zeros(1))
    >>> push = np.array([4.0, 0.0])
    >>> mass.accelerations(push).round(12).tolist(), mass.forces(push).round(12).tolist()
    ([1.0, -1.0], [-2.0])
    """

    M: Array
    bias: Array
    projection: Projection
    drift: Array
    nu: float | None = None

    @cached_property
    def half(self) -> Array:
        """Rows (n - r, n) that span the null space of A, with half M half^T = I."""
        N = self.projection.basis
        n, k = N.shape
        half = np.empty((k, n))
        room = np.empty((n, int(whole_eights(k)))), np.empty((2 * k, k))
        if not half_kernel(self.M, N, half, *room):
            raise ArgumentError(
                "M: the mass matrix is not positive definite on the admissible motions"
            )
        return half

    @cached_property
    def inverse(self) -> Array:
        """Accelerations in the null space from forces: Mbar^-1 P = N (N^T M N)^-1 N^T, (n, n)."""
        result: Array = self.half.T @ self.half
        return result

    @cached_property
    def outside(self) -> Array:
        """L v = -A^+ Adot v, (n,): the part of the acceleration that constraints dictate."""
        result: Array = -self.projection.pinv @ self.drift
        return result

    @cached_property
    def load(self) -> Array:
        """The force h + M L v, (n,), that acceleration `outside` alone asks for."""
        result: Array = self.bias + self.M @ self.outside
        return result

    @cached_property
    def oblique(self) -> Array:
        """S = I - M Mbar^-1 P ([A] 7), (n, n): an oblique projection, S^2 = S."""
        result: Array = np.eye(len(self.M)) - self.M @ self.inverse
        return result

    @property
    def scale(self) -> float:
        """The scalar nu."""
        return float(np.trace(self.M)) / len(self.M) if self.nu is None else self.nu

    @property
    def constraint_inertia(self) -> Array:
        """Mbar = P M P + nu (I - P) ([A] 5b), (n, n): symmetric and positive definite."""
        P = self.projection.P
        result: Array = P @ self.M @ P + self.scale * (np.eye(len(P)) - P)
        return result

    def constraint_coriolis(self, coriolis: Array, rate: Array) -> Array:
        """Cbar = P C P + P M (L + L^T) - nu L ([A] 5c).

        Parameters
        ----------
        coriolis : (n, n) array
            C, with M' = C + C^T.
        rate : (m, n) array
            Adot, the rate of the rows.

        Returns
        -------
        (n, n) array
            Cbar.
        """
        P, L = self.projection.P, self.projection.drift(rate)
        result: Array = P @ coriolis @ P + P @ self.M @ (L + L.T) - self.scale * L
        return result

    def accelerations(self, tau: Array) -> Array:
        """Accelerations under forces, from [A] 5a.

        Parameters
        ----------
        tau : (n,) array
            Generalised forces.

        Returns
        -------
        (n,) array
            Accelerations that the constraints admit.
        """
        tau = vector(tau, len(self.load), "tau")
        result: Array = self.inverse @ (tau - self.load) + self.outside
        return result

    def generalized_forces(self, tau: Array) -> Array:
        """The constraints' generalised forces on the mechanism, A^T lambda ([A] 6, 41).

        Parameters
        ----------
        tau : (n,) array
            Generalised forces.

        Returns
        -------
        (n,) array
            A^T lambda.
        """
        tau = vector(tau, len(self.load), "tau")
        result: Array = -self.oblique @ (tau - self.load)
        return result

    def forces(self, tau: Array) -> Array:
        """Multipliers lambda = A^+T A^T lambda, the least that fit where rows are redundant.

        Parameters
        ----------
        tau : (n,) array
            Generalised forces.

        Returns
        -------
        (m,) array
            Multipliers, one of each row.
        """
        result: Array = self.projection.pinv.T @ self.generalized_forces(tau)
        return result
