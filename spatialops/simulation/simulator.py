"""The simulator: options, single steps, and runs that are recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spatialops._arrays import scalar, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.certificate import Certificate
from spatialops.contact.formulations import Formulation, check_formulation
from spatialops.contact.friction import directions
from spatialops.contact.laws import check_law
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.solution import Law
from spatialops.contact.lcp.handles import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation.begin import FramesLeft, begin_loops
from spatialops.simulation.colliding import PROPAGATIONS
from spatialops.simulation.effort import Effort
from spatialops.simulation.joint_rows import joint_rows, outside_limits
from spatialops.simulation.outside import ImpactRule, Method, Outside
from spatialops.simulation.pair_friction import pair_friction
from spatialops.simulation.pairs import RESTITUTIONS
from spatialops.simulation.prepared import acting, acting_moments, joint_sums, load_state
from spatialops.simulation.progress import progress_bar
from spatialops.simulation.record import Record, RecordBuilder
from spatialops.simulation.recording import start
from spatialops.simulation.scene import Scene
from spatialops.simulation.step_info import StepInfo
from spatialops.simulation.stepping import Stepping
from spatialops.simulation.tables import Tables
from spatialops.simulation.time import EventDriven, TimeStepping, check_time
from spatialops.simulation.watch import faults, report
from spatialops.tree.state import State, checked_state

if TYPE_CHECKING:
    from spatialops.simulation.event_run import Course

INTEGRATORS = {"semi-implicit": at.SEMI_IMPLICIT, "moreau": at.MOREAU, "rk4": at.RK4}
CERTIFY = ("raise", "warn", "off", "full")
_STEPPING = TimeStepping()
_CHUNK = 2000  # steps a call of the compiled loop: short enough for a progress bar and Ctrl-C

Controller = Callable[[float, State, ContactSet], Any]


class Simulator:
    """Steps a scene through time.

    Parameters
    ----------
    scene : Scene
    formulation : str or Formulation
        "os" (`OperationalSpace(n_f=4)`), which the compiled loop runs; "nmc", "mc", "rmc", "nmc/os", "trinkle" or an
        object with other options, which are called from it.
    solver : str or Solver
        "auto" solves in the compiled loop: last step's active set, then Lemke, then the ladder of `contact.solve`;
        others, by the names that `contact.solve` takes or as objects, are called from it.
    law : str or Law
        "coulomb" (with `formulation` and `solver`), "cone", "convex", "no-slip", "frictionless", "max-dissipation",
        "viscous", or an object with options, such as ground that gives way, `contact.Compliant`: see docs/laws.md. All
        but "coulomb" are called from the loop.
    dt : float
        Step, s.
    integrator : {"moreau", "semi-implicit", "rk4"}
        See `simulation.flow`.
    restitution : {"poisson", "newton"}
        What coefficients of restitution mean, where a `Pair` of the scene does not say: see `simulation.colliding`.
    impacts : {"simultaneous", "propagated"}
        Impacts at several contacts: all in one problem, or pair of bodies after pair of bodies, the fastest first.
    impact_threshold : float
        Approach speed (m/s) above which a contact is an impact with restitution; slower ones are taken by the step's
        contact problem without. This, and that a step is cut by at most 60 impacts (the later 30 without restitution),
        ends sequences of impacts that would accumulate.
    margin : float
        Gap (m) below which a contact takes part in the step's problem; it acts only where the gap would close.
    certify : {"raise", "warn", "off", "full"}
        What to do when a step's certificate fails: residual above 1e-9, a gain of kinetic energy in an impact above
        1e-9 relative, penetration above `depth_limit`, loops open by more than `loop_limit`. "full" raises, and has
        every contact problem solved outside the compiled loop and certified by itself (`contact.certify`): slower.
    depth_limit : float
        m.
    loop_limit : float
        Error of a closure, m or rad, above which the certificate fails.
    joint_limits : bool
        Whether joints stop at their limits of position.
    stop_restitution : float or (nv,) array_like
        Restitution of these stops.
    dry_friction : bool
        Whether the dry friction of joints acts.
    clip_effort : bool
        Whether `tau` and what controllers return is cut to the model's effort limits.
    time : TimeStepping or EventDriven
        Steps of a contact problem each, or smooth motion from event to event: see docs/time.md. `integrator`,
        `margin` and the fast loop belong to the first; the second logs its events in `Record.log`.

    Attributes
    ----------
    redundant_rows : tuple of str
        Rows of closures that others implied at the last state that was begun from.

    Raises
    ------
    ArgumentError
        For an option out of its range.

    Notes
    -----
    Joints stop at their limits, dry friction and damping act, and `tau` is cut to the effort limits: docs/joints.md.
    A state beyond a limit by more than `depth_limit` is refused, unless `certify` is not "raise".
    """

    def __init__(
        self,
        scene: Scene,
        *,
        formulation: str | Formulation = "os",
        solver: str | Solver = "auto",
        law: str | Law = "coulomb",
        restitution: str = "poisson",
        impacts: str = "simultaneous",
        dt: float = 1e-3,
        integrator: str = "moreau",
        impact_threshold: float = 0.01,
        margin: float = 1e-4,
        certify: str = "raise",
        depth_limit: float = 1e-3,
        loop_limit: float = 1e-8,
        joint_limits: bool = True,
        stop_restitution: Any = 0.0,
        dry_friction: bool = True,
        clip_effort: bool = True,
        time: TimeStepping | EventDriven = _STEPPING,
    ) -> None:
        if not isinstance(scene, Scene):
            raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
        for name, value, known in (
            ("integrator", integrator, tuple(INTEGRATORS)),  # a tuple takes things that cannot be hashed
            ("certify", certify, CERTIFY),
            ("restitution", restitution, RESTITUTIONS),
            ("impacts", impacts, PROPAGATIONS),
        ):
            if value not in known:
                raise ArgumentError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        self.scene, self.integrator, self.certify = scene, integrator, certify
        self.restitution, self.impacts = restitution, impacts
        self.formulation, self.solver = check_formulation(formulation), check_solver(solver)
        self.law = None if isinstance(law, str) and law == "coulomb" else check_law(law)
        if self.law is not None and not (isinstance(formulation, str) and formulation == "os" and solver == "auto"):
            raise ArgumentError(
                "law: `formulation` and `solver` are options of the law 'coulomb'; others have their own"
            )
        self._joints = joint_rows(
            scene.model, limits=joint_limits, dry_friction=dry_friction, restitution=stop_restitution
        )
        self.joint_limits, self.dry_friction = bool(joint_limits), bool(dry_friction)
        self.clip_effort, self.effort = bool(clip_effort), Effort(scene.model, bool(clip_effort))
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.depth_limit = scalar(depth_limit, "depth_limit", low=0.0)
        self.loop_limit = scalar(loop_limit, "loop_limit", low=0.0)
        self.time = check_time(time)
        self.redundant_rows: tuple[str, ...] = ()
        self._left: FramesLeft | None = None
        self._loops = scene.loops
        self._settings = np.zeros(at.SETTINGS)
        self._settings[at.DT] = self.dt
        self._settings[at.THRESHOLD] = scalar(impact_threshold, "impact_threshold", low=0.0)
        self._settings[at.MARGIN] = scalar(margin, "margin", low=0.0)
        self._settings[[at.TOUCH, at.TOLERANCE, at.DEPTH]] = 1e-8, 1e-9, 1e-5
        self._settings[at.SKIN] = 0.5 * scene.smallest_radius + 4.0 * self._settings[at.MARGIN]
        self._settings[at.WIDTH] = scene.least_width
        if isinstance(self.law, Compliant):  # nothing is rigid: no impacts, and depth is what bears a load
            self._settings[[at.THRESHOLD, at.DEPTH]] = 1e300
        self._pairs = pair_friction(scene, self.law or Coulomb(formulation=self.formulation, solver=self.solver))
        if self._pairs.special:
            self.law = self._pairs.law
        self.stepping = self._stepping()
        self._single = self.stepping.tables()
        if isinstance(self.time, EventDriven):
            self._course()  # refuses what it cannot take

    @property
    def fallbacks(self) -> int:
        """Contact problems of the last run that the compiled loop could not solve by itself."""
        return self.stepping.outside.fallbacks

    def step(self, state: State, tau: Any = None) -> tuple[State, StepInfo]:
        """One step of `dt` from `state` under joint forces `tau` (nv,), default zero.

        Returns
        -------
        (State, StepInfo)

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity.
        SolverFailed, ContactError
            If a contact problem could not be solved or the certificate fails.
        """
        checked = self._checked(state)
        self.effort.forget()
        forces = self.effort(tau)
        if isinstance(self.time, EventDriven):
            course = self._course()
            course.begin(checked)
            course.drive(lambda time, now, contacts: forces, self.effort.cut)
            course.advance(checked.time + self.dt)
            self.redundant_rows = course.redundant
            return course.state(), course.info(self.effort.clipped > 0)
        self._look_for_loops()
        t = self._single
        load_state(t, checked, forces, 1)
        self._begin_loops(t)
        t.control[at.LOOKED] = 0
        t = self._single = self.stepping.advance(t)
        depth = max(0.0, -float(t.rows[0, at.ROW_GAP]))
        info = StepInfo(
            contacts=acting(t),
            events=t.events[: t.control[at.EVENT_ROWS]].copy(),
            residual=float(t.rows[0, at.ROW_RESIDUAL]),
            penetration=depth,
            pivots=int(t.rows[0, at.ROW_PIVOTS]),
            loop_forces=t.row_forces[0].copy(),
            closure_error=float(t.rows[0, at.ROW_OPENING]),
            moments=acting_moments(t),
            stop_impulses=joint_sums(t, at.STOP_SUM),
            dry_impulses=joint_sums(t, at.DRY_SUM),
            clipped=self.effort.clipped > 0,
            certified=self.stepping.outside.certificate(depth),
        )
        self._certify(t, info.certified)
        if len(self.scene.loops):
            self._left = FramesLeft(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]), t.loops.copy())
        return State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME])), info

    def problem(self, state: State, tau: Any = None) -> ContactProblem | None:
        """The first contact problem that a step from `state` would solve; None where it meets no contact.

        Any formulation and solver can take it up, now or from a file (`ContactProblem.save`).
        """
        checked = self._checked(state)
        t = self.stepping.tables()
        load_state(t, checked, self.effort.cut(tau), 1)
        self._begin_loops(t)
        t, code = self.stepping.prepare(t)
        return self.stepping.outside.problem(t) if code == at.SOLVE else None

    def run(
        self,
        state: State | None = None,
        duration: float = 1.0,
        *,
        controller: Controller | None = None,
        record_every: int = 1,
        progress: bool = False,
    ) -> Record:
        """Simulate `duration` seconds and record it.

        Parameters
        ----------
        state : State, optional
            Default: the scene's.
        duration : float
            s; rounded to whole steps.
        controller : callable, optional
            controller(time, state, contacts) -> tau (nv,), called before every step.
        record_every : int
            Record every so many steps; impacts are always recorded.
        progress : bool
            Show a progress bar on standard error.

        Returns
        -------
        Record
        """
        n_steps = round(scalar(duration, "duration", low=0.0) / self.dt)
        record_every = whole(record_every, "record_every", low=1)
        if controller is not None and not callable(controller):
            raise ArgumentError(f"controller: expected a function (time, state, contacts) -> tau, got {controller!r}")
        begin = self._checked(self.scene.state if state is None else state)
        self.stepping.outside.begin()
        self.effort.forget()
        if isinstance(self.time, EventDriven):
            return self._run_by_events(begin, n_steps, controller, record_every, progress)
        self._look_for_loops()
        varying = any(callable(loop.rate) for loop in self._loops.items)
        chunk = 1 if controller or varying or self.certify == "full" else min(_CHUNK, max(n_steps, 1))
        t = self.stepping.tables(steps=(chunk, chunk // record_every + 2))
        load_state(t, begin, np.zeros(self.scene.model.nv), 0)
        self._begin_loops(t)
        builder = RecordBuilder(self.scene, self._options())
        t.control[at.EVERY] = record_every
        start(t)
        builder.take(t)

        def emptied(full: Tables) -> None:
            self._certify(full)
            builder.take(full)

        with progress_bar(n_steps, progress) as bar:
            done = 0
            while done < n_steps:
                count = min(chunk, n_steps - done)
                if controller:
                    now = State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))
                    t.tau[:] = self.effort(controller(now.time, now, acting(t)))
                self._put_rates(t)
                t.control[at.STEPS_LEFT] = count
                t = self.stepping.advance(t, emptied)
                depth = -min(float(t.rows[: t.control[at.ROWS], at.ROW_GAP].min(initial=0.0)), 0.0)
                certificate = self.stepping.outside.certificate(depth)
                self._certify(t, certificate)
                builder.take(t, certificate)
                done += count
                bar.update(count)
        names = self.scene.model.joint_of_link
        clipped = {names(int(k)): int(self.effort.clipped[k]) for k in np.flatnonzero(self.effort.clipped)}
        return builder.record(t, fallbacks=self.fallbacks, clipped=clipped)

    def _stepping(self) -> Stepping:
        table, newton = self.scene.pair_table, self.restitution == "newton"
        impacts = ImpactRule(self.impacts == "propagated", (table.newton | newton) & ~table.poisson, newton)
        method = Method(self.law, self.formulation, self.solver)
        directions(method.n_f)  # refuses odd ones
        outside = Outside(self.scene, method, self._pairs, impacts, self.certify == "full")
        return Stepping(self.scene, self._joints, self._settings, outside, INTEGRATORS[self.integrator])

    def _course(self) -> Course:
        from spatialops.simulation.event_impact import Rules
        from spatialops.simulation.event_run import Course, Limits  # with more of SciPy
        from spatialops.simulation.events import Surfaces

        surfaces, limits = Surfaces(self._pairs, self._joints), Limits(self.certify, self.depth_limit, self.loop_limit)
        impacts = self.stepping.outside.impacts
        newton = np.append(impacts.newton, np.full(len(self._joints.ints), impacts.else_newton))
        rules = Rules(impacts.propagated, newton, float(self._settings[at.THRESHOLD]))
        return Course(self.scene, surfaces, cast(EventDriven, self.time), self.dt, rules, limits)

    def _run_by_events(
        self, state: State, n_steps: int, controller: Controller | None, record_every: int, progress: bool
    ) -> Record:
        course = self._course()
        course.begin(state)
        self.redundant_rows = course.redundant
        course.keep()
        with progress_bar(n_steps, progress) as bar:
            for i in range(1, n_steps + 1):
                course.drive(controller, self.effort)
                course.advance(state.time + i * self.dt)
                if i % record_every == 0:
                    course.keep()
                bar.update(1)
        return course.record(self._options(), n_steps)

    def _options(self) -> dict[str, Any]:
        return {
            "time": repr(self.time),
            "dt": self.dt,
            "integrator": self.integrator,
            "formulation": repr(self.formulation),
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "law": "coulomb" if self.law is None else repr(self.law),
            "restitution": self.restitution,
            "impacts": self.impacts,
            "impact_threshold": float(self._settings[at.THRESHOLD]),
            "margin": float(self._settings[at.MARGIN]),
            "redundant_rows": list(self.redundant_rows),
            "joint_limits": self.joint_limits,
            "dry_friction": self.dry_friction,
            "clip_effort": self.clip_effort,
        }

    def _checked(self, state: Any) -> State:
        """The state, checked; one beyond a joint's limits is refused as far as no step can have left it there."""
        checked = checked_state(state, self.scene.model)
        exact = self.joint_limits and self.certify == "raise" and not isinstance(self.law, Compliant)
        fault = outside_limits(self.scene.model, checked.q, self.depth_limit) if exact else ""
        if fault:
            raise ArgumentError(f"state: {fault}; start within them, or simulate with joint_limits=False")
        return checked

    def _look_for_loops(self) -> None:
        """Make room for closures that were added to the scene since."""
        if self._loops is not self.scene.loops:
            self._loops, self._left = self.scene.loops, None
            self._single = self.stepping.tables()

    def _begin_loops(self, t: Tables) -> None:
        """Check that the loaded state is closed, count independent rows, and put driven frames where they stand."""
        loops, time = self.scene.loops, float(t.monitor[at.TIME])
        if not len(loops):
            return
        begun = self._left.frames if self._left is not None and self._left.is_at(t.q, t.v, time) else None
        start = begin_loops(loops, t.q, t.v, time, begun)
        t.q[:], t.v[:], self.redundant_rows = start.q, start.v, start.redundant
        t.loops[:] = t.loops_start[:] = start.frames
        t.control[[at.RANK, at.INDEPENDENT]] = start.rank
        t.closure_vectors[at.FORCES] = 0.0
        self._put_rates(t)

    def _put_rates(self, t: Tables) -> None:
        """Prescribed rates at both ends of the coming step (of all coming ones, where they are constant)."""
        if self.scene.loops.n_rows:
            time = float(t.monitor[at.TIME])
            t.closure_vectors[at.RATE_START] = self.scene.loops.rates(time)
            t.closure_vectors[at.RATE_END] = self.scene.loops.rates(time + self.dt)

    def _certify(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Check what the monitors saw since the last row."""
        if self.certify != "off":
            depth = math.inf if isinstance(self.law, Compliant) else self.depth_limit
            found = faults(t, depth, self.loop_limit, certificate)
            if found:
                report(found, float(t.monitor[at.TIME]), self.certify)
