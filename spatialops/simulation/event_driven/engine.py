"""The event-driven method: smooth motion to the first event, the event, and on.

One `advance` as a table of contents: impacts of what touches and approaches; the modes of what
stays closed; a step of the Runge-Kutta rule, projected onto closed contacts and loops; at its end
the event functions: gaps that closed, forces that pull, friction beyond its limit, slips that
turned round. The first of these is found by a root finder that shortens the step itself, so that
the state there is as accurate as any other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.errors import ContactError
from spatialops.simulation.event_driven.constrained_motion import (
    LostContact,
    NotFinite,
)
from spatialops.simulation.event_driven.contact_state import (
    MOST_EVENTS,
    Accuracy,
    ContactState,
    Moment,
    Surfaces,
)
from spatialops.simulation.event_driven.drift_projection import project
from spatialops.simulation.event_driven.event_functions import Mark
from spatialops.simulation.event_driven.impacts import Rules
from spatialops.simulation.event_driven.runge_kutta import RungeKutta
from spatialops.simulation.event_driven.step_bounds import Passing
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

# Times, relative to the time itself or to 1 s.
_INSTANT = 1e-13  # times that differ by less are one
_ROUNDING = 1e-15  # to which the time of an event is found

# Lengths of steps, by the error over the tolerance; a step's error grows with its fifth power.
_ROOT = -0.2
_SAFETY = 0.9
_LEAST_FACTOR = 0.2
_MOST_FACTOR = 5.0
_NO_ERROR = 1e-10  # smaller ones let a step grow no more
_FAILED = 1e10  # error of a step that ends at no number
_SHORTER = 0.25  # factor of a step within which a contact is lost
_SHORTEST = 1e-9  # s: one that is lost within less is let go at once
_SAFE = 0.99  # part of a step that must be known to pass nothing by

# Roots of event functions, as parts of a step.
_FINEST = 1e-16
_ROOT_STEPS = 200
_AT_ROOT = 1e-9  # a point so little behind a root is taken for it
_DUE = 1e-9  # of an event's value at the end of the step: what is so near happens, too


class Engine(ContactState):
    """Carries one state of a scene through time."""

    def __init__(
        self, scene: Scene, surfaces: Surfaces, accuracy: Accuracy, dt: float, rules: Rules
    ) -> None:
        super().__init__(scene, surfaces, accuracy, dt, rules)
        self.rule = RungeKutta(scene.model.tree, accuracy.method, accuracy.tolerance)
        self.evaluations = 0

    def begin(self, state: State) -> None:
        """Take up a state; contacts that are closed there are found at the next `advance`."""
        super().begin(state)
        self.h = self.dt
        self._instant = state.time
        self._here = 0

    def advance(self, end: float) -> None:
        """Go on to a time."""
        self.left, self.now = self.accuracy.max_impacts, None
        self._tried = 0
        self._though_lost(self.settle, not self.steps)
        while end - self.time > _INSTANT * max(1.0, abs(end)):
            self._though_lost(self._step, min(self.h, end - self.time), end)
        self.time = end

    def _though_lost(self, go: Callable[..., None], *args: float) -> None:
        """Go on; a contact that is gone where the mechanism stands, not in a trial, is open."""
        try:
            go(*args)
        except LostContact as lost:
            if lost.key not in self.modes:
                raise
            self.let_go([lost.key])

    def _step(self, h: float, end: float) -> None:
        start = self.now or self.moment(self.time, self.q, self.v)
        passing = Passing(self.detector, self.q, self.v, {key[0] for key in self.modes})
        rigid, h = self.accuracy.method == "rk4", min(h, passing.longest())
        while True:
            self._try_one(h)
            if h < _INSTANT * max(1.0, abs(self.time)):
                raise ContactError(
                    f"the step has shrunk to nothing at t = {self.time:.9g} s{self.touching()}: "
                    "forces or accelerations grow without bound there (Painleve's paradox, or a "
                    "singular mechanism)"
                )
            try:
                later, error = self._reach(start, h)
            except LostContact as lost:
                if h < _SHORTEST:
                    self.let_go([lost.key])
                    return
                h *= _SHORTER
                continue
            if error > 1.0:
                h *= max(_LEAST_FACTOR, _SAFETY * error**_ROOT)
                continue
            speeds = passing.speeds_at(later.q, later.v)
            safe = passing.longest(speeds)
            if safe < _SAFE * h:
                h = 0.5 * (safe + 0.5 * h)
                continue
            x = passing.suspicion(later.q, later.v, h, speeds)
            if x is not None and self._touches(start, x * h):
                h *= x
                continue
            break
        if not rigid:
            grown = h * min(_MOST_FACTOR, _SAFETY * max(error, _NO_ERROR) ** _ROOT)
            self.h = grown if h < self.h or grown < self.h or end - self.time > h else self.h
        passed = [mark for mark, value in later.event_values.items() if value < 0.0]
        if passed:
            try:
                self._meet(start, later, h, passed)
            except LostContact:  # somewhere within the step
                self.h = _SHORTER * h
        else:
            self._accept(later)
            self.turn(later.motion)

    def _try_one(self, h: float) -> None:
        """One step more is tried; there is an end to it."""
        self._tried += 1
        if self._tried > self.accuracy.max_steps:
            raise ContactError(
                f"more than {self.accuracy.max_steps} steps within one dt, the last {h:.2g} s at "
                f"t = {self.time:.9g} s{self.touching()}: damping, springs or contacts are too "
                "stiff for an explicit rule. TimeStepping() takes them; or give a larger tolerance "
                "or max_steps"
            )

    def _reach(self, start: Moment, h: float) -> tuple[Moment, float]:
        """The moment a step of h later, and the error of the step over the tolerance."""
        try:
            step = self.rule.step(self._acceleration, start.time, start.q, start.v, h)
        except NotFinite:
            return start, _FAILED
        if not (
            np.isfinite(step.q).all() and np.isfinite(step.v).all() and np.isfinite(step.error)
        ):
            return start, _FAILED
        if step.error > 1.0:
            return start, step.error
        q, v = project(self.mechanics, step.q, step.v, self.modes)
        return self.moment(start.time + h, q, v), step.error

    def _touches(self, start: Moment, h: float) -> bool:
        """Whether a gap has closed a time h later."""
        try:
            event_values = self._reach(start, h)[0].event_values
        except LostContact:  # as good a reason for a shorter step
            return True
        return any(mark[0] == "impact" and value < 0.0 for mark, value in event_values.items())

    def _acceleration(self, time: float, q: Array, v: Array) -> Array:
        self.evaluations += 1
        return self.mechanics.motion(time, q, v, self.modes).a

    def _accept(self, moment: Moment) -> None:
        self.time = moment.time
        self.q = moment.q
        self.v = moment.v
        self.now = moment
        self.mechanics.remember(moment.motion.contacts)
        self.mechanics.choose(moment.q)
        self.steps += 1
        self.residual = max(self.residual, moment.motion.residual)

    def _meet(self, start: Moment, later: Moment, h: float, passed: list[Mark]) -> None:
        """Find the first event within a step, go there, and let it happen."""
        known = {0.0: start, 1.0: later}

        def lowest(x: float) -> float:
            if x not in known:
                known[x] = self._reach(start, x * h)[0]
            values = known[x].event_values
            worst = min(values.get(mark, 1.0) / abs(later.event_values[mark]) for mark in passed)
            return 1.0 if x == 0.0 and worst <= 0.0 else worst

        precise = _ROUNDING * max(1.0, abs(start.time)) / h
        x = float(
            scipy.optimize.brentq(
                lowest, 0.0, 1.0, xtol=max(precise, _FINEST), rtol=_ROUNDING, maxiter=_ROOT_STEPS
            )
        )
        # Of the points tried the first one at which the event has passed, next to the root.
        beyond = min((y for y in known if lowest(y) <= 0.0), default=1.0)
        moment = known[beyond if beyond - x <= _AT_ROOT else x]
        due = [
            mark
            for mark in passed
            if moment.event_values.get(mark, 1.0) <= _DUE * abs(later.event_values[mark])
        ]
        self._accept(moment)
        self.turn(moment.motion, {key for kind, key in due if kind == "stick"})
        self._count()
        self.happen(moment.motion, due or passed)

    def _count(self) -> None:
        """Refuse events without end at one instant."""
        self._here = (
            self._here + 1
            if self.time - self._instant <= _INSTANT * max(1.0, abs(self.time))
            else 0
        )
        self._instant = self.time
        if self._here > MOST_EVENTS:
            raise ContactError(
                f"more than {MOST_EVENTS} events at t = {self.time:.9g} s{self.touching()}: "
                "the modes do not settle"
            )
