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
from spatialops._arrays import Array, ArrayLike, IntArray, all_finite, array, not_finite
from spatialops.algebra.linear import block_diagonal, diagonal
from spatialops.dynamics.blocks import (
    articulated_inertias,
    gyroscopic_forces,
    link_inertias,
    shifted,
    upsilon_blocks,
)
from spatialops.dynamics.sweeps import factors_kernel, upsilon_kernel
from spatialops.errors import ArgumentError, ModelError
from spatialops.operators.hinged_operators import HingedOperators
from spatialops.operators.joint_operators import JointOperators
from spatialops.operators.link_changes import link_changes
from spatialops.operators.mass_inverse import MassInverse
from spatialops.operators.propagation import hinges, pick_off, propagation, step
from spatialops.operators.sensitivities import Sensitivities
from spatialops.operators.spatial_operator import SpatialOperator
from spatialops.operators.stacked_trees import (
    StackedTrees,
    checked_coordinates,
    node_arms,
    stacked_trees,
)
from spatialops.tree.model import Model
from spatialops.tree.node import NodeLike


class SpatialOperators(HingedOperators):
    """Jain's spatial operators of a mechanism at given coordinates.

    Parameters
    ----------
    model : Model
        n = model.nv links of one degree of freedom each: a joint of several is a chain of links
        without mass here, and one block in `joints`.
    q : (nq,) or (B, nq) array
        Coordinates, or those of B configurations: every operator is block diagonal over them then,
        on vectors below each other (`x.ravel()` of a (B, n) array), and n below stands for B n.
    v : (nv,) or (B, nv) array, optional
        Velocities, for `a` and `b`; default: at rest.

    Attributes
    ----------
    batch : tuple of int
        (B,), or () for a single configuration.
    phi, psi : (6 n, 6 n) SpatialOperator
        Rigid-body and articulated-body propagation of forces towards the base; `phi.inv` is
        1 - E_phi.
    E_phi, E_psi : (6 n, 6 n) SpatialOperator
        Their steps from child to parent: phi = (1 - E_phi)^-1, psi = (1 - E_psi)^-1, which
        `(1 - op.E_phi).inv` is.
    phi_tilde, psi_tilde : (6 n, 6 n) SpatialOperator
        phi - 1 and psi - 1: propagation from proper descendants only.
    H : (n, 6 n) SpatialOperator
        Hinge axes: forces of the joints from forces at the links; its adjoint gives velocities from
        rates.
    D, D_inverse : (n, n) SpatialOperator
        Diagonal: the inertia that each joint feels, armature included; kg m^2, kg.
    P : (6 n, 6 n) SpatialOperator
        Block diagonal: the links' articulated inertias.
    G : (6 n, n) SpatialOperator
        Kalman gain, G = P H* D^-1, block diagonal.
    tau, tau_bar : (6 n, 6 n) SpatialOperator
        G H and 1 - G H: of a force, what its joint answers and what it passes on; projections
        where there is no armature.
    K : (6 n, n) SpatialOperator
        Shifted gain, K(parent, k) = phi(parent, k) P(k) H*(k) / D(k).
    M : (6 n, 6 n) SpatialOperator
        Block diagonal: the links' spatial inertias.
    armature : (n, n) SpatialOperator
        Diagonal: reflected inertia of the drives.
    mass_matrix, mass_matrix_inverse : (n, n) SpatialOperator
        H phi M phi* H* + armature, and its inverse by innovations; each is the other's `inv`.
    innovation : (n, n) SpatialOperator
        1 - H psi K, whose inverse is 1 + H phi K.
    square_root : (n, n) SpatialOperator
        (1 + H phi K) D^(1/2), a square root of the mass matrix with a formula for its inverse.
    a, b : (n, 6) or (B, n, 6) arrays
        Coriolis accelerations of the links less their parents' (of origins, not spatial ones) and
        gyroscopic forces, at the velocities given: bias forces are H phi (M phi* a + b).
    upsilon, Omega : (6 n, 6 n) SpatialOperator
        Compliance kernel (block diagonal) and extended operational-space compliance.
    identity : (n, n) SpatialOperator
        The identity of joint space.
    joints : JointOperators
        Operators with one block a joint.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity, or no configuration at all.
    ModelError
        By the first operator that is asked for, if the mass matrix is singular.

    Notes
    -----
    Nothing is computed before an operator is asked for. The first product of `mass_matrix_inverse`
    with one vector is `mass_solve`, which makes no factors; the next ones keep them.

    Links are numbered from the base outwards, a parent before its children; rows 6 k .. 6 k +
    5 are link k, [angular; linear], in world axes about the link's own origin. phi(i, j) is
    non-zero where j is i or a descendant of i, so phi, psi and K are block UPPER triangular here;
    the paper numbers from the tips. Velocities go by the adjoints: V = phi* H* v. With armature D =
    H P H* + armature, and (59) holds for H phi M phi* H* + armature.

    References
    ----------
    [J] appendix, equations 59-69; G. Rodriguez, A. Jain and K. Kreutz-Delgado, A spatial operator
    algebra for manipulator modeling and control, 1991; diagonal velocities: A. Jain and G.
    Rodriguez, Diagonalized Lagrangian robot dynamics, 1995.

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

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike | None = None) -> None:
        self.model = model
        self._q, self._v = checked_coordinates(model, q, v)
        self.batch = self._q.shape[:-1]

    def __repr__(self) -> str:
        several = f" at {self.batch[0]} configurations" if self.batch else ""
        return f"SpatialOperators of {self.model.nv} links{several}"

    @property
    def a(self) -> Array:
        """(n, 6), (B, n, 6) Coriolis accelerations of the links less their parents'."""
        return self._by_link(self._work[:, layout.ALPHA : layout.ALPHA + 6].copy())

    @property
    def joints(self) -> JointOperators:
        """The same with one block a joint, D of d x d for a joint of d degrees of freedom."""
        return JointOperators(self.model, self._stack, self._levers, self._axes)

    @cached_property
    def phi(self) -> SpatialOperator:
        """(6 n, 6 n) phi: forces at a link from forces at all links that it carries ([J] 59)."""
        return SpatialOperator(
            propagation(self._tree, self._levers, self._axes, self._no_gains),
            lambda: 1 - self.E_phi,
        )

    @cached_property
    def psi(self) -> SpatialOperator:
        """(6 n, 6 n) psi: the same with joints that give way ([J] 59).

        psi(parent, k) = phi(parent, k) (1 - G(k) H(k)).
        """
        return SpatialOperator(
            propagation(self._tree, self._levers, self._axes, self._gains),
            lambda: 1 - self.E_psi,
        )

    @cached_property
    def E_phi(self) -> SpatialOperator:
        """(6 n, 6 n) E_phi: one step of phi, from children to parents."""
        return SpatialOperator(
            step(self._tree, self._levers, self._axes, self._no_gains),
            resolvent=lambda: self.phi,
        )

    @cached_property
    def E_psi(self) -> SpatialOperator:
        """(6 n, 6 n) E_psi: one step of psi, from children to parents."""
        return SpatialOperator(
            step(self._tree, self._levers, self._axes, self._gains), resolvent=lambda: self.psi
        )

    @cached_property
    def phi_tilde(self) -> SpatialOperator:
        """(6 n, 6 n) phi - 1 = phi E_phi, strictly triangular."""
        return self.phi @ self.E_phi

    @cached_property
    def psi_tilde(self) -> SpatialOperator:
        """(6 n, 6 n) psi - 1 = psi E_psi, strictly triangular ([J] 65)."""
        return self.psi @ self.E_psi

    @cached_property
    def H(self) -> SpatialOperator:
        """(n, 6 n) H: component of each link's force along its axis."""
        return SpatialOperator(hinges(self._axes)).H

    @cached_property
    def P(self) -> SpatialOperator:
        """(6 n, 6 n) P: articulated inertias about the links' origins, block diagonal.

        P = M + E_psi P E_phi* in its diagonal blocks: the Riccati equation of the appendix of [J].
        """
        return self._inertias(articulated_inertias(self._work), "P")

    @cached_property
    def G(self) -> SpatialOperator:
        """(6 n, n) Kalman gain G = P H* D^-1: a link's force for each unit of its joint's."""
        return SpatialOperator(hinges(self._gains))

    @cached_property
    def D(self) -> SpatialOperator:
        """(n, n) D = H P H* + armature, diagonal."""
        return self._diagonal(1.0 / self._D_inverse)

    @cached_property
    def D_inverse(self) -> SpatialOperator:
        """(n, n) D^-1."""
        return self._diagonal(self._D_inverse)

    @cached_property
    def M(self) -> SpatialOperator:
        """(6 n, 6 n) M: spatial inertias of the links about their origins, block diagonal."""
        return self._inertias(link_inertias(self._stack.links, self._work), "M")

    @cached_property
    def b(self) -> Array:
        """(n, 6), (B, n, 6) b: gyroscopic forces of the links about their origins."""
        inertias = link_inertias(self._stack.links, self._work)
        return self._by_link(gyroscopic_forces(inertias, self._work))

    @cached_property
    def mass_matrix(self) -> SpatialOperator:
        """(n, n) mass matrix, H phi M phi* H* + armature ([J] 59, first line)."""
        newton_euler = self.H @ self.phi @ self.M @ self.phi.H @ self.H.H
        return SpatialOperator(newton_euler + self.armature, lambda: self.mass_matrix_inverse)

    @cached_property
    def square_root(self) -> SpatialOperator:
        """(n, n) (1 + H phi K) D^(1/2), triangular: the mass matrix is it times its adjoint.

        With it velocities nu = square_root.H @ v have unit mass, kinetic energy nu . nu / 2.
        """
        return self.innovation.inv @ self._diagonal(self._D_inverse**-0.5)

    @property  # not kept: with its inverse it holds all of this, which would never be freed at once
    def mass_matrix_inverse(self) -> SpatialOperator:
        """(n, n) (1 - H psi K)* D^-1 (1 - H psi K) ([J] 59, last line), one sweep each way."""
        made = self.batch or "_factors" in self.__dict__
        single = None if made else (self.model, self._q)
        return MassInverse(
            self._q.size // self.model.nq * self.model.nv,
            single,
            lambda: (self._tree, *self._factors),
            lambda: self.mass_matrix,
        )

    @cached_property
    def upsilon(self) -> SpatialOperator:
        """(6 n, 6 n) Upsilon: block-diagonal part of Omega ([J] 66-68)."""
        return SpatialOperator(block_diagonal(self._upsilons))

    @cached_property
    def Omega(self) -> SpatialOperator:
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
        (6, 6) or (B, 6, 6) array
            About the links' origins, world axes.

        Raises
        ------
        ArgumentError
            For an index out of range.

        References
        ----------
        [J] equation 69.

        Examples
        --------
        >>> import numpy as np
        >>> from spatialops.models import pendulum
        >>> from spatialops.operators import SpatialOperators
        >>> op = SpatialOperators(pendulum(2).model, [0.3, -0.5])
        >>> np.allclose(op.omega(0, 1), op.omega(1, 0).T)
        True
        """
        a, b = self._link(i, "i"), self._link(j, "j")
        left, right = self._ones(), self._ones()
        while a != b:  # up to the nearest link that carries both: a parent has the smaller number
            if a > b:
                left, a = self._block_step(self._gains, a) @ left, int(self._parents[a])
            else:
                right, b = self._block_step(self._gains, b) @ right, int(self._parents[b])
        if a < 0:
            return np.zeros((*self.batch, 6, 6))
        return np.swapaxes(left, -1, -2) @ self._by_link(self._upsilons)[..., a, :, :] @ right

    def phi_block(self, i: int, j: int) -> Array:
        """Block (i, j) of phi: force at link i from a unit force at link j, in O(depth).

        Parameters
        ----------
        i : int
            Link that carries, from 0 to n - 1.
        j : int
            Link that is pushed.

        Returns
        -------
        (6, 6) or (B, 6, 6) array
            Zero where i does not carry j.

        Raises
        ------
        ArgumentError
            For an index out of range.
        """
        return self._block(self._no_gains, i, j)

    def psi_block(self, i: int, j: int) -> Array:
        """Block (i, j) of psi: as `phi_block`, with joints on the way that give way.

        Parameters
        ----------
        i : int
            Link that carries, from 0 to n - 1.
        j : int
            Link that is pushed.

        Returns
        -------
        (6, 6) or (B, 6, 6) array
            Zero where i does not carry j.

        Raises
        ------
        ArgumentError
            For an index out of range.
        """
        return self._block(self._gains, i, j)

    def B(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Pick-off operator of nodes: its adjoint gives their velocities from the links'.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n, 6 n_c) SpatialOperator
            Forces at links from forces at nodes, world axes.

        References
        ----------
        [J] equation 61.
        """
        links, levers = node_arms(self.model, self._stack, nodes)
        return SpatialOperator(pick_off(len(self._tree), links, levers))

    def jacobian(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Jacobian of nodes, J = B* phi* H*.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, n) SpatialOperator
            Velocities [angular; linear] of nodes from those of joints.

        References
        ----------
        [J] equation 61.
        """
        return self.B(nodes).H @ self.phi.H @ self.H.H

    def compliance(self, nodes: Sequence[NodeLike]) -> SpatialOperator:
        """Operational-space compliance of nodes, Lambda = B* Omega B.

        Parameters
        ----------
        nodes : sequence of Node
            Points of bodies.

        Returns
        -------
        (6 n_c, 6 n_c) SpatialOperator
            Velocities of nodes from impulses on them.

        References
        ----------
        [J] equation 64.
        """
        pick = self.B(nodes)
        return pick.H @ self.Omega @ pick

    def sensitivities(self, direction: ArrayLike) -> Sensitivities:
        """Derivatives of the operators along a direction of motion, as operators.

        Parameters
        ----------
        direction : (nv,) or (B, nv) array
            u, as a velocity: of the operators at `integrate(model, q, s * u)`, by s at 0.

        Returns
        -------
        Sensitivities
            With the names that the operators have here.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.

        References
        ----------
        A. Jain and G. Rodriguez, Linearization of manipulator dynamics using spatial operators,
        1993.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> from spatialops.operators import SpatialOperators, dense
        >>> model, q, u = so.models.pendulum(2).model, [0.3, -0.5], [0.0, 1.0]
        >>> by = SpatialOperators(model, q).sensitivities(u)
        >>> bool(np.allclose(dense(by.mass_matrix), so.mass_matrix_derivative(model, q, u)))
        True
        """
        u = array(direction, (*self.batch, self.model.nv), "direction")
        if not all_finite(u):
            raise not_finite(direction=u)
        return Sensitivities(self, self._stack, link_changes(self._stack, u.ravel()))

    @cached_property
    def _stack(self) -> StackedTrees:
        return stacked_trees(self.model, self._q, self._v)

    @cached_property
    def _factors(self) -> tuple[Array, Array, Array, Array]:
        """Levers (n, 3), axes H* (n, 6), gains G (n, 6), and D^-1 (n,) of all links."""
        n = len(self._tree)
        parts = np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6)), np.empty(n)
        factors_kernel(self._tree, self._stack.links, self._work, *parts)
        return parts

    @property
    def _tree(self) -> IntArray:
        return self._stack.tree

    @property
    def _work(self) -> Array:
        return self._stack.work

    @property
    def _parents(self) -> IntArray:
        return self.model.tree[:, layout.PARENT]

    @property
    def _levers(self) -> Array:
        return self._factors[0]

    @property
    def _axes(self) -> Array:
        return self._factors[1]

    @property
    def _gains(self) -> Array:
        return self._factors[2]

    @property
    def _D_inverse(self) -> Array:
        return self._factors[3]

    @cached_property
    def _no_gains(self) -> Array:
        return np.zeros_like(self._gains)

    @cached_property
    def _upsilons(self) -> Array:
        ups = np.empty((len(self._tree), layout.UPSILON_COLUMNS))
        upsilon_kernel(self._tree, self._stack.links, self._work, ups)
        return upsilon_blocks(ups)

    def _link(self, link: object, name: str) -> int:
        if not isinstance(link, (int, np.integer)) or not 0 <= link < self.model.nv:
            raise ArgumentError(
                f"{name}: expected the index of a link, 0 to {self.model.nv - 1}, got {link!r}"
            )
        return int(link)

    def _diagonal(self, values: Array) -> SpatialOperator:
        return SpatialOperator(diagonal(values), lambda: diagonal(1.0 / values))

    def _inertias(self, blocks: Array, name: str) -> SpatialOperator:
        def inverse() -> LinearOperator:
            bare = np.flatnonzero(np.linalg.cond(blocks) > 1.0 / np.finfo(np.float64).eps)
            if bare.size:
                joint = self.model.joint_of_link(int(bare[0]) % self.model.nv)
                raise ModelError(f"{name} has no inverse: a link of joint {joint!r} has no inertia")
            return block_diagonal(np.asarray(np.linalg.inv(blocks)))

        return SpatialOperator(block_diagonal(blocks), inverse)

    def _block(self, gains: Array, i: int, j: int) -> Array:
        a, b = self._link(i, "i"), self._link(j, "j")
        block = self._ones()
        while b > a:  # a parent has the smaller number
            block, b = self._block_step(gains, b) @ block, int(self._parents[b])
        return block if a == b else np.zeros_like(block)

    def _block_step(self, gains: Array, k: int) -> Array:
        """Block (parent, k) of E_phi or, with the Kalman gains, of E_psi."""
        axis, gain = self._by_link(self._axes)[..., k, :], self._by_link(gains)[..., k, :]
        lever = self._by_link(self._levers)[..., k, None, :]
        kept = np.eye(6) - axis[..., :, None] * gain[..., None, :]
        return np.swapaxes(shifted(kept, lever), -1, -2)

    def _ones(self) -> Array:
        """The unit block of every configuration."""
        return np.broadcast_to(np.eye(6), (*self.batch, 6, 6)).copy()

    def _by_link(self, values: Array) -> Array:
        """(n, ...) or (B, n, ...) of what all links of the stack have."""
        return values.reshape(*self.batch, self.model.nv, *values.shape[1:])
