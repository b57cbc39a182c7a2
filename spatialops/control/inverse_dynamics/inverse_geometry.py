"""What an inverse problem has of posture and contacts alone, kept while these stay the same.

The rounds of a command, in which only velocities change, share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.contact.problem import Response
from spatialops.errors import ModelError

RANK = 1e-9  # singular values, relative to the largest, that count as zero
_OF_MASS = ("others", "factor", "coupling", "heaviest", "whole_factor")
_KEPT = 3  # of a command: contact frames of the step, and under the command


class Tied(NamedTuple):
    """What contacts that neither slip nor part do to the other velocities, L = U S V^T.

    Attributes
    ----------
    J : (k, n) array
        How their rows answer the given velocities.
    left, values, right : arrays
        U (k, k), S and V^T (u, u).
    rank : int
        Of L.
    answer : (n, k - rank) array
        (Q^T J)^+ with the complement Q of L's range.
    """

    J: Array
    left: Array
    values: Array
    right: Array
    rank: int
    answer: Array


class InverseGeometry:
    """Factors of a mass matrix and of contact rows whose velocities `given` no impulse changes.

    Parameters
    ----------
    mass : (nv, nv) array
        Mass matrix.
    jacobian : (3 m, nv) array
        Rows of the contacts.
    given : (n,) int array
        Velocities that are given.
    """

    def __init__(self, mass: Array, jacobian: Array, given: IntArray) -> None:
        self.mass = mass
        self.jacobian = jacobian
        self.given = given
        self._tied: dict[bytes, Tied] = {}
        self._passive: dict[bytes, Array] = {}

    def is_of(self, mass: Array, jacobian: Array, given: IntArray) -> bool:
        """Whether it is that of these."""
        return self.given is given and _same(self.jacobian, jacobian) and _same(self.mass, mass)

    def take_factors(self, others: Sequence[InverseGeometry]) -> None:
        """What the mass alone decides, from one of the same mass: only its rows differ."""
        for other in others:
            if self.given is other.given and _same(self.mass, other.mass):
                found = other.__dict__
                self.__dict__.update({name: found[name] for name in _OF_MASS if name in found})
                return

    @cached_property
    def others(self) -> IntArray:
        """Indices u of the velocities that follow."""
        rest = np.ones(len(self.mass), dtype=np.bool_)
        rest[self.given] = False
        return np.flatnonzero(rest)

    @cached_property
    def factor(self) -> Array:
        """C^-1 of the lower Cholesky factor C of M_uu."""
        u = self.others
        return inverse_factor(self.mass[u[:, None], u])

    @cached_property
    def heaviest(self) -> float:
        """Root of the largest inertia among the velocities that follow, kg^(1/2) m or the like."""
        return float(np.sqrt(self.mass.diagonal()[self.others].max(initial=0.0)))

    @cached_property
    def coupling(self) -> Array:
        """C^-1 M_ua (u, n)."""
        return np.asarray(self.factor @ self.mass[self.others[:, None], self.given])

    @cached_property
    def reach(self) -> Array:
        """G_u C^-T (3 m, u): the contacts' compliance is its square."""
        return np.asarray(self.jacobian[:, self.others] @ self.factor.T)

    @cached_property
    def response(self) -> Response:
        """L (3 m, nv): columns of `reach` where velocities follow, zeros where they are given."""
        L = np.zeros(self.jacobian.shape)
        L[:, self.others] = self.reach
        return Response(np.zeros((0, 0)), L)

    @cached_property
    def compliance(self) -> Array:
        """L L^T (3 m, 3 m), 1/kg."""
        return np.asarray(self.reach @ self.reach.T)

    @cached_property
    def whole_factor(self) -> Array:
        """C^-T of the Cholesky factor C of the whole mass matrix."""
        return inverse_factor(self.mass).T

    def tied(self, rows: BoolArray) -> Tied:
        """What contact rows (3 m,) do that shall not move."""
        key = rows.tobytes()
        if key not in self._tied:
            L = self.reach[rows]
            J = self.jacobian[rows][:, self.given] - L @ self.coupling
            left, values, right = np.linalg.svd(L)
            rank = int((values > RANK * values.max(initial=0.0)).sum())
            answer: Array = np.asarray(np.linalg.pinv(left[:, rank:].T @ J, rcond=RANK))
            self._tied[key] = Tied(J, left, values, right, rank, answer)
        return self._tied[key]

    def passive(self, rows: BoolArray) -> Array:
        """How given velocities (n,) would answer those of contact rows (3 m,), were all free.

        Returns
        -------
        (n, k) array
            Of the least w^T M w that moves the rows so (Gauss).
        """
        key = rows.tobytes()
        if key not in self._passive:
            back = self.whole_factor
            least = np.linalg.pinv(self.jacobian[rows] @ back, rcond=RANK)
            self._passive[key] = np.asarray(back[self.given] @ least)
        return self._passive[key]


def _same(one: Array, other: Array) -> bool:
    return one is other or np.array_equal(one, other)


class Geometries:
    """The last few of them."""

    def __init__(self) -> None:
        self._kept: list[InverseGeometry] = []

    def of(self, mass: Array, jacobian: Array, given: IntArray) -> InverseGeometry:
        """The one of these: kept, or new."""
        for one in self._kept:
            if one.is_of(mass, jacobian, given):
                return one
        made = InverseGeometry(mass, jacobian, given)
        made.take_factors(self._kept)
        self._kept = [made, *self._kept[: _KEPT - 1]]
        return made


def inverse_factor(A: Array) -> Array:
    """C^-1 of the lower Cholesky factor C of a symmetric positive definite matrix.

    Small matrices: an inverse costs less than what BLAS threads spend on meeting for a triangular
    solve.

    Raises
    ------
    ModelError
        For a matrix that is not positive definite.
    """
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(A)))
    except np.linalg.LinAlgError:
        raise ModelError("the mass matrix of the joints without motors is singular") from None
