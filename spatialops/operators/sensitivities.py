"""Sensitivities: derivatives of spatial operators along a direction of motion, as operators.

Steps, axes and inertias are differentiated link by link (`link_changes.py`); all that is made of
them follows by the product rule, so that each applies itself in O(N) too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops import _layout as layout
from spatialops.algebra.linear import block_diagonal, diagonal
from spatialops.operators.link_changes import LinkChanges
from spatialops.operators.propagation import hinges, swung_pick_off
from spatialops.operators.spatial_operator import SpatialOperator
from spatialops.operators.stacked_trees import StackedTrees, node_arms
from spatialops.tree.node import NodeLike

if TYPE_CHECKING:
    from spatialops.operators.spatial_operators import SpatialOperators


class Sensitivities:
    """Derivatives of the operators of the same names, as `SpatialOperators.sensitivities` makes.

    Parameters
    ----------
    operators : SpatialOperators
        At the coordinates at which they are differentiated.
    stack : StackedTrees
        What those are made of.
    changes : LinkChanges
        How that changes along the direction.

    Attributes
    ----------
    E_phi, E_psi, phi, psi : (6 n, 6 n) SpatialOperator
        Derivatives of steps and propagations. Those of `phi_tilde` and `psi_tilde` are the same.
    H : (n, 6 n) SpatialOperator
        Of hinge axes, which turn with what carries them.
    D, D_inverse : (n, n) SpatialOperator
        Of what joints feel; diagonal.
    M, P : (6 n, 6 n) SpatialOperator
        Of links' and articulated inertias; block diagonal.
    G, K : (6 n, n) SpatialOperator
        Of Kalman gain and shifted gain.
    tau : (6 n, 6 n) SpatialOperator
        Of G H; that of `tau_bar` is its negative.
    mass_matrix, mass_matrix_inverse, innovation, square_root : (n, n) SpatialOperator
        Of the mass matrix, its inverse and its factors. Armature does not change.
    Omega : (6 n, 6 n) SpatialOperator
        Of the extended operational-space compliance.

    Notes
    -----
    Components are those in world axes about the links' own origins, as the operators' are. There
    phi(i, j) is the shift by the lever from i to j and changes by a moment only: with N the block
    diagonal of the origins' velocities v_k, N(k) (m, f) = (v_k x f, 0), its derivative is
    phi N - N phi, which needs no product in between. In the links' axes, where [Jain and Rodriguez]
    and Pinocchio have their formulas, H and M would not change.

    References
    ----------
    A. Jain and G. Rodriguez, Linearization of manipulator dynamics using spatial operators, IEEE
    Transactions on Systems, Man and Cybernetics 23, 1993; A. Jain, Robot and multibody dynamics,
    2011, chapter 18.

    Examples
    --------
    Of phi (1 - E_phi) = 1, of the factor of the mass matrix and its inverse, and of the mass matrix
    by factors and by links:

    >>> import numpy as np, spatialops as so
    >>> from spatialops.operators import SpatialOperators, dense
    >>> model, u = so.models.pendulum(4).model, [1.0, -0.5, 0.3, 2.0]
    >>> op = SpatialOperators(model, [0.3, -0.5, 0.2, 0.1])
    >>> d = op.sensitivities(u)
    >>> def same(a, b):
    ...     return bool(np.allclose(dense(a), dense(b), rtol=0.0, atol=1e-11))
    >>> same(d.phi @ (1 - op.E_phi), op.phi @ d.E_phi)
    True
    >>> factor = op.innovation.inv
    >>> change = d.H @ op.phi @ op.K + op.H @ d.phi @ op.K + op.H @ op.phi @ d.K
    >>> same(d.innovation, -(op.innovation @ change @ op.innovation))
    True
    >>> half = change @ op.D @ factor.H
    >>> same(d.mass_matrix, half + half.H + factor @ d.D @ factor.H)
    True
    >>> tip = [so.Node("link4", (0.0, 0.0, -0.5))]
    >>> by_kernel = so.compliance_derivative(model, [0.3, -0.5, 0.2, 0.1], u, tip)
    >>> bool(np.allclose(dense(d.compliance(tip)), by_kernel))
    True
    """

    def __init__(
        self, operators: SpatialOperators, stack: StackedTrees, changes: LinkChanges
    ) -> None:
        self.operators = operators
        self._stack = stack
        self._changes = changes

    def __repr__(self) -> str:
        return f"Sensitivities of {self.operators!r}"

    @cached_property
    def E_phi(self) -> SpatialOperator:
        """(6 n, 6 n) of E_phi: moments of levers that change."""
        parents = self._stack.tree[:, layout.PARENT]
        levers = self._changes.levers[parents >= 0]
        return SpatialOperator(swung_pick_off(len(parents), parents, levers))

    @cached_property
    def E_psi(self) -> SpatialOperator:
        """(6 n, 6 n) of E_psi = E_phi tau_bar."""
        op = self.operators
        return SpatialOperator(self.E_phi @ op.tau_bar - op.E_phi @ self.tau)

    @cached_property
    def phi(self) -> SpatialOperator:
        """(6 n, 6 n) of phi = (1 - E_phi)^-1: phi dE_phi phi."""
        return self.operators.phi @ self.E_phi @ self.operators.phi

    @cached_property
    def psi(self) -> SpatialOperator:
        """(6 n, 6 n) of psi = (1 - E_psi)^-1: psi dE_psi psi."""
        return self.operators.psi @ self.E_psi @ self.operators.psi

    @cached_property
    def H(self) -> SpatialOperator:
        """(n, 6 n) of H."""
        return SpatialOperator(hinges(self._changes.axes)).H

    @cached_property
    def M(self) -> SpatialOperator:
        """(6 n, 6 n) of M, block diagonal."""
        return SpatialOperator(block_diagonal(self._changes.inertias))

    @cached_property
    def P(self) -> SpatialOperator:
        """(6 n, 6 n) of P, block diagonal: the Riccati equation, differentiated."""
        return SpatialOperator(block_diagonal(self._changes.articulated))

    @cached_property
    def D(self) -> SpatialOperator:
        """(n, n) of D = H P H* + armature, diagonal."""
        return SpatialOperator(diagonal(self._changes.D))

    @cached_property
    def D_inverse(self) -> SpatialOperator:
        """(n, n) of D^-1: -D^-1 dD D^-1."""
        inverse = self._stack.work[:, layout.D_INVERSE]
        return SpatialOperator(diagonal(-(inverse**2) * self._changes.D))

    @cached_property
    def G(self) -> SpatialOperator:
        """(6 n, n) of G = P H* D^-1."""
        return SpatialOperator(hinges(self._changes.gains))

    @cached_property
    def tau(self) -> SpatialOperator:
        """(6 n, 6 n) of tau = G H."""
        op = self.operators
        return SpatialOperator(self.G @ op.H + op.G @ self.H)

    @cached_property
    def K(self) -> SpatialOperator:
        """(6 n, n) of K = E_phi G."""
        op = self.operators
        return SpatialOperator(self.E_phi @ op.G + op.E_phi @ self.G)

    @cached_property
    def mass_matrix(self) -> SpatialOperator:
        """(n, n) of H phi M phi* H*."""
        op = self.operators
        J = op.H @ op.phi
        half = self._H_phi @ op.M @ J.H
        return SpatialOperator(half + half.H + J @ self.M @ J.H)

    @cached_property
    def mass_matrix_inverse(self) -> SpatialOperator:
        """(n, n) of the inverse: -M^-1 dM M^-1."""
        inverse = self.operators.mass_matrix_inverse
        return _negative(inverse @ self.mass_matrix @ inverse)

    @cached_property
    def innovation(self) -> SpatialOperator:
        """(n, n) of 1 - H psi K."""
        op = self.operators
        return _negative(self._H_psi @ op.K + op.H @ op.psi @ self.K)

    @cached_property
    def square_root(self) -> SpatialOperator:
        """(n, n) of (1 + H phi K) D^(1/2)."""
        op = self.operators
        root = self._stack.work[:, layout.D_INVERSE] ** -0.5
        factor = self._H_phi @ op.K + op.H @ op.phi @ self.K
        stretched = op.innovation.inv @ diagonal(0.5 * self._changes.D / root)
        return SpatialOperator(factor @ diagonal(root) + stretched)

    @cached_property
    def Omega(self) -> SpatialOperator:
        """(6 n, 6 n) of Omega = psi* H* D^-1 H psi."""
        op = self.operators
        J = op.H @ op.psi
        half = self._H_psi.H @ op.D_inverse @ J
        return SpatialOperator(half + half.H + J.H @ self.D_inverse @ J)

    def B(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Of the pick-off operator of nodes.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n, 6 n_c) SpatialOperator
            Moments at links of forces at nodes, world axes.
        """
        links, levers = node_arms(self.operators.model, self._stack, nodes)
        rates = np.cross(self._changes.spins[links[links >= 0]], levers)
        return SpatialOperator(swung_pick_off(len(self._stack.tree), links, rates))

    def jacobian(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Of the Jacobian of nodes, J = B* phi* H*.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, n) SpatialOperator
            Where the direction is the velocity v, J changes at this rate: its product with v is
            `jacobian_drift`.
        """
        op = self.operators
        B = op.B(nodes)
        return SpatialOperator(B.H @ self._H_phi.H + self.B(nodes).H @ op.phi.H @ op.H.H)

    def compliance(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Of the operational-space compliance of nodes, Lambda = B* Omega B.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, 6 n_c) SpatialOperator
            O(N) to apply: no column of M^-1 is formed.
        """
        B = self.operators.B(nodes)
        half = self.B(nodes).H @ self.operators.Omega @ B
        return SpatialOperator(half + half.H + B.H @ self.Omega @ B)

    @cached_property
    def _H_phi(self) -> SpatialOperator:
        op = self.operators
        return SpatialOperator(self.H @ op.phi + op.H @ self.phi)

    @cached_property
    def _H_psi(self) -> SpatialOperator:
        op = self.operators
        return SpatialOperator(self.H @ op.psi + op.H @ self.psi)


def _negative(operator: LinearOperator) -> SpatialOperator:
    return SpatialOperator(-operator)
