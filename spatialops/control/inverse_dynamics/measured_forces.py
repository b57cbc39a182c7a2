"""Inverse dynamics with contact forces measured some steps ago ([Z] 7.3, figure 12)."""

from __future__ import annotations

from collections import deque

import numpy as np

from spatialops._arrays import Array, vector, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.problem import ContactProblem
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.inverse_dynamics.base import Demand
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.control.safe_command import LIMITS_BIND, SafeController
from spatialops.simulation.lookahead import Lookahead
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

_ROUNDS = 3  # times that Coriolis forces are found with the motion that follows from them


class MeasuredForcesController(SafeController):
    """ID(t_{i-k}): demanded accelerations against the contact forces of k steps ago.

    Its sensors are perfect but late: they give the impulses that the simulator applied.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    delay : int, default 1
        k >= 1 steps.
    actuation : Actuation, optional
        Joints with motors; default: all but free ones.

    Raises
    ------
    ArgumentError
        For a delay below one step.

    Notes
    -----
    What has been measured is a step's length h late, so that demands are reached late. Where a
    motor that moves a mass m between ground and a mass M is told a_d, m a = m a_d + M a' - M a with
    a' the acceleration measured:

        a = (m a_d + M a') / (m + M),

    a lag of T = k h M / m. With the feedback a_d = -kp e - kd e' it obeys
    T s^3 + s^2 + kd s + kp = 0, which is stable for kd > T kp only: light legs under a heavy trunk,
    and long steps, want a small kp / kd. Forces of feet against one another move nothing (M
    infinite): they are the integral of m a_d, and only slip bounds them.
    """

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        delay: int = 1,
        actuation: Actuation | None = None,
    ) -> None:
        self.lookahead = Lookahead(simulator)
        self.demand = demand
        self.dt = simulator.dt
        self.model = self.lookahead.model
        self.actuation = Actuation(self.model) if actuation is None else actuation
        self._measured: deque[tuple[Array, float]] = deque(maxlen=whole(delay, "delay", low=1))

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command; in its explanation `forces` is one row, the measured sum of normal forces.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Contacts of the last step with their impulses; none before the first step.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N.
        """
        return self._safe_command(time, state, lambda: self._command(time, state, contacts))

    def _command(self, time: float, state: State, contacts: ContactSet | None) -> Explanation:
        rows = self.actuation.rows
        wanted = vector(self.demand(time, state), len(rows), "demand")
        self._measured.append(self._measure(state, contacts))
        push, load = self._measured[0]
        gain = np.zeros(self.model.nv)  # of velocity in the step, that Coriolis forces count on
        for _ in range(_ROUNDS):
            ahead = self.lookahead.predict(state, gain=gain)
            problem = inverse_problem(ahead, rows, ahead.before[rows] + self.dt * wanted)
            v = problem.velocity.copy()
            v[problem.others] += problem.factor.T @ (problem.factor @ push[problem.others])
            gain = v - ahead.before
        tau = (ahead.mass @ (v - ahead.free) - push) / self.dt
        tau[problem.others] = 0.0
        demanded = np.zeros(self.model.nv)
        demanded[rows] = wanted
        predicted = (v - ahead.before) / self.dt
        cut = self.actuation.clipped(tau)
        binds = bool((cut != tau).any())
        if binds:  # what the cut command does is not what it was computed for
            predicted += np.linalg.solve(ahead.mass, cut - tau)
        return Explanation(
            tau=cut,
            demanded=demanded,
            predicted=predicted,
            status="nearest" if binds else "solved",
            slack=float(np.abs(predicted[rows] - wanted).max(initial=0.0)),
            notes=(LIMITS_BIND,) if binds else (),
            forces=np.array([[load / self.dt, 0.0, 0.0]]),
        )

    def _measure(self, state: State, contacts: ContactSet | None) -> tuple[Array, float]:
        """Joint impulses (nv,) and summed normal impulse of contacts, at the present posture."""
        if contacts is None or not len(contacts):
            return np.zeros(self.model.nv), 0.0
        c = contacts
        problem = ContactProblem(
            self.model, state.q, state.v, c.links, c.positions, c.frames, c.frictions
        )
        return np.asarray(problem.jacobian.T @ c.impulses.ravel()), float(c.impulses[:, 0].sum())
