"""Steps and runs of the compiled loop."""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.contact.certificate import Certificate
from spatialops.contact.problem import ContactProblem
from spatialops.simulation import _layout as at
from spatialops.simulation.inputs import Inputs
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.overlaps import refuse_overlaps
from spatialops.simulation.runs.recorded_run import RecordedRun
from spatialops.simulation.runs.runner import Plan
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.stepping.adapter import (
    acting,
    joint_sums,
    load_state,
    put_inputs,
    state_of,
)
from spatialops.simulation.stepping.allocation import has_record, record_bytes, with_record
from spatialops.simulation.stepping.constraints.torsional_rolling import acting_moments
from spatialops.simulation.stepping.contact_names import names_since
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import clear_held
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.simulation.stepping.step_check import Limits, check, findings
from spatialops.simulation.stepping.step_size import fastest_spin, warn_of_spin
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_KEPT_BYTES = 4e6  # of a run's record that may wait for the next run


class SteppingRunner:
    """Steps a scene by the compiled loop, and records runs of it."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.loops = LoopStart(setup.scene, setup.options.dt)
        self._single = setup.stepping.tables()
        self._left: State | None = None  # by the step before
        own = setup.options
        depth = own.depth_limit if setup.rigid else math.inf
        self.limits = Limits(float(setup.settings[at.TOLERANCE]), depth, own.loop_limit)
        self._spare: HeldLoop | None = None  # of the run before

    @property
    def watched(self) -> Array:
        """What steps are watched for while nobody looks at them, see `watched_steps`."""
        own = self.setup.options
        spin = fastest_spin(self.setup.stepping.scheme, own.dt)
        return self.limits.watched(own.certify, spin)

    def loop(self, steps: tuple[int, int]) -> HeldLoop:
        """The loop for a run from its beginning, with room for so many steps.

        It is that of the run before, which is as if it were new.
        """
        stepping = self.setup.stepping
        found, self._spare = self._spare, None  # a controller may run this simulator, too
        if found is None:
            return HeldLoop(stepping, stepping.tables(steps=steps), self.watched)
        found.advance(clear_held)
        if not has_record(found.tables, steps):
            found.hold(with_record(found.tables, steps))
        return found

    def keep(self, loop: HeldLoop) -> None:
        """Have a loop at hand for the next run, if it does not take much memory."""
        if record_bytes(loop.tables) <= _KEPT_BYTES:
            self._spare = loop

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Rows of closures that others implied where it last began."""
        return self.loops.redundant_rows

    def step(self, state: State, inputs: Inputs) -> tuple[State, StepInfo]:
        """One step of `dt`."""
        setup = self.setup
        if not _same(state, self._left):
            refuse_overlaps(setup, state)
        if self.loops.renewed():
            self._single = setup.stepping.tables()
        load_state(self._single, state, inputs.tau, 1)
        put_inputs(self._single, inputs, setup.options.dt)
        self.loops.begin(self._single)
        self._single.control[at.LOOKED] = 0
        t = self._single = setup.stepping.advance(self._single)
        certified = setup.stepping.external.certificate(depth_of(t))
        info = info_of(t, setup.effort.clipped > 0, certified)
        self.check(t, certified)
        self.loops.leave(t)
        self._left = state_of(t)
        return state_of(t), info

    def problem(self, state: State, inputs: Inputs) -> ContactProblem | None:
        """The first contact problem of a step; None where it meets no contact."""
        stepping = self.setup.stepping
        t = stepping.tables()
        load_state(t, state, inputs.tau, 1)
        put_inputs(t, inputs, self.setup.options.dt)
        self.loops.begin(t)
        t, code = stepping.prepare(t)
        return stepping.external.problem(t) if code == at.SOLVE else None

    def run(self, state: State, plan: Plan) -> Record:
        """As many steps as planned, recorded."""
        setup = self.setup
        if plan.n_steps:
            refuse_overlaps(setup, state)
        if self.loops.renewed():
            self._single = setup.stepping.tables()
            self._spare = None
        return RecordedRun(self, state, plan).record()

    def check(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Check what the monitors saw since the last row."""
        warn_of_spin(t, self.setup.scene.model)
        check(
            findings(t, certificate),
            self.limits,
            float(t.monitor[at.TIME]),
            self.setup.options.certify,
            lambda: names_since(t, self.setup.scene),
        )
        t.monitor[at.DEEPEST_GAP] = 0.0


def info_of(t: Tables, clipped: BoolArray, certified: Certificate | None) -> StepInfo:
    """What happened in the step that ends in the tables, whose row is the first of the record."""
    contacts = acting(t)
    return StepInfo(
        contacts=contacts,
        events=t.events[: t.control[at.EVENT_ROWS]].copy(),
        residual=float(t.rows[0, at.ROW_RESIDUAL]),
        penetration=depth_of(t),
        pivots=int(t.rows[0, at.ROW_PIVOTS]),
        pivoted=int(t.control[at.PIVOTED]),
        loop_forces=t.row_forces[0].copy(),
        closure_error=float(t.rows[0, at.ROW_OPENING]),
        moments=acting_moments(t, len(contacts)),
        stop_impulses=joint_sums(t, at.STOP_SUM),
        dry_impulses=joint_sums(t, at.DRY_SUM),
        clipped=clipped,
        certified=certified,
    )


def depth_of(t: Tables) -> float:
    """Largest penetration in the step of the record's first row, m."""
    return max(0.0, -float(t.rows[0, at.ROW_GAP]))


def _same(state: State, other: State | None) -> bool:
    return (
        other is not None
        and state.time == other.time
        and np.array_equal(state.q, other.q)
        and np.array_equal(state.v, other.v)
        and np.array_equal(state.activation, other.activation)
    )
