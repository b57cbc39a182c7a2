"""Inverse dynamics with contact forces that sensors measured some steps ago ([Z] 7.3, figure 12)."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import Any

import numpy as np

from spatialops._arrays import Array, vector, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.problem import ContactProblem
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.inverse_problem import inverse_problem
from spatialops.control.predictive import Demand, damped
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.simulation.foresight import Foresight
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State


class SensedForces:
    """ID(t_{i-k}): motor forces for demanded accelerations against the contact forces of k steps ago.

    Its sensors are perfect but late: they give the impulses that the simulator applied.

    Parameters
    ----------
    simulator : Simulator
    demand : callable
        demand(time, state) -> accelerations (n,).
    delay : int
        k >= 1 steps.
    actuation : Actuation, optional

    Notes
    -----
    What has been felt is a step's length h late, so that demands are reached late. Where a motor that moves a mass m
    between ground and a mass M is told a_d, m a = m a_d + M a' - M a with a' the acceleration felt:

        a = (m a_d + M a') / (m + M),

    a lag of T = k h M / m. With the feedback a_d = -kp e - kd e' it obeys T s^3 + s^2 + kd s + kp = 0, which is stable
    for kd > T kp only: light legs under a heavy trunk, and long steps, want a small kp / kd. Forces of feet against one
    another move nothing (M infinite): they are the integral of m a_d, and only slip bounds them.
    """

    def __init__(
        self, simulator: Simulator, demand: Demand, *, delay: int = 1, actuation: Actuation | None = None
    ) -> None:
        self.foresight, self.demand, self.dt = Foresight(simulator), demand, simulator.dt
        self.model = self.foresight.model
        self.actuation = Actuation(self.model) if actuation is None else actuation
        self._heard: deque[tuple[Array, float]] = deque(maxlen=whole(delay, "delay", low=1))
        self._said: Explanation | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """Joint forces (nv,); `contacts` are those of the last step with their impulses."""
        begun = perf_counter()
        try:
            said = self._command(time, state, contacts)
        except (SpatialOpsError, np.linalg.LinAlgError) as error:
            said = damped(self.model.nv, self.actuation, state, (f"no command: {error}",))
        values: dict[str, Any] = {name: getattr(said, name) for name in said.__dataclass_fields__}
        self._said = Explanation(**{**values, "seconds": perf_counter() - begun})
        return said.tau

    def explain(self) -> Explanation:
        """Why the last command was what it was; `forces` is one row: the sensed sum of normal forces."""
        if self._said is None:
            raise ArgumentError("explain: there has been no command yet")
        return self._said

    def _command(self, time: float, state: State, contacts: ContactSet | None) -> Explanation:
        rows = self.actuation.rows
        wanted = vector(self.demand(time, state), len(rows), "demand")
        ahead = self.foresight.look(state)
        self._heard.append(self._sensed(state, contacts))
        push, load = self._heard[0]
        problem = inverse_problem(ahead, rows, ahead.before[rows] + self.dt * wanted)
        v = problem.velocity.copy()
        v[problem.others] += problem.factor.T @ (problem.factor @ push[problem.others])
        tau = (ahead.mass @ (v - ahead.free) - push) / self.dt
        tau[problem.others] = 0.0
        demanded = np.zeros(self.model.nv)
        demanded[rows] = wanted
        if not np.isfinite(tau).all():
            raise ArgumentError("the command is not finite")
        return Explanation(
            tau=self.actuation.clipped(tau),
            demanded=demanded,
            predicted=(v - ahead.before) / self.dt,
            forces=np.array([[load / self.dt, 0.0, 0.0]]),
        )

    def _sensed(self, state: State, contacts: ContactSet | None) -> tuple[Array, float]:
        """Joint impulses (nv,) and summed normal impulse of measured contacts, at the present posture."""
        if contacts is None or not len(contacts):
            return np.zeros(self.model.nv), 0.0
        c = contacts
        seen = ContactProblem(self.model, state.q, state.v, c.links, c.positions, c.frames, c.frictions)
        return np.asarray(seen.jacobian.T @ c.impulses.ravel()), float(c.impulses[:, 0].sum())
