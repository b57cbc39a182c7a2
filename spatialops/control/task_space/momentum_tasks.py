"""Tasks of a mechanism as a whole: its centre of mass, and its momentum about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import instance
from spatialops.control.task_space.axes import checked_axes
from spatialops.control.task_space.tasks import Motion
from spatialops.derivatives.momentum import centroidal_momentum_derivatives
from spatialops.dynamics.energy import center_of_mass
from spatialops.kinematics.center_motion import center_of_mass_motion
from spatialops.tree.model import Model
from spatialops.tree.state import State

_ALL = (0, 1, 2)


@dataclass(frozen=True, eq=False)
class CenterOfMassTask:
    """Centre of mass in the world, m, or some of its components.

    Parameters
    ----------
    axes : tuple of int, default (0, 1, 2)
        World axes along which it is to move.

    Raises
    ------
    ArgumentError
        For axes that are none, or named twice.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import CenterOfMassTask
    >>> robot = so.models.quadruped()
    >>> height = CenterOfMassTask(axes=(2,))
    >>> height.motion(robot.model, robot.state).x.shape
    (1,)
    """

    axes: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", checked_axes(self.axes, 3))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.axes)

    def motion(self, model: Model, state: State) -> Motion:
        """Position, Jacobian and drift, from the momentum m xdot = A v.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x (l,) in m; J (l, nv); drift Jdot v in m/s^2.
        """
        instance(state, State, "state")
        found = center_of_mass_motion(model, state.q, state.v)
        if self.axes == _ALL:
            return Motion(*found)
        axes = list(self.axes)
        return Motion(found.x[axes], found.J[axes], found.drift[axes])


@dataclass(frozen=True, eq=False)
class CentroidalMomentumTask:
    """Momentum about the centre of mass, [angular; linear], or some of its components.

    What `Tracking` calls the rate is the momentum, its acceleration the rate of momentum: a damping
    draws the momentum to the path's. Linear momentum has the coordinate m c, kg m; angular momentum
    is the rate of nothing, its coordinate is 0 and a stiffness has no effect on it.

    Parameters
    ----------
    axes : tuple of int, default (0, 1, 2)
        Components: 0 to 2 angular, 3 to 5 linear, world axes.

    Raises
    ------
    ArgumentError
        For axes that are none, or named twice.

    References
    ----------
    D. E. Orin, A. Goswami, S.-H. Lee, Autonomous Robots 35 (2013).

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import CentroidalMomentumTask, Tracking
    >>> robot = so.models.quadruped()
    >>> quiet = Tracking(CentroidalMomentumTask(), [0, 0, 0], stiffness=0.0, damping=10.0)
    >>> quiet.task.motion(robot.model, robot.state).J.shape
    (3, 18)
    """

    axes: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", checked_axes(self.axes, 6))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.axes)

    def motion(self, model: Model, state: State) -> Motion:
        """Coordinates, the centroidal momentum matrix, and its drift.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        Motion
            x (l,) in kg m; J (l, nv) in kg m^2 and kg; drift Jdot v in N m and N.
        """
        axes = np.array(self.axes, dtype=np.int64)
        instance(state, State, "state")
        momentum = centroidal_momentum_derivatives(model, state.q, state.v)
        x = np.zeros(6)
        x[3:] = model.mass * center_of_mass(model, state.q)
        return Motion(x[axes], momentum.dv[axes], momentum.dq[axes] @ state.v)
