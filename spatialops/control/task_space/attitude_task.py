"""How a body is turned, whatever its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spatialops._arrays import Array, ArrayLike
from spatialops.control.task_space.rotation_coordinates import Path, nearest_turn
from spatialops.control.task_space.tasks import Motion, PoseTask
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State


@dataclass(frozen=True, eq=False)
class AttitudeTask:
    """Attitude of a body: the rotation vector of R R0^T, rad, world axes; the half of a `PoseTask`.

    Parameters
    ----------
    node : Node
        On the body, or a frame.
    attitude : (3, 3) or (4,) array_like, optional
        R0, a rotation matrix or a quaternion (x, y, z, w); default: that of the world.

    Raises
    ------
    ArgumentError
        For an attitude that is no rotation.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import AttitudeTask
    >>> robot = so.models.quadruped()
    >>> AttitudeTask(so.Node("base")).motion(robot.model, robot.state).x.tolist()
    [0.0, 0.0, 0.0]
    """

    node: Node
    attitude: ArrayLike | None = None

    size = 3
    pose: ClassVar[PoseTask]  # of the instance

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", PoseTask(self.node, self.attitude))

    def motion(self, model: Model, state: State) -> Motion:
        """Rotation vector, Jacobian and drift.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x (3,) in rad; J (3, nv); drift Jdot v in rad/s^2.
        """
        x, J, drift = self.pose.motion(model, state)
        return Motion(x[:3], J[:3], drift[:3])

    def nearest(self, path: Path, x: Array) -> Path:
        """The same path with the rotation vector that is nearest to that of the body.

        Parameters
        ----------
        path : tuple of three (3,) arrays
            How it should be turned, rad, and the two derivatives.
        x : (3,) array
            How it is.

        Returns
        -------
        tuple of three (3,) arrays
            The same attitude in other coordinates.
        """
        return nearest_turn(*path, x)
