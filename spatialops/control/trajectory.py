"""Straight motions from pose to pose, with bounded speed, acceleration and jerk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, instance, scalar

_NEAR_HALF_TURN = -0.9  # cosine below which a rotation's antisymmetric part says little
_SMALL = 1e-9  # rad; below it the sine is the angle
_SMALL_SQUARE = 1e-5  # rad; below it 1 - cos x is x^2 / 2


class Pose(NamedTuple):
    """Where a frame is.

    Parameters
    ----------
    position : (3,) array
        Its origin in the world, m.
    rotation : (3, 3) array
        Takes components in the frame to components in the world.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.control import Pose
    >>> quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> frame, point = Pose(np.ones(3), quarter), Pose(np.array([1.0, 0.0, 0.0]), np.eye(3))
    >>> (frame @ point).position.tolist()
    [1.0, 2.0, 1.0]
    """

    position: Array
    rotation: Array

    def __matmul__(self, other: Pose) -> Pose:
        """The pose that is `other` as seen from this frame."""
        return Pose(self.position + self.rotation @ other.position, self.rotation @ other.rotation)

    def inverse(self) -> Pose:
        """The world as seen from this frame.

        Returns
        -------
        Pose
            With which `pose.inverse() @ pose` is at the origin, unturned.
        """
        return Pose(-self.rotation.T @ self.position, self.rotation.T)


def turn_between(start: Array, end: Array) -> Array:
    """Rotation vector (3,), world axes, of the turn that takes rotation `start` to `end`."""
    R = end @ start.T
    x = R[2, 1] - R[1, 2]
    y = R[0, 2] - R[2, 0]
    z = R[1, 0] - R[0, 1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    if cosine < _NEAR_HALF_TURN:
        # The antisymmetric part vanishes: the axis n from R + R^T = 2 c + 2 (1 - c) n n^T.
        outer = 0.5 * (R + R.T) - cosine * np.eye(3)
        axis = outer[int(np.argmax(np.diag(outer)))]
        sign = 1.0 if axis[0] * x + axis[1] * y + axis[2] * z >= 0.0 else -1.0
        return np.asarray(sign * math.atan2(sine, cosine) / np.linalg.norm(axis) * axis)
    scale = 0.5 if sine < _SMALL else 0.5 * math.atan2(sine, cosine) / sine
    return scale * np.array([x, y, z])


def turned_by(vector: Array) -> Array:
    """Rotation (3, 3) of a rotation vector (3,): Rodrigues' formula."""
    x, y, z = vector
    angle = math.sqrt(x * x + y * y + z * z)
    a = math.sin(angle) / angle if angle > _SMALL else 1.0
    b = (1.0 - math.cos(angle)) / (angle * angle) if angle > _SMALL_SQUARE else 0.5
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result: Array = np.eye(3) + a * K + b * (K @ K)
    return result


class Sample(NamedTuple):
    """A moment of a motion.

    Parameters
    ----------
    pose : Pose
        Where the frame is.
    velocity, acceleration : (6,) arrays
        [angular; linear] in world axes, rad/s and m/s, per second.
    """

    pose: Pose
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a motion keeps below.

    Parameters
    ----------
    speed : float, default 0.25
        m/s.
    acceleration : float, default 1
        m/s^2.
    jerk : float, default 10
        m/s^3.
    turn_speed : float, default 1
        rad/s.
    turn_acceleration : float, default 4
        rad/s^2.
    turn_jerk : float, default 40
        rad/s^3.

    Raises
    ------
    ArgumentError
        For bounds that are not positive.
    """

    speed: float = 0.25
    acceleration: float = 1.0
    jerk: float = 10.0
    turn_speed: float = 1.0
    turn_acceleration: float = 4.0
    turn_jerk: float = 40.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            scalar(value, name, low=0.0, strict=True)


# Largest first, second and third derivatives of s = 10 x^3 - 15 x^4 + 6 x^5 over 0 <= x <= 1.
_PEAKS = 1.875, 10.0 / math.sqrt(3.0), 60.0


def shortest_time(length: float, speed: float, acceleration: float, jerk: float) -> float:
    """Time in which the quintic profile covers `length` within all three bounds, s."""
    peaks, limits = _PEAKS, (speed, acceleration, jerk)
    return max(
        (peak * length / limit) ** (1.0 / k)
        for k, (peak, limit) in enumerate(zip(peaks, limits, strict=True), 1)
    )


class PoseTrajectory:
    """A straight line and one turn from a pose to another along the minimum-jerk profile.

    At rest at both ends, and before and after.

    Parameters
    ----------
    start, end : Pose
        Of the frame, in the world.
    bounds : Bounds
        Of speed, acceleration and jerk.
    begin : float, default 0
        Time at which it starts, s.
    duration : float, optional
        s; default: the shortest that keeps the bounds. A shorter one than that is not taken.

    Attributes
    ----------
    duration : float
        s.

    References
    ----------
    T. Flash, N. Hogan, The coordination of arm movements, J. Neuroscience 1985: the
    profile of least squared jerk.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.control.trajectory import Bounds, Pose, PoseTrajectory
    >>> start = Pose(np.zeros(3), np.eye(3))
    >>> line = PoseTrajectory(start, Pose(np.array([0.1, 0.0, 0.0]), np.eye(3)), Bounds(speed=0.1))
    >>> round(line.duration, 3), np.round(line.at(0.5 * line.duration).pose.position, 3).tolist()
    (1.875, [0.05, 0.0, 0.0])
    """

    def __init__(
        self,
        start: Pose,
        end: Pose,
        bounds: Bounds,
        *,
        begin: float = 0.0,
        duration: float | None = None,
    ) -> None:
        self.start = instance(start, Pose, "start")
        self.end = instance(end, Pose, "end")
        instance(bounds, Bounds, "bounds")
        self.begin = scalar(begin, "begin")
        self._line = np.asarray(end.position, dtype=np.float64) - start.position
        self._turn = turn_between(start.rotation, end.rotation)
        length, angle = float(np.linalg.norm(self._line)), float(np.linalg.norm(self._turn))
        least = max(
            shortest_time(length, bounds.speed, bounds.acceleration, bounds.jerk),
            shortest_time(angle, bounds.turn_speed, bounds.turn_acceleration, bounds.turn_jerk),
        )
        given = 0.0 if duration is None else scalar(duration, "duration", low=0.0)
        self.duration = max(least, given)
        self._turns = angle > 0.0
        self._direction = np.concatenate([self._turn, self._line])

    @property
    def finish(self) -> float:
        """Time at which it ends, s."""
        return self.begin + self.duration

    def at(self, time: float) -> Sample:
        """The motion at a time.

        Parameters
        ----------
        time : float
            Time, s; before the beginning and after the end it stands.

        Returns
        -------
        Sample
            Pose, velocity and acceleration.
        """
        if scalar(time, "time") >= self.finish or self.duration == 0.0:
            return Sample(self.end, np.zeros(6), np.zeros(6))
        x = max(0.0, (time - self.begin) / self.duration)
        s = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
        rate = 30.0 * x * x * (1.0 - x) ** 2 / self.duration
        change = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / self.duration**2
        turn = self.start.rotation
        if self._turns:
            turn = turned_by(s * self._turn) @ turn
        pose = Pose(self.start.position + s * self._line, turn)
        return Sample(pose, rate * self._direction, change * self._direction)
