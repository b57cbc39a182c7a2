"""Contact forces over a short horizon, for a body that is carried by feet of a known schedule.

A mass m with the inertia I of the robot as it is, centre of mass c, turned by phi against where it
should be, and feet at r_i that push with f_i while they stand:

    m c'' = sum f_i + m g,     I phi'' = sum (r_i - c_d) x f_i,

linear in the forces with the arm taken to the desired path c_d. Forces that are constant over each
step of the horizon give states that are linear in them too, and the best ones are a quadratic
program with pyramids of friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance, scalar, vector, whole
from spatialops._compile.held import Held
from spatialops.control.locomotion.centroidal_kernels import plan_ahead
from spatialops.control.locomotion.centroidal_tables import (
    Body,
    ForcePlan,
    Horizon,
    Tables,
    Wanted,
    room_for,
)
from spatialops.control.locomotion.force_horizon import NO_POINT
from spatialops.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class HorizonWeights:
    """What deviations cost over the horizon, at every step.

    Parameters
    ----------
    attitude, place : (3,) array_like
        Of phi, 1/rad^2, and of c, 1/m^2.
    spin, velocity : (3,) array_like
        Of their rates, s^2/rad^2 and s^2/m^2.
    force : float, default 1e-3
        Of forces, relative to the robot's weight.
    """

    attitude: ArrayLike = (20.0, 20.0, 5.0)
    place: ArrayLike = (0.0, 0.0, 50.0)
    spin: ArrayLike = (0.2, 0.2, 0.5)
    velocity: ArrayLike = (5.0, 5.0, 1.0)
    force: float = 1e-3

    def stacked(self) -> tuple[Array, Array]:
        """All of them.

        Returns
        -------
        coordinates, rates : (6,) arrays
            Of (phi, c), and of their rates.

        Raises
        ------
        ArgumentError
            For numbers that are negative or not finite.
        """
        parts = [
            array(value, (3,), name, finite=True)
            for name, value in (
                ("attitude", self.attitude),
                ("place", self.place),
                ("spin", self.spin),
                ("velocity", self.velocity),
            )
        ]
        if min(part.min() for part in parts) < 0.0:
            raise ArgumentError("weights: expected numbers that are not negative")
        return np.concatenate(parts[:2]), np.concatenate(parts[2:])


class CentroidalMPC:
    """The best forces of a horizon, by model predictive control of one rigid body.

    Parameters
    ----------
    steps : int, default 12
        Of the horizon.
    dt : float, default 0.025
        Length of each, s.
    friction : float, default 0.5
        Coefficient, of level ground.
    most : float, default 3
        Largest normal force of a foot, relative to the robot's weight.
    weights : HorizonWeights, optional
        What deviations cost.
    gravity : float, default 9.81
        m/s^2, downwards.

    Raises
    ------
    ArgumentError
        For numbers out of range.

    References
    ----------
    J. Di Carlo, P. Wensing, B. Katz, G. Bledt, S. Kim, Dynamic locomotion in the MIT Cheetah 3
    through convex model-predictive control, IROS (2018).

    Examples
    --------
    A body that stands on two feet, off its place by 1 cm:

    >>> import numpy as np
    >>> from spatialops.control import CentroidalMPC
    >>> from spatialops.control.locomotion.centroidal_tables import Body, Horizon
    >>> mpc = CentroidalMPC(steps=4)
    >>> low = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.29])
    >>> body = Body(10.0, 0.1 * np.eye(3), low, np.zeros(6))
    >>> wanted = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.3], (4, 1))
    >>> feet = np.tile([[0.1, 0.1, 0.0], [-0.1, -0.1, 0.0]], (4, 1, 1))
    >>> found = mpc(body, Horizon(wanted, np.zeros((4, 6)), np.ones((4, 2), dtype=bool), feet))
    >>> bool(found.forces[0, :, 2].sum() > 10.0 * 9.81)
    True
    """

    def __init__(
        self,
        *,
        steps: int = 12,
        dt: float = 0.025,
        friction: float = 0.5,
        most: float = 3.0,
        weights: HorizonWeights | None = None,
        gravity: float = 9.81,
    ) -> None:
        self.steps = whole(steps, "steps", low=1)
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.friction = scalar(friction, "friction", low=0.0, strict=True)
        self.most = scalar(most, "most", low=0.0, strict=True)
        self.gravity = scalar(gravity, "gravity", low=0.0)
        made = HorizonWeights() if weights is None else weights
        small = scalar(made.force, "force", low=0.0, strict=True)
        self._numbers = np.array([self.dt, self.gravity, small])
        self._weights = np.array(made.stacked())
        n = self.steps
        since = np.arange(n)[:, None] - np.arange(n)  # steps from the one that pushes
        rates = self.dt * (since >= 0)
        self._ahead = np.stack([np.where(since >= 0, self.dt**2 * (since + 0.5), 0.0), rates])
        slope = self.friction / np.sqrt(2.0)
        sides = [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
        self._cone = np.array([*([*side, slope] for side in sides), [0.0, 0.0, 1.0]])
        self._bounds = np.zeros((2, 5))
        self._bounds[1] = [*[np.inf] * 4, self.most]
        self._held: dict[int, Held] = {}  # by the number of feet

    def __call__(self, body: Body, wanted: Horizon) -> ForcePlan:
        """Forces for a body and what is wanted of it.

        Parameters
        ----------
        body : Body
            As it is.
        wanted : Horizon
            Of `steps` steps.

        Returns
        -------
        ForcePlan
            Over the horizon.

        Raises
        ------
        ArgumentError
            For a horizon of another length, and a program that has no answer.
        """
        n = self.steps
        instance(wanted, Horizon, "wanted")
        if wanted.holds.shape[0] != n:
            raise ArgumentError(f"wanted: expected {n} steps, got {len(wanted.holds)}")
        holds = np.ascontiguousarray(wanted.holds, dtype=np.int64)
        feet = holds.shape[1]
        given = Wanted(
            array(wanted.coordinates, (n, 6), "wanted.coordinates"),
            array(wanted.rates, (n, 6), "wanted.rates"),
            array(wanted.feet, (n, feet, 3), "wanted.feet"),
            holds,
        )
        now = Body(
            float(body.mass),
            array(body.inertia, (3, 3), "body.inertia"),
            vector(body.coordinates, 6, "body.coordinates"),
            vector(body.rates, 6, "body.rates"),
        )
        rows = np.empty((n + 1, 6)), np.empty((n + 1, 6)), np.empty((n, 6))
        plan = ForcePlan(np.empty((n, feet, 3)), *rows)
        if feet not in self._held:
            self._held[feet] = self._made(feet)
        if plan_ahead(self._held[feet].address, now, given, plan) == NO_POINT:
            raise ArgumentError("wanted: the program of forces has no answer")
        return plan

    def _made(self, feet: int) -> Held:
        """Tables, and room for plans in which all feet stand all the time."""
        room = room_for(feet * self.steps, self.steps, len(self._cone))
        products = np.stack([X.T @ X for X in self._ahead])
        given = self._numbers, self._weights, self._ahead, products, self._cone, self._bounds
        return Held(Tables(*given, *room))
