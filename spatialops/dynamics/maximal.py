"""Maximal coordinates: every body's pose and spatial velocity, from and to those of the tree.

The conversion is exact. [J] section 3 calls the model of free bodies with hinges as constraints
"fully augmented". A joint of d degrees of freedom leaves its child the relative twists S qdot,
S (6, d) at the child's origin in world axes:

    V_child - X V_parent = S qdot,   X = [I, 0; -[r]x, I],
    r from the parent's origin to the child's,

so that qdot = S^+ (V_child - X V_parent), and the hinge constrains the 6 - d combinations C^T with
C^T S = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array, not_finite, vector
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.tree.model import Model


class MaximalState(NamedTuple):
    """Poses and velocities of all bodies, in the order of the model.

    Parameters
    ----------
    positions : (n_bodies, 3) array
        Origins of the bodies' frames, m.
    rotations : (n_bodies, 3, 3) array
        Of their frames.
    velocities : (n_bodies, 6) array
        [angular; linear] of their origins, in world axes.
    """

    positions: Array
    rotations: Array
    velocities: Array


@dataclass(frozen=True, eq=False)
class Joints:
    """All joints of d degrees of freedom, placed: what their hinges leave and what they constrain.

    Attributes
    ----------
    bodies, parents : (k,) int arrays
        Child bodies, and their parents (-1: the world).
    first : (k,) int array
        First velocity index.
    levers : (k, 3) array
        From the parent's origin (the world's: the child's own, so that the world does not move) to
        the child's.
    motion : (k, 6, d) array
        S: twists at the child's origin per unit of joint velocity.
    """

    bodies: IntArray
    parents: IntArray
    first: IntArray
    levers: Array
    motion: Array

    @cached_property
    def rates(self) -> Array:
        """S^+ (k, d, 6): joint velocities from the relative twist."""
        return np.asarray(np.linalg.pinv(self.motion), dtype=np.float64)

    @cached_property
    def hinges(self) -> Array:
        """Orthonormal combinations (k, 6 - d, 6) of the relative twist that hinges hold."""
        full, _ = np.linalg.qr(self.motion, mode="complete")
        return np.ascontiguousarray(full[:, :, self.motion.shape[2] :].transpose(0, 2, 1))

    def on_parent(self, rows: Array) -> Array:
        """Combinations (k, r, 6) of the relative twist as those of the parent's, -rows X."""
        result = -rows
        result[:, :, :3] -= np.cross(self.levers[:, None], rows[:, :, 3:])
        return result


def joint_groups(model: Model, work: Array) -> list[Joints]:
    """The joints of a model by degrees of freedom; poses must be in `work`."""
    spans = [model.v_slice(name) for name in model.joint_names]
    sizes = np.array([span.stop - span.start for span in spans])
    starts = np.array([span.start for span in spans])
    origins = work[model.body_links, layout.ORIGIN : layout.ORIGIN + 3]
    groups = []
    for d in sorted(set(sizes.tolist())):
        bodies = np.flatnonzero(sizes == d)
        parents, first = model.body_parents[bodies], starts[bodies]
        levers = np.where(parents[:, None] >= 0, origins[bodies] - origins[parents], 0.0)
        motion = np.stack(
            [_twists(model, work, first + j, origins[bodies]) for j in range(d)], axis=2
        )
        groups.append(Joints(bodies, parents, first, levers, motion))
    return groups


def _twists(model: Model, work: Array, links: IntArray, points: Array) -> Array:
    """Twists (k, 6) at `points` that links cause by their own unit rates."""
    rows = work[links]
    motion = model.tree[links, layout.MOTION]
    pitch = model.links[links, layout.PITCH]
    rotations = rows[:, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3)
    axes = np.take_along_axis(rotations, model.tree[links, layout.AXIS][:, None, None], axis=2)[
        :, :, 0
    ]
    turning = np.where((motion != layout.LINEAR)[:, None], axes, 0.0)
    sliding = (
        np.where(motion == layout.LINEAR, 1.0, np.where(motion == layout.ROTARY, 0.0, pitch))[
            :, None
        ]
        * axes
    )
    return np.hstack(
        [turning, sliding + np.cross(turning, points - rows[:, layout.ORIGIN : layout.ORIGIN + 3])]
    )


def placed(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Array:
    """Workspace with poses, and velocities where `v` is given; the arguments are checked."""
    q, work = vector(q, model.nq, "q"), np.zeros((model.nv, layout.WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != layout.OK:
        raise not_finite(q=q)
    if v is not None:
        v = vector(v, model.nv, "v")
        if not np.isfinite(v).all():
            raise not_finite(v=v)
        velocities_kernel(model.tree, model.links, v, work)
    return work


def to_maximal(model: Model, q: ArrayLike, v: ArrayLike) -> MaximalState:
    """Poses and velocities of all bodies.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.

    Returns
    -------
    MaximalState
        In the order of the model's bodies.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN or infinity.

    References
    ----------
    [J] section 3.
    """
    rows = placed(model, q, v)[model.body_links]
    turns = model.turns[model.body_links].transpose(0, 2, 1)
    velocities = np.hstack(
        [rows[:, layout.OMEGA : layout.OMEGA + 3], rows[:, layout.VELOCITY : layout.VELOCITY + 3]]
    )
    rotations = rows[:, layout.ROTATION : layout.ROTATION + 9].reshape(-1, 3, 3) @ turns
    return MaximalState(rows[:, layout.ORIGIN : layout.ORIGIN + 3].copy(), rotations, velocities)


def from_maximal(model: Model, state: MaximalState) -> tuple[Array, Array]:
    """Tree coordinates and velocities of bodies whose poses and velocities fit their hinges.

    What does not fit is left out: v is the least-squares fit, and q reads off what the joint can
    do. Angles come out in (-pi, pi].

    Parameters
    ----------
    model : Model
        The mechanism.
    state : MaximalState
        Poses and velocities of its bodies.

    Returns
    -------
    q : (nq,) array
        Coordinates, rad and m.
    v : (nv,) array
        Velocities, rad/s and m/s.

    Raises
    ------
    ArgumentError
        For wrong shapes, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> q, v = so.from_maximal(model, so.to_maximal(model, [0.3, 0.1], [1.0, 2.0]))
    >>> bool(np.allclose([q, v], [[0.3, 0.1], [1.0, 2.0]]))
    True
    """
    n = model.n_bodies
    positions = array(state.positions, (n, 3), "positions", finite=True)
    rotations = array(state.rotations, (n, 3, 3), "rotations", finite=True)
    velocities = array(state.velocities, (n, 6), "velocities", finite=True)
    q = model.neutral()
    for body, (name, kind) in enumerate(zip(model.joint_names, model.joint_kinds, strict=True)):
        first, last = model.v_slice(name).start, model.body_links[body]
        parent = model.body_parents[body]
        base, above = np.zeros(3), np.eye(3)
        if parent >= 0:
            base, above = (
                positions[parent],
                rotations[parent] @ model.turns[model.body_links[parent]],
            )
        placement = model.links[first]
        frame = above @ placement[layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
        offset = frame.T @ (
            positions[body] - base - above @ placement[layout.PLACE_P : layout.PLACE_P + 3]
        )
        turn = frame.T @ rotations[body] @ model.turns[last]
        q[model.q_slice(name)] = _coordinates(model, kind, first, turn, offset)
    return q, tree_velocity(joint_groups(model, placed(model, q)), velocities, model.nv)


def tree_velocity(groups: list[Joints], velocities: Array, nv: int) -> Array:
    """Joint velocities (nv,) from the bodies' (n, 6)."""
    v = np.empty(nv)
    for joints in groups:
        relative = np.einsum("kdi,ki->kd", joints.rates, velocities[joints.bodies])
        held = joints.parents >= 0
        parent = joints.on_parent(joints.rates)[held]
        relative[held] += np.einsum("kdi,ki->kd", parent, velocities[joints.parents[held]])
        v[joints.first[:, None] + np.arange(relative.shape[1])] = relative
    return v


def _coordinates(model: Model, kind: str, first: int, turn: Array, offset: Array) -> Array:
    """Coordinates of one joint from the child's pose in the joint's frame."""
    from scipy.spatial.transform import Rotation  # 0.1 s

    if kind in ("ball", "free"):
        quaternion = Rotation.from_matrix(turn).as_quat()
        return quaternion if kind == "ball" else np.append(offset, quaternion)
    if kind == "revolute":
        return np.array([_angle(turn)])
    if kind == "prismatic":
        return offset[2:]
    if kind == "screw":
        pitch = model.links[first, layout.PITCH]
        return np.array([offset[2] / pitch if pitch != 0.0 else _angle(turn)])
    if kind == "cylindrical":
        return np.array([_angle(turn), offset[2]])
    second = model.links[first + 1, layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
    if kind == "universal":  # turn = Rz(a) second Rz(b)
        a = np.arctan2(turn[1, 2], turn[0, 2]) - np.arctan2(second[1, 2], second[0, 2])
        a = (a + np.pi) % (2.0 * np.pi) - np.pi
        back = Rotation.from_rotvec([0.0, 0.0, -a]).as_matrix()
        return np.array([a, _angle(second.T @ back @ turn)])
    third = model.links[first + 2, layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)  # planar
    return np.array([offset[2], offset @ second[:, 2], _angle((second @ third).T @ turn)])


def _angle(turn: Array) -> float:
    """Angle of a rotation about z."""
    return float(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))
