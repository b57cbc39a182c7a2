"""Keeping a legged robot upright: an inverted pendulum on springs that only push ([Z] 7.3).

The base, were it level at its rest height over the feet, would carry its rest stance at the feet's
own height. Where it tilts or sinks, the corner over foot i is low by e_i, and the foot is pressed
by the virtual force f_i = m a_i / 4 along the ground's normal (compressive: a leg cannot pull),

    a_i = max(0, w^2 e_i + 2 z w e_i'),

which reaches the controller as an acceleration of the foot away from the base, J_i qdd_i = -a_i n,
added to the demand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance, scalar
from spatialops.algebra.rotation import rotation_matrix
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.state import State


class Balance:
    """Accelerations of the legs' joints that right the base: for `JointTracking(stabilize=...)`.

    Parameters
    ----------
    legs : Legs
        All motors are those of the legs.
    rest : (legs, 3) array_like
        Feet in the base's frame when it stands at rest, m.
    standing : callable
        standing(time) -> which legs stand, (legs,) of bool.
    frequency : float, default 10
        w, 1/s.
    damping : float, default 1
        z, relative to the critical one.
    base : str, default "base"
        The free joint.

    Raises
    ------
    ArgumentError
        For a rest stance of the wrong shape, and numbers out of range.

    References
    ----------
    [Z] 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import Balance, Legs
    >>> robot = so.models.quadruped()
    >>> legs = Legs(robot.model, robot.feet)
    >>> rest = legs.positions(robot.state.q[legs.angles])
    >>> balance = Balance(legs, rest, lambda time: np.ones(4, dtype=bool))
    >>> float(np.abs(balance(0.0, robot.state)).max()) < 1e-9
    True
    """

    def __init__(
        self,
        legs: Legs,
        rest: ArrayLike,
        standing: Callable[[float], ArrayLike],
        *,
        frequency: float = 10.0,
        damping: float = 1.0,
        base: str = "base",
    ) -> None:
        self.legs, self.standing = legs, standing
        instance(legs, Legs, "legs")
        self.rest = array(rest, (len(legs.nodes), 3), "rest")
        self.frequency = scalar(frequency, "frequency", low=0.0, strict=True)
        self.damping = scalar(damping, "damping", low=0.0)
        self._q, self._v = legs.model.q_slice(base), legs.model.v_slice(base)
        self._home = FreeFrame.of(legs.model, base)

    def pushes(self, time: float, state: State) -> Array:
        """Accelerations a_i of the feet away from the base.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.

        Returns
        -------
        (legs,) array
            m/s^2, zero for legs that do not stand.
        """
        down = np.asarray(self.standing(time), dtype=bool)
        if not down.any():
            return np.zeros(len(down))
        R, v = self._turn(state), state.v[self._v]
        feet = self.legs.positions(state.q[self.legs.angles]) @ R[2]
        low = feet[down].mean() - self.rest @ R[2]
        rising = (v[3:] + np.cross(v[:3], self.rest)) @ R[2]
        w = self.frequency
        pushed = np.maximum(w * w * low - 2.0 * self.damping * w * rising, 0.0)
        return np.asarray(np.where(down, pushed, 0.0))

    def __call__(self, time: float, state: State) -> Array:
        """Accelerations of the legs' joints.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.

        Returns
        -------
        (n,) array
            rad/s^2, in the order of the velocities.
        """
        up = self._turn(state)[2]
        jacobians = self.legs.jacobians(state.q[self.legs.angles])
        velocities = np.zeros(jacobians.shape[:2])  # soles keep their attitude
        velocities[:, :3] = -self.pushes(time, state)[:, None] * up
        return self.legs.in_order(self.legs.rates(jacobians, velocities))

    def _turn(self, state: State) -> Array:
        """Attitude of the base in the world."""
        instance(state, State, "state")
        return self._home.rotation @ rotation_matrix(state.q[self._q][3:])
