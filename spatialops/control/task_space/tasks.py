"""What a controller is to move: coordinates x(q) with rates J v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, instance, several
from spatialops._compile.jit import kernel
from spatialops.algebra.rotation import rotation_matrix
from spatialops.algebra.vectors import dot, rotate, vec3
from spatialops.control.task_space.axes import checked_axes
from spatialops.control.task_space.points import Points
from spatialops.control.task_space.rotation_coordinates import (
    Path,
    mat3_of,
    nearest_turn,
    rotation_vector_kernel,
    vector_rates,
    vector_rates_kernel,
)
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

_ALL = (0, 1, 2)


class Motion(NamedTuple):
    """Coordinates of a task at a state.

    Parameters
    ----------
    x : (l,) array
        The coordinates.
    J : (l, nv) array
        Their Jacobian, xdot = J v.
    drift : (l,) array
        Jdot v.
    """

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
    """Position of a point of a body in the world, m, or some of its components.

    Parameters
    ----------
    node : Node
        The point on its body.
    axes : tuple of int, default (0, 1, 2)
        World axes along which it is to move.

    Raises
    ------
    ArgumentError
        For axes that are none, or named twice.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import PointTask
    >>> robot = so.models.quadruped()
    >>> height = PointTask(so.Node("base"), axes=(2,))
    >>> height.motion(robot.model, robot.state).J.shape
    (1, 18)
    """

    node: Node
    axes: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", checked_axes(self.axes, 3))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.axes)

    def motion(self, model: Model, state: State) -> Motion:
        """Position, Jacobian and drift.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x in m; J (l, nv); drift Jdot v in m/s^2.
        """
        instance(state, State, "state")
        found = points_of(self, model, self.node).rows(state.q, state.v)
        if self.axes == _ALL:
            return Motion(found.points[0], found.J[0, 3:], found.drift[0, 3:])
        rows = 3 + np.array(self.axes, dtype=np.int64)
        return Motion(found.points[0, rows - 3], found.J[0, rows], found.drift[0, rows])


@dataclass(frozen=True, eq=False)
class PoseTask:
    """Attitude and position of a body: x = [rotation vector of R R0^T; position of its point].

    In rad and m, world axes. The rotation vector is a coordinate like any other: its rate is
    J_l^-1(x) omega, and its error follows the designed law exactly, up to half a turn. Paths may
    turn on beyond pi: `nearest` takes of the vectors of an attitude the one nearest to x.

    Parameters
    ----------
    node : Node
        The point on its body, or a frame.
    attitude : (3, 3) or (4,) array_like, optional
        R0, a rotation matrix or a quaternion (x, y, z, w); default: that of the world.

    Raises
    ------
    ArgumentError
        For an attitude that is no rotation.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import PoseTask
    >>> robot = so.models.quadruped()
    >>> base = PoseTask(so.Node("base"))
    >>> base.motion(robot.model, robot.state).J.shape
    (6, 18)
    """

    node: Node
    attitude: ArrayLike | None = None

    size = 6
    _zero: ClassVar[Array]  # of the instance

    def __post_init__(self) -> None:
        turn = np.eye(3) if self.attitude is None else rotation_matrix(self.attitude, "attitude")
        object.__setattr__(self, "_zero", np.ascontiguousarray(turn, dtype=np.float64))

    def rates(self, model: Model, state: State) -> Array:
        """J_l^-1, rates of the rotation vector from angular velocities.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        (3, 3) array
            J_l^-1 at the state.
        """
        x = self.motion(model, state).x[:3]
        return vector_rates(x, np.zeros(3))[0]

    def motion(self, model: Model, state: State) -> Motion:
        """Pose, Jacobian and drift.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x (6,) in rad and m; J (6, nv); drift Jdot v.
        """
        instance(state, State, "state")
        points = points_of(self, model, self.node)
        found = points.rows(state.q, state.v)
        x, J = np.empty(6), found.J[0]
        x[3:] = found.points[0]
        moves = found.velocities[0], found.drift[0]
        turns = found.axes[0], *self._own_turns(model, points)
        pose_kernel(turns, moves, np.empty((3, 3, 3)), x, J)
        return Motion(x, J, moves[1])

    def turns(self, model: Model, link: int) -> tuple[Array, Array]:
        """How the body and its node are turned, whatever the state.

        Parameters
        ----------
        model : Model
            The mechanism.
        link : int
            Kernel link of the node.

        Returns
        -------
        own, zero : (3, 3) arrays
            Rotation of the node's axes in those of the link, and the attitude R0.
        """
        turn = model.turns[link].T
        frame = model.frame(self.node[0]) if isinstance(self.node[0], str) else None
        own = turn if frame is None else turn @ frame.rotation
        return np.ascontiguousarray(own), self._zero

    def _own_turns(self, model: Model, points: Points) -> tuple[Array, Array]:
        """The same, looked up once and kept."""
        kept: tuple[Points, tuple[Array, Array]] | None = getattr(self, "_kept", None)
        if kept is None or kept[0] is not points:
            kept = points, self.turns(model, points.links[0])
            object.__setattr__(self, "_kept", kept)
        return kept[1]

    def nearest(self, path: Path, x: Array) -> Path:
        """The same path with the rotation vector that is nearest to that of the body.

        Parameters
        ----------
        path : tuple of three (6,) arrays
            Where it should be, rad and m, and the two derivatives.
        x : (6,) array
            Where it is.

        Returns
        -------
        tuple of three (6,) arrays
            One pose, other coordinates.
        """
        turned = nearest_turn(path[0][:3], path[1][:3], path[2][:3], x[:3])
        joined = [np.concatenate([a, b[3:]]) for a, b in zip(turned, path, strict=True)]
        return joined[0], joined[1], joined[2]


@kernel
def pose_kernel(
    turns: tuple[Array, ...], moves: tuple[Array, Array], work: Array, x: Array, J: Array
) -> None:
    """Rotation vector of a link's axes times the node's in them, from a first attitude, into x.

    `turns` are these three. J (6, nv) and drift, the second of `moves` (6,), are of the node, whose
    velocity is the first; they become those of the vector. `work` (3, 3, 3).
    """
    axes, own, zero = turns
    velocity, drift = moves
    for i in range(3):
        for j in range(3):
            total = 0.0
            for a in range(3):
                for b in range(3):
                    total += axes[i, a] * own[a, b] * zero[j, b]
            work[0, i, j] = total
    inverse = work[1]
    rotation_vector_kernel(work[0], x)
    vector_rates_kernel(x, velocity, inverse, work[2])
    turned = rotate(mat3_of(inverse), (drift[0], drift[1], drift[2]))
    for c in range(3):
        drift[c] = turned[c] + dot(vec3(work[2], c, 0), (velocity[0], velocity[1], velocity[2]))
    for k in range(J.shape[1]):
        turned = rotate(mat3_of(inverse), (J[0, k], J[1, k], J[2, k]))
        for c in range(3):
            J[c, k] = turned[c]


@dataclass(frozen=True, eq=False)
class JointTask:
    """Coordinates of joints of one degree of freedom, rad or m.

    Parameters
    ----------
    joints : tuple of str
        Names of the joints.
    """

    joints: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", several(self.joints, "joints", "names"))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    def motion(self, model: Model, state: State) -> Motion:
        """Coordinates, Jacobian and drift.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x (l,) in rad or m; J (l, nv); no drift.

        Raises
        ------
        ArgumentError
            For a joint with more than one coordinate.
        """
        kept = self._looked_up(model)
        instance(state, State, "state")
        return Motion(state.q[kept.places], kept.J.copy(), np.zeros(self.size))

    def places(self, model: Model) -> IntArray:
        """Where the joints' coordinates and velocities are.

        Parameters
        ----------
        model : Model
            The mechanism.

        Returns
        -------
        (l, 2) int array
            Their numbers in q and in v.

        Raises
        ------
        ArgumentError
            For a joint with more than one coordinate.
        """
        kept = self._looked_up(model)
        return np.column_stack([kept.places, kept.J.argmax(axis=1)])

    def _looked_up(self, model: Model) -> _Joints:
        kept: _Joints | None = getattr(self, "_kept", None)
        if kept is None or kept.model is not model:
            kept = self._joints(model)
            object.__setattr__(self, "_kept", kept)
        return kept

    def _joints(self, model: Model) -> _Joints:
        """Coordinates and rows, looked up once and kept."""
        instance(model, Model, "model")
        at = [(model.q_slice(name), model.v_slice(name)) for name in self.joints]
        for name, (q, _) in zip(self.joints, at, strict=True):
            if q.stop - q.start != 1:
                raise ArgumentError(f"joints: {name!r} has more than one coordinate")
        J = np.zeros((self.size, model.nv))
        J[np.arange(self.size), [v.start for _, v in at]] = 1.0
        return _Joints(model, np.array([q.start for q, _ in at], dtype=np.int64), J)


class _Joints(NamedTuple):
    """Coordinates of joints, and their rows."""

    model: Model
    places: IntArray
    J: Array


def points_of(task: Task, model: Model, node: Node) -> Points:
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
    if len(motions) == 1:
        return motions[0]
    x, J, drift = zip(*motions, strict=True)
    return Motion(np.concatenate(x), np.vstack(J), np.concatenate(drift))
