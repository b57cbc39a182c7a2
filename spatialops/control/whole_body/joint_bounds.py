"""Bounds of accelerations that keep joints within their positions and velocities.

A joint at x, the distance left to its limit, with velocity v that is given the acceleration a over
T has the velocity w = v + a T after it, and has gone (v + w) T / 2. Braking with A it needs
w^2 / (2 A) more. It can stop before the limit if

    (v + w) T / 2 + w^2 / (2 A) <= x,   w <= A (sqrt(T^2 / 4 + 2 (x - v T / 2) / A) - T / 2),

so that a bound that holds now can be kept for ever by a joint that can brake with A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, IntArray, scalar
from spatialops.tree.model import Model
from spatialops.tree.state import State


@dataclass(frozen=True, kw_only=True)
class JointBounds:
    """Hard limits of positions and velocities, as the model names them.

    Parameters
    ----------
    horizon : float, default 0.01
        T, s: over which a command acts; at least the period of commands.
    braking : float, default 100
        A, rad/s^2 or m/s^2: with which every joint can brake. More lets joints go faster near their
        limits; more than motors can give lets them run into them.
    margin : float, default 0
        Distance from the limits of positions to be kept, rad or m.

    Raises
    ------
    ArgumentError
        For numbers that are not positive, or a margin that is negative.

    References
    ----------
    A. Del Prete, IEEE Robotics and Automation Letters 3 (2018): bounds that stay feasible.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import JointBounds
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> builder = so.TreeBuilder()
    >>> hinge = so.Joint("revolute", lower=-1.0, upper=1.0)
    >>> _ = builder.add_body("arm", joint=hinge, inertia=ball)
    >>> at_its_end = so.State(np.array([1.0]), np.array([0.0]))
    >>> rows, low, high = JointBounds().accelerations(builder.build(), at_its_end)
    >>> high.tolist()
    [0.0]
    """

    horizon: float = 0.01
    braking: float = 100.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        scalar(self.horizon, "horizon", low=0.0, strict=True)
        scalar(self.braking, "braking", low=0.0, strict=True)
        scalar(self.margin, "margin", low=0.0)

    def accelerations(self, model: Model, state: State) -> tuple[IntArray, Array, Array]:
        """Bounds of accelerations at a state.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        rows : (k,) int array
            Velocities that have any bound.
        low, high : (k,) arrays
            rad/s^2 or m/s^2; infinite where there is none. Never so narrow that a joint could not
            brake with `braking`, also beyond a limit.
        """
        low, high = self._by_velocity(model, state)
        q, v = _single(model)
        x = state.q[q]
        up = model.upper[v] - self.margin - x
        down = x - model.lower[v] - self.margin
        high[v] = np.minimum(high[v], self._stopping(up, state.v[v]))
        low[v] = np.maximum(low[v], -self._stopping(down, -state.v[v]))
        crossed = low > high  # a range too narrow for the horizon
        low[crossed] = high[crossed] = 0.5 * (low[crossed] + high[crossed])
        rows = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        return rows, low[rows], high[rows]

    def _by_velocity(self, model: Model, state: State) -> tuple[Array, Array]:
        """Bounds that keep velocities within their limits a horizon from now."""
        limit = model.velocity_limit
        high = np.maximum((limit - state.v) / self.horizon, -self.braking)
        low = np.minimum((-limit - state.v) / self.horizon, self.braking)
        return low, high

    def _stopping(self, left: Array, v: Array) -> Array:
        """Largest accelerations towards limits that are `left` away."""
        T, A = self.horizon, self.braking
        room = left - 0.5 * v * T
        inside = np.sqrt(0.25 * T * T + 2.0 * np.maximum(room, 0.0) / A) - 0.5 * T
        w = np.where(room > 0.0, A * inside, room / T)
        return np.asarray(np.maximum((w - v) / T, -A))


def _single(model: Model) -> tuple[IntArray, IntArray]:
    """Coordinates and velocities of joints that have as many of one as of the other."""
    q: list[int] = []
    v: list[int] = []
    for name in model.joint_names:
        at, rate = model.q_slice(name), model.v_slice(name)
        if at.stop - at.start == rate.stop - rate.start:
            q.extend(range(at.start, at.stop))
            v.extend(range(rate.start, rate.stop))
    return np.array(q, dtype=np.int64), np.array(v, dtype=np.int64)
