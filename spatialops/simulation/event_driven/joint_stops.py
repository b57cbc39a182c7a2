"""Stops and dry friction of joints as contacts of the event-driven method.

Their rows are those of `simulation.stepping.constraints.joint_limits_and_friction`: the gap of a
stop is q_k - lower or upper - q_k, its normal the axis of the joint to the side that is free;
nothing acts sideways. Dry friction is a contact that is always closed, has no normal, and whose
first tangent is the axis: it sticks or slides. Their pairs are numbered after those of geoms.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.stepping.contact_names import joint_row_names
from spatialops.tree.model import Model


class Stops:
    """The joints' rows; `first` is the number of pairs of geoms."""

    def __init__(self, model: Model, joints: JointRows, first: int) -> None:
        self.model = model
        self.joints = joints
        self.first = first
        self.links, self.features, self.places = joints.ints.T
        self.sides, self.limits, self.restitution = joints.floats.T
        self.dry = self.features == col.DRY

    def __len__(self) -> int:
        return len(self.links)

    def names(self, pair: int) -> tuple[str, str]:
        """Joint and side, as the log has them."""
        return joint_row_names(self.model, self.joints, pair - self.first)

    def gaps(self, q: Array) -> Array:
        """Gaps of all stops, rad or m; 0 of dry friction."""
        return np.where(self.dry, 0.0, self.sides * (q[self.places] - self.limits))

    def speeds(self, v: Array) -> Array:
        """Their rates."""
        return np.asarray(self.sides * v[self.links])

    def friction(self, pairs: IntArray) -> Array:
        """Largest dry friction (m,) of contacts with these pairs, N m or N; 0 for others."""
        limits = np.append(np.where(self.dry, self.limits, 0.0), 0.0)
        own = np.where(pairs >= self.first, pairs - self.first, len(limits) - 1)
        return np.asarray(limits[own])

    def rows(self, work: Array, q: Array, v: Array, limit: float) -> tuple[IntArray, Array]:
        """Rows of stops with gaps up to `limit`; poses must be in `work`."""
        gaps = self.gaps(q)
        near, tree = np.flatnonzero(gaps <= limit), self.model.tree
        links, dry = self.links[near], self.dry[near]
        ints = np.zeros((len(near), col.CONTACT_INTS), dtype=np.int64)
        ints[:, col.CONTACT_A], ints[:, col.CONTACT_B] = links, tree[links, layout.PARENT]
        ints[:, col.CONTACT_PAIR] = self.first + near
        ints[:, col.CONTACT_FEATURE_A] = self.features[near]
        floats = np.zeros((len(near), col.CONTACT_COLUMNS))
        floats[:, col.POINT : col.POINT + 3] = work[links, layout.ORIGIN : layout.ORIGIN + 3]
        turns = work[links, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3)
        axes = turns[np.arange(len(near)), :, tree[links, layout.AXIS]]
        axes = np.where(dry, 1.0, self.sides[near])[:, None] * axes
        across = np.cross(axes, np.eye(3)[np.abs(axes).argmin(axis=1)])
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        first = np.where(dry[:, None], across, axes)
        second = np.where(dry[:, None], axes, across)
        floats[:, col.NORMAL : col.NORMAL + 9] = np.concatenate(
            [first, second, np.cross(first, second)], axis=1
        )
        floats[:, col.GAP] = gaps[near]
        floats[:, col.APPROACH] = self.speeds(v)[near]
        floats[:, col.RESTITUTION] = self.restitution[near]
        floats[:, col.APPROACH + 1] = np.where(dry, v[links], 0.0)
        return ints, floats
