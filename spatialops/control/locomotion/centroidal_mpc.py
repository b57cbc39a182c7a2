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
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array, scalar, whole
from spatialops.contact.qp import QuadraticProgram, by_daqp, load
from spatialops.control.estimation.invariant_error import skew
from spatialops.errors import ArgumentError

_WHO = "the predictive controller of forces"
# What daqp is asked for.
_PRIMAL = 1e-8
_DUAL = 1e-8


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


class Body(NamedTuple):
    """A robot as one body.

    Attributes
    ----------
    mass : float
        kg.
    inertia : (3, 3) array
        About the centre of mass, world axes, kg m^2.
    coordinates, rates : (6,) arrays
        (phi, c) now, rad and m, and their rates, of which those of phi are against the desired.
    """

    mass: float
    inertia: Array
    coordinates: Array
    rates: Array


class Horizon(NamedTuple):
    """What is wanted over n steps.

    Attributes
    ----------
    coordinates, rates : (n, 6) arrays
        Desired (phi, c) and their rates at the steps' ends.
    holds : (n, k) bool array
        Which feet stand in each step.
    feet : (n, k, 3) array
        Where they do, m.
    """

    coordinates: Array
    rates: Array
    holds: Array
    feet: Array


class ForcePlan(NamedTuple):
    """Forces, and the motion that belongs to them.

    Attributes
    ----------
    forces : (n, k, 3) array
        On each foot in each step, world axes, N.
    coordinates, rates : (n + 1, 6) arrays
        (phi, c) and their rates, now and at the steps' ends.
    accelerations : (n, 6) array
        In each step, rad/s^2 and m/s^2.
    """

    forces: Array
    coordinates: Array
    rates: Array
    accelerations: Array


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
    MissingLibraryError
        If daqp is not installed (``spatialops[qp]``).
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
    >>> from spatialops.control.locomotion.centroidal_mpc import Body, Horizon
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
        load("daqp", _WHO)
        self.steps = whole(steps, "steps", low=1)
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.friction = scalar(friction, "friction", low=0.0, strict=True)
        self.most = scalar(most, "most", low=0.0, strict=True)
        self.gravity = scalar(gravity, "gravity", low=0.0)
        made = HorizonWeights() if weights is None else weights
        self._of_coordinates, self._of_rates = made.stacked()
        self._of_forces = scalar(made.force, "force", low=0.0, strict=True)
        n = self.steps
        since = np.arange(n)[:, None] - np.arange(n)  # steps from the one that pushes
        self._to_rates = self.dt * (since >= 0)
        self._to_coordinates = np.where(since >= 0, self.dt**2 * (since + 0.5), 0.0)

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
        if wanted.holds.shape[0] != n or wanted.coordinates.shape != (n, 6):
            raise ArgumentError(f"wanted: expected {n} steps, got {len(wanted.holds)}")
        pushes = np.argwhere(wanted.holds)  # of each force its step and foot
        B = self._influence(body, wanted, pushes)
        fall = np.zeros((n, 6))
        fall[:, 5] = -self.gravity
        ahead = self.dt * np.arange(1, n + 1)[:, None]
        drifting = body.coordinates + ahead * body.rates + self._to_coordinates @ fall
        speeds = body.rates + self._to_rates @ fall
        weight = body.mass * self.gravity
        forces = np.zeros((n, wanted.holds.shape[1], 3))
        if len(pushes):
            share = np.zeros((len(pushes), 3))
            share[:, 2] = 1.0 / wanted.holds.sum(axis=1)[pushes[:, 0]]
            X = np.einsum("ab,bcd->acd", self._to_coordinates, B)
            V = np.einsum("ab,bcd->acd", self._to_rates, B)
            missed = (wanted.coordinates - drifting, wanted.rates - speeds)
            x = self._solved((X, V), missed, share.ravel())
            forces[pushes[:, 0], pushes[:, 1]] = weight * x.reshape(-1, 3)
            accelerations = fall + B @ x
        else:
            accelerations = fall
        coordinates = np.vstack(
            [
                body.coordinates,
                body.coordinates + ahead * body.rates + self._to_coordinates @ accelerations,
            ]
        )
        rates = np.vstack([body.rates, body.rates + self._to_rates @ accelerations])
        return ForcePlan(forces, coordinates, rates, accelerations)

    def _influence(self, body: Body, wanted: Horizon, pushes: IntArray) -> Array:
        """Accelerations (n, 6, 3 p) by forces relative to the weight."""
        weight = body.mass * self.gravity
        turns = weight * np.linalg.inv(body.inertia)
        B = np.zeros((self.steps, 6, 3 * len(pushes)))
        for column, (step, foot) in enumerate(pushes):
            at = slice(3 * column, 3 * column + 3)
            arm = wanted.feet[step, foot] - wanted.coordinates[step, 3:]
            B[step, :3, at] = turns @ skew(arm)
            B[step, 3:, at] = self.gravity * np.eye(3)
        return B

    def _solved(
        self, maps: tuple[Array, Array], missed: tuple[Array, Array], share: Array
    ) -> Array:
        """Forces, relative to the weight, of the program."""
        H = self._of_forces * np.eye(len(share))
        c = -self._of_forces * share
        for A, left, weights in zip(
            maps, missed, (self._of_coordinates, self._of_rates), strict=True
        ):
            flat = (A * weights[:, None]).reshape(-1, len(share))
            H += A.reshape(-1, len(share)).T @ flat
            c -= flat.T @ left.ravel()
        count = len(share) // 3
        sides = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])
        cone = np.column_stack([sides, np.full(4, self.friction / np.sqrt(2.0))])
        G = np.vstack([np.kron(np.eye(count), cone), np.kron(np.eye(count), [[0.0, 0.0, 1.0]])])
        lower = np.zeros(5 * count)
        upper = np.concatenate([np.full(4 * count, np.inf), np.full(count, self.most)])
        found = by_daqp(
            QuadraticProgram(H, c, G, lower, upper), _WHO, primal=_PRIMAL, dual=_DUAL, proximal=0.0
        )
        if found.status != "point":
            raise ArgumentError("wanted: the program of forces has no answer")
        return found.x
