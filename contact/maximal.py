"""A contact problem in maximal coordinates: free bodies, hinges as bilateral rows, sparse.

Rows stand in the order hinges, closures, normal and tangents of each contact; columns are the
bodies' spatial velocities [angular; linear] at their origins, in world axes. The velocity without
impulses is that of the tree: it fits the hinges. A joint's armature is a mass on its relative rate
and couples child and parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.dynamics.articulated_body import put_rigid_inertia
from spatialops.dynamics.maximal import Joints, joint_groups, placed, tree_velocity
from spatialops.errors import ContactError
from spatialops.tree.model import Model

if TYPE_CHECKING:
    from scipy import sparse  # loaded where it is used: a third of the time that importing us takes

_SYMMETRIC = np.array([0, 1, 2, 1, 3, 4, 2, 4, 5])  # entries xx xy xz yy yz zz of a full matrix


class Triplets:
    """Entries of a sparse matrix while it is put together."""

    def __init__(self) -> None:
        self._parts: list[tuple[IntArray, IntArray, Array]] = []

    def add(self, rows: IntArray, columns: IntArray, entries: Array) -> None:
        """Append entries; indices are broadcast to their shape."""
        shape = entries.shape
        self._parts.append(
            (
                np.broadcast_to(rows, shape).ravel(),
                np.broadcast_to(columns, shape).ravel(),
                entries.ravel(),
            )
        )

    def matrix(self, shape: tuple[int, int]) -> sparse.csr_array:
        """The matrix."""
        from scipy import sparse

        if not self._parts:
            return sparse.csr_array(shape)
        rows, columns, entries = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return sparse.csr_array((entries, (rows, columns)), shape=shape)


@kernel
def rigid_inertias(links: Array, work: Array) -> None:
    """Own inertias of all links into their articulated columns; poses must be in `work`."""
    for k in range(links.shape[0]):
        put_rigid_inertia(links, work, k)


@dataclass(frozen=True, eq=False)
class MaximalProblem:
    """See the module.

    Attributes
    ----------
    blocks : (n, 6, 6) array
        Spatial inertias of the bodies about their origins, world axes.
    velocity : (6 n,) array
        Without impulses.
    rows : sparse (n_h + n_b + 3 m, 6 n)
    n_hinges : int
        n_h: 6 - d rows for each joint of d degrees of freedom.
    armature : sparse (6 n, 6 n) or None
        What armature adds to the mass matrix.
    """

    model: Model
    blocks: Array
    velocity: Array
    rows: sparse.csr_array
    n_hinges: int
    armature: sparse.csr_array | None
    joints: list[Joints]

    @cached_property
    def mass(self) -> sparse.csr_array:
        """M (6 n, 6 n): block diagonal but for armature."""
        block = _block_diagonal(self.blocks)
        return block if self.armature is None else block + self.armature

    def solve_mass(self, rows: sparse.csr_array) -> sparse.csr_array:
        """M^-1 rows^T.

        Raises
        ------
        ContactError
            Where a body has no inertia of its own: only M together with its hinges can be inverted
            then.
        """
        try:
            np.linalg.cholesky(self.blocks)
        except np.linalg.LinAlgError:
            lowest = np.linalg.eigvalsh(self.blocks)[:, 0]
            raise ContactError(
                "this formulation inverts the inertia of every single body, and that of "
                f"{self.model.body_names[int(lowest.argmin())]!r} is singular; use one in "
                "tree coordinates, or NMC, or give it mass and moments of inertia"
            ) from None
        if self.armature is None:
            inverse: Array = np.asarray(np.linalg.inv(self.blocks), dtype=np.float64)
            return _block_diagonal(inverse) @ rows.T
        from scipy import sparse
        from scipy.sparse.linalg import splu

        return sparse.csr_array(splu(self.mass.tocsc()).solve(rows.T.toarray()))

    def tree_velocity(self, velocity: Array) -> Array:
        """Joint velocities (nv,) of bodies' velocities (6 n,)."""
        return tree_velocity(self.joints, velocity.reshape(-1, 6), self.model.nv)


def maximal_problem(
    model: Model, q: Array, v: Array, terms: tuple[IntArray, Array], n_rows: int
) -> MaximalProblem:
    """State a problem with constraint rows `terms` in maximal coordinates."""
    work, n = placed(model, q, v), model.n_bodies
    rigid_inertias(model.links, work)
    bodies = work[model.body_links]
    joints = joint_groups(model, work)
    triplets = Triplets()
    n_hinges = 0
    for group in joints:
        k, r, _ = group.hinges.shape
        _put(triplets, group, group.hinges, n_hinges + r * np.arange(k)[:, None] + np.arange(r))
        n_hinges += k * r
    _put_terms(triplets, model, bodies, joints, terms, n_hinges)
    velocity = np.hstack(
        [
            bodies[:, layout.OMEGA : layout.OMEGA + 3],
            bodies[:, layout.VELOCITY : layout.VELOCITY + 3],
        ]
    ).ravel()
    rows = triplets.matrix((n_hinges + n_rows, 6 * n))
    return MaximalProblem(
        model, _blocks(bodies), velocity, rows, n_hinges, _armature(model, joints), joints
    )


def _put(triplets: Triplets, joints: Joints, rows: Array, indices: IntArray) -> None:
    """Combinations (k, r, 6) of relative twists, with row `indices` (k, r)."""
    each, held = np.arange(6), joints.parents >= 0
    triplets.add(indices[:, :, None], 6 * joints.bodies[:, None, None] + each, rows)
    parents = 6 * joints.parents[held][:, None, None] + each
    triplets.add(indices[held][:, :, None], parents, joints.on_parent(rows)[held])


def _put_terms(
    triplets: Triplets,
    model: Model,
    bodies: Array,
    joints: list[Joints],
    terms: tuple[IntArray, Array],
    first: int,
) -> None:
    """Rows of closures and contacts.

    A link inside a joint moves as the body that it carries, less the later axes.
    """
    ints, floats = terms
    linear = floats[:, layout.TERM_LINEAR : layout.TERM_LINEAR + 3]
    carried = _carried(model)
    for side, sign in ((layout.TERM_A, 1.0), (layout.TERM_B, -1.0)):
        moving = ints[:, side] >= 0
        links = ints[moving, side]
        index = carried[links]
        arms = (
            floats[moving, layout.TERM_POINT : layout.TERM_POINT + 3]
            - bodies[index, layout.ORIGIN : layout.ORIGIN + 3]
        )
        angular = floats[moving, layout.TERM_ANGULAR : layout.TERM_ANGULAR + 3] + np.cross(
            arms, linear[moving]
        )
        entries = sign * np.hstack([angular, linear[moving]])
        rows = first + ints[moving, layout.TERM_ROW]
        triplets.add(rows[:, None], 6 * index[:, None] + np.arange(6), entries)
        for i in np.flatnonzero(model.tree[links, layout.BODY] < 0):
            _take_remaining(
                triplets, joints, int(index[i]), int(links[i]), entries[i], int(rows[i])
            )


def _carried(model: Model) -> IntArray:
    """The body of every link; of a link inside a joint, the body that the joint carries."""
    bodies = model.tree[:, layout.BODY].copy()
    for k in range(len(bodies) - 2, -1, -1):
        bodies[k] = bodies[k + 1] if bodies[k] < 0 else bodies[k]
    return bodies


def _take_remaining(
    triplets: Triplets, joints: list[Joints], body: int, link: int, entries: Array, row: int
) -> None:
    """Subtract from a row what the joint's later axes do: r S_later S^+_later (V - X V_parent)."""
    group = next(group for group in joints if body in group.bodies)
    i = int(np.flatnonzero(group.bodies == body)[0])
    at = slice(i, i + 1)
    one = Joints(
        group.bodies[at], group.parents[at], group.first[at], group.levers[at], group.motion[at]
    )
    later = link - int(group.first[i]) + 1
    remaining = -(entries @ one.motion[0, :, later:]) @ one.rates[0, later:]
    _put(triplets, one, remaining[None, None, :], np.array([[row]]))


def _block_diagonal(blocks: Array) -> sparse.csr_array:
    from scipy import sparse

    n = len(blocks)
    return sparse.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n)).tocsr()


def _blocks(bodies: Array) -> Array:
    """[[J, B], [B^T, C]] of every body."""
    J = bodies[:, layout.ART_J + _SYMMETRIC].reshape(-1, 3, 3)
    B = bodies[:, layout.ART_B : layout.ART_B + 9].reshape(-1, 3, 3)
    C = bodies[:, layout.ART_C + _SYMMETRIC].reshape(-1, 3, 3)
    return np.concatenate(
        [np.concatenate([J, B], axis=2), np.concatenate([B.transpose(0, 2, 1), C], axis=2)], axis=1
    )


def _armature(model: Model, joints: list[Joints]) -> sparse.csr_array | None:
    """R^T diag(armature) R with R the joints' rates of the bodies' velocities."""
    armature = model.links[:, layout.ARMATURE]
    if not armature.any():
        return None
    triplets = Triplets()
    for group in joints:
        _put(triplets, group, group.rates, group.first[:, None] + np.arange(group.rates.shape[1]))
    rates = triplets.matrix((model.nv, 6 * model.n_bodies))
    return (rates.T @ rates.multiply(armature[:, None])).tocsr()
