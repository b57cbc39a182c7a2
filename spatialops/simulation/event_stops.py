"""Stops of joints as contacts of the event-driven method: the same rows as in the stepping loop (`simulation.joints`).

The gap of a stop is q_k - lower or upper - q_k, its normal the axis of the joint to the side that is free; nothing acts
sideways. Its pair is numbered after those of geoms.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.joint_rows import JointRows
from spatialops.tree.model import Model


class Stops:
    """The stops among the joints' rows; `first` is the number of pairs of geoms."""

    def __init__(self, model: Model, joints: JointRows, first: int) -> None:
        chosen = joints.ints[:, at.JOINT_KIND] == col.STOP
        self.model, self.first = model, first
        self.links, self.places = joints.ints[chosen][:, [at.JOINT_LINK, at.JOINT_Q]].T
        self.sides, self.limits, self.restitution = joints.floats[chosen].T

    def __len__(self) -> int:
        return len(self.links)

    def names(self, pair: int) -> tuple[str, str]:
        """Joint and side, as the log has them."""
        j = pair - self.first
        return self.model.joint_of_link(int(self.links[j])), "lower limit" if self.sides[j] > 0.0 else "upper limit"

    def gaps(self, q: Array) -> Array:
        """Gaps of all stops, rad or m."""
        return np.asarray(self.sides * (q[self.places] - self.limits))

    def speeds(self, v: Array) -> Array:
        """Their rates."""
        return np.asarray(self.sides * v[self.links])

    def rows(self, work: Array, q: Array, v: Array, limit: float) -> tuple[IntArray, Array]:
        """Rows of stops with gaps up to `limit`, as the tables of contacts have them; poses must be in `work`."""
        gaps, speeds = self.gaps(q), self.speeds(v)
        near, tree = np.flatnonzero(gaps <= limit), self.model.tree
        ints = np.zeros((len(near), col.CONTACT_INTS), dtype=np.int64)
        floats = np.zeros((len(near), col.CONTACT_COLUMNS))
        for row, j in enumerate(near):
            k = self.links[j]
            ints[row, [col.CONTACT_A, col.CONTACT_B, col.CONTACT_PAIR]] = k, tree[k, layout.PARENT], self.first + j
            ints[row, col.CONTACT_FEATURE_A] = col.STOP
            turn = work[k, layout.ROTATION : layout.ROTATION + 9].reshape(3, 3)
            axis = self.sides[j] * turn[:, tree[k, layout.AXIS]]
            across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
            across /= np.linalg.norm(across)
            floats[row, col.POINT : col.POINT + 3] = work[k, layout.ORIGIN : layout.ORIGIN + 3]
            floats[row, col.NORMAL : col.NORMAL + 9] = np.concatenate([axis, across, np.cross(axis, across)])
            floats[row, [col.GAP, col.APPROACH, col.RESTITUTION]] = gaps[j], speeds[j], self.restitution[j]
        return ints, floats
