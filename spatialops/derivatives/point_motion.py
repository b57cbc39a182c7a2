"""How points fixed to links move with coordinates and velocities, and how that changes.

With S(j) the axis of joint j about the point and S'(j) = V x S(j), V the velocity of the joint's
parent (`carried`), a point fixed to a link that j carries has

    d v / dv(j) = u(j),    d v / dq(j) = w(j) x v + u'(j),

(w, u) and (w', u') the parts of S and S', and likewise d omega / dq(j) = w(j) x omega + w'(j).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.simd import WIDTH
from spatialops.algebra.vectors import ZERO3
from spatialops.derivatives.carried import AXIS, FIRST, put_axes
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.tree.model import Model


class PointMotion(NamedTuple):
    """Points fixed to links.

    Parameters
    ----------
    point, velocity, spin : (m, 3) arrays
        Where they are, their velocities, and those that their links turn at; world axes.
    by_q : (m, 3, nv) array
        Changes of the points by coordinates, which are those of their velocities by velocities.
    turn_by_q : (m, 3, nv) array
        Turns of their links likewise.
    velocity_by_q, spin_by_q : (m, 3, nv) arrays
        Changes of `velocity` and `spin` by coordinates.
    """

    point: Array
    velocity: Array
    spin: Array
    by_q: Array
    turn_by_q: Array
    velocity_by_q: Array
    spin_by_q: Array


@kernel
def axes_kernel(tree: IntArray, links: Array, q: Array, v: Array, work: Array) -> None:
    """Poses and velocities, and axes behind them; `work` is a stack of the model's."""
    n = tree.shape[0]
    poses_kernel(tree, links, q, work[:n])
    velocities_kernel(tree, links, v, work[:n])
    put_axes(tree, links, ZERO3, work[:n], work[n : 2 * n + 1])


class Motion:
    """The motion of a mechanism at coordinates (nq,) and velocities (nv,), already checked."""

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        n, work = model.nv, model.stack()
        axes_kernel(model.tree, model.links, q, v, work)
        components = work[n : 2 * n, : 6 * WIDTH].reshape(n, 6, WIDTH)
        self._axes, self._first = components[:, :, AXIS].copy(), components[:, :, FIRST].copy()
        self._rotations = work[:n, layout.ROTATION : layout.ROTATION + 9].reshape(n, 3, 3).copy()
        self._origins = work[:n, layout.ORIGIN : layout.ORIGIN + 3].copy()
        self._spins = work[:n, layout.OMEGA : layout.OMEGA + 3].copy()
        self._velocities = work[:n, layout.VELOCITY : layout.VELOCITY + 3].copy()
        self._carried = carried_by(model.tree[:, layout.PARENT])
        model.stacks.append(work)

    def offsets(self, links: IntArray, points: Array) -> Array:
        """Places (m, 3) of world points in the axes of links."""
        levers = points - self._origins[links]
        return np.einsum("mji,mj->mi", self._rotations[links], levers)

    def origin(self, link: int) -> Array:
        """Where a link's origin is, world axes."""
        return np.asarray(self._origins[link])

    def of_points(self, links: IntArray, offsets: Array) -> PointMotion:
        """How points at offsets (m, 3) from links' origins, in their axes, move."""
        levers = np.einsum("mij,mj->mi", self._rotations[links], offsets)
        points = self._origins[links] + levers
        spin = self._spins[links]
        velocity = self._velocities[links] + np.cross(spin, levers)
        carries = self._carried[links][:, :, None]
        arms = points[:, None] - self._origins
        turn, first_turn = self._axes[:, :3] * carries, self._first[:, :3] * carries
        move = (self._axes[:, 3:] + np.cross(turn, arms)) * carries
        first = (self._first[:, 3:] + np.cross(first_turn, arms)) * carries
        by_q = (
            move,
            turn,
            np.cross(turn, velocity[:, None]) + first,
            np.cross(turn, spin[:, None]) + first_turn,
        )
        return PointMotion(points, velocity, spin, *(x.swapaxes(1, 2) for x in by_q))


def carried_by(parents: IntArray) -> Array:
    """(n, n) array: 1 where link k (row) is carried by link j (column), itself included."""
    result = np.eye(len(parents))
    for k, parent in enumerate(parents):
        if parent >= 0:
            result[k] += result[parent]
    return result
