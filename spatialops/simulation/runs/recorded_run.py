"""One run of the compiled loop, as it is recorded."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spatialops.contact.certificate import Certificate
from spatialops.errors import RecordError
from spatialops.simulation import _layout as at
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.builder import RecordBuilder
from spatialops.simulation.records.record import Record
from spatialops.simulation.runs.failures import carrying
from spatialops.simulation.runs.observed_step import observed
from spatialops.simulation.runs.progress import progress_bar
from spatialops.simulation.runs.resumption import kept, redundant_rows_of, restored
from spatialops.simulation.runs.runner import Plan, commanded
from spatialops.simulation.stepping.adapter import (
    acting,
    load_new,
    put_external,
    state_of,
)
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import (
    advance_held,
    advance_watched,
    begin_held,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

if TYPE_CHECKING:
    from spatialops.simulation.runs.stepping_run import SteppingRunner

_CHUNK = 2000  # steps a call of the compiled loop: short enough for a progress bar and Ctrl-C
_KEPT = 256  # steps with a controller until their rows are taken out of the tables


class RecordedRun:
    """One run: its tables, and the record of it."""

    def __init__(self, runner: SteppingRunner, state: State, plan: Plan) -> None:
        self.runner = runner
        self.plan = plan
        setup = runner.setup
        self.builder = RecordBuilder(
            setup.scene,
            plan.all_metadata,
            brief=plan.record_every is None,
            activation=setup.scene.activations(state) if plan.past is None else None,
        )
        self.sensing = setup.sensing
        every_step = plan.controller is not None or runner.loops.varies or setup.full
        every_step |= plan.external is not None and plan.external.constant is None
        every_step = every_step or bool(self.sensing)
        self._watched = every_step and not setup.full
        self.chunk = 1 if every_step else min(_CHUNK, max(plan.n_steps, 1))
        rows = _KEPT if self._watched else self.chunk
        steps = (rows, rows // plan.every + 2)
        since: Certificate | None = None
        if plan.past is None:
            self.loop = runner.loop(steps)
            load_new(self.loop.tables, state)
            runner.loops.begin(self.loop.tables)
            self.loop.advance(begin_held)
        else:
            tables, since = restored(setup, steps, plan.controller, plan.past)
            self.loop = HeldLoop(setup.stepping, tables, runner.watched)
            runner.loops.redundant_rows = redundant_rows_of(plan.past)
        t = self._first = self.t
        t.ctrl[:] = plan.ctrl
        put_external(t, plan.external, setup.options.dt)  # where none act, for all steps
        t.control[at.EVERY] = plan.every
        if setup.full or since is not None:  # certificates are of rows that come after this one
            self.builder.take(t, since)
        if self.sensing and plan.past is None:
            self._read(state_of(t))
        self._written = -1 if plan.past is None else self._done

    @property
    def t(self) -> Tables:
        """The tables of now."""
        return self.loop.tables

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
            made = self._finished()
        if self.t is self._first:  # tables that have grown are not what a run begins with
            self.runner.keep(self.loop)
        return made

    def _finished(self) -> Record:
        """The record; of a run on disk what is written last."""
        self.builder.take(self.t)
        made = self._made(state_of(self.t))
        self._write(at_once=True)
        return made

    def _advance(self, count: int) -> None:
        setup = self.runner.setup
        t = self.t
        if self.plan.controller is not None:
            now = state_of(t)
            asked = commanded(self.plan.controller, now.time, now, acting(t))
            t.tau[:] = setup.effort(asked.tau)
            ctrl = asked.ctrl
            t.ctrl[:] = self.plan.ctrl if ctrl is None else setup.scene.checked_ctrl(ctrl)
        if self.plan.external is not None:
            put_external(t, self.plan.external, setup.options.dt)
        self.runner.loops.put_rates(t)
        read = bool(self.sensing) and (self._done + 1) % self.plan.every == 0
        if read:  # the tables shall hold nothing but this step's row and contacts
            self._emptied(t)
            start = state_of(t)
        t.control[at.STEPS_LEFT] = count
        sound = self.loop.advance(advance_watched if self._watched else advance_held, self._emptied)
        if read:
            self._read(start)
        if not self._watched:
            self._certify()
        elif not sound:
            self._emptied(self.t)
        if self.plan.folder is not None:
            self._write()

    def _read(self, start: State) -> None:
        """Read the sensors after the step from a state to the present one."""
        self.builder.read(self.sensing.read(observed(self.builder.scene, self.t, start)))

    def _certify(self) -> None:
        """Look at steps of which each is certified, or that are looked at when all are done."""
        t = self.t
        depth = -min(float(t.rows[: t.control[at.ROWS], at.ROW_GAP].min(initial=0.0)), 0.0)
        certificate = self.runner.setup.stepping.external.certificate(depth)
        self.runner.check(t, certificate)
        self.builder.take(t, certificate)

    def _emptied(self, full: Tables) -> None:
        """Take the rows of a record that is full."""
        self.runner.check(full)
        self.builder.take(full)

    def _write(self, *, at_once: bool = False) -> None:
        """Put what has been collected on disk, if it is to go there and is enough."""
        folder = self.plan.folder
        if folder is None or self._done == self._written:
            return
        self.builder.take(self.t)
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
        setup = self.runner.setup
        control = self.t.control
        counts: PlainData = {
            "steps": int(control[at.STEP]),
            "contact_problems": int(control[at.SOLVES]),
            "warm_started": int(control[at.WARM]),
            "pivoted": int(control[at.PIVOTED]),
            "position_projections": int(control[at.PROJECTIONS]),
            "solver_fallbacks": setup.stepping.external.fallbacks,
            "effort_clipped": setup.clipped(),
        }
        return self.builder.record(end, {**counts, **more})
