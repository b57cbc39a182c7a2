"""A linear operator that knows its inverse where there is a formula for it.

Inverses follow the algebra of the appendix of [J]: those of adjoints and products from those of
their factors, and that of one minus a step from child to parent from the propagation that it sums
up to, phi = (1 - E_phi)^-1 = 1 + E_phi + E_phi^2 + ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops._arrays import Array
from spatialops.algebra.linear import diagonal
from spatialops.errors import ArgumentError


class SpatialOperator(LinearOperator):
    """A real linear operator, applied in O(N), with `@`, `+`, `-`, `1 -`, `.H` and `.inv`.

    Parameters
    ----------
    applied : LinearOperator
        What it does.
    inverse : callable, optional
        Makes its inverse when that is asked for.
    resolvent : callable, optional
        Makes (1 - this)^-1.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.operators import SpatialOperators, dense
    >>> op = SpatialOperators(so.models.pendulum(2).model, [0.3, -0.5])
    >>> dense((1 - op.E_phi).inv @ (1 - op.E_phi)).round(12).trace().item()
    12.0
    """

    def __init__(
        self,
        applied: LinearOperator,
        inverse: Callable[[], LinearOperator] | None = None,
        resolvent: Callable[[], LinearOperator] | None = None,
    ) -> None:
        super().__init__(np.float64, applied.shape)  # type: ignore[call-arg]
        self._applied = applied
        self._inverse = inverse
        self._resolvent = resolvent

    @property
    def inv(self) -> SpatialOperator:
        """The inverse.

        Raises
        ------
        ArgumentError
            Where no formula says what it is.
        """
        if self._inverse is None:
            raise ArgumentError(
                f"no formula for the inverse of this operator of shape {self.shape}: invert its "
                "factors, or `dense` of it"
            )
        made = self._inverse()
        if isinstance(made, SpatialOperator) and made._inverse is not None:
            return made
        return SpatialOperator(made, inverse=lambda: self)

    def _alone(self) -> LinearOperator:
        """What it does, without the formula for its inverse."""
        return self._applied

    def _matvec(self, x: Array) -> Array:
        return np.asarray(self._applied.matvec(x))

    def _rmatvec(self, x: Array) -> Array:
        return np.asarray(self._applied.rmatvec(x))

    def _matmat(self, X: Array) -> Array:
        return np.asarray(self._applied.matmat(X))

    def _rmatmat(self, X: Array) -> Array:
        return np.asarray(self._applied.rmatmat(X))

    def _adjoint(self) -> SpatialOperator:
        inverse, resolvent = self._inverse, self._resolvent
        return SpatialOperator(
            self._applied.H,
            None if inverse is None else lambda: inverse().H,
            None if resolvent is None else lambda: resolvent().H,
        )

    def _transpose(self) -> SpatialOperator:
        return self._adjoint()

    @overload  # type: ignore[override]
    def __matmul__(self, other: LinearOperator) -> SpatialOperator: ...
    @overload
    def __matmul__(self, other: Array) -> Array: ...
    def __matmul__(self, other: LinearOperator | Array) -> SpatialOperator | Array:
        if isinstance(other, np.ndarray) and other.shape == (self.shape[1],):
            return self._matvec(other)
        if not isinstance(other, LinearOperator):
            return np.asarray(super().__matmul__(other))
        return SpatialOperator(super().__matmul__(other), self._inverse_of_product(other))

    def _inverse_of_product(self, other: LinearOperator) -> Callable[[], LinearOperator] | None:
        right = getattr(other, "_inverse", None)
        if self._inverse is None or right is None:
            return None
        return lambda: right() @ self.inv

    def __radd__(self, one: object) -> SpatialOperator:
        if not _is_one(one):
            return NotImplemented
        return SpatialOperator(identity(self.shape[0]) + self._alone())

    def __rsub__(self, one: object) -> SpatialOperator:
        if not _is_one(one):
            return NotImplemented
        return SpatialOperator(identity(self.shape[0]) - self._alone(), self._resolvent)


def identity(size: int) -> SpatialOperator:
    """The identity of a space.

    Parameters
    ----------
    size : int
        Rows.

    Returns
    -------
    SpatialOperator
        Its own inverse.
    """
    one = diagonal(np.ones(size))
    return SpatialOperator(one, inverse=lambda: one)


def _is_one(value: object) -> bool:
    return isinstance(value, (int, float)) and value == 1
