"""The state of the event-driven method, and what happens to its contacts at one instant.

Impacts of what touches and approaches; the modes of what stays closed; and what each event does to
them. How time goes on between events is `engine`'s.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import is_rigid
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation.event_driven.constrained_motion import (
    REACH,
    LostContact,
    Mechanics,
    Motion,
)
from spatialops.simulation.event_driven.contact_modes import SLOW, Mode, Modes
from spatialops.simulation.event_driven.contacts import ContactDetector, Contacts, Key
from spatialops.simulation.event_driven.drift_projection import project
from spatialops.simulation.event_driven.event_functions import STILL, Mark, evaluate_events, still
from spatialops.simulation.event_driven.impacts import Impacts, Met, Rules
from spatialops.simulation.event_driven.joint_forces import JointForces
from spatialops.simulation.event_driven.mode_selection import Verdict, decide
from spatialops.simulation.event_log import OPEN, Event, changed
from spatialops.simulation.pair_laws import PairFriction
from spatialops.simulation.scales import TOUCH, scales_of
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.contact_names import pairs_text
from spatialops.tree.state import State

LAWS = (Coulomb, ConeCoulomb, NoSlip, Frictionless, Viscous, Compliant, Pairwise)
MOST_EVENTS = 100  # at one instant
_BROKEN = -1e-9  # of the largest force: an event value below it shows modes that do not hold
_STICKS = 1e-8  # m/s of slip up to which a contact sticks


class Accuracy(NamedTuple):
    """How accurately time goes on: see `EventDriven`."""

    method: str
    tolerance: float
    max_impacts: int
    max_steps: int


class Surfaces(NamedTuple):
    """What contacts have: the friction of all classes, and the stops of joints."""

    friction: PairFriction
    joints: JointRows


@dataclass
class Moment:
    """A state on the way, its motion, and its event functions: negative once one has passed."""

    time: float
    q: Array
    v: Array
    motion: Motion
    event_values: dict[Mark, float]


class ContactState:
    """A state, the modes of its contacts, and what changes them at one instant."""

    def __init__(
        self, scene: Scene, surfaces: Surfaces, accuracy: Accuracy, dt: float, rules: Rules
    ) -> None:
        _refuse(scene, surfaces)
        friction = surfaces.friction
        law = friction.law
        self.scene = scene
        self.touch = TOUCH * scales_of(scene).length  # gap below which a contact may be closed
        self.law = law
        self.accuracy = accuracy
        self.rigid = is_rigid(law)
        self.dt = dt
        self.detector = ContactDetector(scene, friction.friction, surfaces.joints)
        self.impact = Impacts(scene.model, friction, rules, self.detector)
        self.forces = JointForces(scene)
        self.mechanics = Mechanics(scene, law, friction.drag, self.detector, self.forces)
        self.log: list[Event] = []
        self.impacts: list[Met] = []
        self.residual = 0.0
        self.steps = 0
        self.decisions = 0

    def begin(self, state: State) -> None:
        """Take up a state; contacts that are closed there are found at the next `advance`."""
        self.forces.begin(state)
        self.time = state.time
        self.q = state.q.copy()
        self.v = state.v.copy()
        self.modes: Modes = {}
        self.now: Moment | None = None
        self.left = self.accuracy.max_impacts  # impacts with restitution in the present `dt`
        self.mechanics.choose(self.q)

    def present(self) -> Motion:
        """The motion now; contacts that are gone here are open."""
        while True:
            try:
                return self.mechanics.motion(self.time, self.q, self.v, self.modes)
            except LostContact as lost:
                self.let_go([lost.key])

    def moment(self, time: float, q: Array, v: Array) -> Moment:
        """A state in the present modes, with its event functions."""
        motion = self.mechanics.motion(time, q, v, self.modes)
        event_values = evaluate_events(
            self.detector,
            self.law,
            self.modes,
            q,
            v,
            motion,
            lambda: self._holds(time, q, v, motion.contacts),
        )
        return Moment(time, q, v, motion, event_values)

    def turn(self, motion: Motion, stopping: Collection[Key] = ()) -> None:
        """Keep directions of sliding contacts up with the slip."""
        contacts = motion.contacts
        for i, key in enumerate(contacts.keys):
            slip = contacts.velocities[i, 1:]
            speed = float(np.hypot(*slip))
            if (
                key in self.modes
                and key not in stopping
                and not self.modes[key].sticks
                and speed > SLOW
            ):
                self.modes[key] = Mode(False, slip / speed @ contacts.frames[i, 1:])

    def _holds(self, time: float, q: Array, v: Array, contacts: Contacts) -> bool:
        """Whether the law would choose the same motion again: none leaves, none begins to slide."""
        modes = self._decide(time, q, v, contacts, self.modes).modes
        return all(
            key in modes and (modes[key].sticks or not mode.sticks)
            for key, mode in self.modes.items()
        )

    def happen(self, motion: Motion, due: list[Mark]) -> None:
        """Change the modes as the events say; what they leave open follows from accelerations."""
        kinds = {kind for kind, _ in due}
        if kinds & {"impact", "doubt"}:
            self.settle()
            return
        before, self.now = dict(self.modes), None
        index = {key: i for i, key in enumerate(motion.contacts.keys)}
        for kind, key in due:
            if kind == "separation":
                self.modes.pop(key, None)
            elif kind == "slip" and key in self.modes:
                i = index[key]
                force = motion.forces[i, 1:]
                self.modes[key] = Mode(
                    False, -force / np.hypot(*force) @ motion.contacts.frames[i, 1:]
                )
        stopping = [key for kind, key in due if kind == "stick" and key in self.modes]
        if stopping:
            self._stop(stopping, motion)
        self._report(before)
        again = self.moment(self.time, self.q, self.v)
        if any(
            value < _BROKEN
            for mark, value in again.event_values.items()
            if mark[0] in ("separation", "slip")
        ):
            self.settle()

    def _stop(self, keys: list[Key], motion: Motion) -> None:
        """Slips that have come to zero stick if friction holds them, else they turn round."""
        contacts = motion.contacts
        index = {key: i for i, key in enumerate(contacts.keys)}
        stopped = [key for key in keys if np.hypot(*contacts.velocities[index[key], 1:]) <= SLOW]
        for key in keys:
            if key not in stopped:  # it has turned by a right angle without stopping
                slip = contacts.velocities[index[key], 1:]
                self.modes[key] = Mode(
                    False, slip / np.hypot(*slip) @ contacts.frames[index[key], 1:]
                )
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

    def let_go(self, keys: list[Key]) -> None:
        """Open contacts."""
        before, self.now = dict(self.modes), None
        for key in keys:
            self.modes.pop(key, None)
        self._report(before)

    def _decide(
        self, time: float, q: Array, v: Array, contacts: Contacts, modes: Modes | None = None
    ) -> Verdict:
        self.decisions += 1
        return decide(self.mechanics, time, q, v, contacts, modes)

    def settle(self, quiet: bool = False) -> None:
        """Impacts of what touches and approaches, then the modes of what stays."""
        if not self.rigid:
            return
        before, self.now = dict(self.modes), None
        for _ in range(MOST_EVENTS):
            found = self.detector.detect_at(self.q, self.v, REACH)
            touching = np.array(
                [
                    gap <= self.touch or key in self.modes
                    for gap, key in zip(found.gaps, found.keys)
                ],
                bool,
            )
            contacts = found.take(np.flatnonzero(touching))
            slow = still(self.v)
            speed = float(-contacts.velocities[:, 0].min(initial=0.0))
            if speed <= slow and not self._skids(contacts):
                break
            self._collide(contacts, speed, before)
            before, quiet = dict(self.modes), False
        else:
            raise ContactError(f"impacts do not end at t = {self.time:.9g} s{self.touching()}")
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
        endless = np.isinf(contacts.friction) & (np.abs(contacts.velocities[:, 0]) <= STILL)
        slip = np.hypot(contacts.velocities[:, 1], contacts.velocities[:, 2])
        return bool((slip[endless] > _STICKS).any())

    def _collide(self, contacts: Contacts, speed: float, before: Modes) -> None:
        self.left -= 1
        full = speed > self.impact.rules.threshold and self.left >= 0
        closures = self.mechanics.independent(self.q)
        impact = self.impact.resolve(
            self.time, self.q, self.v, contacts, closures, restitution=full
        )
        met = np.flatnonzero(
            contacts.kinds != DRY
        ).tolist()  # dry friction of joints has no part in impacts
        names = tuple(self.detector.names(contacts.keys[i][0]) for i in met)
        was = tuple(_name(before.get(contacts.keys[i])) for i in met)
        self.v = impact.v
        self.residual = max(self.residual, impact.residual)
        after = self.detector.detect_at(self.q, self.v, REACH)
        index = {key: i for i, key in enumerate(after.keys)}
        slow = still(self.v)
        now = []
        for key in contacts.keys:
            u = after.velocities[index[key]] if key in index else np.array([1.0, 0.0, 0.0])
            now.append(
                OPEN if u[0] > slow else "stick" if np.hypot(u[1], u[2]) <= _STICKS else "slip"
            )
        self.modes = {
            key: Mode(mode == "stick", np.zeros(3))
            for key, mode in zip(contacts.keys, now, strict=True)
            if mode != OPEN
        }
        energies = (impact.before, impact.after)
        self.log.append(
            Event(self.time, "impact", names, was, tuple(now[i] for i in met), speed, energies)
        )
        event = [self.time, len(names), speed, *energies, impact.fraction]
        self.impacts.append(Met(self.time, contacts, impact.impulses, event))

    def touching(self) -> str:
        """Who touches, for errors."""
        names = pairs_text(self.detector.names(key[0]) for key in self.modes)
        return f", {names}" if names else ""

    def _report(self, before: Modes) -> None:
        """Write down which contacts have changed without an impact."""
        keys = dict.fromkeys([*before, *self.modes])
        changes = [
            (self.detector.names(k[0]), _name(before.get(k)), _name(self.modes.get(k)))
            for k in keys
        ]
        self.log += changed(self.time, changes)


def _name(mode: Mode | None) -> str:
    return OPEN if mode is None else "stick" if mode.sticks else "slip"


def _refuse(scene: Scene, surfaces: Surfaces) -> None:
    """Refuse what has no form for accelerations here.

    Raises
    ------
    ArgumentError
        For laws, friction and closures that the engine does not have.
    """
    friction = surfaces.friction
    law = friction.law
    if any(loop.rate is not None for loop in scene.loops.items):
        raise ArgumentError("time: closures with prescribed rates are for TimeStepping only")
    if not isinstance(law, LAWS):
        names = ", ".join(known.__name__ for known in LAWS)
        raise ArgumentError(
            f"law: {law!r} has no form for accelerations; EventDriven takes {names}"
        )
    if friction.torsion.any() or friction.rolling.any():
        raise ArgumentError(
            "time: EventDriven has no torsional and rolling friction: use TimeStepping"
        )
    if len(surfaces.joints.ints) and not is_rigid(law):
        raise ArgumentError(
            "time: EventDriven has no stops and dry friction of joints beside ground that "
            "gives way: use joint_limits=False, dry_friction=False"
        )
