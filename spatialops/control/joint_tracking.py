"""Error feedback as demanded accelerations, and plain PID control ([Z] 7.3, figure 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, instance, scalar, vector
from spatialops._compile.held import Held
from spatialops.collision.contact_set import ContactSet
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.error_feedback import Feedback, feedback
from spatialops.control.memory import Remembers, put_in
from spatialops.control.safe_command import LIMITS_BIND, SafeController
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State


class Reference(NamedTuple):
    """Where joints shall be, how fast, and with which acceleration.

    Arrays of any shape with n entries, in the order of the velocities.

    Parameters
    ----------
    q : array
        Coordinates, rad or m.
    v : array
        Velocities, rad/s or m/s.
    a : array
        Accelerations, rad/s^2 or m/s^2.
    """

    q: Array
    v: Array
    a: Array


Planner = Callable[[float, State], Reference]


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Gains of an error feedback, of accelerations (`JointTracking`) or forces (`PIDController`).

    Parameters
    ----------
    position : float, default 900
        Of the error, 1/s^2; N m/rad or N/m of forces.
    velocity : float, default 60
        Of its rate, 1/s; N m s/rad or N s/m of forces.
    integral : float, default 0
        Of its integral, 1/s^3; N m/(rad s) or N/(m s) of forces. It takes what a model has wrong
        and keeps wrong: a load, masses.
    windup : float, default infinity
        Largest acceleration, or force, that the integral comes to.

    Raises
    ------
    ArgumentError
        For numbers that are negative or not finite.
    """

    position: float = 900.0
    velocity: float = 60.0
    integral: float = 0.0
    windup: float = np.inf

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "integral"):
            scalar(getattr(self, name), name, low=0.0)
        if self.windup != np.inf:
            scalar(self.windup, "windup", low=0.0)


# Of the authors of [Z], for the quadruped.
PID_GAINS = Gains(position=10.0, velocity=0.1, integral=0.003)


class JointTracking(Remembers):
    """Demanded accelerations that follow a reference: a + kp e + kv de + ki (integral of e).

    Parameters
    ----------
    model : Model
        The mechanism.
    reference : callable
        reference(time, state) -> Reference of the joints in `actuation`.
    gains : Gains, optional
        1/s^2, 1/s and 1/s^3; default: `Gains()`.
    actuation : Actuation, optional
        Joints that follow; default: all but free ones.
    dt : float, default 1e-3
        Time between calls, s: of the integral.
    stabilize : callable, optional
        stabilize(time, state) -> accelerations (n,) that are added.

    Raises
    ------
    ArgumentError
        For motors of joints with more than one degree of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import Gains, JointTracking, Reference
    >>> arm = so.models.pendulum(2)
    >>> still = Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    >>> demand = JointTracking(arm.model, lambda time, state: still, gains=Gains(position=100.0))
    >>> demand(0.0, so.State(np.array([0.1, 0.0]), np.zeros(2))).tolist()
    [-10.0, 0.0]
    """

    def __init__(
        self,
        model: Model,
        reference: Planner,
        *,
        gains: Gains | None = None,
        actuation: Actuation | None = None,
        dt: float = 1e-3,
        stabilize: Callable[[float, State], ArrayLike] | None = None,
    ) -> None:
        self.model = instance(model, Model, "model")
        self.reference = reference
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.stabilize = stabilize
        self.gains = Gains() if gains is None else instance(gains, Gains, "gains")
        self.actuation = Actuation(model) if actuation is None else actuation
        self.places = coordinates(model, self.actuation)
        self._feedback = Feedback(
            self.places, self.actuation.rows, *np.zeros((3, len(self.actuation)))
        )
        self._held = Held(self._feedback)

    @property
    def errors(self) -> Array:
        """Those of the last call, q - q_ref (n,), rad or m."""
        return self._feedback.errors.copy()

    @property
    def rate_errors(self) -> Array:
        """Those of the last call, v - v_ref (n,), rad/s or m/s."""
        return self._feedback.rate_errors.copy()

    def __call__(self, time: float, state: State) -> Array:
        """Demanded accelerations.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.

        Returns
        -------
        (n,) array
            Of the joints in `actuation`, rad/s^2 or m/s^2.

        Raises
        ------
        ArgumentError
            For a reference or a state that does not fit.
        """
        instance(state, State, "state")
        wanted, model = self.reference(time, state), self.model
        n = len(self.places)
        reference = _flat(wanted[0], n), _flat(wanted[1], n), _flat(wanted[2], n)
        q, v = vector(state.q, model.nq, "state.q"), vector(state.v, model.nv, "state.v")
        g = self.gains
        gains = float(g.position), float(g.velocity), float(g.integral), float(g.windup)
        demand = np.empty(n)
        feedback(self._held.address, float(self.dt), gains, (q, v), reference, demand)
        if self.stabilize is None:
            return demand
        return demand + np.asarray(self.stabilize(time, state))

    def _remembered(self) -> Mapping[str, Array]:
        return {"integral": self._feedback.integral}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        put_in(self._remembered(), kept)

    def _parts(self) -> Mapping[str, object]:
        return {"reference": self.reference, "stabilize": self.stabilize}


def _flat(values: ArrayLike, n: int) -> Array:
    """Numbers of any shape as a vector of `n`."""
    given = np.asarray(values, dtype=np.float64)
    return vector(given if given.ndim == 1 else given.ravel(), n, "reference")


class PIDController(Remembers, SafeController):
    """Error feedback alone: torques without any model.

    Parameters
    ----------
    model : Model
        The mechanism.
    reference : callable
        reference(time, state) -> Reference; its accelerations are not used.
    gains : Gains, optional
        N m/rad and so on; default: those of [Z] for the quadruped.
    actuation : Actuation, optional
        Joints with motors; default: all but free ones.
    dt : float, default 1e-3
        Time between calls, s.

    Raises
    ------
    ArgumentError
        For motors of joints with more than one degree of freedom.
    """

    def __init__(
        self,
        model: Model,
        reference: Planner,
        *,
        gains: Gains = PID_GAINS,
        actuation: Actuation | None = None,
        dt: float = 1e-3,
    ) -> None:
        self.tracking = JointTracking(
            model, _Still(reference), gains=gains, actuation=actuation, dt=dt
        )
        self.actuation = self.tracking.actuation

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Not used.

        Returns
        -------
        (nv,) array
            Joint forces within the motors' limits, N m or N; they brake if the reference or the
            state is not finite.
        """
        return self._safe_command(time, state, lambda: self._command(time, state))

    def _command(self, time: float, state: State) -> Explanation:
        wanted = self.tracking(time, state)
        if not np.isfinite(wanted).all():
            raise ArgumentError("the state or the reference is not finite")
        asked = self.actuation.spread(wanted)
        tau = self.actuation.clipped(asked)
        still = np.zeros(len(tau))
        if np.array_equal(tau, asked):
            return Explanation(tau=tau, demanded=still, predicted=still)
        notes = (LIMITS_BIND,)
        return Explanation(tau=tau, demanded=still, predicted=still, status="nearest", notes=notes)

    def _parts(self) -> Mapping[str, object]:
        return {"tracking": self.tracking}


@dataclass(frozen=True, eq=False)
class _Still(Remembers):
    """The same reference without its accelerations, which are no forces."""

    reference: Planner

    def __call__(self, time: float, state: State) -> Reference:
        given = self.reference(time, state)
        return Reference(given.q, given.v, np.zeros_like(given.a))

    def _parts(self) -> Mapping[str, object]:
        return {"reference": self.reference}


def coordinates(model: Model, actuation: Actuation) -> IntArray:
    """Entries of q that belong to the actuated velocities."""
    instance(actuation, Actuation, "actuation")
    found = model.own_coordinates[actuation.rows]
    if (found < 0).any():
        raise ArgumentError("actuation: tracking is for joints whose coordinates are plain numbers")
    return found
