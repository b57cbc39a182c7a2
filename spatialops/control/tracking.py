"""Following a reference: error feedback as demanded accelerations, and plain PID control ([Z] 7.3, figure 10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision.contact_set import ContactSet
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State


class Reference(NamedTuple):
    """Where joints shall be, how fast, and with which acceleration; any shape, in the order of the velocities."""

    q: Array
    v: Array
    a: Array


Planner = Callable[[float, State], Reference]


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Gains of an error feedback: 1/s^2, 1/s and 1/s^3 for accelerations; N m/rad, N m s/rad, N m/(rad s) for PID."""

    position: float = 900.0
    velocity: float = 60.0
    integral: float = 0.0


PID_GAINS = Gains(position=10.0, velocity=0.1, integral=0.003)  # of the authors of [Z], for the quadruped


class JointTracking:
    """Demanded accelerations that follow a reference: a + kp e + kv de + ki (integral of e).

    Parameters
    ----------
    model : Model
    reference : callable
        reference(time, state) -> Reference of the joints in `actuation`.
    gains : Gains
    actuation : Actuation, optional
    dt : float
        Time between calls, s: of the integral.
    stabilize : callable, optional
        stabilize(time, state) -> accelerations (n,) that are added.

    Attributes
    ----------
    errors : (n,) array
        q - q_ref of the last call, rad or m; `rate_errors` those of the velocities.

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
        gains: Gains | None = None,
        actuation: Actuation | None = None,
        dt: float = 1e-3,
        stabilize: Callable[[float, State], Any] | None = None,
    ) -> None:
        self.model, self.reference, self.dt, self.stabilize = model, reference, dt, stabilize
        self.gains = Gains() if gains is None else gains
        self.actuation = Actuation(model) if actuation is None else actuation
        self.places = coordinates(model, self.actuation)
        self.errors = self.rate_errors = self._sum = np.zeros(len(self.actuation))

    def __call__(self, time: float, state: State) -> Array:
        """Accelerations (n,)."""
        q, v, a = (np.asarray(part, dtype=np.float64).ravel() for part in self.reference(time, state))
        self.errors, self.rate_errors = state.q[self.places] - q, state.v[self.actuation.rows] - v
        self._sum = self._sum + self.dt * self.errors
        g = self.gains
        demand = a - g.position * self.errors - g.velocity * self.rate_errors - g.integral * self._sum
        return demand if self.stabilize is None else demand + self.stabilize(time, state)


class PID:
    """Error feedback alone: torques without any model.

    Parameters
    ----------
    model : Model
    reference : callable
        reference(time, state) -> Reference.
    gains : Gains
        N m/rad and so on.
    actuation : Actuation, optional
    dt : float
        Time between calls, s.
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
        self.tracking = JointTracking(model, _still(reference), gains=gains, actuation=actuation, dt=dt)
        self.actuation, self._said = self.tracking.actuation, None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """Joint forces (nv,), within the motors' limits."""
        begun = perf_counter()
        tau, status, notes = np.zeros(self.tracking.model.nv), "solved", ()
        wanted = self.tracking(time, state)
        if np.isfinite(wanted).all():
            tau = self.actuation.clipped(self.actuation.spread(wanted))
        else:
            status, notes = "damped", ("the state or the reference is not finite",)
        still = np.zeros(len(tau))
        self._said = Explanation(
            tau=tau, demanded=still, predicted=still, status=status, notes=notes, seconds=perf_counter() - begun
        )
        return tau

    def explain(self) -> Explanation:
        """Why the last command was what it was."""
        if self._said is None:
            raise ArgumentError("explain: there has been no command yet")
        return self._said


def _still(reference: Planner) -> Planner:
    """The same reference without its accelerations, which are no forces."""

    def without(time: float, state: State) -> Reference:
        given = reference(time, state)
        return Reference(given.q, given.v, np.zeros_like(given.a))

    return without


def coordinates(model: Model, actuation: Actuation) -> IntArray:
    """Entries of q that belong to the actuated velocities."""
    place = {}
    for name in model.joint_names:
        q, v = model.q_slice(name), model.v_slice(name)
        if q.stop - q.start == v.stop - v.start:
            place.update(zip(range(v.start, v.stop), range(q.start, q.stop), strict=True))
    if any(int(row) not in place for row in actuation.rows):
        raise ArgumentError("actuation: tracking is for joints whose coordinates are plain numbers")
    return np.array([place[int(row)] for row in actuation.rows], dtype=np.int64)
