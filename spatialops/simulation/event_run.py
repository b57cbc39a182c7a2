"""Runs of the event-driven method: controllers, rows of the record, and the certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.certificate import UNITS, Certificate
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.rows import CONTACT, DRY, STOP
from spatialops.dynamics.energy import energy
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.begin import begin_loops
from spatialops.simulation.event_certificate import state_certificate
from spatialops.simulation.event_impact import Rules
from spatialops.simulation.event_log import EventLog
from spatialops.simulation.event_sight import Contacts
from spatialops.simulation.events import Engine, Surfaces
from spatialops.simulation.record import Record, versions
from spatialops.simulation.scene import Scene
from spatialops.simulation.step_info import StepInfo
from spatialops.simulation.time import EventDriven
from spatialops.tree.state import State

Controller = Callable[[float, State, ContactSet], Any]
RESIDUAL = 1e-8  # of accelerations and impacts, relative


class Limits(NamedTuple):
    """What the certificate allows: see `Simulator`."""

    certify: str
    depth: float
    opening: float


class Course:
    """One run, or one step: an engine, the control of it, and what is kept."""

    def __init__(
        self, scene: Scene, surfaces: Surfaces, options: EventDriven, dt: float, rules: Rules, limits: Limits
    ) -> None:
        self.scene, self.options, self.dt, self.limits = scene, options, dt, limits
        self.engine = Engine(scene, surfaces, options, dt, rules)
        self.redundant: tuple[str, ...] = ()
        self._rows: list[list[float]] = []
        self._states: list[Array] = []
        self._loop_forces: list[Array] = []
        self._stops: list[Array] = []
        self._dry: list[Array] = []
        self._certificates: list[Certificate] = []
        self._worst: list[Certificate] = []
        if limits.certify == "full":
            self.engine.impact.certificates = self._worst
        self._hits: list[Array] = []
        self._told = 0

    def begin(self, state: State) -> None:
        """Take up a state; loops must be closed there."""
        if len(self.scene.loops):
            start = begin_loops(self.scene.loops, state.q, state.v, state.time)
            state, self.redundant = State(start.q, start.v, state.time), start.redundant
        self.engine.begin(state)

    def drive(self, controller: Controller | None, checked: Callable[[Any], Array]) -> None:
        """Set the forces of the coming `dt`, or of every evaluation in it."""
        if controller is None:
            return
        engine, contacts = self.engine, self.contacts()
        if not self.options.continuous:
            tau = checked(controller(engine.time, self.state(), contacts))
            engine.control = lambda time, q, v: tau
            return
        engine.control = lambda time, q, v: checked(controller(time, State(q.copy(), v.copy(), time), contacts))

    def info(self, clipped: BoolArray) -> StepInfo:
        """What happened in this one step."""
        contacts = self.contacts()
        return StepInfo(
            contacts=contacts,
            events=self.events(),
            residual=self.engine.residual,
            penetration=self.depth(),
            pivots=0,
            loop_forces=self.engine.present().loop_forces,
            closure_error=self.opening(),
            moments=np.zeros((len(contacts), 3)),
            stop_impulses=self.stop_impulses(self.engine.impacts),
            dry_impulses=self.dry_impulses(),
            clipped=clipped,
            certified=self.certificate(),
        )

    def state(self) -> State:
        """Where the engine is."""
        return State(self.engine.q.copy(), self.engine.v.copy(), float(self.engine.time))

    def contacts(self) -> ContactSet:
        """Closed contacts, with the impulses that their forces would have in one `dt`."""
        motion = self.engine.present()
        return motion.contacts.of_geoms.with_impulses(motion.forces[motion.contacts.kinds == CONTACT] * self.dt)

    def dry_impulses(self) -> Array:
        """Impulses (nv,) that the present dry friction of joints would have in one `dt`."""
        motion, total = self.engine.present(), np.zeros(self.scene.model.nv)
        dry = np.flatnonzero(motion.contacts.kinds == DRY)
        total[motion.contacts.links[dry, 0]] = self.dt * motion.forces[dry, 1]
        return total

    def stop_impulses(self, new: list[Any]) -> Array:
        """Impulses (nv,) of the joints' stops: in impacts, and those that the present forces would have in one `dt`."""
        motion, total = self.engine.present(), np.zeros(self.scene.model.nv)
        stops = self.engine.sight.stops
        for contacts, impulses in ((motion.contacts, motion.forces * self.dt), *((hit[1], hit[2]) for hit in new)):
            for i in np.flatnonzero(contacts.kinds == STOP):
                j = contacts.pairs[i] - stops.first
                total[stops.links[j]] += stops.sides[j] * impulses[i, 0]
        return total

    def advance(self, end: float) -> None:
        """Go on to a time, and check what happened on the way."""
        self.engine.advance(end)
        if self.limits.certify == "full":
            engine = self.engine
            self._worst.append(state_certificate(engine.mechanics, engine.modes, engine.v, engine.present(), self.dt))
        self.certify()

    def certify(self) -> None:
        """Raise or warn where a limit is passed."""
        if self.limits.certify == "off":
            return
        engine, faults = self.engine, []
        gains = [(hit[3][4] - hit[3][3]) / hit[3][3] for hit in engine.impacts[self._told :] if hit[3][3] > 0.0]
        if not engine.residual <= RESIDUAL:
            faults.append(f"complementarity residual {engine.residual:.2e} (limit {RESIDUAL:g} of the problem's scale)")
        if max(gains, default=0.0) > 1e-9:
            faults.append(f"an impact raised the kinetic energy by {max(gains):.2e} of it (limit 1e-9)")
        depth, opening = self.depth(), self.opening()
        if not depth <= self.limits.depth and not isinstance(engine.law, Compliant):
            faults.append(f"penetration {depth:.2e} m (limit {self.limits.depth:g} m)")
        if not opening <= self.limits.opening:
            faults.append(f"a loop opened by {opening:.2e} m or rad (limit {self.limits.opening:g})")
        worst = max((one.residual for one in self._worst), default=0.0)
        if not worst <= RESIDUAL:
            faults.append(f"{Certificate.worst(self._worst)} (limit {RESIDUAL:g})")
        if faults:
            text = f"certificate failed by t = {engine.time:.6g} s: " + "; ".join(faults)
            if self.limits.certify != "warn":
                raise ContactError(text)
            warnings.warn(text, stacklevel=4)

    def certificate(self) -> Certificate | None:
        """The worst since it was last asked for; None unless ``certify="full"``."""
        if self.limits.certify != "full":
            return None
        own = Certificate(gap=self.depth(), residual=self.engine.residual)
        worst = Certificate.worst([*self._worst, own])
        self._worst.clear()
        return worst

    def depth(self) -> float:
        """Largest penetration now, m."""
        seen = self.engine.sight.look(self.engine.q, self.engine.v, 0.0)
        return max(0.0, float(-seen.gaps.min(initial=0.0)))  # m or, of stops, rad

    def opening(self) -> float:
        """Largest error of a closure now, m or rad."""
        return self.engine.mechanics.opening(self.engine.q)

    # -------------------------------------------------------------------------------------------------- the record
    def keep(self) -> None:
        """A row of the record: the present state, and what happened since the last one."""
        engine = self.engine
        state, motion = self.state(), engine.present()
        own, new = energy(self.scene.model, state.q, state.v), engine.impacts[self._told :]
        self._told = len(engine.impacts)
        row = [0.0] * at.ROW_COLUMNS
        row[at.ROW_TIME], row[at.ROW_KINETIC], row[at.ROW_POTENTIAL] = state.time, own.kinetic, own.potential
        row[at.ROW_CONTACTS], row[at.ROW_IMPACTS] = len(motion.contacts.of_geoms.keys), len(new)
        row[at.ROW_RESIDUAL], row[at.ROW_GAP], row[at.ROW_OPENING] = engine.residual, -self.depth(), self.opening()
        worst = self.certificate()
        self._certificates += [worst] if worst is not None else []
        engine.residual = 0.0
        self._rows.append(row)
        self._states.append(np.concatenate([state.q, state.v]))
        self._loop_forces.append(motion.loop_forces if len(motion.loop_forces) else np.zeros(self.scene.loops.n_rows))
        self._stops.append(self.stop_impulses(new))
        self._dry.append(self.dry_impulses())
        for time, contacts, impulses, _ in new:
            self._hits.append(_hits(time, contacts, impulses, 1.0))
        if len(motion.contacts.keys):
            self._hits.append(_hits(state.time, motion.contacts, motion.forces * self.dt, 0.0))

    def events(self) -> Array:
        """Impacts as rows of the record's table."""
        return np.array([hit[3] for hit in self.engine.impacts]).reshape(-1, at.EVENT_COLUMNS)

    def record(self, options: dict[str, Any], steps: int) -> Record:
        """The whole."""
        rows, states = np.array(self._rows), np.array(self._states)
        nq, engine = self.scene.model.nq, self.engine
        metadata = {
            **options,
            "steps": steps,
            "smooth_steps": engine.steps,
            "evaluations": engine.evaluations,
            "contact_problems": engine.decisions + len(engine.impacts),
            "warm_started": 0,
            "position_projections": 0,
            "solver_fallbacks": 0,
            "log": EventLog(engine.log).to_data(),
            "versions": versions(),
        }
        return Record(
            scene=self.scene,
            times=rows[:, at.ROW_TIME],
            q=states[:, :nq],
            v=states[:, nq:],
            kinetic=rows[:, at.ROW_KINETIC],
            potential=rows[:, at.ROW_POTENTIAL],
            contact_counts=rows[:, at.ROW_CONTACTS],
            impact_counts=rows[:, at.ROW_IMPACTS],
            residuals=rows[:, at.ROW_RESIDUAL],
            penetrations=0.0 - rows[:, at.ROW_GAP],
            closure_errors=rows[:, at.ROW_OPENING],
            loop_forces=np.array(self._loop_forces),
            pivots=rows[:, at.ROW_PIVOTS],
            stop_impulses=np.array(self._stops),
            dry_impulses=np.array(self._dry),
            certificates=np.array([one.to_array() for one in self._certificates]).reshape(-1, len(UNITS)),
            hits=np.concatenate([np.zeros((0, at.HIT_COLUMNS)), *self._hits]),
            events=self.events(),
            metadata=metadata,
        )


def _hits(time: float, contacts: Contacts, impulses: Array, kind: float) -> Array:
    impulses, contacts = impulses[contacts.kinds == CONTACT], contacts.of_geoms
    rows = np.zeros((len(contacts.keys), at.HIT_COLUMNS))
    rows[:, at.HIT_TIME], rows[:, at.HIT_KIND], rows[:, at.HIT_GAP] = time, kind, contacts.gaps
    rows[:, at.HIT_PAIR] = [key[0] for key in contacts.keys]
    rows[:, at.HIT_POINT : at.HIT_POINT + 3] = contacts.points
    rows[:, at.HIT_NORMAL : at.HIT_NORMAL + 3] = contacts.frames[:, 0]
    rows[:, at.HIT_IMPULSE : at.HIT_IMPULSE + 3] = np.einsum("mi,mij->mj", impulses, contacts.frames)
    return rows
