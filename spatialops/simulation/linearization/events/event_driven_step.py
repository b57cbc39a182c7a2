"""The derivative of a step from event to event: flow, impacts, and saltation at their times.

Between events changes of the state follow the linearised motion, which is integrated beside it
(`linear_motion.py`). An event comes where a function g of the state vanishes: a gap, or the speed
of a slip that ends. As the state changes by dx it comes at another time,

    dt = -g_x dx / (g_x x'_before),

and with x' the rates before and after and R the derivative of the impact (`impacts/derivative.py`),
or none, the state after it changes by

    R (dx + x'_before dt) - x'_after dt:

the saltation matrix (Kong, Payne, Council and Johnson 2021). Where a contact opens because its
force has gone, or begins to slide at the limit of friction, accelerations are the same before and
after, and nothing is added. It is the derivative of the motion itself, from which the step is away
by its tolerance. What is closed at the start changes along with what it lies on: of changes at the
start the part is taken that the least motion makes so, as the step does.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.constrained_motion import LostContact
from spatialops.simulation.event_driven.contact_modes import Modes
from spatialops.simulation.event_driven.engine import Engine
from spatialops.simulation.event_driven.run import EventRunner
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.explicit_forces import (
    Given,
    JointForces,
    joint_forces,
)
from spatialops.simulation.linearization.events.closed_contacts import Closed, closed_contacts
from spatialops.simulation.linearization.events.held_closures import held_closures
from spatialops.simulation.linearization.events.linear_motion import (
    REDUNDANT,
    Flow,
    Instant,
    Rows,
    flown,
)
from spatialops.simulation.linearization.kept_steps import Kept
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.results import Linearization
from spatialops.tree.state import State

_TOGETHER = 1e-9  # m within which gaps close together
_INSTANT = 1e-12  # s: events that are nearer are one
_SAME = 1e-6  # of accelerations, relative: those before and after are the same


class Turn(NamedTuple):
    """An event: when, whether it is an impact, and the modes after it."""

    time: float
    impact: bool
    modes: Modes


class EventLinearizer:
    """Derivatives of steps of `EventDriven`.

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
        if not runner.setup.rigid:
            raise ArgumentError(
                "linearize: ground that gives way is not known yet with EventDriven; take "
                "TimeStepping()"
            )
        self._runner = runner
        self._scene = scene
        self._impacts = Linearizer(runner.setup.stepping)
        self._threshold = float(runner.setup.settings[at.THRESHOLD])

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        end, first, turns = self._made(state, cut)
        n, one = len(cut), np.eye(3 * len(cut))
        self._given = Given(cut, self._scene.ctrl, self._activation(state), state.time)
        flow = self._begun(Flow(state.q, state.v, one[:n], one[n : 2 * n]), state.time, first)
        contacts: list[IntArray] = []
        time, modes = state.time, first
        for turn in turns:
            flow = self._flown(flow, modes, time, turn.time)
            if turn.impact:
                flow, found = self._struck(flow, turn, modes)
                contacts.append(found)
            else:
                flow = self._turned(flow, turn, modes)
            time, modes = turn.time, turn.modes
        flow = self._flown(flow, modes, time, end.time)
        whole = np.concatenate([flow.dq, flow.dv])
        A, B = whole[:, : 2 * n].copy(), whole[:, 2 * n :].copy()
        B[:, cut != tau] = 0.0
        points = np.concatenate([np.zeros((0, of.POINT_INTS), dtype=np.int64), *contacts])
        statuses, switching = self._impacts.notes.of(points)
        closed = tuple("sticking" if mode.sticks else "sliding" for mode in first.values())
        return Linearization(end, A, B, closed + statuses, switching)

    def keep(self, state: State, forces: Array) -> Held:
        """Steps from a checked state under rows of forces."""
        states = [state]
        for tau in forces:
            states.append(self._after(states[-1], tau))
        q = np.array([one.q for one in states])
        v = np.array([one.v for one in states])
        activations = np.array([self._activation(one) for one in states])
        times = np.array([one.time for one in states])
        none = np.zeros((0, 2), dtype=np.int64)
        counts = np.zeros(0, dtype=np.int64)
        given = np.ascontiguousarray(forces)
        return Held(Kept(q, v, activations, times, given, np.zeros(0), counts, none, counts.copy()))

    def _after(self, state: State, tau: Array) -> State:
        """A step later."""
        course = self._runner.begun(state)
        course.engine.forces.control = lambda time, q, v: tau
        course.advance(state.time + self._runner.setup.options.dt)
        return course.state()

    def sweep(self, call: Callable[..., int], kept: Held, along: Array, k: int) -> int:
        """No kernel goes along these steps."""
        return k

    def differentiate(self, state: State, tau: Array, A: Array, B: Array) -> IntArray:
        """The derivative of a step into A and B; of its contacts nothing is said."""
        found = self.linearize(state, tau, tau)
        A[:] = found.A
        B[:] = found.B
        return np.zeros((0, of.POINT_INTS), dtype=np.int64)

    def forget(self) -> None:
        """Nothing is remembered."""

    def _activation(self, state: State) -> Array:
        states = self._scene.elements.n_states
        return state.activation if state.activation.size else np.zeros(states)

    def _made(self, state: State, tau: Array) -> tuple[State, Modes, list[Turn]]:
        """The end of the step, the modes that it begins with, and its events."""
        course = self._runner.begun(state)
        engine = course.engine
        self._mechanics = engine.mechanics
        engine.forces.control = lambda time, q, v: tau
        engine.advance(state.time)
        if engine.impacts:
            raise ContactError(
                "linearize: contacts that touch and approach where the step begins are not known "
                "yet with EventDriven; take TimeStepping()"
            )
        first = dict(engine.modes)
        course.advance(state.time + self._runner.setup.options.dt)
        times: list[float] = []
        kinds: list[set[str]] = []
        for event in engine.log:
            if times and event.time - times[-1] <= _INSTANT:
                kinds[-1].add(event.kind)
            elif event.time > state.time:
                times.append(event.time)
                kinds.append({event.kind})
        end = course.state()
        modes = self._modes_between(state, tau, [*times, end.time])
        turns = [
            Turn(time, "impact" in kind, after)
            for time, kind, after in zip(times, kinds, modes, strict=True)
        ]
        return end, first, turns

    def _modes_between(self, state: State, tau: Array, times: list[float]) -> list[Modes]:
        """The modes half-way between each time and the next."""
        engine: Engine = self._runner.begun(state).engine
        engine.forces.control = lambda time, q, v: tau
        found: list[Modes] = []
        for begin, end in pairwise(times):
            engine.advance(0.5 * (begin + end))
            found.append(dict(engine.modes))
        return found

    def _forces(self, time: float, q: Array, v: Array) -> JointForces:
        given = self._given._replace(passed=time - self._given.passed)
        return joint_forces(self._scene.model, self._scene.elements, given, q, v)

    def _closed(self, q: Array, v: Array, modes: Modes) -> Rows:
        if any(key[0] >= self._scene.n_pairs for key in modes):
            raise ContactError(
                "linearize: joints that rest at a stop, or rub, are not known yet with "
                "EventDriven; take TimeStepping()"
            )
        try:
            loop, room = self._impacts.lend()
            status, own = closed_contacts(self._mechanics, loop, room, (q, v), modes)
        except LostContact:
            raise ContactError(
                "linearize: a contact's features change within the step, which is not known yet "
                "with EventDriven; take TimeStepping()"
            ) from None
        if status != of.KNOWN:
            raise self._impacts.fault(status)
        if not len(self._scene.loops):
            return own
        return [*own, held_closures(Span(self._scene.model, self._scene.loops), q, v)]

    def _instant(self, time: float, q: Array, v: Array, modes: Modes) -> Instant:
        acts = self._forces(time, q, v)
        return Instant(self._scene.model, acts, q, v, self._closed(q, v, modes))

    def _begun(self, flow: Flow, time: float, modes: Modes) -> Flow:
        """Changes at the start that leave closed what is."""
        if not modes and not len(self._scene.loops):
            return flow
        moment = self._instant(time, flow.q, flow.v, modes)
        gaps = np.vstack([one.gap for one in moment.own])
        reply = np.linalg.solve(moment.M, gaps.T)
        dq = flow.dq - reply @ np.linalg.lstsq(gaps @ reply, gaps @ flow.dq, rcond=REDUNDANT)[0]
        dv, _ = moment.change_of_velocity(moment.M @ flow.dv, dq)
        return flow._replace(dq=dq, dv=dv)

    def _flown(self, flow: Flow, modes: Modes, begin: float, end: float) -> Flow:
        """Until a time, in a mode."""

        def contacts(q: Array, v: Array) -> Rows:
            return self._closed(q, v, modes)

        return flown(self._scene.model, self._forces, contacts, flow, np.array([begin, end]))

    def _struck(self, flow: Flow, turn: Turn, modes: Modes) -> tuple[Flow, IntArray]:
        """After an impact, and what contacts do in it."""
        if len(self._scene.loops):
            raise ContactError("linearize: impacts of closed mechanisms are not known yet")
        found = self._impacts.impact(State(flow.q, flow.v, turn.time))
        if found.status != of.KNOWN:
            raise self._impacts.fault(found.status)
        arrives = found.rows @ flow.v < -self._threshold
        k = int(np.argmin(np.where(arrives, found.gaps, np.inf)))
        near = arrives & (found.gaps <= found.gaps[k] + _TOGETHER)
        if near.sum() > 1:
            found.ints[near, of.NOTES] |= of.TOGETHER
        n, after = len(flow.v), found.v
        row = found.rows[k]
        a = self._instant(turn.time, flow.q, flow.v, modes).a
        dt = -(row @ flow.dq) / (row @ flow.v)
        dq = flow.dq + np.outer(flow.v, dt)
        dv = found.by[:, : 2 * n] @ np.concatenate([dq, flow.dv + np.outer(a, dt)])
        a = self._instant(turn.time, flow.q, after, turn.modes).a
        return Flow(flow.q, after, dq - np.outer(after, dt), dv - np.outer(a, dt)), found.ints

    def _turned(self, flow: Flow, turn: Turn, modes: Modes) -> Flow:
        """After a contact has opened, or begun or ceased to slide."""
        before = self._instant(turn.time, flow.q, flow.v, modes)
        after = self._instant(turn.time, flow.q, flow.v, turn.modes)
        jump = before.a - after.a
        if np.abs(jump).max() <= _SAME * np.abs(before.a).max():
            return flow
        stops = [
            one
            for key, one in zip(modes, before.own)
            if isinstance(one, Closed)
            and not one.sticks
            and one.mu > 0.0
            and key in turn.modes
            and turn.modes[key].sticks
        ]
        if len(stops) != 1:
            raise ContactError(
                "linearize: contacts that change together but do not strike are not known yet with "
                "EventDriven; take TimeStepping()"
            )
        slip = stops[0].slip
        ends = slip @ (stops[0].G @ before.a + stops[0].by_q @ flow.v)
        changes = slip @ (stops[0].G @ flow.dv + stops[0].by_q @ flow.dq)
        return flow._replace(dv=flow.dv + np.outer(jump, -changes / ends))
