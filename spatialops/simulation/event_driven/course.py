"""One course of the engine: what is measured on the way, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.certificate import Certificate
from spatialops.contact.constraint_rows import CONTACT, DRY, STOP
from spatialops.dynamics.energy import energy
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.contacts import Contacts
from spatialops.simulation.event_driven.engine import Engine
from spatialops.simulation.event_driven.impacts import Met
from spatialops.simulation.event_driven.state_certificate import state_certificate
from spatialops.simulation.event_log import EventLog
from spatialops.simulation.options import Certify
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.builder import Chunk, RecordBuilder
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.stepping.contact_names import Names, pairs_text
from spatialops.simulation.stepping.step_check import Findings, Limits, check
from spatialops.tree.state import State


class Course:
    """One run, or one step, of an engine.

    Parameters
    ----------
    engine : Engine
        Carries the state.
    limits : Limits
        What the certificate allows.
    certify : {"raise", "warn", "off", "full"}
        See `Simulator`.
    """

    def __init__(self, engine: Engine, limits: Limits, certify: Certify) -> None:
        self.engine = engine
        self.scene = engine.scene
        self.limits = limits
        self.certify = certify
        self.steps = 0
        self._worst: list[Certificate] = []
        if certify == "full":
            engine.impact.certificates = self._worst
        self._told = 0  # impacts

    def state(self) -> State:
        """Where the engine is."""
        engine = self.engine
        activation = engine.forces.activation.copy()
        return State(engine.q.copy(), engine.v.copy(), float(engine.time), activation)

    def contacts(self) -> ContactSet:
        """Closed contacts, with the impulses that their forces would have in one `dt`."""
        motion = self.engine.present()
        forces = motion.forces[motion.contacts.kinds == CONTACT]
        return motion.contacts.of_geoms.with_impulses(forces * self.engine.dt)

    def advance(self, end: float) -> None:
        """Go on to a time, and check what happened on the way."""
        engine = self.engine
        engine.advance(end)
        engine.forces.advance(end)
        if self.certify == "full":
            self._worst.append(
                state_certificate(
                    engine.mechanics, engine.modes, engine.v, engine.present(), engine.dt
                )
            )
        if self.certify != "off":
            check(self._findings(), self.limits, engine.time, self.certify, self._names)

    def info(self, clipped: BoolArray) -> StepInfo:
        """What happened in this one step."""
        contacts = self.contacts()
        return StepInfo(
            contacts=contacts,
            events=_events(self.engine.impacts),
            residual=self.engine.residual,
            penetration=self.depth(),
            pivots=0,
            pivoted=0,
            loop_forces=self.engine.present().loop_forces,
            closure_error=self.opening(),
            moments=np.zeros((len(contacts), 3)),
            stop_impulses=self.stop_impulses(self.engine.impacts),
            dry_impulses=self.dry_impulses(),
            clipped=clipped,
            certified=self.certificate(),
        )

    # ---------------------------------------------------------------------------------- measures
    def depth(self) -> float:
        """Largest penetration now, m, or rad of stops."""
        found = self.engine.detector.detect_at(self.engine.q, self.engine.v, 0.0)
        return max(0.0, float(-found.gaps.min(initial=0.0)))

    def opening(self) -> float:
        """Largest error of a closure now, m or rad."""
        return self.engine.mechanics.opening(self.engine.q)

    def dry_impulses(self) -> Array:
        """Impulses (nv,) that the present dry friction of joints would have in one `dt`."""
        motion = self.engine.present()
        total = np.zeros(self.scene.model.nv)
        dry = np.flatnonzero(motion.contacts.kinds == DRY)
        total[motion.contacts.links[dry, 0]] = self.engine.dt * motion.forces[dry, 1]
        return total

    def stop_impulses(self, new: Sequence[Met]) -> Array:
        """Impulses (nv,) of joints' stops: in impacts, and of present forces in one `dt`."""
        motion = self.engine.present()
        total = np.zeros(self.scene.model.nv)
        stops = self.engine.detector.stops
        pressed = (motion.contacts, motion.forces * self.engine.dt)
        struck = [(impact.contacts, impact.impulses) for impact in new]
        for contacts, impulses in (pressed, *struck):
            for i in np.flatnonzero(contacts.kinds == STOP):
                j = contacts.pairs[i] - stops.first
                total[stops.links[j]] += stops.sides[j] * impulses[i, 0]
        return total

    def certificate(self) -> Certificate | None:
        """The worst since it was last asked for; None unless ``certify="full"``."""
        if self.certify != "full":
            return None
        own = Certificate(gap=self.depth(), residual=self.engine.residual)
        worst = Certificate.worst([*self._worst, own])
        self._worst.clear()
        return worst

    def _findings(self) -> Findings:
        events = _events(self.engine.impacts[self._told :])
        moving = events[events[:, at.EVENT_BEFORE] > 0.0]
        gains = moving[:, at.EVENT_AFTER] / moving[:, at.EVENT_BEFORE] - 1.0
        certificate = Certificate.worst(self._worst) if self._worst else None
        return Findings(
            self.engine.residual,
            float(gains.max(initial=0.0)),
            self.depth(),
            self.opening(),
            certificate,
        )

    def _names(self) -> Names:
        engine = self.engine
        detector = engine.detector
        impacts = engine.impacts[self._told :]
        pairs = [pair for impact in impacts for pair in impact.contacts.pairs.tolist()]
        pairs += [key[0] for key in engine.modes]
        found = detector.detect_at(engine.q, engine.v, 0.0)
        deepest = [found.keys[int(found.gaps.argmin())][0]] if found.keys else []
        return Names(
            pairs_text(map(detector.names, pairs)), pairs_text(map(detector.names, deepest))
        )

    # ---------------------------------------------------------------------------------- the record
    def start_record(self, metadata: Callable[[], PlainData], *, brief: bool) -> None:
        """Keep rows from here on; the present state is the first."""
        activation = self.state().activation
        self.builder = RecordBuilder(self.scene, metadata, brief=brief, activation=activation)
        self.keep()

    def keep(self) -> None:
        """A row of the record: the present state, and what happened since the last one."""
        engine = self.engine
        state = self.state()
        motion = engine.present()
        own = energy(self.scene.model, state.q, state.v)
        new = self._new_impacts()
        row = np.zeros((1, at.ROW_COLUMNS))
        row[0, at.ROW_TIME] = state.time
        row[0, at.ROW_KINETIC] = own.kinetic
        tendons = sum(one.energy(self.scene.model, state.q) for one in self.scene.tendons)
        row[0, at.ROW_POTENTIAL] = own.potential + tendons
        row[0, at.ROW_CONTACTS] = len(motion.contacts.of_geoms.keys)
        row[0, at.ROW_IMPACTS] = len(new)
        row[0, at.ROW_RESIDUAL] = engine.residual
        row[0, at.ROW_GAP] = -self.depth()
        row[0, at.ROW_OPENING] = self.opening()
        certificate = self.certificate()
        engine.residual = 0.0
        joints = np.zeros((1, at.JOINT_SUMS, self.scene.model.nv))
        joints[0, at.STOP_SUM] = self.stop_impulses(new)
        joints[0, at.DRY_SUM] = self.dry_impulses()
        loop_forces = np.zeros((1, self.scene.loops.n_rows))
        if len(motion.loop_forces):
            loop_forces[0] = motion.loop_forces
        pressed = _contact_records(state.time, motion.contacts, motion.forces * engine.dt, 0.0)
        chunk = Chunk(
            rows=row,
            states=np.concatenate([state.q, state.v])[None],
            loop_forces=loop_forces,
            joints=joints,
            contact_records=np.concatenate([_impact_records(new), pressed]),
            events=_events(new),
        )
        self.builder.add(chunk, certificate)

    def record(self, **more: str) -> Record:
        """The whole."""
        self._keep_impacts()
        engine = self.engine
        counts = {
            "steps": self.steps,
            "smooth_steps": engine.steps,
            "evaluations": engine.evaluations,
            "contact_problems": engine.decisions + len(engine.impacts),
            "warm_started": 0,
            "pivoted": 0,
            "position_projections": 0,
            "solver_fallbacks": 0,
            "log": EventLog(engine.log).to_data(),
        }
        return self.builder.record(self.state(), {**counts, **more})

    def failed(self, failure: str) -> Record:
        """What was recorded until an error."""
        return self.record(failure=failure)

    def _keep_impacts(self) -> None:
        """Impacts since the last row, without a row."""
        new = self._new_impacts()
        nv = self.scene.model.nv
        chunk = Chunk(
            rows=np.zeros((0, at.ROW_COLUMNS)),
            states=np.zeros((0, self.scene.model.nq + nv)),
            loop_forces=np.zeros((0, self.scene.loops.n_rows)),
            joints=np.zeros((0, at.JOINT_SUMS, nv)),
            contact_records=_impact_records(new),
            events=_events(new),
        )
        self.builder.add(chunk)

    def _new_impacts(self) -> list[Met]:
        new = self.engine.impacts[self._told :]
        self._told = len(self.engine.impacts)
        return new


def _events(impacts: Sequence[Met]) -> Array:
    """Impacts as rows of the record's table."""
    return np.array([impact.event for impact in impacts]).reshape(-1, at.EVENT_COLUMNS)


def _impact_records(impacts: Sequence[Met]) -> Array:
    records = [_contact_records(met.time, met.contacts, met.impulses, 1.0) for met in impacts]
    return np.concatenate([np.zeros((0, at.RECORD_COLUMNS)), *records])


def _contact_records(time: float, contacts: Contacts, impulses: Array, kind: float) -> Array:
    impulses, contacts = impulses[contacts.kinds == CONTACT], contacts.of_geoms
    rows = np.zeros((len(contacts.keys), at.RECORD_COLUMNS))
    rows[:, at.RECORD_TIME] = time
    rows[:, at.RECORD_KIND] = kind
    rows[:, at.RECORD_GAP] = contacts.gaps
    rows[:, at.RECORD_PAIR] = [key[0] for key in contacts.keys]
    rows[:, at.RECORD_POINT : at.RECORD_POINT + 3] = contacts.points
    rows[:, at.RECORD_NORMAL : at.RECORD_NORMAL + 3] = contacts.frames[:, 0]
    rows[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3] = np.einsum(
        "mi,mij->mj", impulses, contacts.frames
    )
    return rows
