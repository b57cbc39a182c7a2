"""The locomotion planner of [Z] 7.2.1 (figure 7): joint references for walking with a desired planar base velocity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.control.gait import Gait, hermite, lift
from spatialops.control.legs import Legs
from spatialops.control.tracking import Reference
from spatialops.tree.state import State

Command = Callable[[float, State], Any]


class Trot:
    """Feet that carry the base along, in the base's own frame.

    Feet that stand move against the base as the ground would, at every call anew; those that swing follow
    velocity-clamped cubics from where they left the ground to where half a stance brings them back to rest, landing
    with the velocity of the ground. Inverse kinematics turns feet into joints.

    Parameters
    ----------
    legs : Legs
    stance : (legs, 3) array_like
        Joint angles of the posture around which it walks.
    command : callable
        command(time, state) -> (forward, sideways, turning) velocities, m/s and rad/s, in the base's heading frame.
    dt : float
        Time between calls, s.
    gait : Gait
    change : float
        Largest change of the command, m/s^2 (rad/s^2 times 5).

    Attributes
    ----------
    missed : float
        m by which feet could not reach their places at the last call.
    """

    def __init__(
        self, legs: Legs, stance: Any, command: Command, *, dt: float, gait: Gait | None = None, change: float = 1.0
    ) -> None:
        self.legs, self.command, self.dt = legs, command, dt
        self.gait = Gait() if gait is None else gait
        self.change = np.array([change, change, 5.0 * change])
        self._angles = np.array(stance, dtype=np.float64)
        self.rest = legs.positions(self._angles)
        self.feet, self._left = self.rest.copy(), self.rest.copy()
        self._pace, self._swinging = np.zeros(3), np.zeros(len(self.rest), dtype=bool)
        self._rates = np.zeros_like(self.rest)
        self.missed, self._begun = 0.0, False

    def __call__(self, time: float, state: State) -> Reference:
        """Joints at `time`, and accelerations that bring their velocities to where they should be a step later."""
        wanted = np.asarray(self.command(time, state), dtype=np.float64)
        self._pace += np.clip(wanted - self._pace, -self.change * self.dt, self.change * self.dt)
        angles, rates = self._angles, self._rates
        feet, velocities = self._ahead(time + self.dt)
        self.feet = feet
        self._angles, self.missed = self.legs.inverse(feet, angles)
        self._rates = self.legs.rates(self.legs.jacobians(self._angles), velocities)
        return Reference(angles, rates, (self._rates - rates) / self.dt)

    def standing(self, time: float) -> IntArray:
        """Links of the feet whose contacts the gait means to keep: those that stand, and those that come down.

        A foot that meets the ground early is not driven into it.
        """
        gait = self.gait
        kept: IntArray = self.legs.links[gait.standing(time) | (gait.swing(time) > 0.5)]
        return kept

    def _ahead(self, time: float) -> tuple[Array, Array]:
        """Feet and their velocities against the base, one step on."""
        gait = self.gait
        down, done = gait.standing(time), gait.swing(time)
        self._left[~down & ~self._swinging] = self.feet[~down & ~self._swinging]
        self._swinging = ~down
        feet, velocities = self.feet.copy(), np.zeros_like(self.feet)
        ground = self._ground(self.feet)
        feet[:, :2] += self.dt * self._ground(self.feet + 0.5 * self.dt * np.pad(ground, ((0, 0), (0, 1))))
        feet[:, 2] = self.rest[:, 2]
        velocities[:, :2] = self._ground(feet)
        if (~down).any():
            ends = self.rest[:, :2] - 0.5 * gait.stance_time * self._ground(self.rest)
            start = self._left[:, :2]
            x, v = hermite(done, gait.swing_time, start, ends, self._ground(self._left), self._ground(ends))
            z, rate = lift(done, gait.swing_time, gait.step_height)
            feet[~down, :2], velocities[~down, :2] = x[~down], v[~down]
            feet[~down, 2] += z[~down]
            velocities[~down, 2] = rate[~down]
        return feet, velocities

    def _ground(self, feet: Array) -> Array:
        """Velocities (legs, 2) of the ground against the base at `feet`."""
        forward, sideways, turning = self._pace
        return np.column_stack([turning * feet[:, 1] - forward, -turning * feet[:, 0] - sideways])
