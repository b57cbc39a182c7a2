"""Steps and runs of the event-driven method: controllers, the certificate, and the record."""

from __future__ import annotations

import math

import numpy as np

from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.contact_state import Accuracy, Surfaces
from spatialops.simulation.event_driven.course import Course
from spatialops.simulation.event_driven.engine import Engine
from spatialops.simulation.event_driven.impacts import Rules
from spatialops.simulation.inputs import Inputs
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.failures import carrying
from spatialops.simulation.runs.overlaps import refuse_overlaps
from spatialops.simulation.runs.progress import progress_bar
from spatialops.simulation.runs.runner import Plan, commanded
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.runs.stepping_run import SteppingRunner
from spatialops.simulation.stepping.constraints.initial_closure import begin_loops
from spatialops.simulation.stepping.step_check import Limits
from spatialops.tree.state import State

_RESIDUAL = 1e-8  # of accelerations and impacts, relative


class EventRunner:
    """Steps a scene from event to event, and records runs of it.

    Raises
    ------
    ArgumentError
        For laws, friction and closures that the engine does not have.
    """

    def __init__(self, setup: Setup, accuracy: Accuracy, continuous: bool) -> None:
        self.setup = setup
        self.accuracy = accuracy
        self.continuous = continuous
        self.redundant_rows: tuple[str, ...] = ()
        if setup.sensing:
            raise ArgumentError("sensors: are read after steps of TimeStepping, not EventDriven")
        self._engine()  # refuses what it cannot take

    def step(self, state: State, inputs: Inputs) -> tuple[State, StepInfo]:
        """One step of `dt`."""
        refuse_overlaps(self.setup, state)
        course = self.begun(state)
        forces = course.engine.forces
        forces.control = lambda time, q, v: inputs.tau
        forces.ctrl[:] = inputs.ctrl
        forces.external = inputs.external
        course.advance(state.time + self.setup.options.dt)
        return course.state(), course.info(self.setup.effort.clipped > 0)

    def problem(self, state: State, inputs: Inputs) -> ContactProblem | None:
        """The first contact problem of a step of `TimeStepping`; None where it meets no contact."""
        return SteppingRunner(self.setup).problem(state, inputs)

    def run(self, state: State, plan: Plan) -> Record:
        """As many steps as planned, recorded."""
        if plan.folder is not None:
            raise ArgumentError("time: EventDriven keeps its log in memory; use `run`")
        if plan.n_steps:
            refuse_overlaps(self.setup, state)
        course = self.begun(state)
        course.engine.forces.external = plan.external
        course.start_record(plan.all_metadata, brief=plan.record_every is None)
        with (
            progress_bar(plan.n_steps, plan.progress) as bar,
            carrying(course.failed, plan.save_on_failure),
        ):
            for i in range(1, plan.n_steps + 1):
                self._drive(course, plan)
                course.advance(state.time + i * self.setup.options.dt)
                course.steps = i
                if i % plan.every == 0:
                    course.keep()
                bar.update(1)
        return course.record()

    def begun(self, state: State) -> Course:
        """A course from a state, whose loops are closed there."""
        setup = self.setup
        loops = setup.scene.loops
        if len(loops):
            start = begin_loops(loops, state.q, state.v, state.time)
            state = State(start.q, start.v, state.time, state.activation)
            self.redundant_rows = start.redundant
        own = setup.options
        depth = own.depth_limit if setup.rigid else math.inf
        limits = Limits(_RESIDUAL, depth, own.loop_limit)
        course = Course(self._engine(), limits, own.certify)
        course.engine.begin(state)
        return course

    def _engine(self) -> Engine:
        setup = self.setup
        impacts = setup.stepping.external.impacts
        of_joints = np.full(len(setup.joints.ints), impacts.else_newton)
        newton = np.append(impacts.newton, of_joints)
        rules = Rules(impacts.propagated, newton, float(setup.settings[at.THRESHOLD]))
        surfaces = Surfaces(setup.pairs, setup.joints)
        return Engine(setup.scene, surfaces, self.accuracy, setup.options.dt, rules)

    def _drive(self, course: Course, plan: Plan) -> None:
        """Set the forces of the coming `dt`, or of every evaluation in it."""
        checked, scene = self.setup.effort, self.setup.scene
        forces, engine = course.engine.forces, course.engine
        forces.ctrl[:] = plan.ctrl
        controller = plan.controller
        if controller is None:
            return
        contacts = course.contacts()
        asked = commanded(controller, engine.time, course.state(), contacts)
        if asked.ctrl is not None:
            forces.ctrl[:] = scene.checked_ctrl(asked.ctrl)
        tau = checked(asked.tau)
        forces.control = lambda time, q, v: tau
        if self.continuous:
            forces.control = lambda time, q, v: checked(
                commanded(controller, time, forces.state(time, q, v), contacts).tau
            )
