"""Spatial operators with one block a joint: H of d rows, D of d x d, as [J] has them.

`SpatialOperators` has a link for each degree of freedom, so that D is a number there. Here a joint
of d degrees of freedom is one step from its body to the body that carries it: with H_k of d rows,

    D_k = H_k P_k H_k* + armature,  G_k = P_k H_k* D_k^-1,  psi(p, k) = phi(p, k) (1 - G_k H_k),

P being the articulated inertia of the body with its own joint held. Both are the same mechanism:
psi between bodies is the product of psi along the links of a joint, and the factors differ by a
triangular one of d x d, M = (1 + H phi K) D (1 + H phi K)* with either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.algebra.linear import block_diagonal, operator
from spatialops.dynamics.blocks import articulated_inertias, link_inertias, moved, shifted
from spatialops.dynamics.sweeps import gather_blocks_kernel, scatter_blocks_kernel
from spatialops.errors import ArgumentError
from spatialops.operators.hinged_operators import HingedOperators
from spatialops.operators.spatial_operator import SpatialOperator
from spatialops.operators.stacked_trees import StackedTrees
from spatialops.tree.model import Model

_WIDEST = 6  # degrees of freedom of a free joint


class JointOperators(HingedOperators):
    """Jain's spatial operators of a mechanism with one block a joint.

    Made by `SpatialOperators.joints`. J is the number of joints that move, or B times that for B
    configurations, in the order of `names`; n that of velocities. Forces and velocities of bodies
    are about the origins of the bodies' own links, in world axes.

    Attributes
    ----------
    names : tuple of str
        The joints that move, parents first.
    phi, psi : (6 J, 6 J) SpatialOperator
        Propagation of forces towards the base, past joints that are held or that give way.
    E_phi, E_psi : (6 J, 6 J) SpatialOperator
        Their steps from child to parent.
    H : (n, 6 J) SpatialOperator
        Forces of the joints from forces at the bodies; its adjoint gives velocities across joints.
    M, P : (6 J, 6 J) SpatialOperator
        Inertias of the bodies alone, and articulated ones; block diagonal.
    D, D_inverse : (n, n) SpatialOperator
        Block diagonal, d x d a joint: what the joints feel, armature included.
    G : (6 J, n) SpatialOperator
        Kalman gain G = P H* D^-1.
    K : (6 J, n) SpatialOperator
        Shifted gain E_phi G.
    tau, tau_bar : (6 J, 6 J) SpatialOperator
        G H and 1 - G H.
    innovation : (n, n) SpatialOperator
        1 - H psi K, whose inverse is 1 + H phi K.
    mass_matrix, mass_matrix_inverse : (n, n) SpatialOperator
        By their factors of D; each is the other's `inv`.

    References
    ----------
    [J] appendix, equation 59; A. Jain, Robot and Multibody Dynamics, 2011, section 7.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.operators import dense
    >>> builder = so.TreeBuilder()
    >>> for name, parent in (("upper", "world"), ("lower", "upper")):
    ...     rod = so.Inertia.capsule(0.1, 1.0, mass=2.0).shifted((0, 0, -0.5))
    ...     place = {"parent": parent, "joint": "ball", "position": (0, 0, -1.0)}
    ...     _ = builder.add_body(name, inertia=rod, **place)
    >>> model = builder.build()
    >>> joints = so.SpatialOperators(model, model.neutral()).joints
    >>> joints.D_block(0).shape, joints.H_block(1).shape
    ((3, 3), (3, 6))
    >>> bool(np.allclose(dense(joints.mass_matrix), so.mass_matrix(model, model.neutral())))
    True
    """

    def __init__(self, model: Model, stack: StackedTrees, levers: Array, axes: Array) -> None:
        moving = [name for name in model.joint_names if len(_links(model, name))]
        moving.sort(key=lambda name: _links(model, name).start)
        self.names = tuple(moving)
        self.batch = stack.batch
        firsts = np.array([_links(model, name).start for name in moving], dtype=np.int64)
        sizes = np.array([len(_links(model, name)) for name in moving], dtype=np.int64)
        jump = model.nv * np.arange(stack.copies)[:, None]
        self._firsts = np.ravel(firsts + jump)
        self._sizes = np.tile(sizes, stack.copies)
        self._lasts = self._firsts + self._sizes - 1
        self._mechanism = stack
        to_body = _levers_to_bodies(self._firsts, self._sizes, levers)
        self._levers = to_body[self._firsts] + levers[self._firsts]
        self._rows = self._padded(moved(axes, to_body))
        self._parents = self._joints_of_parents()

    def __repr__(self) -> str:
        return f"JointOperators of {len(self.names)} joints"

    @property
    def _stack(self) -> StackedTrees:
        return self._mechanism

    def H_block(self, i: int) -> Array:
        """Axes of joint i: (d, 6) or, for B configurations, (B, d, 6)."""
        return self._block(self._rows, i)

    def D_block(self, i: int) -> Array:
        """D of joint i: (d, d) or (B, d, d)."""
        return self._block(self._feels, i)[..., : self._size(i)]

    def G_block(self, i: int) -> Array:
        """Kalman gain of joint i: (6, d) or (B, 6, d)."""
        return np.swapaxes(self._block(self._gains, i), -1, -2)

    @cached_property
    def E_phi(self) -> SpatialOperator:
        """(6 J, 6 J) one step of phi, from children to parents."""
        return self._step(self._shifts, lambda: self.phi)

    @cached_property
    def E_psi(self) -> SpatialOperator:
        """(6 J, 6 J) one step of psi, E_phi (1 - G H)."""
        return self._step(self._passing, lambda: self.psi)

    @cached_property
    def phi(self) -> SpatialOperator:
        """(6 J, 6 J) phi = (1 - E_phi)^-1."""
        return self._sum(self._shifts, lambda: 1 - self.E_phi)

    @cached_property
    def psi(self) -> SpatialOperator:
        """(6 J, 6 J) psi = (1 - E_psi)^-1."""
        return self._sum(self._passing, lambda: 1 - self.E_psi)

    @cached_property
    def H(self) -> SpatialOperator:
        """(n, 6 J) H: components of the bodies' forces along the axes of their joints."""
        return SpatialOperator(self._across(self._rows)).H

    @cached_property
    def G(self) -> SpatialOperator:
        """(6 J, n) Kalman gain G = P H* D^-1."""
        return SpatialOperator(self._across(self._gains))

    @cached_property
    def M(self) -> SpatialOperator:
        """(6 J, 6 J) inertias of the bodies: links within a joint have none."""
        inertias = link_inertias(self._stack.links, self._stack.work)
        return SpatialOperator(block_diagonal(inertias[self._lasts]))

    @cached_property
    def P(self) -> SpatialOperator:
        """(6 J, 6 J) articulated inertias, P = M + E_psi P E_phi* in its diagonal blocks."""
        return SpatialOperator(block_diagonal(self._articulated))

    @cached_property
    def D(self) -> SpatialOperator:
        """(n, n) D = H P H* + armature, d x d a joint."""
        return SpatialOperator(self._among_joints(self._feels), lambda: self.D_inverse)

    @cached_property
    def D_inverse(self) -> SpatialOperator:
        """(n, n) D^-1."""
        inverse: Array = np.asarray(np.linalg.inv(self._feels), dtype=np.float64)
        return SpatialOperator(self._among_joints(inverse), lambda: self.D)

    @cached_property
    def mass_matrix(self) -> SpatialOperator:
        """(n, n) (1 + H phi K) D (1 + H phi K)* ([J] 59, second line)."""
        factor = self.innovation.inv
        return SpatialOperator(factor @ self.D @ factor.H, lambda: self.mass_matrix_inverse)

    @cached_property
    def mass_matrix_inverse(self) -> SpatialOperator:
        """(n, n) (1 - H psi K)* D^-1 (1 - H psi K) ([J] 59, last line)."""
        inverse = self.innovation
        return SpatialOperator(inverse.H @ self.D_inverse @ inverse, lambda: self.mass_matrix)

    @cached_property
    def _articulated(self) -> Array:
        return articulated_inertias(self._stack.work)[self._lasts]

    @cached_property
    def _feels(self) -> Array:
        """D in blocks of `_WIDEST`, with ones where a joint has no such degree of freedom."""
        D = self._rows @ self._articulated @ self._rows.transpose(0, 2, 1)
        armature = self._padded(self._stack.links[:, layout.ARMATURE, None])[:, :, 0]
        here = np.arange(_WIDEST) < self._sizes[:, None]
        D[:, range(_WIDEST), range(_WIDEST)] += np.where(here, armature, 1.0)
        return np.asarray(D)

    @cached_property
    def _gains(self) -> Array:
        """G* in rows, as the axes have them."""
        solved = np.linalg.solve(self._feels, self._rows @ self._articulated)
        return np.asarray(solved, dtype=np.float64)

    @cached_property
    def _shifts(self) -> Array:
        """phi(parent, k) of all joints."""
        ones = np.broadcast_to(np.eye(6), (len(self._levers), 6, 6))
        return np.ascontiguousarray(shifted(ones, self._levers[:, None]).transpose(0, 2, 1))

    @cached_property
    def _passing(self) -> Array:
        """psi(parent, k) of all joints."""
        return self._shifts @ (np.eye(6) - self._gains.transpose(0, 2, 1) @ self._rows)

    def _size(self, i: int) -> int:
        known: object = i
        if not isinstance(known, (int, np.integer)) or not 0 <= known < len(self.names):
            raise ArgumentError(
                f"i: expected the index of a joint, 0 to {len(self.names) - 1}, got {i!r}"
            )
        return int(self._sizes[i])

    def _block(self, blocks: Array, i: int) -> Array:
        size = self._size(i)
        several = blocks.reshape(*self.batch, len(self.names), *blocks.shape[1:])
        return np.array(several[..., i, :size, :])

    def _padded(self, rows: Array) -> Array:
        """(n, c) rows of all velocities as (J, _WIDEST, c) of the joints, zeros behind."""
        out = np.zeros((len(self._firsts), _WIDEST, rows.shape[1]))
        for i in range(_WIDEST):
            there = self._sizes > i
            out[there, i] = rows[self._firsts[there] + i]
        return out

    def _joints_of_parents(self) -> IntArray:
        tree = self._stack.tree
        joint_of = np.full(len(tree) + 1, -1)  # the last is that of the world
        joint_of[self._lasts] = np.arange(len(self._lasts))
        return joint_of[tree[self._firsts, layout.PARENT]]

    def _step(self, steps: Array, resolvent: Callable[[], LinearOperator]) -> SpatialOperator:
        count, parents = len(steps), self._parents
        hung = np.flatnonzero(parents >= 0)

        def up(rows: Array) -> Array:
            out = np.zeros((len(rows), count, 6))
            forces = np.einsum("kij,ckj->cki", steps[hung], rows.reshape(out.shape)[:, hung])
            np.add.at(out.swapaxes(0, 1), parents[hung], forces.swapaxes(0, 1))
            return out.reshape(rows.shape)

        def down(rows: Array) -> Array:
            out = np.zeros((len(rows), count, 6))
            above = rows.reshape(out.shape)[:, parents[hung]]
            out[:, hung] = np.einsum("kji,ckj->cki", steps[hung], above)
            return out.reshape(rows.shape)

        return SpatialOperator(operator((6 * count,) * 2, up, down), resolvent=resolvent)

    def _sum(self, steps: Array, inverse: Callable[[], LinearOperator]) -> SpatialOperator:
        def gather(rows: Array) -> Array:
            gather_blocks_kernel(self._parents, steps, rows.reshape(-1, 6))
            return rows

        def scatter(rows: Array) -> Array:
            scatter_blocks_kernel(self._parents, steps, rows.reshape(-1, 6))
            return rows

        return SpatialOperator(operator((6 * len(steps),) * 2, gather, scatter), inverse)

    def _across(self, columns: Array) -> LinearOperator:
        """(6 J, n): columns[k, i] for each unit of velocity i of joint k."""
        count, n = len(columns), len(self._stack.tree)
        joints = np.repeat(np.arange(count), self._sizes)
        places = np.arange(n) - self._firsts[joints]
        vectors = columns[joints, places]

        def forward(rows: Array) -> Array:
            out = np.zeros((len(rows), count, 6))
            np.add.at(out.swapaxes(0, 1), joints, (rows[:, :, None] * vectors).swapaxes(0, 1))
            return out.reshape(len(rows), -1)

        def backward(rows: Array) -> Array:
            bodies: Array = rows.reshape(len(rows), count, 6)[:, joints]
            return np.einsum("cki,ki->ck", bodies, vectors)

        return operator((6 * count, n), forward, backward)

    def _among_joints(self, blocks: Array) -> LinearOperator:
        """(n, n) of blocks of `_WIDEST`, each as large as its joint has degrees of freedom."""
        n = len(self._stack.tree)

        def apply(rows: Array) -> Array:
            wide = np.stack([self._padded(row[:, None])[:, :, 0] for row in rows])
            answers = np.einsum("kij,ckj->cki", blocks, wide)
            here = np.arange(_WIDEST) < self._sizes[:, None]
            return answers[:, here].reshape(len(rows), n)

        return operator((n, n), apply, apply)


def _links(model: Model, name: str) -> range:
    """The links of a joint: one for each of its velocities."""
    return range(model.nv)[model.v_slice(name)]


def _levers_to_bodies(firsts: IntArray, sizes: IntArray, levers: Array) -> Array:
    """From each link of a joint to the last one, the body's own."""
    out = np.zeros_like(levers)
    for i in range(int(sizes.max(initial=1)) - 1, 0, -1):
        links = firsts[sizes > i] + i
        out[links - 1] = out[links] + levers[links]
    return out
