"""What a controller is to move: coordinates x(q) with rates J v, and the paths that they are to follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from spatialops._arrays import Array, array
from spatialops.algebra.rotation import from_quaternion, rotation_matrix, to_quaternion
from spatialops.control.projection_nodes import Points
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.energy import center_of_mass
from spatialops.dynamics.jacobian import body_poses
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State


class Motion(NamedTuple):
    """Coordinates x (l,), their Jacobian J (l, nv) with xdot = J v, and drift Jdot v (l,)."""

    x: Array
    J: Array
    drift: Array


class Task(Protocol):
    """Coordinates of a mechanism."""

    @property
    def size(self) -> int:
        """Number of coordinates."""

    def motion(self, model: Model, state: State) -> Motion:
        """The coordinates at a state."""


@dataclass(frozen=True, eq=False)
class PointTask:
    """Position of a point of a body in the world, m, or some of its components (0, 1, 2)."""

    node: Node
    axes: tuple[int, ...] = (0, 1, 2)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.axes)

    def motion(self, model: Model, state: State) -> Motion:
        """Position, Jacobian and drift."""
        rows = 3 + np.array(self.axes, dtype=np.int64)
        found = points_of(self, model, self.node).rows(state.q, state.v)
        return Motion(found.points[0, rows - 3], found.J[0, rows], found.drift[0, rows])


@dataclass(frozen=True, eq=False)
class PoseTask:
    """Attitude and position of a body: x = [rotation vector of R R0^T (rad); position of its point (m)], world axes.

    The rotation vector is a coordinate like any other: its rate is J_l^-1(x) omega, and its error follows the designed
    law exactly, however large. It must stay below pi.
    """

    node: Node
    attitude: Any = None

    size = 6

    def __post_init__(self) -> None:
        turn = np.eye(3) if self.attitude is None else rotation_matrix(self.attitude, "attitude")
        object.__setattr__(self, "_zero", turn)

    def rates(self, model: Model, state: State) -> Array:
        """J_l^-1 (3, 3): rates of the rotation vector from angular velocities."""
        x = self.motion(model, state).x[:3]
        return vector_rates(x, np.zeros(3))[0]

    def motion(self, model: Model, state: State) -> Motion:
        """Pose, Jacobian and drift."""
        found = points_of(self, model, self.node).rows(state.q, state.v)
        frame = model.frame(self.node[0]) if isinstance(self.node[0], str) else None
        body = model.body_index(self.node[0]) if frame is None else frame.body
        turn = body_poses(model, state.q).rotations[body]
        if frame is not None:
            turn = turn @ frame.rotation
        x = rotation_vector(turn @ self._zero.T)  # type: ignore[attr-defined]
        J, drift, omega = found.J[0], found.drift[0], found.velocities[0, :3]
        inverse, rate = vector_rates(x, omega)
        drift[:3] = inverse @ drift[:3] + rate @ omega
        J[:3] = inverse @ J[:3]
        return Motion(np.concatenate([x, found.points[0]]), J, drift)


@dataclass(frozen=True, eq=False)
class CenterOfMassTask:
    """Centre of mass in the world, m, of a mechanism on one free joint.

    Raises
    ------
    ArgumentError
        By `motion`, for a mechanism whose mass does not all hang from one free joint without armature.
    """

    size = 3

    def motion(self, model: Model, state: State) -> Motion:
        """Position, Jacobian and drift, from the free joint's rows: the total force is m (a - g)."""
        if model.joint_kinds[0] != "free" or (model.body_parents < 0).sum() != 1:
            raise ArgumentError("CenterOfMassTask: needs a mechanism that hangs from one free joint")
        q = state.q
        at, rows = model.q_slice(model.joint_names[0]).start, slice(3, 6)
        turn = from_quaternion(q[at + 3 : at + 7])
        force = bias(model, q, state.v)[rows]
        J = turn @ mass_matrix(model, q)[rows] / model.mass
        return Motion(center_of_mass(model, q), J, turn @ force / model.mass + model.gravity)


@dataclass(frozen=True, eq=False)
class JointTask:
    """Coordinates of joints of one degree of freedom, rad or m."""

    joints: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    def motion(self, model: Model, state: State) -> Motion:
        """Coordinates, Jacobian and drift."""
        at = [(model.q_slice(name), model.v_slice(name)) for name in self.joints]
        for name, (q, _) in zip(self.joints, at, strict=True):
            if q.stop - q.start != 1:
                raise ArgumentError(f"joints: {name!r} has more than one coordinate")
        J = np.zeros((self.size, model.nv))
        J[np.arange(self.size), [v.start for _, v in at]] = 1.0
        return Motion(np.array([state.q[q.start] for q, _ in at]), J, np.zeros(self.size))


Path = Callable[[float], Any]


class Tracking:
    """A task with its path and gains: xddot = xddot_d + K_D (xdot_d - xdot) + K_P (x_d - x) ([A] 17, 20).

    Parameters
    ----------
    task : Task
    path : callable or (l,) array_like
        time -> (x_d, xdot_d, xddot_d), or a fixed x_d.
    stiffness : float, (l,) or (l, l) array_like
        K_P, 1/s^2.
    damping : float, (l,) or (l, l) array_like, optional
        K_D, 1/s; default: critical, 2 sqrt(K_P).
    name : str
    """

    def __init__(
        self, task: Task, path: Path | Any, *, stiffness: Any = 100.0, damping: Any = None, name: str = ""
    ) -> None:
        self.task, self.path = task, path if callable(path) else _fixed(array(path, (task.size,), "path", finite=True))
        self.stiffness = _gain(stiffness, task.size, "stiffness")
        if damping is None:
            damping = 2.0 * _root(self.stiffness)
        self.damping = _gain(damping, task.size, "damping")
        self.name = name or type(task).__name__

    def goal(self, time: float, motion: Motion, v: Array) -> tuple[Array, Array, Array]:
        """Acceleration asked for (l,), error e = x_d - x and its rate."""
        x, rate, acceleration = (np.asarray(part, dtype=np.float64) for part in self.path(time))
        e, de = x - motion.x, rate - motion.J @ v
        return acceleration + self.damping @ de + self.stiffness @ e, e, de


def points_of(task: Any, model: Model, node: Node) -> Points:
    """The node of a task, looked up once and kept with the task."""
    kept: Points | None = getattr(task, "_points", None)
    if kept is None or kept.model is not model:
        kept = Points(model, [node])
        object.__setattr__(task, "_points", kept)
    return kept


def stack(motions: Sequence[Motion], nv: int) -> Motion:
    """Several motions as one."""
    if not motions:
        return Motion(np.zeros(0), np.zeros((0, nv)), np.zeros(0))
    x, J, drift = zip(*motions, strict=True)
    return Motion(np.concatenate(x), np.vstack(J), np.concatenate(drift))


def rotation_vector(R: Array) -> Array:
    """Rotation vector (3,), rad, of a rotation matrix; of length pi at most, exact also near zero and pi."""
    twist = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])  # sin(angle) axis
    sine, cosine = math.sqrt(float(twist @ twist)), 0.5 * (float(R[0, 0] + R[1, 1] + R[2, 2]) - 1.0)
    if cosine > -0.9:
        return twist * (math.atan2(sine, cosine) / sine) if sine > 1e-9 else twist
    q = to_quaternion(R)  # near half a turn the sine says little
    length = float(np.linalg.norm(q[:3]))
    result: Array = 2.0 * math.atan2(length, float(q[3])) / length * q[:3]
    return result


def vector_rates(x: Array, omega: Array) -> tuple[Array, Array]:
    """J_l^-1(x), with xdot = J_l^-1 omega for a rotation vector x, and its rate.

    J_l^-1 = I - X / 2 + c X^2, c = (1 - (t / 2) cot(t / 2)) / t^2, t = |x|, X the cross product by x.
    """
    t, X = math.sqrt(float(x @ x)), _skew(x)
    XX = X @ X
    if t < 1e-2:  # the series: the quotients lose digits
        c, slope = 1.0 / 12.0 + t * t / 720.0 + t**4 / 30240.0, 1.0 / 360.0 + t * t / 7560.0
    else:
        half = 0.5 * t
        cot, square = 1.0 / math.tan(half), 1.0 / math.sin(half) ** 2
        c = (1.0 - half * cot) / (t * t)
        slope = ((-0.5 * cot + 0.5 * half * square) / (t * t) - 2.0 * c / t) / t  # dc/dt / t
    inverse = _WORLD - 0.5 * X + c * XX
    rate = inverse @ omega
    V = _skew(rate)
    return inverse, (slope * float(x @ rate)) * XX - 0.5 * V + c * (V @ X + X @ V)


def _skew(w: Array) -> Array:
    x, y, z = w.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


_WORLD = np.eye(3)


def _fixed(x: Array) -> Path:
    zero = np.zeros_like(x)
    return lambda time: (x, zero, zero)


def _gain(value: Any, size: int, name: str) -> Array:
    given = np.asarray(value, dtype=np.float64)
    matrix = np.eye(size) * given if given.ndim < 2 else given
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ArgumentError(f"{name}: expected a number, {size} of them, or a matrix of that size")
    if size and np.linalg.eigvalsh(matrix + matrix.T)[0] < 0.0:
        raise ArgumentError(f"{name}: expected gains that are not negative")
    return matrix


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    result: Array = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return result
