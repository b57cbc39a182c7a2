"""Maximal coordinates: every body's pose and spatial velocity, from and to those of the tree.

The conversion is exact. [J] section 3 calls the model of free bodies with hinges as constraints
"fully augmented". `joint_split.py` has
what a joint leaves of its child's motion and what it holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.dynamics.jacobian import body_poses
from spatialops.dynamics.joint_split import JointSplits, joint_splits, tree_velocities
from spatialops.dynamics.kinematics import (
    finite_status,
    move_link,
    place_link,
    poses_kernel,
)
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, not_a_model


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


@kernel
def place_and_move(tree: IntArray, links: Array, q: Array, v: Array, work: Array) -> int:
    """Poses and velocities of all links in one sweep: large trees wait for memory."""
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
    return finite_status(q) | finite_status(v)


def placed(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Array:
    """Workspace with poses, and velocities where `v` is given; the arguments are checked."""
    q, work = vector(q, model.nq, "q"), np.zeros((model.nv, layout.WORK_COLUMNS))
    if v is None:
        if poses_kernel(model.tree, model.links, q, work) != layout.OK:
            raise not_finite(q=q)
        return work
    v = vector(v, model.nv, "v")
    if place_and_move(model.tree, model.links, q, v, work) != layout.OK:
        raise not_finite(q=q, v=v)
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
    if type(model) is not Model:
        raise not_a_model(model)
    rows = placed(model, q, v)[model.body_links]
    velocities = np.hstack(
        [rows[:, layout.OMEGA : layout.OMEGA + 3], rows[:, layout.VELOCITY : layout.VELOCITY + 3]]
    )
    return MaximalState(*body_poses(model, q), velocities)


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
    if type(model) is not Model:
        raise not_a_model(model)
    if not isinstance(state, MaximalState):
        raise ArgumentError(f"state: expected a MaximalState, got {type(state).__name__}")
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
    return q, tree_velocity(joint_splits(model, placed(model, q)), velocities)


def tree_velocity(splits: JointSplits, velocities: Array) -> Array:
    """Joint velocities (nv,) from the bodies' (n, 6)."""
    v = np.empty(splits.carried.size)
    tree_velocities(splits.joints, splits.split, splits.levers, velocities, v)
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
