"""Steps and runs of the compiled loop."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.certificate import Certificate
from spatialops.contact.problem import ContactProblem
from spatialops.errors import RecordError
from spatialops.simulation import _layout as at
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.record import Record
from spatialops.simulation.record_builder import RecordBuilder
from spatialops.simulation.runs.failures import carrying
from spatialops.simulation.runs.overlaps import refuse_overlaps
from spatialops.simulation.runs.progress import progress_bar
from spatialops.simulation.runs.resumption import kept, redundant_rows_of, restored
from spatialops.simulation.runs.runner import Plan
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.stepping.adapter import acting, acting_moments, joint_sums, load_state
from spatialops.simulation.stepping.contact_names import names_since
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.simulation.stepping.record_rows import start
from spatialops.simulation.stepping.step_check import Limits, check, findings
from spatialops.simulation.stepping.step_info import StepInfo
from spatialops.simulation.stepping.step_size import warn_of_spin
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_CHUNK = 2000  # steps a call of the compiled loop: short enough for a progress bar and Ctrl-C
_RESIDUAL = 1e-9  # of contact problems, relative to their scale


class SteppingRunner:
    """Steps a scene by the compiled loop, and records runs of it."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.loops = LoopStart(setup.scene, setup.options.dt)
        self._single = setup.stepping.tables()
        self._left: State | None = None  # by the step before

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Rows of closures that others implied where it last began."""
        return self.loops.redundant_rows

    def step(self, state: State, tau: Array) -> tuple[State, StepInfo]:
        """One step of `dt` under joint forces (nv,)."""
        setup = self.setup
        if not _same(state, self._left):
            refuse_overlaps(setup, state)
        if self.loops.renewed():
            self._single = setup.stepping.tables()
        load_state(self._single, state, tau, 1)
        if not _same(state, self._left):  # no forces of a step before
            self._single.memory[:, at.MEMORY_STEP] = -1
        self.loops.begin(self._single)
        self._single.control[at.LOOKED] = 0
        t = self._single = setup.stepping.advance(self._single)
        info = self._info(t)
        self.check(t, info.certified)
        self.loops.leave(t)
        self._left = state_of(t)
        return state_of(t), info

    def problem(self, state: State, tau: Array) -> ContactProblem | None:
        """The first contact problem of a step; None where it meets no contact."""
        stepping = self.setup.stepping
        t = stepping.tables()
        load_state(t, state, tau, 1)
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
        return _Run(self, state, plan).record()

    def check(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Check what the monitors saw since the last row."""
        warn_of_spin(t, self.setup.scene.model)
        own = self.setup.options
        depth = own.depth_limit if self.setup.rigid else math.inf
        check(
            findings(t, certificate),
            Limits(_RESIDUAL, depth, own.loop_limit),
            float(t.monitor[at.TIME]),
            own.certify,
            lambda: names_since(t, self.setup.scene),
        )

    def _info(self, t: Tables) -> StepInfo:
        depth = max(0.0, -float(t.rows[0, at.ROW_GAP]))
        return StepInfo(
            contacts=acting(t),
            events=t.events[: t.control[at.EVENT_ROWS]].copy(),
            residual=float(t.rows[0, at.ROW_RESIDUAL]),
            penetration=depth,
            pivots=int(t.rows[0, at.ROW_PIVOTS]),
            pivoted=int(t.control[at.PIVOTED]),
            loop_forces=t.row_forces[0].copy(),
            closure_error=float(t.rows[0, at.ROW_OPENING]),
            moments=acting_moments(t),
            stop_impulses=joint_sums(t, at.STOP_SUM),
            dry_impulses=joint_sums(t, at.DRY_SUM),
            clipped=self.setup.effort.clipped > 0,
            certified=self.setup.stepping.external.certificate(depth),
        )


class _Run:
    """One run: its tables, and the record of it."""

    def __init__(self, runner: SteppingRunner, state: State, plan: Plan) -> None:
        self.runner = runner
        self.plan = plan
        setup = runner.setup
        every_step = plan.controller is not None or runner.loops.varies or setup.full
        self.chunk = 1 if every_step else min(_CHUNK, max(plan.n_steps, 1))
        self.builder = RecordBuilder(
            setup.scene, plan.all_metadata, brief=plan.record_every is None
        )
        steps = (self.chunk, self.chunk // plan.every + 2)
        since: Certificate | None = None
        if plan.past is None:
            self.t = setup.stepping.tables(steps=steps)
            load_state(self.t, state, np.zeros(setup.scene.model.nv), 0)
            runner.loops.begin(self.t)
            start(self.t)
        else:
            self.t, since = restored(setup, steps, plan.controller, plan.past)
            runner.loops.redundant_rows = redundant_rows_of(plan.past)
        self.t.control[at.EVERY] = plan.every
        self.builder.take(self.t, since)
        self._written = -1 if plan.past is None else self._done

    @property
    def _done(self) -> int:
        """Steps since the run began."""
        return int(self.t.control[at.STEP])

    def record(self) -> Record:
        """Run as planned."""
        plan = self.plan
        with (
            progress_bar(plan.n_steps, plan.progress) as bar,
            carrying(self._failed, plan.save_on_failure),
        ):
            bar.update(self._done)
            self._write(at_once=True)
            while self._done < plan.n_steps:
                count = min(self.chunk, plan.n_steps - self._done)
                self._advance(count)
                bar.update(count)
            return self._finished()

    def _finished(self) -> Record:
        """The record; of a run on disk what is written last."""
        made = self._made(state_of(self.t))
        self._write(at_once=True)
        return made

    def _advance(self, count: int) -> None:
        setup = self.runner.setup
        t = self.t
        if self.plan.controller is not None:
            now = state_of(t)
            t.tau[:] = setup.effort(self.plan.controller(now.time, now, acting(t)))
        self.runner.loops.put_rates(t)
        t.control[at.STEPS_LEFT] = count
        t = setup.stepping.advance(t, self._emptied, self._grown)
        depth = -min(float(t.rows[: t.control[at.ROWS], at.ROW_GAP].min(initial=0.0)), 0.0)
        certificate = setup.stepping.external.certificate(depth)
        self.runner.check(t, certificate)
        self.builder.take(t, certificate)
        self._write()

    def _grown(self, larger: Tables) -> None:
        self.t = larger

    def _emptied(self, full: Tables) -> None:
        """Take the rows of a record that is full."""
        self.runner.check(full)
        self.builder.take(full)
        self._write()

    def _write(self, *, at_once: bool = False) -> None:
        """Put what has been collected on disk, if it is to go there and is enough."""
        folder = self.plan.folder
        if folder is None or self._done == self._written:
            return
        if at_once or folder.is_due(self.builder.n_bytes):
            resume = kept(self.runner.setup, self.t, self.plan.controller, self.builder.since)
            folder.append(self._made(state_of(self.t)), resume)
            self._written = self._done
            self.builder.clear()

    def _failed(self, failure: str) -> Record:
        """What was recorded until an error and is not on disk yet; there it goes too."""
        self.builder.take(self.t)
        now = state_of(self.t)
        if not (np.isfinite(now.q).all() and np.isfinite(now.v).all()):
            now = self.builder.last_finite()
        elif self.t.control[at.STAGE] not in (at.BEGIN, at.END):  # within a step
            gone = self.runner.setup.options.dt - float(self.t.monitor[at.REMAINING])
            now = replace(now, time=now.time + gone)
        made = self._made(now, failure=failure)
        if self.plan.folder is not None:
            with suppress(RecordError):  # which may be what has failed
                self.plan.folder.append(made, {})
        return made

    def _made(self, end: State, **more: str) -> Record:
        setup, t = self.runner.setup, self.t
        counts: PlainData = {
            "steps": int(t.control[at.STEP]),
            "contact_problems": int(t.control[at.SOLVES]),
            "warm_started": int(t.control[at.WARM]),
            "pivoted": int(t.control[at.PIVOTED]),
            "position_projections": int(t.control[at.PROJECTIONS]),
            "solver_fallbacks": setup.stepping.external.fallbacks,
            "effort_clipped": setup.clipped(),
        }
        return self.builder.record(end, {**counts, **more})


def state_of(t: Tables) -> State:
    """The state in the tables."""
    return State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))


def _same(state: State, other: State | None) -> bool:
    return (
        other is not None
        and state.time == other.time
        and np.array_equal(state.q, other.q)
        and np.array_equal(state.v, other.v)
    )
