"""The derivative of a step from event to event: flow, impacts, and saltation at their times.

Between impacts changes of the state follow the linearised motion, which is integrated beside it.
An impact comes where a gap vanishes. As the state changes by dx it comes at another time,

    dt = -g_q dq / (g_q v),

and with x' the rates before and after and R the derivative of the impact (`impacts/derivative.py`)
the state after it changes by

    R (dx + x'_before dt) - x'_after dt:

the saltation matrix (Kong, Payne, Council and Johnson 2021). It is the derivative of the motion
itself, from which the step is away by its tolerance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.run import EventRunner
from spatialops.simulation.event_log import Event
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.raw_coordinates import (
    from_tangent,
    on_tangent,
    rate_changes,
    rates_of,
)
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.results import Linearization
from spatialops.tree.model import Model
from spatialops.tree.state import State, integrate

_EXACT = 1e-12  # of the integrated changes
_TOGETHER = 1e-9  # m within which gaps close together
_OPEN = "open"


class Flow(NamedTuple):
    """A state, and its changes (nv, 3 nv) by [q; v; forces] of the start of the step."""

    q: Array
    v: Array
    dq: Array
    dv: Array


class EventLinearizer:
    """Derivatives of steps of `EventDriven` in which nothing stays closed.

    Parameters
    ----------
    runner : EventRunner
        Makes the steps.

    Raises
    ------
    ArgumentError
        For what the derivative is not known of.
    """

    def __init__(self, runner: EventRunner) -> None:
        scene = runner.setup.scene
        model = scene.model
        pulled = len(scene.elements.ints) or model.damping.any() or model.stiffness.any()
        if len(scene.loops) or pulled:
            raise ArgumentError(
                "linearize: closures, springs, damping and actuators are not known yet with "
                "EventDriven; take TimeStepping()"
            )
        if not runner.setup.rigid:
            raise ArgumentError(
                "linearize: ground that gives way is not known yet with EventDriven; take "
                "TimeStepping()"
            )
        self._runner = runner
        self._model = model
        self._impacts = Linearizer(runner.setup.stepping)
        self._threshold = float(runner.setup.settings[at.THRESHOLD])

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        end, times = self._made(state, cut)
        n, one = len(cut), np.eye(3 * len(cut))
        flow, time = Flow(state.q, state.v, one[:n], one[n : 2 * n]), state.time
        contacts: list[IntArray] = []
        for impact in times:
            flow = self._flown(flow, cut, impact - time)
            flow, found = self._struck(flow, cut, impact)
            contacts.append(found)
            time = impact
        flow = self._flown(flow, cut, end.time - time)
        whole = np.concatenate([flow.dq, flow.dv])
        A, B = whole[:, : 2 * n].copy(), whole[:, 2 * n :].copy()
        B[:, cut != tau] = 0.0
        points = np.concatenate([np.zeros((0, of.POINT_INTS), dtype=np.int64), *contacts])
        return Linearization(end, A, B, *self._impacts.notes.of(points))

    def _made(self, state: State, tau: Array) -> tuple[State, list[float]]:
        """The end of the step, and times of its impacts."""
        course = self._runner.begun(state)
        engine = course.engine
        engine.forces.control = lambda time, q, v: tau
        engine.advance(state.time)
        closed = bool(engine.modes) or bool(engine.impacts)
        course.advance(state.time + self._runner.setup.options.dt)
        events: list[Event] = engine.log
        stays = any(event.kind != "impact" or set(event.after) != {_OPEN} for event in events)
        if closed or stays or engine.modes:
            raise ContactError(
                "linearize: contacts that stay closed, or touch where the step begins, are not "
                "known yet with EventDriven; take TimeStepping()"
            )
        return course.state(), [met.time for met in engine.impacts]

    def _flown(self, flow: Flow, tau: Array, time: float) -> Flow:
        """A time later, without contacts."""
        if time <= 0.0:
            return flow
        model = self._model
        parts = flow.q, flow.v, from_tangent(model, flow.q, flow.dq), flow.dv
        start = np.concatenate([part.ravel() for part in parts])

        def rates(_time: float, x: Array) -> Array:
            return _rates(model, tau, x)

        found = scipy.integrate.solve_ivp(
            rates, (0.0, time), start, method="DOP853", rtol=_EXACT, atol=_EXACT
        )
        q, v, dq, dv = _parts(model, found.y[:, -1])
        unit = integrate(model, q, np.zeros(model.nv))
        return Flow(unit, v.copy(), on_tangent(model, q, dq), dv.copy())

    def _struck(self, flow: Flow, tau: Array, time: float) -> tuple[Flow, IntArray]:
        """After an impact, and what contacts do in it."""
        found = self._impacts.impact(State(flow.q, flow.v, time))
        if found.status != of.KNOWN:
            raise self._impacts.fault(found.status)
        arrives = found.rows @ flow.v < -self._threshold
        k = int(np.argmin(np.where(arrives, found.gaps, np.inf)))
        near = arrives & (found.gaps <= found.gaps[k] + _TOGETHER)
        if near.sum() > 1:
            found.ints[near, of.NOTES] |= of.TOGETHER
        n, after = len(flow.v), found.v
        row = found.rows[k]
        a = forward_dynamics(self._model, flow.q, flow.v, tau)
        dt = -(row @ flow.dq) / (row @ flow.v)
        dq = flow.dq + np.outer(flow.v, dt)
        dv = found.by[:, : 2 * n] @ np.concatenate([dq, flow.dv + np.outer(a, dt)])
        a = forward_dynamics(self._model, flow.q, after, tau)
        return Flow(flow.q, after, dq - np.outer(after, dt), dv - np.outer(a, dt)), found.ints


def _parts(model: Model, x: Array) -> tuple[Array, Array, Array, Array]:
    """Coordinates and velocities, and changes of both."""
    nq, nv = model.nq, model.nv
    q, v, dq, dv = np.split(x, np.cumsum([nq, nv, 3 * nv * nq]))
    return q, v, dq.reshape(nq, 3 * nv), dv.reshape(nv, 3 * nv)


def _rates(model: Model, tau: Array, x: Array) -> Array:
    """Rates of all of these, of motion without contacts."""
    q, v, dq, dv = _parts(model, x)
    by = forward_dynamics_derivatives(model, q, v, tau)
    a = forward_dynamics(model, q, v, tau)
    da = by.dq @ on_tangent(model, q, dq) + by.dv @ dv
    da[:, 2 * model.nv :] += by.dtau
    rates = rates_of(model, q, v[:, None]), a, rate_changes(model, q, v, dq, dv), da
    return np.concatenate([rate.ravel() for rate in rates])
