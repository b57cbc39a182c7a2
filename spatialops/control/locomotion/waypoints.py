"""From waypoints to a desired planar base velocity."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance, scalar, whole
from spatialops.algebra.rotation import rotation_matrix
from spatialops.control.memory import Remembers
from spatialops.tree.state import State

COURSE = ((0.0, 0.0), (0.25, 0.0), (0.0, 0.25), (0.0, -0.25), (-0.25, 0.0))  # m, of [Z] figure 17

_SLOWS = 0.05  # m before a waypoint, from where on the robot goes slower
_STEERING = 3.0  # 1/s; turning for each radian that it heads off


class Waypoints(Remembers):
    """Walk from point to point: turn towards the next one, ahead as far as one faces it.

    Parameters
    ----------
    points : (k, 2) array_like, optional
        m; after the last one the first is next. Default: the course of [Z] figure 17.
    speed : float, default 0.2
        m/s.
    turn : float, default 1
        Largest turning rate, rad/s.
    reach : float, default 0.03
        m within which a point counts as reached.
    base : slice, optional
        Of the free base in q; default: the first seven coordinates.

    Attributes
    ----------
    reached : int
        Points met so far.

    Raises
    ------
    ArgumentError
        For points that are not finite pairs.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Waypoints
    >>> robot = so.models.quadruped()
    >>> Waypoints([(1.0, 0.0)])(0.0, robot.state).tolist()
    [0.2, 0.0, 0.0]
    """

    def __init__(
        self,
        points: ArrayLike = COURSE,
        *,
        speed: float = 0.2,
        turn: float = 1.0,
        reach: float = 0.03,
        base: slice | None = None,
    ) -> None:
        self.points = array(points, (None, 2), "points", finite=True)
        self.speed = scalar(speed, "speed", low=0.0)
        self.turn = scalar(turn, "turn", low=0.0)
        self.reach = scalar(reach, "reach", low=0.0)
        self.reached = 0
        self._base = slice(0, 7) if base is None else base

    def __call__(self, time: float, state: State) -> Array:
        """Velocities that lead to the next point.

        Parameters
        ----------
        time : float
            Not used.
        state : State
            Configuration and velocity.

        Returns
        -------
        (3,) array
            (forward, sideways, turning) in the base's heading frame, m/s and rad/s.
        """
        pose = instance(state, State, "state").q[self._base]
        ahead = rotation_matrix(pose[3:])[:, 0]
        heading = math.atan2(ahead[1], ahead[0])
        away = self.points[self.reached % len(self.points)] - pose[:2]
        if float(np.hypot(*away)) < self.reach:
            self.reached += 1
            away = self.points[self.reached % len(self.points)] - pose[:2]
        distance = float(np.hypot(*away))
        off = math.atan2(away[1], away[0]) - heading
        off = math.atan2(math.sin(off), math.cos(off))
        pace = self.speed * min(1.0, distance / _SLOWS)
        turning = float(np.clip(_STEERING * off, -self.turn, self.turn))
        return np.array([pace * max(math.cos(off), 0.0) ** 2, 0.0, turning])

    def _remembered(self) -> Mapping[str, Array]:
        return {"reached": np.array(float(self.reached))}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        self.reached = whole(float(array(kept["reached"], (), "reached")), "reached", low=0)
