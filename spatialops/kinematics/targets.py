"""What inverse kinematics is to reach: places of nodes, attitudes, or both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array, ArrayLike, array, scalar
from spatialops.algebra.rotation import rotation_matrix
from spatialops.dynamics.jacobian import body_poses, jacobian, node_positions
from spatialops.errors import ArgumentError, ModelError
from spatialops.tree.model import Model
from spatialops.tree.node import Node, NodeLike


@dataclass(frozen=True, eq=False)
class Target:
    """Where a node is to be, and how its body is to be turned.

    Parameters
    ----------
    node : Node
        Point of a body.
    position : (3,) array_like, optional
        In the world, m; NaN entries are free. Default: anywhere.
    rotation : (3, 3) or (4,) array_like, optional
        Of the body's frame in the world: matrix or quaternion (x, y, z, w). Default: any.
    weight : float
        Of the position's error beside other targets', positive. Default 1.
    angle_weight : float
        Metres that a radian of error counts as, positive. Default 1.

    Examples
    --------
    >>> import spatialops as so
    >>> tip = so.Target(so.Node("link2", (0.0, 0.0, -1.0)), position=(1.0, float("nan"), 8.0))
    """

    node: NodeLike
    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    weight: float = 1.0
    angle_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise ArgumentError("target: neither position nor rotation is given")
        if self.position is not None:
            given = array(self.position, (3,), "target: position").copy()
            if np.isinf(given).any() or np.isnan(given).all():
                raise ArgumentError(f"target: position: expected finite numbers, got {given}")
            object.__setattr__(self, "position", given)
        if self.rotation is not None:
            try:
                object.__setattr__(self, "rotation", rotation_matrix(self.rotation))
            except ModelError as error:
                raise ArgumentError(f"target: {error}") from None
        for name in ("weight", "angle_weight"):
            value = scalar(getattr(self, name), f"target: {name}", low=0.0, strict=True)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Errors:
    """How far targets are off at one configuration.

    Attributes
    ----------
    rows : (m,) array
        Weighted errors, m.
    slopes : (m, nv) array
        Their derivatives along the velocities.
    distances, angles : (n,) arrays
        Of every target, m and rad; zero for what it leaves free.
    """

    rows: Array
    slopes: Array
    distances: Array
    angles: Array


def errors_at(model: Model, q: Array, targets: tuple[Target, ...]) -> Errors:
    """Errors of targets at coordinates q, and their derivatives.

    An attitude's error is the rotation vector e that is left, R(q) = exp(e) R; its derivative is
    the inverse of the left Jacobian of SO(3), so that Gauss-Newton converges from far away too.
    """
    nodes = [target.node for target in targets]
    points = node_positions(model, q, nodes)
    J = jacobian(model, q, nodes)
    poses = body_poses(model, q)
    rows: list[Array] = []
    slopes: list[Array] = []
    distances = np.zeros(len(targets))
    angles = np.zeros(len(targets))
    for i, target in enumerate(targets):
        spins, moves = J[6 * i : 6 * i + 3], J[6 * i + 3 : 6 * i + 6]
        if target.position is not None:
            error = points[i] - np.asarray(target.position)
            held = ~np.isnan(error)
            distances[i] = np.linalg.norm(error[held])
            rows.append(target.weight * error[held])
            slopes.append(target.weight * moves[held])
        if target.rotation is not None:
            turn = _rotation_of(model, poses.rotations, target.node)
            vector = Rotation.from_matrix(turn @ np.asarray(target.rotation).T).as_rotvec()
            angles[i] = np.linalg.norm(vector)
            rows.append(target.angle_weight * vector)
            slopes.append(target.angle_weight * _inverse_left_jacobian(vector) @ spins)
    return Errors(np.concatenate(rows), np.vstack(slopes), distances, angles)


def _rotation_of(model: Model, rotations: Array, node: NodeLike) -> Array:
    body = node if isinstance(node, (str, int)) else Node(*node).body
    if not isinstance(body, str):
        return np.asarray(rotations[body])
    frame = model.frame(body)
    return frame.rotation if frame.body < 0 else rotations[frame.body] @ frame.rotation


def _inverse_left_jacobian(e: Array) -> Array:
    """I - [e]/2 + (1/t^2 - (1 + cos t) / (2 t sin t)) [e]^2, t = |e| (Barfoot 2017, 7.77b)."""
    t = float(np.linalg.norm(e))
    cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    half = 0.5 * t
    factor = 1.0 / 12.0 if t < 1e-4 else (1.0 - half / np.tan(half)) / t**2
    result: Array = np.eye(3) - 0.5 * cross + factor * cross @ cross
    return result
