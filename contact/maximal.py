"""A contact problem in maximal coordinates: free bodies, hinges as bilateral rows, sparse.

Rows stand in the order hinges, closures, normal and tangents of each contact; columns are the
bodies' spatial velocities [angular; linear] at their origins, in world axes. The velocity without
impulses is that of the tree: it fits the hinges. A joint's armature is a mass on its relative rate
and couples child and parent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import dot, mat3, put3, sym3, vec3
from spatialops.contact.body_columns import Columns, compliance_columns, response
from spatialops.contact.body_rows import (
    BODY,
    ROW,
    BodyRows,
    collected,
    constraint_rows,
    put_relative,
)
from spatialops.contact.sparse.lu import sparse_factor
from spatialops.dynamics.articulated_body import put_rigid_inertia
from spatialops.dynamics.joint_split import DOF, FIRST, JointSplits, joint_splits
from spatialops.dynamics.maximal import placed, tree_velocity
from spatialops.errors import ContactError
from spatialops.tree.model import Model

if TYPE_CHECKING:
    from scipy import sparse  # loaded where it is used: a third of the time that importing us takes

_ALL_REGULAR = -1


@dataclass(frozen=True, eq=False)
class MaximalProblem:
    """See the module.

    Attributes
    ----------
    blocks : (6 n, 6) array
        Spatial inertias of the bodies about their origins, world axes, below each other.
    velocity : (6 n,) array
        Without impulses.
    constraints : BodyRows
        n_h + n_b + 3 m rows.
    n_hinges : int
        n_h: 6 - d rows for each joint of d degrees of freedom.
    first_contact : int
        n_h + n_b: where the contacts' rows begin.
    splits : JointSplits
        What joints leave and what hinges hold.
    """

    model: Model
    blocks: Array
    velocity: Array
    constraints: BodyRows
    n_hinges: int
    first_contact: int
    splits: JointSplits

    @cached_property
    def rows(self) -> sparse.csr_array:
        """The constraint rows (n_h + n_b + 3 m, 6 n) as a sparse matrix."""
        return self.constraints.matrix(self.model.n_bodies)

    @cached_property
    def mass(self) -> sparse.csr_array:
        """M (6 n, 6 n): block diagonal but for armature."""
        from scipy import sparse

        n = self.model.n_bodies
        blocks = (self.blocks.reshape(n, 6, 6), np.arange(n), np.arange(n + 1))
        block: sparse.csr_array = sparse.bsr_array(blocks, shape=(6 * n, 6 * n)).tocsr()
        return block if self.armature is None else block + self.armature

    @cached_property
    def armature(self) -> sparse.csr_array | None:
        """What armature adds to M: R^T diag(armature) R, R the rates of the bodies' velocities."""
        armature = self.model.links[:, layout.ARMATURE]
        if not armature.any():
            return None
        rates = joint_rates(self.splits).matrix(self.model.n_bodies)
        return (rates.T @ rates.multiply(armature[:, None])).tocsr()

    @cached_property
    def inverse(self) -> Array:
        """The inverses of `blocks` (6 n, 6).

        Raises
        ------
        ContactError
            Where a body has no inertia of its own: only M together with its hinges can be inverted
            then.
        """
        inverse = np.empty_like(self.blocks)
        singular = invert_blocks(self.blocks, np.empty((6, 6)), inverse)
        if singular != _ALL_REGULAR:
            raise ContactError(
                "this formulation inverts the inertia of every single body, and that of "
                f"{self.model.body_names[singular]!r} is singular; use one in "
                "tree coordinates, or NMC, or give it mass and moments of inertia"
            )
        return inverse

    @property
    def momentum(self) -> Array:
        """M V (6 n,)."""
        V = self.velocity.reshape(-1, 6, 1)
        bodies: Array = (self.blocks.reshape(-1, 6, 6) @ V).ravel()
        return bodies if self.armature is None else bodies + self.armature @ self.velocity

    def compliance(self, rows: BodyRows) -> Columns:
        """G M^-1 G* of rows.

        Raises
        ------
        ContactError
            Where a body has no inertia of its own.
        """
        inverse = self.inverse
        if self.armature is None:
            return compliance_columns(rows, inverse)
        from scipy import sparse

        G = rows.matrix(self.model.n_bodies)
        W = sparse.csc_array(G @ self._factor.solve(G.T.toarray()))
        return Columns(W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data)

    @cached_property
    def dense_compliance(self) -> Array:
        """G M^-1 G* of all rows as an array, which pays for few."""
        return self.compliance(self.constraints).dense()

    @cached_property
    def _factor(self) -> sparse.linalg.SuperLU:
        """Of M with armature, which couples bodies."""
        return sparse_factor(self.mass)

    @cached_property
    def contact_scale(self) -> float:
        """Largest diagonal entry of G M^-1 G* over the contacts' rows; 1 where nothing moves."""
        # Of the bodies alone: armature would make it smaller, and any scale will do.
        rows = self.constraints
        scale = float(
            largest_response(
                rows.places, rows.values, rows.starts, self.inverse, self.first_contact
            )
        )
        return scale if scale > 0.0 else 1.0

    @cached_property
    def velocities(self) -> Array:
        """Velocities of the constraint rows without impulses."""
        rows = self.constraints
        u = np.empty(rows.n_rows)
        multiply(rows.places, rows.values, rows.starts, self.velocity, u)
        return u

    def slip(self, velocity: Array, drift: Array) -> Array:
        """Sliding speeds (m,) of the contacts at bodies' velocities (6 n,)."""
        rows = self.constraints
        u = np.empty(rows.n_rows)
        multiply(rows.places, rows.values, rows.starts, velocity, u)
        sliding = u[self.first_contact :].reshape(-1, 3) + drift
        result: Array = np.hypot(sliding[:, 1], sliding[:, 2])
        return result

    def after(self, rows: BodyRows, impulses: Array) -> Array:
        """The bodies' velocities after impulses on rows, V + M^-1 G* p."""
        force = np.zeros(self.velocity.size)
        add_forces(rows.places, rows.values, impulses, force)
        if self.armature is not None:
            change: Array = self._factor.solve(force)
            return self.velocity + change
        velocity = self.velocity.copy()
        add_responses(self.inverse, force, velocity)
        return velocity

    def tree_velocity(self, velocity: Array) -> Array:
        """Joint velocities (nv,) of bodies' velocities (6 n,)."""
        return tree_velocity(self.splits, velocity.reshape(-1, 6))


def maximal_problem(
    model: Model, q: Array, v: Array, terms: tuple[IntArray, Array], counts: tuple[int, int]
) -> MaximalProblem:
    """State a problem with constraint rows `terms` in maximal coordinates.

    `counts` are the numbers of rows of closures and of contacts.
    """
    work, n = placed(model, q, v), model.n_bodies
    blocks, velocity = np.empty((6 * n, 6)), np.empty((n, 6))
    put_bodies(model.links, work, model.body_links, blocks, velocity)
    splits = joint_splits(model, work)
    rows, n_hinges = constraint_rows(model, work, splits, terms, sum(counts))
    first = n_hinges + counts[0]
    return MaximalProblem(model, blocks, velocity.ravel(), rows, n_hinges, first, splits)


def joint_rates(splits: JointSplits) -> BodyRows:
    """Rows R (nv, 6 n): joint velocities of the bodies' velocities."""
    nv, n = splits.carried.size, len(splits.joints)
    places, values = np.empty((2 * nv, 2), dtype=np.int64), np.empty((2 * nv, 6))
    count = put_rates(splits.joints, splits.split, splits.levers, places, values)
    return collected(places[:count], values[:count], nv, n)


@kernel
def put_rates(
    joints: IntArray, split: Array, levers: Array, places: IntArray, values: Array
) -> int:
    """Entries of all joints' rates; returns their number."""
    e = 0
    for b in range(joints.shape[0]):
        for j in range(joints[b, DOF]):
            row = joints[b, FIRST] + j
            e = put_relative(joints, split, levers, b, j, 1.0, row, e, places, values)
    return e


@kernel
def put_bodies(
    links: Array, work: Array, body_links: IntArray, blocks: Array, velocity: Array
) -> None:
    """Own inertias [[J, B], [B^T, C]] and velocities of all bodies; poses must be in `work`."""
    for b in range(body_links.size):
        k, first = body_links[b], 6 * b
        put_rigid_inertia(links, work, k)
        J, C = sym3(work, k, layout.ART_J), sym3(work, k, layout.ART_C)
        B = mat3(work, k, layout.ART_B)
        for block, row, column in ((J, first, 0), (C, first + 3, 3)):
            put3(blocks, row, column, (block[0], block[1], block[2]))
            put3(blocks, row + 1, column, (block[1], block[3], block[4]))
            put3(blocks, row + 2, column, (block[2], block[4], block[5]))
        for i in range(3):
            put3(blocks, first + i, 3, B[i])
            put3(blocks, first + 3 + i, 0, (B[0][i], B[1][i], B[2][i]))
        put3(velocity, b, 0, vec3(work, k, layout.OMEGA))
        put3(velocity, b, 3, vec3(work, k, layout.VELOCITY))


@kernel
def invert_blocks(blocks: Array, lower: Array, inverse: Array) -> int:
    """Inverses by Cholesky factors; the index of the first block that has none, or -1."""
    for b in range(blocks.shape[0] // 6):
        first = 6 * b
        for i in range(6):
            for j in range(i + 1):
                rest = blocks[first + i, j]
                for k in range(j):
                    rest -= lower[i, k] * lower[j, k]
                if i > j:
                    lower[i, j] = rest / lower[j, j]
                elif rest > 0.0:
                    lower[i, i] = math.sqrt(rest)
                else:
                    return b
        for column in range(6):
            solve_unit(lower, column, inverse, first)
    return _ALL_REGULAR


@kernel
def solve_unit(lower: Array, column: int, inverse: Array, first: int) -> None:
    """One column of (L L^T)^-1, forwards and backwards."""
    for i in range(6):
        rest = 1.0 if i == column else 0.0
        for k in range(i):
            rest -= lower[i, k] * inverse[first + k, column]
        inverse[first + i, column] = rest / lower[i, i]
    for i in range(5, -1, -1):
        rest = inverse[first + i, column]
        for k in range(i + 1, 6):
            rest -= lower[k, i] * inverse[first + k, column]
        inverse[first + i, column] = rest / lower[i, i]


@kernel
def largest_response(
    places: IntArray, values: Array, starts: IntArray, inverse: Array, first: int
) -> float:
    """Largest diagonal entry of G M^-1 G* from row `first` on."""
    largest = 0.0
    for row in range(first, starts.size - 1):
        own = 0.0
        for e in range(starts[row], starts[row + 1]):
            turning, sliding = response(inverse, 6 * places[e, BODY], values, e)
            own += dot(vec3(values, e, 0), turning) + dot(vec3(values, e, 3), sliding)
        largest = max(largest, own)
    return largest


@kernel
def multiply(places: IntArray, values: Array, starts: IntArray, velocity: Array, u: Array) -> None:
    """Rows times velocities (6 n,)."""
    for row in range(u.size):
        u[row] = 0.0
        for e in range(starts[row], starts[row + 1]):
            for a in range(6):
                u[row] += values[e, a] * velocity[6 * places[e, BODY] + a]


@kernel
def add_forces(places: IntArray, values: Array, impulses: Array, force: Array) -> None:
    """Add rows^T times impulses to forces (6 n,)."""
    for e in range(places.shape[0]):
        for a in range(6):
            force[6 * places[e, BODY] + a] += impulses[places[e, ROW]] * values[e, a]


@kernel
def add_responses(inverse: Array, force: Array, velocity: Array) -> None:
    """Add M^-1 f to velocities (6 n,)."""
    for i in range(velocity.size):
        first = 6 * (i // 6)
        for a in range(6):
            velocity[i] += inverse[i, a] * force[first + a]
