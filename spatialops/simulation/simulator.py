"""The simulator: a scene, options, and a way through time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, scalar, several, whole
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.laws.law import Law
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError
from spatialops.forces.effort_limits import Effort
from spatialops.forces.external import External, checked_external
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.run import EventRunner
from spatialops.simulation.inputs import Inputs
from spatialops.simulation.linearization.events.event_driven_step import EventLinearizer
from spatialops.simulation.linearization.geom_poses import (
    POSE,
    by_poses,
    movable,
    with_zeros,
)
from spatialops.simulation.linearization.linearizer import Linearizer
from spatialops.simulation.linearization.parameters import ParameterDerivatives
from spatialops.simulation.linearization.pulls.controls import refuse_controls
from spatialops.simulation.linearization.results import Linearization
from spatialops.simulation.linearization.rollout import LinearizedRollout, linearized_rollout
from spatialops.simulation.options import (
    INTEGRATORS,
    Certify,
    FormulationName,
    Integrator,
    LawName,
    Propagation,
    SolverName,
    checked_options,
)
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.one_thread import OneThread
from spatialops.simulation.runs.resumption import planned_by, refuse_other
from spatialops.simulation.runs.run_folder import RunFolder
from spatialops.simulation.runs.runner import Controller, Plan, checked_controller
from spatialops.simulation.runs.sensing import Sensor
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.runs.stepper import Stepper
from spatialops.simulation.runs.stepping_run import SteppingRunner
from spatialops.simulation.scales import scales_of
from spatialops.simulation.scene.pair_options import Restitution
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.time_methods import TimeMethod, TimeStepping, check_time
from spatialops.tree.state import State

if TYPE_CHECKING:
    from spatialops.view.live.live_view import LiveView

__all__ = ["INTEGRATORS", "Controller", "Simulator"]

_STEPPING = TimeStepping()
_MOST_STEPS = 1e12  # twelve days at a microsecond each: more is a mistake in the units


class Simulator:
    """Steps a scene through time.

    Parameters
    ----------
    scene : Scene
        What moves, and what it may touch.
    formulation : str or Formulation
        "os" (`OperationalSpace(n_f=4)`), which the compiled loop runs; "nmc", "mc", "rmc",
        "nmc/os", "trinkle" or an object with other options, which are called from it. Default "os".
    solver : str or Solver
        "auto" is the central answer (docs/laws.md) in the compiled loop, from the forces of the
        step before; where that has none Lemke, then the ladder of `contact.solve`, whose work
        `contact.Auto(max_work=...)` limits. Others, by the names that `contact.solve` takes or as
        objects, are called from it. Default "auto".
    law : str or Law
        "coulomb" (with `formulation` and `solver`), "cone", "convex", "no-slip", "frictionless",
        "max-dissipation", "viscous", or an object with options, such as ground that gives way,
        `contact.Compliant`: see docs/laws.md. "coulomb", "cone", "no-slip", "viscous" and
        "frictionless" with their default options are solved in the compiled loop, others are called
        from it. A law of your own is judged by what it promises (`contact.certify`), not by its own
        residual. Default "coulomb".
    restitution : {"poisson", "newton"}
        What coefficients of restitution mean, where a `Pair` of the scene does not say: see
        docs/impacts.md. Default "poisson".
    impacts : {"simultaneous", "propagated"}
        Impacts at several contacts: all in one problem, or pair of bodies after pair of bodies, the
        fastest first. Default "simultaneous".
    dt : float
        Step, s. Default 1 ms.
    integrator : {"moreau", "semi-implicit", "rk4"}
        See docs/time.md. Default "moreau".
    impact_threshold : float, optional
        Approach speed, m/s, above which a contact is an impact with restitution; slower ones are
        taken by the step's contact problem without. This, and that a step is cut by at most 60
        impacts (the later 30 without restitution), ends sequences of impacts that would accumulate.
        Default: 0.01, less in scenes of things below a millimetre.
    margin : float, optional
        Gap, m, below which a contact takes part in the step's problem; it acts only where the gap
        would close. Default: 1e-4, less in scenes of things below a millimetre.
    certify : {"raise", "warn", "off", "full"}
        What to do when a step's certificate fails: residual above 1e-9, a gain of kinetic energy in
        an impact above 1e-9 relative, penetration above `depth_limit`, loops open by more than
        `loop_limit`. With "warn" and "off" a pile that jams goes on with the best answer to its
        problem, residual at most 1e-6, where nothing in the compiled loop reaches 1e-9; else
        slower solvers follow, for a minute where hundreds of contacts act. "full" raises, and has
        every contact problem solved outside the compiled loop and certified by itself
        (`contact.certify`): slower. Default "raise".
    depth_limit : float, optional
        Penetration, m, above which the certificate fails, and a state to begin from is refused.
        Default: 1e-3, less in scenes of things below a millimetre.
    loop_limit : float
        Error of a closure, m or rad, above which the certificate fails. Default 1e-8.
    joint_limits : bool
        Whether joints stop at their limits of position. Default True.
    stop_restitution : float or (nv,) array_like
        Restitution of these stops, in [0, 1]. Default 0.
    dry_friction : bool
        Whether the dry friction of joints acts. Default True.
    clip_effort : bool
        Whether `tau` and what controllers return is cut to the model's effort limits. Default True.
    time : TimeStepping or EventDriven
        Steps of a contact problem each, or smooth motion from event to event: see docs/time.md.
        `integrator`, `margin` and the fast loop belong to the first; the second logs its events in
        `Record.log`. Default `TimeStepping()`.
    sensors : sequence of Sensor
        What is read after every recorded step, see `spatialops.sensors`; `Record.sensors` has the
        readings. Needs `TimeStepping`. Default none.

    Attributes
    ----------
    effort : Effort
        What becomes of joint forces.
    options : Options
        What was given, checked, with defaults put in.
    setup : Setup
        The scene under these options, which ways through time share.
    time : TimeStepping or EventDriven
        As given.

    Raises
    ------
    ArgumentError
        For an option out of its range.

    Notes
    -----
    Joints stop at their limits, dry friction and damping act, and `tau` is cut to the effort
    limits: docs/joints.md. A state beyond a limit by more than `depth_limit` is refused, unless
    `certify` is not "raise".

    Examples
    --------
    >>> import spatialops as so
    >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
    >>> state, info = simulator.step(simulator.scene.state)
    >>> state.time, len(info.contacts)
    (0.01, 0)
    """

    def __init__(
        self,
        scene: Scene,
        *,
        formulation: FormulationName | Formulation = "os",
        solver: SolverName | Solver = "auto",
        law: LawName | Law = "coulomb",
        restitution: Restitution = "poisson",
        impacts: Propagation = "simultaneous",
        dt: float = 1e-3,
        integrator: Integrator = "moreau",
        impact_threshold: float | None = None,
        margin: float | None = None,
        certify: Certify = "raise",
        depth_limit: float | None = None,
        loop_limit: float = 1e-8,
        joint_limits: bool = True,
        stop_restitution: ArrayLike = 0.0,
        dry_friction: bool = True,
        clip_effort: bool = True,
        time: TimeMethod = _STEPPING,
        sensors: Sequence[Sensor] = (),
    ) -> None:
        if not isinstance(scene, Scene):
            raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
        scales = scales_of(scene)
        options = checked_options(
            scales,
            formulation=formulation,
            solver=solver,
            law=law,
            restitution=restitution,
            impacts=impacts,
            dt=dt,
            integrator=integrator,
            impact_threshold=impact_threshold,
            margin=margin,
            certify=certify,
            depth_limit=depth_limit,
            loop_limit=loop_limit,
            joint_limits=joint_limits,
            stop_restitution=stop_restitution,
            dry_friction=dry_friction,
            clip_effort=clip_effort,
        )
        self.time = check_time(time)
        self.setup = Setup(scene, options, scales, sensors)
        self.options = self.setup.options
        self._runner = self.time.runner(self.setup)
        self._linearizer: Linearizer | None = None
        self._event_linearizer: EventLinearizer | None = None
        self._controlled: Linearizer | None = None
        self._movables: dict[tuple[str, ...], Linearizer] = {}
        self._one_thread = OneThread()

    def __repr__(self) -> str:
        own = self.options
        scheme = f", {own.integrator}" if isinstance(self.time, TimeStepping) else ""
        return (
            f"Simulator of {self.scene.size_text()}\n"
            f"  time: {self.time!r}{scheme}, dt {own.dt:g} s\n"
            f"  law: {_law_text(own.law)}, formulation {_class_text(own.formulation)}, "
            f"solver {_class_text(own.solver)}\n"
            f"  impacts: {own.restitution}, {own.impacts}, above {own.impact_threshold:g} m/s\n"
            f"  certify: {own.certify}, penetration up to {own.depth_limit:g} m"
        )

    @property
    def scene(self) -> Scene:
        """What is simulated."""
        return self.setup.scene

    @property
    def dt(self) -> float:
        """Step, s."""
        return self.options.dt

    @property
    def integrator(self) -> Integrator:
        """The integrator's name."""
        return self.options.integrator

    @property
    def law(self) -> Law | None:
        """The law that has all that pairs of the scene ask for; None is the compiled Coulomb's."""
        return self.options.law

    @property
    def effort(self) -> Effort:
        """What becomes of joint forces: cut, and counted where they were."""
        return self.setup.effort

    @property
    def stepping(self) -> Stepping:
        """The compiled loop, for code that looks into steps."""
        return self.setup.stepping

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Rows of closures that others implied at the last state that was begun from."""
        return self._runner.redundant_rows

    @property
    def fallbacks(self) -> int:
        """Contact problems of the last run that the compiled loop could not solve by itself."""
        return self.stepping.external.fallbacks

    def step(
        self,
        state: State,
        tau: ArrayLike | None = None,
        *,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
    ) -> tuple[State, StepInfo]:
        """One step of `dt`.

        Parameters
        ----------
        state : State
            Where it begins.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.
        ctrl : (n_actuators,) array_like, optional
            Controls of the scene's actuators. Default: the scene's own, `scene.ctrl`.
        external : External, optional
            Wrenches [moment; force] in world axes: (n_bodies, 6) about the bodies' origins, or a
            mapping from bodies or nodes to (6,) about the node; or a function (time, state) of
            either, or several functions, which add up. It holds within a step, as it is in the
            middle of it. Default none.

        Returns
        -------
        state : State
            Where it ends.
        info : StepInfo
            Contacts, impacts and certificate of the step.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity, and while another thread is in this simulator.
        SolverFailed, ContactError
            If a contact problem could not be solved, the certificate fails, or geoms overlap at the
            start by more than `depth_limit`.

        Examples
        --------
        >>> import spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> state, info = simulator.step(simulator.scene.state, tau=[0.1, 0.0])
        >>> round(state.time, 9), len(info.contacts)
        (0.01, 0)
        """
        with self._one_thread:
            checked = self.setup.checked(state)
            self.effort.forget()
            return self._runner.step(checked, self._inputs(self.effort(tau), ctrl, external))

    def linearize(self, state: State, tau: ArrayLike | None = None) -> Linearization:
        """One step from a state, and its derivative by the state and the joint forces.

        To first order the step takes a change [dq; dv] of the state, on the tangent space
        (`integrate`), and a change dtau of the forces to A [dq; dv] + B dtau. It is the derivative
        of what a step computes: the smooth part in closed form, contacts and impacts by implicit
        differentiation of their problems at their statuses. An impact within the step comes at
        another time as the state changes.

        Parameters
        ----------
        state : State
            Where the step begins.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero. Forces that are cut by effort limits have no
            effect.

        Returns
        -------
        Linearization
            The state at the end, A, B, statuses of contacts, and those that are about to change:
            there the derivative is one-sided, and `switching` says which side was taken. Of a
            step that impacts cut, statuses are those of all its parts, one after the other.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity; for closures that are open, or whose frame is driven;
            with `EventDriven` for ground that gives way.
        SolverFailed, ContactError
            As `step`; for a corrected penetration of a closed mechanism, for impacts one after the
            other, or with torsional or rolling friction, with "moreau" for many inelastic arrivals,
            and with `EventDriven` for contacts that touch and approach at the start, change
            together or have other features later, and impacts of closed mechanisms.

        References
        ----------
        docs/derivatives.md.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> pendulum = so.models.pendulum(2)
        >>> simulator = so.Simulator(pendulum.scene(), dt=0.01)
        >>> step = simulator.linearize(so.State(pendulum.state.q, np.array([0.1, 0.2])))
        >>> step.A.shape, step.B.shape, step.switching
        ((4, 4), (4, 2), ())
        """
        with self._one_thread:
            if self._linearizer is not None and self.setup.in_form(tau, state):
                found = self._linearizer.at_once(state, tau, self.effort.harmless)
                if found is not None:
                    return found
            checked = self.setup.checked(state)
            forces = self.effort.checked(tau)
            cut = self.effort.within(forces)
            if type(self._runner) is EventRunner:
                return self._of_events(self._runner).linearize(checked, forces, cut)
            return self._made_linearizer("linearize").linearize(checked, forces, cut)

    def _of_events(self, runner: EventRunner) -> EventLinearizer:
        if self._event_linearizer is None:
            self._event_linearizer = EventLinearizer(runner)
        return self._event_linearizer

    def linearize_controls(
        self, state: State, ctrl: ArrayLike | None = None, tau: ArrayLike | None = None
    ) -> Linearization:
        """One step under controls, and its derivative by state, activations and controls.

        What a regulator or a planner that commands actuators asks for. To first order the step
        takes a change [dq; dv; dw] of the state and the activations w, and a change du of the
        controls, to A [dq; dv; dw] + B du.

        Parameters
        ----------
        state : State
            Where the step begins, with its activations.
        ctrl : (n_actuators,) array_like, optional
            Controls of the scene's actuators. Default: the scene's own, `scene.ctrl`.
        tau : (nv,) array_like, optional
            Joint forces beside them, N m or N. Default zero.

        Returns
        -------
        Linearization
            As of `linearize`, with A (2 nv + n_states, 2 nv + n_states) and B
            (2 nv + n_states, n_actuators). Controls beyond their ranges, activations that come
            to an end of theirs, and forces that are cut have no effect.

        Raises
        ------
        ArgumentError, ContactError
            As `linearize`, and for gains that change with length or rate.
        SolverFailed
            As `step`.

        Examples
        --------
        >>> import spatialops as so
        >>> model = so.models.pendulum(2).model
        >>> servo = so.Actuator.position("servo", model.joint_of_link(0), kp=5.0, kv=0.5)
        >>> simulator = so.Simulator(so.Scene(model, actuators=[servo]), dt=0.01)
        >>> step = simulator.linearize_controls(simulator.scene.state, ctrl=[0.2])
        >>> step.A.shape, step.B.shape
        ((4, 4), (4, 1))
        """
        with self._one_thread:
            checked = self.setup.checked(state)
            self.stepping_runner("linearize_controls")
            if self._controlled is None:
                refuse_controls(self.stepping)
                self._controlled = Linearizer(self.stepping, self.scene.ctrl.copy())
            controls = self.scene.checked_ctrl(ctrl)
            return self._controlled.by_controls(checked, self.effort.cut(tau), controls)

    def linearize_parameters(
        self, state: State, tau: ArrayLike | None = None
    ) -> ParameterDerivatives:
        """The derivative of one step by inertial parameters, friction and restitution.

        Parameters
        ----------
        state : State
            Where the step begins.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.

        Returns
        -------
        ParameterDerivatives
            `inertial`, `friction` and `restitution`.

        Raises
        ------
        ArgumentError, ContactError
            As `linearize`, and for redundant closures.
        SolverFailed
            As `step`.

        Examples
        --------
        >>> import spatialops as so
        >>> pendulum = so.models.pendulum(2)
        >>> simulator = so.Simulator(pendulum.scene(), dt=0.01)
        >>> simulator.linearize_parameters(pendulum.state).inertial.shape
        (4, 20)
        """
        with self._one_thread:
            checked = self.setup.checked(state)
            linearizer = self._made_linearizer("linearize_parameters")
            return linearizer.by_parameters(checked, self.effort.cut(tau))

    def linearize_geoms(
        self, state: State, geoms: Sequence[str], tau: ArrayLike | None = None
    ) -> Array:
        """The derivative of one step by where geoms sit on their bodies.

        Parameters
        ----------
        state : State
            Where the step begins.
        geoms : sequence of str
            Names of n geoms of the scene; of the world's none that are half-spaces, meshes or
            height fields.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.

        Returns
        -------
        (2 nv, 6 n) array
            Change of the state at the end, [coordinates; velocities] on the tangent space, as each
            geom moves along its own axes (1 / m) and turns about them (1 / rad). The geom's mass
            stays where it is.

        Raises
        ------
        ArgumentError, ContactError
            As `linearize`, and for geoms as above.
        SolverFailed
            As `step`.

        Examples
        --------
        >>> import spatialops as so
        >>> robot = so.models.quadruped()
        >>> simulator = so.Simulator(robot.scene(), dt=1e-3)
        >>> simulator.linearize_geoms(robot.state, ["lf_foot"]).shape
        (36, 6)
        """
        names = several(geoms, "geoms", "names")
        with self._one_thread:
            checked = self.setup.checked(state)
            cut, none = self.effort.cut(tau), np.zeros(POSE * len(names))
            # What is not known of the step itself is refused first.
            self._made_linearizer("linearize_geoms").linearize(checked, cut, cut)
            forces = np.concatenate([cut, none])
            moved = self._movable(names).linearize(with_zeros(checked, len(none)), forces, forces)
            return by_poses(moved.A, len(cut))

    def _movable(self, names: tuple[str, ...]) -> Linearizer:
        """Of the scene with these geoms on joints of their own."""
        if names not in self._movables:
            nv = self.scene.model.nv
            stops = np.zeros(nv + POSE * len(names))
            stops[:nv] = self.options.stop_restitution
            setup = Setup(
                movable(self.scene, names),
                replace(self.options, stop_restitution=stops),
                self.setup.scales,
            )
            self.time.runner(setup)
            self._movables[names] = Linearizer(setup.stepping)
        return self._movables[names]

    def linearize_rollout(
        self, state: State, forces: ArrayLike, *, every: int = 1
    ) -> LinearizedRollout:
        """Steps from a state under given forces, to be differentiated.

        Parameters
        ----------
        state : State
            Where it begins.
        forces : (n, nv) array_like
            Joint forces of n steps, N m or N; cut to effort limits as `step` does.
        every : int
            Keep one state in so many steps, and make those between again where they are wanted.
            Default: 1, all are kept.

        Returns
        -------
        LinearizedRollout
            The states that are kept; `jvp` and `vjp` are products of the derivative of all n + 1
            with vectors.

        Raises
        ------
        ArgumentError
            As `linearize`.
        SolverFailed, ContactError
            As `step`. Steps whose derivative is not known are refused by `jvp` and `vjp`.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> pendulum = so.models.pendulum(2)
        >>> simulator = so.Simulator(pendulum.scene(), dt=0.01)
        >>> rollout = simulator.linearize_rollout(pendulum.state, np.zeros((5, 2)))
        >>> len(rollout.states), round(rollout.states[-1].time, 6)
        (6, 0.05)
        """
        with self._one_thread:
            first = self.setup.checked(state)
            given = array(forces, (None, self.scene.model.nv), "forces", finite=True)
            cut = np.clip(given, -self.effort.limit, self.effort.limit)
            spacing = whole(every, "every", low=1)
            linearizer = (
                self._of_events(self._runner)
                if type(self._runner) is EventRunner
                else self._made_linearizer("linearize_rollout")
            )
            acted = (cut == given).astype(np.float64)
            return linearized_rollout(linearizer, first, (cut, acted), self._one_thread, spacing)

    def _made_linearizer(self, what: str) -> Linearizer:
        self.stepping_runner(what)
        if self._linearizer is None:
            self._linearizer = Linearizer(self.stepping)
        return self._linearizer

    def stepper(self, state: State | None = None) -> Stepper:
        """A handle for steps from Python at little cost, in place of `step`.

        Parameters
        ----------
        state : State, optional
            Where it begins. Default: the scene's.

        Returns
        -------
        Stepper
            With tables of its own, at the state.

        Raises
        ------
        ArgumentError
            For a wrong state; with `EventDriven`, and with ``certify="full"``.
        """
        made = Stepper(self.stepping_runner("stepper"))
        if state is not None:
            made.reset(state)
        return made

    def stepping_runner(self, what: str) -> SteppingRunner:
        """The compiled loop at work on this scene, for what steps without a record.

        Parameters
        ----------
        what : str
            Who asks, for errors.

        Returns
        -------
        SteppingRunner
            Makes tables, and checks what is in them.

        Raises
        ------
        ArgumentError
            With `EventDriven`, and with ``certify="full"``.
        """
        if type(self._runner) is not SteppingRunner:
            raise ArgumentError(f"{what}: time: expected TimeStepping(), got {self.time!r}")
        if self.setup.full:
            raise ArgumentError(f"{what}: certify='full' is for run and step")
        return self._runner

    def problem(
        self,
        state: State,
        tau: ArrayLike | None = None,
        *,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
    ) -> ContactProblem | None:
        """The first contact problem that a step from a state would solve.

        Any formulation and solver can take it up, now or from a file (`ContactProblem.save`).

        Parameters
        ----------
        state : State
            Where the step begins.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.
        ctrl, external : optional
            As of `step`.

        Returns
        -------
        ContactProblem or None
            None where the step meets no contact.

        Examples
        --------
        >>> import spatialops as so
        >>> ball = so.Inertia.sphere(0.1, mass=1.0)
        >>> model = so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build()
        >>> floor = so.Geom("floor", "world", so.HalfSpace())
        >>> scene = so.Scene(model, [floor, so.Geom("ball", "ball", so.Sphere(0.1))])
        >>> scene.state.q[2] = 0.1
        >>> problem = so.Simulator(scene, dt=0.01).problem(scene.state)
        >>> forces = so.contact.Coulomb().solve(problem).impulses / 0.01
        >>> forces.round(6).tolist()
        [[9.81, 0.0, 0.0]]
        """
        with self._one_thread:
            inputs = self._inputs(self.effort.cut(tau), ctrl, external)
            return self._runner.problem(self.setup.checked(state), inputs)

    def _inputs(self, tau: Array, ctrl: ArrayLike | None, external: External | None) -> Inputs:
        scene = self.scene
        return Inputs(tau, scene.checked_ctrl(ctrl), checked_external(scene.model, external))

    def view(
        self,
        state: State | None = None,
        *,
        controller: Controller | None = None,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
        host: str = "localhost",
        port: int = 8080,
        dark: bool = False,
    ) -> LiveView:
        """Run in a browser or notebook, to be watched, paused and pulled at: docs/viewing.md.

        Parameters
        ----------
        state : State, optional
            Where it begins. Default: the scene's.
        controller, ctrl, external : optional
            As of `run`.
        host : str
            Address that browsers reach it at. Default "localhost": this machine alone.
        port : int
            Its port; the next free one where it is taken. Default 8080.
        dark : bool
            Begin dark; a switch changes it. Default False.

        Returns
        -------
        LiveView
            With its `url`, `wait` and `close`; a notebook shows it.

        Raises
        ------
        MissingLibraryError
            Without viser, the extra `view`.
        ArgumentError
            For a wrong state or wrong controls, an address that this machine does not have, with
            `EventDriven`, and with ``certify="full"``.
        """
        from spatialops.view.live.course import Driving
        from spatialops.view.live.live_view import LiveView

        driving = Driving(checked_controller(controller), ctrl, external)
        return LiveView(self, state, driving, host=host, port=port, dark=dark)

    def run(
        self,
        state: State | None = None,
        duration: float = 1.0,
        *,
        controller: Controller | None = None,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
        record_every: int = 1,
        record: bool = True,
        progress: bool = False,
        save_on_failure: str | os.PathLike[str] | None = None,
    ) -> Record:
        """Simulate for a while and record it.

        Parameters
        ----------
        state : State, optional
            Where it begins. Default: the scene's.
        duration : float
            s; rounded to whole steps. Default 1.
        controller : callable, optional
            controller(time, state, contacts) -> tau (nv,), called before every step; None is zero.
            One that moves actuators returns a `Command(tau, ctrl)`.
        ctrl : (n_actuators,) array_like, optional
            Controls of the scene's actuators. Default: the scene's own, `scene.ctrl`.
        external : External, optional
            Wrenches [moment; force] in world axes: (n_bodies, 6) about the bodies' origins, or a
            mapping from bodies or nodes to (6,) about the node; or a function (time, state) of
            either, or several functions, which add up. It holds within a step, as it is in the
            middle of it. Default none.
        record_every : int
            Record every so many steps, with their contacts; impacts are always recorded, and so is
            the end (`Record.final`). Default 1.
        record : bool
            False: two rows, where it begins and where it ends, with the worst in between, and
            neither contacts nor impacts; however long the run, it takes no memory. Default True.
        progress : bool
            Show a progress bar on standard error. Default False.
        save_on_failure : path-like, optional
            File for the record up to an error. Default: it is not saved.

        Returns
        -------
        Record
            Rows, contacts, impacts and counts of the run.

        Raises
        ------
        ArgumentError
            For wrong options, or a controller's forces of a wrong shape or that are not finite;
            while another thread is in this simulator.
        SolverFailed, ContactError
            As `step`. Errors within the run carry what was recorded until then as `error.record`,
            and the last state as `error.state`.

        Examples
        --------
        >>> import spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> record = simulator.run(duration=0.5)
        >>> len(record.times), round(record.final.time, 9)
        (51, 0.5)
        """
        plan = Plan(
            _steps(scalar(duration, "duration", low=0.0), self.dt),
            checked_controller(controller),
            whole(record_every, "record_every", low=1) if record else None,
            progress,
            self._metadata,
            self.scene.checked_ctrl(ctrl),
            save_on_failure,
            external=checked_external(self.scene.model, external),
        )
        return self._run(state, plan)

    def run_to_disk(
        self,
        folder: str | os.PathLike[str],
        state: State | None = None,
        duration: float = 1.0,
        *,
        controller: Controller | None = None,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
        record_every: int = 1,
        progress: bool = False,
    ) -> State:
        """Simulate for a while and write the record to a folder as it grows.

        Memory stays bounded however long the run. The folder can be read at any moment
        (`load_record`), and whatever ends the run, up to ten seconds of it are lost: `resume` goes
        on from there to the same bits.

        Parameters
        ----------
        folder : path-like
            Where files of the record are written, 000000.npz and so on; empty, or not there yet.
        state : State, optional
            Where it begins. Default: the scene's.
        duration : float
            s; rounded to whole steps. Default 1.
        controller : callable, optional
            As of `run`. One with a memory offers ``save()``, a dict of arrays that hold all of it,
            and ``restore(dict)``; any other must be a function of its arguments to be resumed.
        ctrl, external : optional
            As of `run`.
        record_every : int
            As of `run`. Default 1.
        progress : bool
            Show a progress bar on standard error. Default False.

        Returns
        -------
        State
            Where it ends.

        Raises
        ------
        ArgumentError
            As `run`; for a folder with something in it, and with `EventDriven`.
        RecordError
            If the folder cannot be written, or another simulation writes to it.
        SolverFailed, ContactError
            As `run`; what was recorded until then is in the folder.

        Examples
        --------
        >>> import tempfile
        >>> import spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     end = simulator.run_to_disk(folder, duration=0.05)
        ...     further = simulator.resume(folder, duration=0.1)
        ...     record = so.load_record(folder)
        >>> len(record.times), round(further.time, 9)
        (11, 0.1)
        """
        n_steps = _steps(scalar(duration, "duration", low=0.0), self.dt)
        every = whole(record_every, "record_every", low=1)
        with RunFolder(folder) as opened:
            opened.begin()
            plan = Plan(
                n_steps,
                checked_controller(controller),
                every,
                progress,
                self._metadata,
                self.scene.checked_ctrl(ctrl),
                folder=opened,
                external=checked_external(self.scene.model, external),
            )
            return self._run(state, plan).final

    def resume(
        self,
        folder: str | os.PathLike[str],
        duration: float | None = None,
        *,
        controller: Controller | None = None,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
        progress: bool = False,
    ) -> State:
        """Go on with a run that `run_to_disk` began, however it ended.

        Parameters
        ----------
        folder : path-like
            Where it is. The scene and the options must be those that it was begun with.
        duration : float, optional
            Of the whole run, from its beginning, s. Default: as it was planned.
        controller : callable, optional
            As the run was begun with; its memory is put back where it has one.
        ctrl, external : optional
            As the run was begun with.
        progress : bool
            Show a progress bar on standard error. Default False.

        Returns
        -------
        State
            Where it ends.

        Raises
        ------
        ArgumentError
            For another scene or other options than the run's.
        RecordError
            If there is no run, it is damaged, or another simulation writes to it.
        SolverFailed, ContactError
            As `run_to_disk`.
        """
        controller = checked_controller(controller)
        with RunFolder(folder, made=False) as opened:
            past = opened.last()
            refuse_other(self.scene, self._metadata(), past)
            planned, every = planned_by(past)
            if duration is not None:
                planned = _steps(scalar(duration, "duration", low=0.0), self.dt)
            plan = Plan(
                planned,
                controller,
                every,
                progress,
                self._metadata,
                self.scene.checked_ctrl(ctrl),
                folder=opened,
                past=past,
                external=checked_external(self.scene.model, external),
            )
            return self._run(None, plan).final

    def _run(self, state: State | None, plan: Plan) -> Record:
        with self._one_thread:
            begin = self.setup.checked(self.scene.state if state is None else state)
            self.stepping.external.begin()
            self.effort.forget()
            return self._runner.run(begin, plan)

    def _metadata(self) -> PlainData:
        """What a record says of the options."""
        return {**self._constant_metadata, "redundant_rows": list(self.redundant_rows)}

    @cached_property
    def _constant_metadata(self) -> PlainData:
        """The same without what depends on where a run begins."""
        own = self.options
        settings = self.setup.settings
        return {
            "time": repr(self.time),
            "dt": own.dt,
            "integrator": own.integrator,
            "formulation": repr(own.formulation),
            "solver": own.solver if isinstance(own.solver, str) else repr(own.solver),
            "law": _law_text(own.law),
            "restitution": own.restitution,
            "impacts": own.impacts,
            "impact_threshold": float(settings[at.THRESHOLD]),
            "margin": own.margin,
            "joint_limits": own.joint_limits,
            "dry_friction": own.dry_friction,
            "clip_effort": own.clip_effort,
            **self.setup.sensing.to_data(),
        }


def _steps(duration: float, dt: float) -> int:
    """How many whole steps a duration has."""
    if duration > _MOST_STEPS * dt:
        raise ArgumentError(
            f"duration: {duration:g} s are {duration / dt:.1g} steps of {dt:g} s; at most "
            f"{_MOST_STEPS:.0e} are run at once"
        )
    return round(duration / dt)


def _law_text(law: Law | None) -> str:
    return "coulomb" if law is None else repr(law)


def _class_text(item: object) -> str:
    return item if isinstance(item, str) else type(item).__name__
