"""The spatial operators of a tree, to be read, typed in and checked as Jain's appendix has them.

Every operator applies itself in O(N), by a sweep over the links. Products with `@`, sums, adjoints
(`.H`) and the slow form `dense` make any formula of the appendix a line of code. Solvers do not go
through here: the kernels of `spatialops.dynamics` compute the same without forming anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, not_finite, vector
from spatialops.algebra.linear import block_diagonal, dense, diagonal, operator
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.blocks import (
    add_at,
    joint_axes,
    link_inertias,
    moved,
    shifted,
    upsilon_blocks,
)
from spatialops.dynamics.jacobian import node_points
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.sweeps import gather_kernel, scatter_kernel, upsilon_kernel
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import NodeLike

__all__ = ["SpatialOperators", "dense"]


class SpatialOperators:
    """Jain's spatial operators of a mechanism at given coordinates.

    Parameters
    ----------
    model : Model
        n = model.nv links of one degree of freedom each: a joint of several is a chain of links
        without mass.
    q : (nq,) array
        Coordinates.

    Attributes
    ----------
    phi, psi : (6 n, 6 n) LinearOperator
        Rigid-body and articulated-body propagation of forces towards the base.
    E_phi, E_psi : (6 n, 6 n) LinearOperator
        Their steps from child to parent: phi = (1 - E_phi)^-1, psi = (1 - E_psi)^-1.
    H : (n, 6 n) LinearOperator
        Hinge axes: forces of the joints from forces at the links; its adjoint gives velocities from
        rates.
    D, D_inverse : (n, n) LinearOperator
        Diagonal: the inertia that each joint feels, armature included; kg m^2, kg.
    K : (6 n, n) LinearOperator
        Shifted gain, K(parent, k) = phi(parent, k) P(k) H*(k) / D(k).
    M : (6 n, 6 n) LinearOperator
        Block diagonal: the links' spatial inertias.
    armature : (n, n) LinearOperator
        Diagonal: reflected inertia of the drives.
    mass_matrix, mass_matrix_inverse : (n, n) LinearOperator
        H phi M phi* H* + armature, and its inverse by innovations.
    upsilon, Omega : (6 n, 6 n) LinearOperator
        Compliance kernel (block diagonal) and extended operational-space compliance.
    identity : (n, n) LinearOperator
        The identity of joint space.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    ModelError
        If the mass matrix is singular.

    Notes
    -----
    Links are numbered from the base outwards, a parent before its children; rows 6 k .. 6 k +
    5 are link k, [angular; linear], in world axes about the link's own origin. phi(i, j) is
    non-zero where j is i or a descendant of i, so phi, psi and K are block UPPER triangular here;
    the paper numbers from the tips. Velocities go by the adjoints: V = phi* H* v. With armature D =
    H P H* + armature, and (59) holds for H phi M phi* H* + armature.

    References
    ----------
    [J] appendix, equations 59-69; Rodriguez, Jain and Kreutz-Delgado 1991.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.operators import SpatialOperators, dense
    >>> builder = so.TreeBuilder()
    >>> for name, parent in (("upper", "world"), ("lower", "upper")):
    ...     joint = so.Joint("revolute", axis="y")
    ...     rod = so.Inertia.capsule(0.1, 1.0, mass=2.0).shifted((0, 0, -0.5))
    ...     place = {"parent": parent, "joint": joint, "position": (0, 0, -1.0)}
    ...     _ = builder.add_body(name, inertia=rod, **place)
    >>> model, q = builder.build(), np.array([0.3, -0.5])
    >>> op = SpatialOperators(model, q)
    >>> np.allclose(dense(op.H @ op.phi @ op.M @ op.phi.H @ op.H.H), so.mass_matrix(model, q))
    True
    >>> tip = [so.Node("lower", (0.0, 0.0, -1.0))]
    >>> np.allclose(dense(op.compliance(tip)), so.compliance(model, q, tip))
    True
    """

    def __init__(self, model: Model, q: ArrayLike) -> None:
        self.model = model
        q = vector(q, model.nq, "q")
        self._work = np.empty((model.nv, layout.WORK_COLUMNS))
        if poses_kernel(model.tree, model.links, q, self._work) != layout.OK:
            raise not_finite(q=q)
        if factor_kernel(model.tree, model.links, self._work) != layout.OK:
            raise singular_joint(model, self._work)
        self._parents = model.tree[:, layout.PARENT]
        self._levers = self._work[:, layout.LEVER : layout.LEVER + 3].copy()
        self._axes = joint_axes(model, self._work)
        self._gains = (
            self._work[:, layout.GAIN_M : layout.GAIN_M + 6] * self._work[:, layout.D_INVERSE, None]
        )
        self._no_gains = np.zeros_like(self._gains)

    def __repr__(self) -> str:
        return f"SpatialOperators of {self.model.nv} links"

    @cached_property
    def phi(self) -> LinearOperator:
        """(6 n, 6 n) phi: forces at a link from forces at all links that it carries ([J] 59)."""
        return self._propagation(self._no_gains)

    @cached_property
    def psi(self) -> LinearOperator:
        """(6 n, 6 n) psi: the same with joints that give way ([J] 59).

        psi(parent, k) = phi(parent, k) (1 - G(k) H(k)).
        """
        return self._propagation(self._gains)

    @cached_property
    def E_phi(self) -> LinearOperator:
        """(6 n, 6 n) E_phi: one step of phi, from children to parents."""
        return self._step(self._no_gains)

    @cached_property
    def E_psi(self) -> LinearOperator:
        """(6 n, 6 n) E_psi: one step of psi, from children to parents."""
        return self._step(self._gains)

    @cached_property
    def H(self) -> LinearOperator:
        """(n, 6 n) H: component of each link's force along its axis."""
        return self._hinges(self._axes).T

    @cached_property
    def D(self) -> LinearOperator:
        """(n, n) D = H P H* + armature, diagonal."""
        return diagonal(1.0 / self._work[:, layout.D_INVERSE])

    @cached_property
    def D_inverse(self) -> LinearOperator:
        """(n, n) D^-1."""
        return diagonal(self._work[:, layout.D_INVERSE])

    @cached_property
    def K(self) -> LinearOperator:
        """(6 n, n) K = E_phi G with the Kalman gain G = P H* D^-1."""
        return self.E_phi @ self._hinges(self._gains)

    @cached_property
    def M(self) -> LinearOperator:
        """(6 n, 6 n) M: spatial inertias of the links about their origins, block diagonal."""
        return block_diagonal(link_inertias(self.model, self._work))

    @cached_property
    def armature(self) -> LinearOperator:
        """(n, n) diagonal of what the joints' drives add to the mass matrix, kg m^2 (kg)."""
        return diagonal(self.model.links[:, layout.ARMATURE])

    @cached_property
    def identity(self) -> LinearOperator:
        """(n, n) identity."""
        return diagonal(np.ones(self.model.nv))

    @cached_property
    def mass_matrix(self) -> LinearOperator:
        """(n, n) mass matrix, H phi M phi* H* + armature ([J] 59, first line)."""
        return self.H @ self.phi @ self.M @ self.phi.H @ self.H.H + self.armature

    @cached_property
    def mass_matrix_inverse(self) -> LinearOperator:
        """(n, n) (1 - H psi K)* D^-1 (1 - H psi K) ([J] 59, last line)."""
        innovation = self.identity - self.H @ self.psi @ self.K
        return innovation.H @ self.D_inverse @ innovation

    @cached_property
    def upsilon(self) -> LinearOperator:
        """(6 n, 6 n) Upsilon: block-diagonal part of Omega ([J] 66-68)."""
        return block_diagonal(self._upsilons)

    @cached_property
    def Omega(self) -> LinearOperator:
        """(6 n, 6 n) Omega = psi* H* D^-1 H psi: velocities at all links from impulses ([J] 64)."""
        return self.psi.H @ self.H.H @ self.D_inverse @ self.H @ self.psi

    def omega(self, i: int, j: int) -> Array:
        """Block (i, j) of Omega: velocity of link i from a unit impulse at link j, in O(depth).

        Parameters
        ----------
        i : int
            Link that moves, from 0 to n - 1.
        j : int
            Link that is pushed.

        Returns
        -------
        (6, 6) array
            About the links' origins, world axes.

        Raises
        ------
        ArgumentError
            For an index out of range.

        References
        ----------
        [J] equation 69.
        """
        a, b = self._link(i, "i"), self._link(j, "j")
        left, right = np.eye(6), np.eye(6)
        while a != b:  # up to the nearest link that carries both: a parent has the smaller number
            if a > b:
                left, a = self._psi_step(a) @ left, int(self._parents[a])
            else:
                right, b = self._psi_step(b) @ right, int(self._parents[b])
        return np.zeros((6, 6)) if a < 0 else left.T @ self._upsilons[a] @ right

    def B(self, nodes: Sequence[NodeLike]) -> LinearOperator:
        """Pick-off operator of nodes: its adjoint gives their velocities from the links'.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n, 6 n_c) LinearOperator
            Forces at links from forces at nodes, world axes.

        References
        ----------
        [J] equation 61.
        """
        links, offsets = self.model.resolve(nodes)
        points = np.empty((links.size, 3))
        n = self.model.nv
        m = links.size
        node_points(links, offsets, self._work, points)
        levers = (points - self._work[links, layout.ORIGIN : layout.ORIGIN + 3])[links >= 0]
        moving = links >= 0

        def forces(rows: Array) -> Array:
            out = np.zeros((len(rows), n, 6))
            add_at(out, links[moving], shifted(rows.reshape(len(rows), m, 6)[:, moving], levers))
            return out.reshape(len(rows), 6 * n)

        def velocities(rows: Array) -> Array:
            out = np.zeros((len(rows), m, 6))
            out[:, moving] = moved(rows.reshape(len(rows), n, 6)[:, links[moving]], levers)
            return out.reshape(len(rows), 6 * m)

        return operator((6 * n, 6 * m), forces, velocities)

    def jacobian(self, nodes: Sequence[NodeLike]) -> LinearOperator:
        """Jacobian of nodes, J = B* phi* H*.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, n) LinearOperator
            Velocities [angular; linear] of nodes from those of joints.

        References
        ----------
        [J] equation 61.
        """
        return self.B(nodes).H @ self.phi.H @ self.H.H

    def compliance(self, nodes: Sequence[NodeLike]) -> LinearOperator:
        """Operational-space compliance of nodes, Lambda = B* Omega B.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, 6 n_c) LinearOperator
            Velocities of nodes from impulses on them.

        References
        ----------
        [J] equation 64.
        """
        pick = self.B(nodes)
        return pick.H @ self.Omega @ pick

    @cached_property
    def _upsilons(self) -> Array:
        ups = np.empty((self.model.nv, layout.UPSILON_COLUMNS))
        upsilon_kernel(self.model.tree, self.model.links, self._work, ups)
        return upsilon_blocks(ups)

    def _link(self, link: object, name: str) -> int:
        if not isinstance(link, (int, np.integer)) or not 0 <= link < self.model.nv:
            raise ArgumentError(
                f"{name}: expected the index of a link, 0 to {self.model.nv - 1}, got {link!r}"
            )
        return int(link)

    def _psi_step(self, k: int) -> Array:
        kept = np.eye(6) - np.outer(self._axes[k], self._gains[k])
        return shifted(kept, self._levers[k]).T

    def _propagation(self, gains: Array) -> LinearOperator:
        tree = self.model.tree
        levers = self._levers
        axes = self._axes

        def gather(rows: Array) -> Array:
            gather_kernel(tree, levers, axes, gains, rows.reshape(-1, 6))
            return rows

        def scatter(rows: Array) -> Array:
            scatter_kernel(tree, levers, axes, gains, rows.reshape(-1, 6))
            return rows

        return operator((6 * self.model.nv,) * 2, gather, scatter)

    def _step(self, gains: Array) -> LinearOperator:
        n, hung = self.model.nv, np.flatnonzero(self._parents >= 0)
        parents = self._parents[hung]
        levers = self._levers[hung]
        axes = self._axes[hung]
        gains = gains[hung]

        def up(rows: Array) -> Array:
            X, out = rows.reshape(len(rows), n, 6)[:, hung], np.zeros((len(rows), n, 6))
            X = X - (X * axes).sum(-1, keepdims=True) * gains
            add_at(out, parents, shifted(X, levers))
            return out.reshape(rows.shape)

        def down(rows: Array) -> Array:
            X, out = (
                moved(rows.reshape(len(rows), n, 6)[:, parents], levers),
                np.zeros((len(rows), n, 6)),
            )
            out[:, hung] = X - (X * gains).sum(-1, keepdims=True) * axes
            return out.reshape(rows.shape)

        return operator((6 * n, 6 * n), up, down)

    def _hinges(self, columns: Array) -> LinearOperator:
        """(6 n, n) block-diagonal operator of one spatial vector a link."""
        n = self.model.nv
        return operator(
            (6 * n, n),
            lambda rows: (rows[:, :, None] * columns).reshape(-1, 6 * n),
            lambda rows: (rows.reshape(len(rows), n, 6) * columns).sum(-1),
        )
