"""Bounds of accelerations that keep joints within their positions and velocities.

A joint at x, the distance left to its limit, with velocity v that is given the acceleration a over
T has the velocity w = v + a T after it, and has gone (v + w) T / 2. Braking with A it needs
w^2 / (2 A) more. It can stop before the limit if

    (v + w) T / 2 + w^2 / (2 A) <= x,   w <= A (sqrt(T^2 / 4 + 2 (x - v T / 2) / A) - T / 2),

so that a bound that holds now can be kept for ever by a joint that can brake with A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, IntArray, instance, scalar, vector
from spatialops._compile.jit import kernel
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
        low, high = self.ranges(model, state)
        rows = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        return rows, low[rows], high[rows]

    def ranges(self, model: Model, state: State) -> Array:
        """Bounds of all accelerations at a state.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        (2, nv) array
            Low ones, then high ones; infinite where there is none.
        """
        instance(state, State, "state")
        found = np.empty((2, instance(model, Model, "model").nv))
        q, v = vector(state.q, model.nq, "q"), vector(state.v, model.nv, "v")
        limits = model.lower, model.upper, model.velocity_limit
        own = np.array([self.horizon, self.braking, self.margin])
        acceleration_bounds(q, v, model.own_coordinates, limits, own, found[0], found[1])
        return found


@kernel
def acceleration_bounds(
    q: Array,
    v: Array,
    places: IntArray,
    limits: tuple[Array, ...],
    numbers: Array,
    low: Array,
    high: Array,
) -> None:
    """Bounds of all accelerations, infinite where there is none.

    `limits` are lower and upper ones of positions, then of velocities, (nv,) each; `numbers`
    horizon, braking and margin.
    """
    lower, upper, fastest = limits
    T = numbers[0]
    A = numbers[1]
    for k in range(v.size):
        low[k] = min((-fastest[k] - v[k]) / T, A)
        high[k] = max((fastest[k] - v[k]) / T, -A)
        if places[k] >= 0:
            x = q[places[k]]
            high[k] = min(high[k], stopping(upper[k] - numbers[2] - x, v[k], T, A))
            low[k] = max(low[k], -stopping(x - lower[k] - numbers[2], -v[k], T, A))
        if low[k] > high[k]:  # a range too narrow for the horizon
            low[k] = high[k] = 0.5 * (low[k] + high[k])


@kernel
def stopping(left: float, v: float, T: float, A: float) -> float:
    """Largest acceleration towards a limit that is `left` away."""
    room = left - 0.5 * v * T
    w = room / T
    if room > 0.0:
        w = A * (math.sqrt(0.25 * T * T + 2.0 * room / A) - 0.5 * T)
    return max((w - v) / T, -A)
