"""The mass matrix's inverse as an operator that makes its factors when they pay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops._arrays import Array, IntArray, all_finite
from spatialops.dynamics.mass_solve import mass_solve
from spatialops.dynamics.sweeps import solve_mass_kernel
from spatialops.operators.spatial_operator import SpatialOperator
from spatialops.tree.model import Model

Factors = tuple[IntArray, Array, Array, Array, Array]


class MassInverse(SpatialOperator):
    """(1 - H psi K)* D^-1 (1 - H psi K), symmetric.

    The first product with one vector goes by `mass_solve`, a sweep each way that places, factors
    and solves. Only a second one, or several vectors at once, make factors that are kept, for a
    shorter sweep each way: both answers are the same but for rounding.

    Parameters
    ----------
    size : int
        Rows.
    single : tuple of Model and (nq,) array or None
        The mechanism and where it is; None for several configurations.
    factors : callable
        Gives the tree, levers, axes, gains and D^-1.
    inverse : callable
        Gives the mass matrix.
    """

    def __init__(
        self,
        size: int,
        single: tuple[Model, Array] | None,
        factors: Callable[[], Factors],
        inverse: Callable[[], LinearOperator],
    ) -> None:
        LinearOperator.__init__(self, np.float64, (size, size))  # type: ignore[call-arg]
        self._inverse = inverse
        self._resolvent = None
        self._single = single
        self._factors = factors

    def _alone(self) -> LinearOperator:
        return self

    def _matvec(self, x: Array) -> Array:
        x = x.reshape(-1)
        if self._single is not None and all_finite(x):
            model, q = self._single
            self._single = None
            return mass_solve(model, q, x)
        return self._solved(np.array(x, dtype=np.float64)[None])[0]

    def _matmat(self, X: Array) -> Array:
        return self._solved(np.array(X.T, dtype=np.float64, order="C")).T

    def _solved(self, rows: Array) -> Array:
        parts = self._factors()
        solve_mass_kernel(*parts, np.empty((self.shape[0], 6)), rows)
        return rows

    _rmatvec = _matvec
    _rmatmat = _matmat

    def _adjoint(self) -> SpatialOperator:
        return self
