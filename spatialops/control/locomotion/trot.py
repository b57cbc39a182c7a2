"""Joint references for walking with a desired planar base velocity ([Z] 7.2.1, figure 7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.control.joint_tracking import Reference
from spatialops.control.locomotion.foot_paths import feet_ahead, hermite
from spatialops.control.locomotion.gait import Gait
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.tree.state import State

Command = Callable[[float, State], ArrayLike]
_TURNS = 5.0  # rad/s^2 of turning for each m/s^2 of going: how fast commands are followed


class Trot:
    """Feet that carry the base along, in the base's own frame.

    Feet that stand move against the base as the ground would, at every call anew; those that swing
    follow velocity-clamped cubics to where half a stance brings them back to rest, landing with the
    velocity of the ground. Cubics are planned anew at every call from where the foot is and as fast
    as it is, so that positions and velocities of a reference belong together also while the command
    changes. Inverse kinematics turns feet into joints. Soles keep their attitude of the posture,
    but that they turn with the ground while they stand, and while they swing to where half a stance
    brings them back.

    Parameters
    ----------
    legs : Legs
        Of the robot.
    stance : array_like
        Joint angles of the posture around which it walks, of the shape of `Legs.joints`.
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
    (12,)
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
        self._rates = np.zeros(legs.joints.shape)
        self._level = legs.attitudes(self._angles)  # of soles that are not turned
        self._turned = np.zeros((len(self.rest), 2))  # angle and rate of each
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
            Arrays (n,) in the order of the velocities.
        """
        wanted = np.asarray(self.command(time, state), dtype=np.float64)
        most = self.change * self.dt
        self._pace += np.minimum(np.maximum(wanted - self._pace, -most), most)
        angles, rates = self._angles, self._rates
        self.feet, self._velocities = self._ahead(time)
        velocities = self._velocities
        attitudes = None
        if self.legs.soles:
            self._turned = self._turned_ahead(time)
            attitudes = self._attitudes()
            turning = np.zeros_like(velocities)
            turning[:, 2] = self._turned[:, 1]
            velocities = np.hstack([velocities, turning])
        self._angles, self.missed = self.legs.inverse(self.feet, angles, attitudes)
        self._rates = self.legs.rates(self.legs.jacobians(self._angles), velocities)
        parts = (angles, rates, (self._rates - rates) / self.dt)
        return Reference(*map(self.legs.in_order, parts))

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
        swing = self.gait.swing_or_before(time)
        kept: IntArray = self.legs.links[(swing < 0.0) | (swing > 0.5)]
        return kept

    def _ahead(self, time: float) -> tuple[Array, Array]:
        """Feet and their velocities against the base, one step on."""
        gait, then = self.gait, time + self.dt
        forward, sideways, turning = self._pace.tolist()
        pace = forward, sideways, turning
        times = float(self.dt), float(gait.stance_time), float(gait.swing_time)
        strides = (*times, float(gait.step_height), pace)
        swing = gait.swing_or_before(then)
        feet, velocities = self.feet.copy(), self._velocities.copy()
        feet_ahead(strides, swing, self.rest, self._ends, feet, velocities)
        return feet, velocities

    def _turned_ahead(self, time: float) -> Array:
        """Angles of soles about the vertical, and their rates (legs, 2), one step on."""
        gait = self.gait
        then = time + self.dt
        rate = -float(self._pace[2])  # of the ground against the base
        swing = gait.swing(then)
        found = self._turned.copy()
        for i, stands in enumerate(gait.standing(then)):
            if stands:
                found[i] = found[i, 0] + self.dt * rate, rate
                continue
            left = float((1.0 - swing[i]) * gait.swing_time) + self.dt
            end = -0.5 * gait.stance_time * rate
            angle, speed = found[i].tolist()
            found[i] = hermite(self.dt / left, left, angle, end, speed, rate)
        return found

    def _attitudes(self) -> Array:
        """Attitudes (legs, 3, 3) of soles."""
        cosine = np.cos(self._turned[:, 0])
        sine = np.sin(self._turned[:, 0])
        turned = self._level.copy()
        turned[:, 0] = cosine[:, None] * self._level[:, 0] - sine[:, None] * self._level[:, 1]
        turned[:, 1] = sine[:, None] * self._level[:, 0] + cosine[:, None] * self._level[:, 1]
        return turned
