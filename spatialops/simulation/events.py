"""The event-driven method: smooth motion to the first event, the event, and on.

One `advance` as a table of contents: impacts of what touches and approaches; the modes of what stays closed; a step of
the Runge-Kutta rule, projected onto closed contacts and loops; at its end the watch: gaps that closed, forces that
pull, friction beyond its limit, slips that turned round. The first of these is found by a root finder that shortens the
step itself, so that the state there is as accurate as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.cone import Cone
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.rows import DRY
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation.event_drift import project
from spatialops.simulation.event_impact import Impacts, Rules
from spatialops.simulation.event_log import OPEN, Event, changed
from spatialops.simulation.event_modes import Verdict, decide
from spatialops.simulation.event_motion import REACH, LostContact, Mechanics, Motion, NotFinite
from spatialops.simulation.event_passing import Passing
from spatialops.simulation.event_runge_kutta import RungeKutta
from spatialops.simulation.event_sight import Contacts, Key, Sight
from spatialops.simulation.event_slip import SLOW, Mode, Modes
from spatialops.simulation.event_watch import STILL, Mark, still, watch
from spatialops.simulation.joint_rows import JointRows
from spatialops.simulation.pair_friction import PairFriction
from spatialops.simulation.scene import Scene
from spatialops.simulation.time import EventDriven
from spatialops.tree.state import State

LAWS = (Coulomb, Cone, NoSlip, Frictionless, Viscous, Compliant, Pairwise)
TOUCH = 1e-8  # m: gap below which a contact may be closed
_MOST_EVENTS = 100  # at one instant


class Surfaces(NamedTuple):
    """What contacts have: the friction of all pairs, and the stops of joints."""

    friction: PairFriction
    joints: JointRows


@dataclass
class Moment:
    """A state on the way, its motion, and what is watched there: values that are negative once an event has passed."""

    time: float
    q: Array
    v: Array
    motion: Motion
    watched: dict[Mark, float]


class Engine:
    """Carries one state of a scene through time."""

    def __init__(self, scene: Scene, surfaces: Surfaces, options: EventDriven, dt: float, rules: Rules) -> None:
        law, friction = surfaces.friction.law, surfaces.friction
        if any(loop.rate is not None for loop in scene.loops.items):
            raise ArgumentError("time: closures with prescribed rates are for TimeStepping only")
        if not isinstance(law, LAWS):
            names = ", ".join(known.__name__ for known in LAWS)
            raise ArgumentError(f"law: {law!r} has no form for accelerations; EventDriven takes {names}")
        if friction.torsion.any() or friction.rolling.any():
            raise ArgumentError("time: EventDriven has no torsional and rolling friction: use TimeStepping")
        if len(surfaces.joints.ints) and isinstance(law, Compliant):
            raise ArgumentError(
                "time: EventDriven has no stops and dry friction of joints beside ground that gives way: use "
                "joint_limits=False, dry_friction=False"
            )
        self.scene, self.law, self.options, self.dt = scene, law, options, dt
        self.impact = Impacts(scene.model, friction, rules)
        self.sight = Sight(scene, friction.friction, surfaces.joints)
        self.control: Callable[[float, Array, Array], Array] = lambda time, q, v: np.zeros(scene.model.nv)
        self.mechanics = Mechanics(scene, law, friction.drag, self.sight, lambda time, q, v: self.control(time, q, v))
        self.rule = RungeKutta(scene.model.tree, options.method, options.tolerance)
        self.log: list[Event] = []
        self.impacts: list[tuple[float, Contacts, Array, list[float]]] = []
        self.residual, self.steps, self.evaluations, self.decisions = 0.0, 0, 0, 0

    def begin(self, state: State) -> None:
        """Take up a state; contacts that are closed there are found at the next `advance`."""
        self.time, self.q, self.v = state.time, state.q.copy(), state.v.copy()
        self.modes: Modes = {}
        self.h = self.dt
        self._instant, self._here = state.time, 0
        self._now: Moment | None = None
        self.mechanics.choose(self.q)

    def advance(self, end: float) -> None:
        """Go on to a time."""
        self._left, self._now = self.options.max_impacts, None
        self._settle(quiet=not self.steps)
        while end - self.time > 1e-14 * max(1.0, abs(end)):
            self._step(min(self.h, end - self.time), end)
        self.time = end

    def present(self) -> Motion:
        """The motion now."""
        return self.mechanics.motion(self.time, self.q, self.v, self.modes)

    # -------------------------------------------------------------------------------------------------- a step
    def _step(self, h: float, end: float) -> None:
        start = self._now or self._moment(self.time, self.q, self.v)
        passing = Passing(self.sight, self.q, self.v, {key[0] for key in self.modes})
        rigid, h = self.options.method == "rk4", min(h, passing.longest())
        while True:
            if h < 1e-13 * max(1.0, abs(self.time)):
                raise ContactError(
                    f"the step has shrunk to nothing at t = {self.time:.9g} s: forces or accelerations grow without "
                    "bound there (Painleve's paradox, or a singular mechanism)"
                )
            try:
                later, error = self._reach(start, h)
            except LostContact as lost:
                if h < 1e-9:
                    self._open([lost.key])
                    return
                h *= 0.25
                continue
            if error > 1.0:
                h *= max(0.2, 0.9 * error**-0.2)
                continue
            speeds = passing.speeds_at(later.q, later.v)
            safe = passing.longest(speeds)
            if safe < 0.99 * h:
                h = 0.5 * (safe + 0.5 * h)
                continue
            x = passing.suspicion(later.q, later.v, h, speeds)
            if x is not None and self._touches(start, x * h):
                h *= x
                continue
            break
        if not rigid:
            grown = h * min(5.0, 0.9 * max(error, 1e-10) ** -0.2)
            self.h = grown if h < self.h or grown < self.h or end - self.time > h else self.h
        passed = [mark for mark, value in later.watched.items() if value < 0.0]
        if passed:
            try:
                self._meet(start, later, h, passed)
            except LostContact:  # somewhere within the step
                self.h = 0.25 * h
        else:
            self._accept(later)
            self._turn(later.motion)

    def _reach(self, start: Moment, h: float) -> tuple[Moment, float]:
        """The moment a step of h later, and the error of the step over the tolerance."""
        try:
            step = self.rule.step(self._acceleration, start.time, start.q, start.v, h)
        except NotFinite:
            return start, 1e10
        if not (np.isfinite(step.q).all() and np.isfinite(step.v).all() and np.isfinite(step.error)):
            return start, 1e10
        if step.error > 1.0:
            return start, step.error
        q, v = project(self.mechanics, step.q, step.v, self.modes)
        return self._moment(start.time + h, q, v), step.error

    def _touches(self, start: Moment, h: float) -> bool:
        """Whether a gap has closed a time h later."""
        watched = self._reach(start, h)[0].watched
        return any(mark[0] == "impact" and value < 0.0 for mark, value in watched.items())

    def _acceleration(self, time: float, q: Array, v: Array) -> Array:
        self.evaluations += 1
        return self.mechanics.motion(time, q, v, self.modes).a

    def _moment(self, time: float, q: Array, v: Array) -> Moment:
        motion = self.mechanics.motion(time, q, v, self.modes)
        watched = watch(
            self.sight, self.law, self.modes, q, v, motion, lambda: self._holds(time, q, v, motion.contacts)
        )
        return Moment(time, q, v, motion, watched)

    def _accept(self, moment: Moment) -> None:
        self.time, self.q, self.v = moment.time, moment.q, moment.v
        self._now = moment
        self.mechanics.remember(moment.motion.contacts)
        self.mechanics.choose(moment.q)
        self.steps += 1
        self.residual = max(self.residual, moment.motion.residual)

    def _turn(self, motion: Motion, stopping: Collection[Key] = ()) -> None:
        """Keep directions of sliding contacts up with the slip."""
        contacts = motion.contacts
        for i, key in enumerate(contacts.keys):
            slip = contacts.velocities[i, 1:]
            speed = float(np.hypot(*slip))
            if key in self.modes and key not in stopping and not self.modes[key].sticks and speed > SLOW:
                self.modes[key] = Mode(False, slip / speed @ contacts.frames[i, 1:])

    def _holds(self, time: float, q: Array, v: Array, contacts: Contacts) -> bool:
        """Whether the law would choose the same motion again: nobody leaves, nobody who sticks begins to slide."""
        modes = self._decide(time, q, v, contacts, self.modes).modes
        return all(key in modes and (modes[key].sticks or not mode.sticks) for key, mode in self.modes.items())

    # -------------------------------------------------------------------------------------------------- events
    def _meet(self, start: Moment, later: Moment, h: float, passed: list[Mark]) -> None:
        """Find the first event within a step, go there, and let it happen."""
        known = {0.0: start, 1.0: later}

        def lowest(x: float) -> float:
            if x not in known:
                known[x] = self._reach(start, x * h)[0]
            values = known[x].watched
            worst = min(values.get(mark, 1.0) / abs(later.watched[mark]) for mark in passed)
            return 1.0 if x == 0.0 and worst <= 0.0 else worst

        precise = 1e-15 * max(1.0, abs(start.time)) / h
        x = float(scipy.optimize.brentq(lowest, 0.0, 1.0, xtol=max(precise, 1e-16), rtol=1e-15, maxiter=200))
        # Of the points tried the first one at which the event has passed, next to the root.
        beyond = min((y for y in known if lowest(y) <= 0.0), default=1.0)
        moment = known[beyond if beyond - x <= 1e-9 else x]
        due = [mark for mark in passed if moment.watched.get(mark, 1.0) <= 1e-9 * abs(later.watched[mark])]
        self._accept(moment)
        self._turn(moment.motion, {key for kind, key in due if kind == "stick"})
        self._count()
        self._happen(moment.motion, due or passed)

    def _count(self) -> None:
        """Refuse events without end at one instant."""
        self._here = self._here + 1 if self.time - self._instant <= 1e-13 * max(1.0, abs(self.time)) else 0
        self._instant = self.time
        if self._here > _MOST_EVENTS:
            raise ContactError(f"more than {_MOST_EVENTS} events at t = {self.time:.9g} s: the modes do not settle")

    def _happen(self, motion: Motion, due: list[Mark]) -> None:
        """Change the modes as the events say; what they do not say follows from the accelerations."""
        kinds = {kind for kind, _ in due}
        if kinds & {"impact", "doubt"}:
            self._settle()
            return
        before, self._now = dict(self.modes), None
        index = {key: i for i, key in enumerate(motion.contacts.keys)}
        for kind, key in due:
            if kind == "separation":
                self.modes.pop(key, None)
            elif kind == "slip" and key in self.modes:
                i = index[key]
                force = motion.forces[i, 1:]
                self.modes[key] = Mode(False, -force / np.hypot(*force) @ motion.contacts.frames[i, 1:])
        stopping = [key for kind, key in due if kind == "stick" and key in self.modes]
        if stopping:
            self._stop(stopping, motion)
        self._report(before)
        again = self._moment(self.time, self.q, self.v)
        if any(value < -1e-9 for mark, value in again.watched.items() if mark[0] in ("separation", "slip")):
            self._settle()

    def _stop(self, keys: list[Key], motion: Motion) -> None:
        """Slips that have come to zero: they stick if friction can hold them, else they go on the other way."""
        contacts = motion.contacts
        index = {key: i for i, key in enumerate(contacts.keys)}
        stopped = [key for key in keys if np.hypot(*contacts.velocities[index[key], 1:]) <= SLOW]
        for key in keys:
            if key not in stopped:  # it has turned by a right angle without stopping
                slip = contacts.velocities[index[key], 1:]
                self.modes[key] = Mode(False, slip / np.hypot(*slip) @ contacts.frames[index[key], 1:])
        if not stopped:
            return
        trial = dict(self.modes)
        for key in stopped:
            trial[key] = Mode(True, np.zeros(3))
        q, v = project(self.mechanics, self.q, self.v, trial)
        verdict = self._decide(self.time, q, v, self.mechanics.closed(q, v, self.modes))
        self.q, self.v = q, v
        self.modes = {key: verdict.modes[key] for key in self.modes if key in verdict.modes}
        self.residual = max(self.residual, verdict.residual)

    def _open(self, keys: list[Key]) -> None:
        before, self._now = dict(self.modes), None
        for key in keys:
            self.modes.pop(key, None)
        self._report(before)

    def _decide(self, time: float, q: Array, v: Array, contacts: Contacts, modes: Modes | None = None) -> Verdict:
        self.decisions += 1
        return decide(self.mechanics, time, q, v, contacts, modes)

    def _settle(self, quiet: bool = False) -> None:
        """Impacts of what touches and approaches, then the modes of what stays."""
        if isinstance(self.law, Compliant):
            return
        before, self._now = dict(self.modes), None
        for _ in range(_MOST_EVENTS):
            found = self.sight.look(self.q, self.v, REACH)
            touching = np.array([gap <= TOUCH or key in self.modes for gap, key in zip(found.gaps, found.keys)], bool)
            contacts = found.take(np.flatnonzero(touching))
            slow = still(self.v)
            speed = float(-contacts.velocities[:, 0].min(initial=0.0))
            if speed <= slow and not self._skids(contacts):
                break
            self._collide(contacts, speed, before)
            before, quiet = dict(self.modes), False
        else:
            raise ContactError(f"impacts do not end at t = {self.time:.9g} s")
        closed = contacts.take(np.flatnonzero(contacts.velocities[:, 0] <= slow))
        verdict = self._decide(self.time, self.q, self.v, closed)
        self.residual = max(self.residual, verdict.residual)
        self.modes = verdict.modes
        self.mechanics.remember(closed)
        self.q, self.v = project(self.mechanics, self.q, self.v, self.modes)
        if not quiet:
            self._report(before)

    def _skids(self, contacts: Contacts) -> bool:
        """Whether contacts slide that have to stop: those without slip."""
        rough = np.isinf(contacts.friction) & (np.abs(contacts.velocities[:, 0]) <= STILL)
        slip = np.hypot(contacts.velocities[:, 1], contacts.velocities[:, 2])
        return bool((slip[rough] > 1e-8).any())

    def _collide(self, contacts: Contacts, speed: float, before: Modes) -> None:
        self._left -= 1
        full = speed > self.impact.rules.threshold and self._left >= 0
        closures = self.mechanics.independent(self.q)
        hit = self.impact.resolve(self.time, self.q, self.v, contacts, closures, restitution=full)
        met = np.flatnonzero(contacts.kinds != DRY).tolist()  # dry friction of joints has no part in impacts
        names = tuple(self.sight.names(contacts.keys[i][0]) for i in met)
        was = tuple(_name(before.get(contacts.keys[i])) for i in met)
        self.v = hit.v
        self.residual = max(self.residual, hit.residual)
        after = self.sight.look(self.q, self.v, REACH)
        index = {key: i for i, key in enumerate(after.keys)}
        slow = still(self.v)
        now = []
        for key in contacts.keys:
            u = after.velocities[index[key]] if key in index else np.array([1.0, 0.0, 0.0])
            now.append(OPEN if u[0] > slow else "stick" if np.hypot(u[1], u[2]) <= 1e-8 else "slip")
        self.modes = {
            key: Mode(mode == "stick", np.zeros(3))
            for key, mode in zip(contacts.keys, now, strict=True)
            if mode != OPEN
        }
        energies = (hit.before, hit.after)
        self.log.append(Event(self.time, "impact", names, was, tuple(now[i] for i in met), speed, energies))
        self.impacts.append(
            (self.time, contacts, hit.impulses, [self.time, len(names), speed, *energies, hit.fraction])
        )

    def _report(self, before: Modes) -> None:
        """Write down which contacts have changed without an impact."""
        keys = dict.fromkeys([*before, *self.modes])
        changes = [(self.sight.names(k[0]), _name(before.get(k)), _name(self.modes.get(k))) for k in keys]
        self.log += changed(self.time, changes)


def _name(mode: Mode | None) -> str:
    return OPEN if mode is None else "stick" if mode.sticks else "slip"
