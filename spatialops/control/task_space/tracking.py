"""Paths that tasks follow, and the gains with which they do ([A] 17, 20)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, dimensions, scalar
from spatialops._compile.jit import kernel
from spatialops.control.task_space.attitude_task import AttitudeTask
from spatialops.control.task_space.tasks import Motion, PoseTask, Task
from spatialops.errors import ArgumentError

Path = Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]


class Tracking:
    """A task with its path and gains: xddot = xddot_d + K_D (xdot_d - xdot) + K_P (x_d - x).

    Parameters
    ----------
    task : Task
        What is to move.
    path : callable or (l,) array_like
        time -> (x_d, xdot_d, xddot_d), or a fixed x_d.
    stiffness : float, (l,) or (l, l) array_like
        K_P, 1/s^2; default: 100.
    damping : float, (l,) or (l, l) array_like, optional
        K_D, 1/s; default: critical, 2 sqrt(K_P).
    weight : float, default 1
        Its share where tasks of one level of a `WholeBodyController` have to give way together;
        tasks that are met, and other controllers, know none.
    name : str, optional
        What reports call it; default: the class of the task.

    Raises
    ------
    ArgumentError
        For a path of the wrong size, and gains that are negative.

    References
    ----------
    [A] 17 and 20.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import JointTask, Tracking
    >>> arm = so.models.pendulum(2)
    >>> state = so.State(np.array([0.1, 0.0]), np.zeros(2))
    >>> joint = JointTask(arm.model.joint_names[:1])
    >>> tracking = Tracking(joint, [0.0], stiffness=100.0)
    >>> acceleration, error, _ = tracking.goal(0.0, joint.motion(arm.model, state), state.v)
    >>> acceleration.tolist(), error.tolist()
    ([-10.0], [-0.1])
    """

    def __init__(
        self,
        task: Task,
        path: Path | ArrayLike,
        *,
        stiffness: ArrayLike = 100.0,
        damping: ArrayLike | None = None,
        weight: float = 1.0,
        name: str = "",
    ) -> None:
        self.task = task
        if not hasattr(task, "motion"):  # tasks may be classes of one's own
            raise ArgumentError(f"task: expected a Task, got {type(task).__name__}")
        self.path: Path = path if callable(path) else _Fixed.at(path, task.size)
        wanted = _gain(stiffness, task.size, "stiffness")
        damping = 2.0 * _root(wanted) if damping is None else damping
        self._gains = wanted, _gain(damping, task.size, "damping")
        self._nearest = task.nearest if isinstance(task, (PoseTask, AttitudeTask)) else None
        self.weight = scalar(weight, "weight", low=0.0, strict=True)
        self.name = name or type(task).__name__

    @property
    def gains(self) -> tuple[Array, Array]:
        """Stiffness and damping (l, l), read-only: another pair whenever one of them is changed."""
        return self._gains

    @property
    def stiffness(self) -> Array:
        """K_P (l, l), 1/s^2, read-only; may be set as to the class."""
        return self._gains[0]

    @stiffness.setter
    def stiffness(self, value: ArrayLike) -> None:
        self._gains = _gain(value, self.task.size, "stiffness"), self._gains[1]

    @property
    def damping(self) -> Array:
        """K_D (l, l), 1/s, read-only; may be set as to the class."""
        return self._gains[1]

    @damping.setter
    def damping(self, value: ArrayLike) -> None:
        self._gains = self._gains[0], _gain(value, self.task.size, "damping")

    def goal(self, time: float, motion: Motion, v: Array) -> tuple[Array, Array, Array]:
        """What the task's coordinates should do now.

        Parameters
        ----------
        time : float
            At which the path is asked, s.
        motion : Motion
            Of the task at the present state.
        v : (nv,) array
            Velocities.

        Returns
        -------
        acceleration : (l,) array
            xddot, which the task is asked for.
        error, rate : (l,) arrays
            x_d - x and its rate.
        """
        path = np.empty((3, self.task.size))
        path[0], path[1], path[2] = self.path(time)
        if self._nearest is not None:
            path[:] = self._nearest((path[0], path[1], path[2]), motion.x)
        goal_kernel(path, motion.x, motion.J, v, *self._gains, 0)
        return path[2], path[0], path[1]


@kernel
def goal_kernel(
    path: Array, x: Array, J: Array, v: Array, stiffness: Array, damping: Array, first: int
) -> None:
    """x_d and its derivatives become e, its rate, and the acceleration.

    `path` (3, k) and J (k, nv) may be of more tasks; x (l,) is at their rows from `first` on.
    """
    size = x.size
    for i in range(size):
        path[0, first + i] -= x[i]
        for k in range(v.size):
            path[1, first + i] -= J[first + i, k] * v[k]
    for i in range(size):
        for k in range(size):
            path[2, first + i] += damping[i, k] * path[1, first + k]
            path[2, first + i] += stiffness[i, k] * path[0, first + k]


@dataclass(frozen=True, eq=False)
class _Fixed:
    """A path that stays where it is; a class, so that it can be copied to other processes."""

    place: Array
    still: Array

    @classmethod
    def at(cls, place: ArrayLike, size: int) -> _Fixed:
        """Of a place (size,)."""
        x = array(place, (size,), "path", finite=True)
        return cls(x, np.zeros_like(x))

    def __call__(self, time: float) -> tuple[Array, Array, Array]:
        return self.place, self.still, self.still


def _gain(value: ArrayLike, size: int, name: str) -> Array:
    """Gains as a matrix."""
    shape = {0: (), 1: (None,)}.get(dimensions(value, name), (None, None))
    given = array(value, shape, name)
    row = given.shape in ((), (1,), (size,))
    matrix = np.eye(size) * given if row else given
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise ArgumentError(f"{name}: expected a number, {size} of them, or a matrix of that size")
    if size and np.linalg.eigvalsh(matrix + matrix.T)[0] < 0.0:
        raise ArgumentError(f"{name}: expected gains that are not negative")
    matrix.flags.writeable = False
    return matrix


def _root(matrix: Array) -> Array:
    """The symmetric square root."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    result: Array = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return result
