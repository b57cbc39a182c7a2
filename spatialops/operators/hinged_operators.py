"""What follows from the hinges, whatever moves with one step: a link or a joint's body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from spatialops import _layout as layout
from spatialops.algebra.linear import diagonal
from spatialops.operators.spatial_operator import SpatialOperator, identity
from spatialops.operators.stacked_trees import StackedTrees


class HingedOperators(ABC):
    """Operators that are products of H, G, E_phi, phi and psi: [J] 59 in either size of block.

    n is the number of velocities, b that of blocks, links or bodies.
    """

    @property
    @abstractmethod
    def _stack(self) -> StackedTrees:
        """The mechanism, placed and factored."""

    @property
    @abstractmethod
    def E_phi(self) -> SpatialOperator:
        """(6 b, 6 b) one step of phi, from children to parents."""

    @property
    @abstractmethod
    def phi(self) -> SpatialOperator:
        """(6 b, 6 b) phi = (1 - E_phi)^-1."""

    @property
    @abstractmethod
    def psi(self) -> SpatialOperator:
        """(6 b, 6 b) psi = (1 - E_psi)^-1."""

    @property
    @abstractmethod
    def H(self) -> SpatialOperator:
        """(n, 6 b) components of forces along the axes of the joints."""

    @property
    @abstractmethod
    def G(self) -> SpatialOperator:
        """(6 b, n) Kalman gain G = P H* D^-1."""

    @cached_property
    def K(self) -> SpatialOperator:
        """(6 b, n) K = E_phi G."""
        return self.E_phi @ self.G

    @cached_property
    def tau(self) -> SpatialOperator:
        """(6 b, 6 b) tau = G H: what joints answer of forces, a projection if without armature."""
        return self.G @ self.H

    @cached_property
    def tau_bar(self) -> SpatialOperator:
        """(6 b, 6 b) 1 - G H: what of forces passes through the joints, E_psi = E_phi tau_bar."""
        return 1 - self.tau

    @cached_property
    def armature(self) -> SpatialOperator:
        """(n, n) diagonal of what the joints' drives add to the mass matrix, kg m^2 (kg)."""
        return SpatialOperator(diagonal(self._stack.links[:, layout.ARMATURE]))

    @cached_property
    def identity(self) -> SpatialOperator:
        """(n, n) identity."""
        return identity(len(self._stack.tree))

    @cached_property
    def innovation(self) -> SpatialOperator:
        """(n, n) 1 - H psi K, the inverse of 1 + H phi K ([J] 59, third line)."""
        return SpatialOperator(
            1 - self.H @ self.psi @ self.K, lambda: 1 + self.H @ self.phi @ self.K
        )
