"""Joint references for walking with a desired planar base velocity ([Z] 7.2.1, figure 7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.control.joint_tracking import Reference
from spatialops.control.locomotion.gait import Gait, hermite, lift
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.tree.state import State

Command = Callable[[float, State], ArrayLike]
_TURNS = 5.0  # rad/s^2 of turning for each m/s^2 of going: how fast commands are followed
_AIMED = 0.7  # part of a swing from which on its end stays where it is


class Trot:
    """Feet that carry the base along, in the base's own frame.

    Feet that stand move against the base as the ground would, at every call anew; those that swing
    follow velocity-clamped cubics to where half a stance brings them back to rest, landing with the
    velocity of the ground. Cubics are planned anew at every call from where the foot is and as fast
    as it is, so that positions and velocities of a reference belong together also while the command
    changes. Inverse kinematics turns feet into joints.

    Parameters
    ----------
    legs : Legs
        Of the robot.
    stance : (legs, 3) array_like
        Joint angles of the posture around which it walks.
    command : callable
        command(time, state) -> (forward, sideways, turning) velocities, m/s and rad/s, in the
        base's heading frame.
    dt : float
        Time between calls, s.
    gait : Gait, optional
        When feet stand; default: `Gait()`.
    change : float, default 1
        Largest change of the command, m/s^2 (rad/s^2 times 5).

    Attributes
    ----------
    missed : float
        m by which feet could not reach their places at the last call.

    References
    ----------
    [Z] 7.2.1 and figure 7.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Legs, Trot
    >>> robot = so.models.quadruped()
    >>> legs = Legs(robot.model, robot.feet)
    >>> stance = robot.state.q[legs.angles]
    >>> trot = Trot(legs, stance, lambda time, state: (0.2, 0.0, 0.0), dt=1e-3)
    >>> trot(0.0, robot.state).q.shape
    (4, 3)
    """

    def __init__(
        self,
        legs: Legs,
        stance: ArrayLike,
        command: Command,
        *,
        dt: float,
        gait: Gait | None = None,
        change: float = 1.0,
    ) -> None:
        self.legs = legs
        self.command = command
        self.dt = dt
        self.gait = Gait() if gait is None else gait
        self.change = np.array([change, change, _TURNS * change])
        self._angles = np.array(stance, dtype=np.float64)
        self.rest = legs.positions(self._angles)
        self.feet, self._ends = self.rest.copy(), self.rest[:, :2].copy()
        self._pace, self._velocities = np.zeros(3), np.zeros_like(self.rest)
        self._rates = np.zeros_like(self.rest)
        self.missed = 0.0

    def __call__(self, time: float, state: State) -> Reference:
        """Joints now, and accelerations that bring their velocities to the next step's.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity, for the command.

        Returns
        -------
        Reference
            Arrays (legs, 3).
        """
        wanted = np.asarray(self.command(time, state), dtype=np.float64)
        self._pace += np.clip(wanted - self._pace, -self.change * self.dt, self.change * self.dt)
        angles, rates = self._angles, self._rates
        self.feet, self._velocities = self._ahead(time)
        self._angles, self.missed = self.legs.inverse(self.feet, angles)
        self._rates = self.legs.rates(self.legs.jacobians(self._angles), self._velocities)
        return Reference(angles, rates, (self._rates - rates) / self.dt)

    def standing(self, time: float) -> IntArray:
        """Links of the feet whose contacts the gait means to keep: they stand, or come down.

        A foot that meets the ground early is not driven into it.

        Parameters
        ----------
        time : float
            Time, s.

        Returns
        -------
        (k,) int array
            Kernel links, see `Legs.links`.
        """
        gait = self.gait
        kept: IntArray = self.legs.links[gait.standing(time) | (gait.swing(time) > 0.5)]
        return kept

    def _ahead(self, time: float) -> tuple[Array, Array]:
        """Feet and their velocities against the base, one step on."""
        down = self.gait.standing(time + self.dt)
        feet = self.feet.copy()
        velocities = np.zeros_like(self.feet)
        ground = self._ground(feet)
        feet[:, :2] += self.dt * self._ground(
            feet + 0.5 * self.dt * np.pad(ground, ((0, 0), (0, 1)))
        )
        feet[:, 2] = self.rest[:, 2]
        velocities[:, :2] = self._ground(feet)
        up = np.flatnonzero(~down)
        if len(up):
            feet[up], velocities[up] = self._swung(time, up)
        return feet, velocities

    def _swung(self, time: float, up: IntArray) -> tuple[Array, Array]:
        """The same of feet `up` that swing."""
        gait, dt = self.gait, self.dt
        done = gait.swing(time + dt)[up]
        aims = up[done < _AIMED]
        self._ends[aims] = self.rest[aims, :2] - 0.5 * gait.stance_time * self._ground(
            self.rest[aims]
        )
        left = (1.0 - done) * gait.swing_time + dt  # s from now to touchdown
        start, ends = self.feet[up, :2], self._ends[up]
        x, v = hermite(
            dt / left, left[:, None], start, ends, self._velocities[up, :2], self._ground(ends)
        )
        z, rate = lift(done, gait.swing_time, gait.step_height)
        return np.column_stack([x, self.rest[up, 2] + z]), np.column_stack([v, rate])

    def _ground(self, feet: Array) -> Array:
        """Velocities (legs, 2) of the ground against the base at `feet`."""
        forward, sideways, turning = self._pace
        return np.column_stack([turning * feet[:, 1] - forward, -turning * feet[:, 0] - sideways])
