"""The simulator: options, single steps, and runs that are recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spatialops._arrays import Array, scalar, vector, whole
from spatialops.collision import _layout as column
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.certificate import Certificate, certify, certify_contacts, promised
from spatialops.contact.formulations import Formulation, check_formulation
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.friction import directions
from spatialops.contact.laws import check_law
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.solution import Law
from spatialops.contact.lcp.handles import Solver
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.contact.solve import check_solver, solve
from spatialops.errors import ArgumentError, ContactError, SolverFailed
from spatialops.simulation import _layout as at
from spatialops.simulation.begin import FramesLeft, begin_loops
from spatialops.simulation.colliding import PROPAGATIONS, Answer, Collider
from spatialops.simulation.joint_rows import joint_rows, outside_limits
from spatialops.simulation.memory import Memory
from spatialops.simulation.moments import with_moments
from spatialops.simulation.pair_friction import pair_friction
from spatialops.simulation.pairs import RESTITUTIONS
from spatialops.simulation.prepared import (
    acting,
    acting_moments,
    contact_problem,
    first_capacity,
    joint_sums,
    load_state,
    put_answer,
)
from spatialops.simulation.progress import progress_bar
from spatialops.simulation.record import Record, RecordBuilder
from spatialops.simulation.scene import Scene
from spatialops.simulation.step import advance, start
from spatialops.simulation.tables import Tables, allocate
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
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class StepInfo:
    """What happened in one step.

    Attributes
    ----------
    contacts : ContactSet
        Contacts of the step's last contact problem, with their impulses.
    events : (k, 6) array
        Impacts: time (s), contacts and stops, approach speed (m/s), kinetic energy before and after (J), share of the
        restitution that could be given back without a gain of energy.
    residual : float
        Worst natural residual of the step's problems.
    penetration : float
        Largest penetration, m.
    pivots : int
        Pivots of the solver; 0 where the active set of the step before still held.
    loop_forces : (n_rows,) array
        Forces of the closures along their rows, N or N m, as in `Record`; `loop_forces` turns them into wrenches.
    closure_error : float
        Largest error of a closure, m or rad.
    moments : (m, 3) array
        Torsional and rolling friction on A along the frames of `contacts`, N m s.
    stop_impulses, dry_impulses : (nv,) arrays
        What the joints' stops and dry friction did along each velocity, N m s or N s.
    clipped : (nv,) bool array
        Where `tau` was cut to the joint's effort limit.
    certified : Certificate or None
        The worst of the step's problems, with ``certify="full"``.
    """

    contacts: ContactSet
    events: Array
    residual: float
    penetration: float
    pivots: int
    loop_forces: Array
    closure_error: float
    moments: Array
    stop_impulses: Array
    dry_impulses: Array
    clipped: Mask
    certified: Certificate | None = None

    @property
    def certificate(self) -> Certificate:
        """What the step violates by how much, in units: in full with ``certify="full"``, else what contacts show."""
        if self.certified is not None:
            return self.certified
        impulses, frictions = self.contacts.impulses, self.contacts.frictions
        return certify_contacts(impulses, frictions, gap=self.penetration, residual=self.residual)


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
        if integrator not in tuple(INTEGRATORS):  # a tuple takes things that cannot be hashed
            raise ArgumentError(f"integrator: expected one of {', '.join(INTEGRATORS)}, got {integrator!r}")
        if certify not in CERTIFY:
            raise ArgumentError(f"certify: expected one of {', '.join(CERTIFY)}, got {certify!r}")
        for name, value, known in (("restitution", restitution, RESTITUTIONS), ("impacts", impacts, PROPAGATIONS)):
            if value not in known:
                raise ArgumentError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        self.restitution, self.impacts = restitution, impacts
        self.scene = scene
        self.formulation = check_formulation(formulation)
        self.solver = check_solver(solver)
        self.law = None if isinstance(law, str) and law == "coulomb" else check_law(law)
        if self.law is not None and not (isinstance(formulation, str) and formulation == "os" and solver == "auto"):
            raise ArgumentError(
                "law: `formulation` and `solver` are options of the law 'coulomb'; others have their own"
            )
        self._joints = joint_rows(
            scene.model, limits=joint_limits, dry_friction=dry_friction, restitution=stop_restitution
        )
        self.joint_limits, self.dry_friction = bool(joint_limits), bool(dry_friction)
        self.clip_effort = bool(clip_effort)
        self._effort = scene.model.effort_limit if clip_effort else np.full(scene.model.nv, np.inf)
        self._clipped = np.zeros(scene.model.nv, dtype=np.int64)
        self.dt = scalar(dt, "dt", low=0.0, strict=True)
        self.integrator = integrator
        self.certify = certify
        self.depth_limit = scalar(depth_limit, "depth_limit", low=0.0)
        self.loop_limit = scalar(loop_limit, "loop_limit", low=0.0)
        self.time = check_time(time)
        self.redundant_rows: tuple[str, ...] = ()
        self._left: FramesLeft | None = None
        self._loops = scene.loops
        self.fallbacks = 0
        self._settings = np.zeros(at.SETTINGS)
        self._settings[at.DT] = self.dt
        self._settings[at.THRESHOLD] = scalar(impact_threshold, "impact_threshold", low=0.0)
        self._settings[at.MARGIN] = scalar(margin, "margin", low=0.0)
        self._settings[[at.TOUCH, at.TOLERANCE, at.DEPTH]] = 1e-8, 1e-9, 1e-5
        self._settings[at.SKIN] = 0.5 * scene.smallest_radius + 4.0 * self._settings[at.MARGIN]
        self._settings[at.WIDTH] = scene.least_width
        if isinstance(self.law, Compliant):  # nothing is rigid: no impacts, and depth is what bears a load
            self._settings[[at.THRESHOLD, at.DEPTH]] = 1e300
        compiled = self.law is None and isinstance(self.formulation, OperationalSpace) and solver == "auto"
        table = scene.pair_table
        self._newton = (table.newton | (restitution == "newton")) & ~table.poisson
        pairs = pair_friction(scene, self.law or Coulomb(formulation=self.formulation, solver=self.solver))
        self._whole = impacts == "propagated" or restitution == "newton" or bool(self._newton.any()) or pairs.special
        if pairs.special:
            self.law, compiled = pairs.law, False
        self._pairs, self._memory = pairs, Memory()
        self._certificates: list[Certificate] = []
        self._external = 1 if not compiled or certify == "full" else 2 if self._whole else 0
        self._n_f = getattr(self.formulation, "n_f", 4)
        directions(self._n_f)
        self._single = self._tables(self._capacity(), (1, 1))
        if isinstance(self.time, EventDriven):
            self._course()  # refuses what it cannot take

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
        if isinstance(self.time, EventDriven):
            return self._step_by_events(checked, self._forces(tau))
        self._look_for_loops()
        t = self._single
        self._clipped[:] = 0
        load_state(t, checked, self._forces(tau), 1)
        self._begin_loops(t)
        t.control[at.LOOKED] = 0
        t = self._single = self._advance(t)
        info = StepInfo(
            contacts=acting(t),
            events=t.events[: t.control[at.EVENT_ROWS]].copy(),
            residual=float(t.rows[0, at.ROW_RESIDUAL]),
            penetration=max(0.0, -float(t.rows[0, at.ROW_GAP])),
            pivots=int(t.rows[0, at.ROW_PIVOTS]),
            loop_forces=t.row_forces[0].copy(),
            closure_error=float(t.rows[0, at.ROW_OPENING]),
            moments=acting_moments(t),
            stop_impulses=joint_sums(t, at.STOP_SUM),
            dry_impulses=joint_sums(t, at.DRY_SUM),
            clipped=self._clipped > 0,
            certified=self._certified(max(0.0, -float(t.rows[0, at.ROW_GAP]))),
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
        t = self._tables(self._capacity(), (1, 1))
        t.control[at.EXTERNAL] = 1
        load_state(t, checked, self._forces(tau), 1)
        self._begin_loops(t)
        while (code := advance(t)) == at.CONTACTS_FULL:
            t = self._grow(t)
            t.control[at.EXTERNAL] = 1
        return self._problem(t) if code == at.SOLVE else None

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
        self.fallbacks, self._memory = 0, Memory()
        begin = self._checked(self.scene.state if state is None else state)
        self._clipped[:] = 0
        if isinstance(self.time, EventDriven):
            return self._run_by_events(begin, n_steps, controller, record_every, progress)
        self._look_for_loops()
        varying = any(callable(loop.rate) for loop in self._loops.items)
        chunk = 1 if controller or varying or self.certify == "full" else min(_CHUNK, max(n_steps, 1))
        t = self._tables(self._capacity(), (chunk, chunk // record_every + 2))
        load_state(t, begin, np.zeros(self.scene.model.nv), 0)
        self._begin_loops(t)
        builder = RecordBuilder(self.scene, self._options())
        self._clipped[:] = 0
        t.control[at.EVERY] = record_every
        start(t)
        builder.take(t)
        with progress_bar(n_steps, progress) as bar:
            done = 0
            while done < n_steps:
                count = min(chunk, n_steps - done)
                if controller:
                    now = State(t.q.copy(), t.v.copy(), float(t.monitor[at.TIME]))
                    t.tau[:] = self._forces(controller(now.time, now, acting(t)))
                self._put_rates(t)
                t.control[at.STEPS_LEFT] = count
                t = self._advance(t, builder)
                certificate = self._certified(
                    -min(float(t.rows[: t.control[at.ROWS], at.ROW_GAP].min(initial=0.0)), 0.0)
                )
                self._certify(t, certificate)
                builder.take(t, certificate)
                done += count
                bar.update(count)
        names = self.scene.model.joint_of_link
        clipped = {names(int(k)): int(self._clipped[k]) for k in np.flatnonzero(self._clipped)}
        return builder.record(t, fallbacks=self.fallbacks, clipped=clipped)

    def _course(self) -> Course:
        from spatialops.simulation.event_impact import Rules
        from spatialops.simulation.event_run import Course, Limits  # with more of SciPy
        from spatialops.simulation.events import Surfaces

        surfaces, limits = Surfaces(self._pairs, self._joints), Limits(self.certify, self.depth_limit, self.loop_limit)
        newton = np.append(self._newton, np.full(len(self._joints.ints), self.restitution == "newton"))
        rules = Rules(self.impacts == "propagated", newton, float(self._settings[at.THRESHOLD]))
        return Course(self.scene, surfaces, cast(EventDriven, self.time), self.dt, rules, limits)

    def _step_by_events(self, state: State, tau: Array) -> tuple[State, StepInfo]:
        course = self._course()
        course.begin(state)
        course.drive(lambda time, now, contacts: tau, self._forces)
        course.advance(state.time + self.dt)
        self.redundant_rows = course.redundant
        motion = course.engine.present()
        return course.state(), StepInfo(
            contacts=course.contacts(),
            events=course.events(),
            residual=course.engine.residual,
            penetration=course.depth(),
            pivots=0,
            loop_forces=motion.loop_forces,
            closure_error=course.opening(),
            stop_impulses=course.stop_impulses(course.engine.impacts),
            dry_impulses=course.dry_impulses(),
            clipped=self._clipped > 0,
            moments=np.zeros((len(course.contacts()), 3)),
            certified=course.certificate(),
        )

    def _run_by_events(
        self, state: State, n_steps: int, controller: Controller | None, record_every: int, progress: bool
    ) -> Record:
        course = self._course()
        course.begin(state)
        self.redundant_rows = course.redundant
        course.keep()
        with progress_bar(n_steps, progress) as bar:
            for i in range(1, n_steps + 1):
                course.drive(controller, self._forces)
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

    def _forces(self, tau: Any) -> Array:
        nv = self.scene.model.nv
        if tau is None:
            return np.zeros(nv)
        forces = vector(tau, nv, "tau")
        if not np.isfinite(forces).all():
            raise ArgumentError("tau: must be finite, got NaN or infinity")
        self._clipped += np.abs(forces) > self._effort
        return np.clip(forces, -self._effort, self._effort)

    def _checked(self, state: Any) -> State:
        """The state, checked; one beyond a joint's limits is refused as far as no step can have left it there."""
        checked = checked_state(state, self.scene.model)
        exact = self.joint_limits and self.certify == "raise" and not isinstance(self.law, Compliant)
        fault = outside_limits(self.scene.model, checked.q, self.depth_limit) if exact else ""
        if fault:
            raise ArgumentError(f"state: {fault}; start within them, or simulate with joint_limits=False")
        return checked

    def _capacity(self) -> int:
        """Contacts to make room for at first; the tables grow where there are more."""
        return first_capacity(self.scene) + self._joints.n_dry

    def _tables(self, capacity: int, steps: tuple[int, int]) -> Tables:
        t = allocate(self.scene, self._joints, self._settings, self._n_f, capacity, steps)
        t.control[at.EXTERNAL] = self._external
        t.control[at.SCHEME] = INTEGRATORS[self.integrator]
        t.control[at.DAMPED] = t.damped is not t.links and self.integrator != "rk4"
        t.control[at.EVERY] = 1
        return t

    def _advance(self, t: Tables, builder: RecordBuilder | None = None) -> Tables:
        """Run the compiled loop until its steps are done, lending a hand where it asks for one."""
        while True:
            code = advance(t)
            if code == at.DONE:
                return t
            if code in (at.SOLVE, at.UNSOLVED):
                t = self._solve(t, code == at.UNSOLVED)
            elif code == at.CONTACTS_FULL:
                t = self._grow(t)
            elif code == at.RECORD_FULL and builder is not None:
                self._certify(t)
                builder.take(t)
            else:
                raise ContactError(
                    f"the state is no longer finite at t = {t.monitor[at.TIME]:.6g} s: the step is too long for the "
                    "forces and speeds of this scene, or a joint has a singular inertia"
                )

    def _look_for_loops(self) -> None:
        """Make room for closures that were added to the scene since."""
        if self._loops is not self.scene.loops:
            self._loops, self._left = self.scene.loops, None
            self._single = self._tables(self._capacity(), (1, 1))

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

    def _problem(self, t: Tables) -> ContactProblem:
        """The prepared problem, with what pairs of geoms have of their own."""
        problem = contact_problem(self.scene, t)
        if not self._pairs.special:
            return problem
        return self._pairs.put(problem, t.ints[: len(acting(t)), column.CONTACT_PAIR])

    def _solve(self, t: Tables, fallback: bool) -> Tables:
        """Solve the prepared contact problem in Python; returns the tables, larger ones where there was no room."""
        problem = self._problem(t)
        if problem.has_moments and problem.n_contacts + len(with_moments(problem)) > len(t.ints):
            t.control[at.STAGE] = at.SMOOTH if problem.phase == "contact" else at.IMPACT  # once more, with room
            return self._grow(t)
        if self._whole and problem.phase == "compression":
            self._collide(problem, t)
            return t
        warm = self._memory.recall(t) if self.law is not None and problem.phase == "contact" else None
        answer = self._answer(problem, t, fallback, warm)
        if self.law is not None and problem.phase == "contact":
            self._memory.keep(t, answer.impulses, answer.moments)
        put_answer(t, problem, answer)
        return t

    def _collide(self, problem: ContactProblem, t: Tables) -> None:
        """Both phases of an impact, whose impulses the loop only has to apply."""
        m, threshold = problem.n_contacts, float(self._settings[at.THRESHOLD])
        collider = Collider(lambda part: self._answer(part, t), self.impacts == "propagated", threshold)
        newton, pairs = np.full(m, self.restitution == "newton"), t.ints[: len(acting(t)), column.CONTACT_PAIR]
        newton[: len(pairs)], share = self._newton[pairs], float(t.monitor[at.FRACTION])
        found = collider.resolve(problem, t.floats[:m, column.RESTITUTION].copy(), newton, share)
        t.floats[:m, column.RESTITUTION] = 0.0  # nothing is left for decompression
        t.monitor[at.FRACTION] = found.share
        put_answer(t, problem, found)

    def _answer(self, problem: ContactProblem, t: Tables, fallback: bool = False, warm: Array | None = None) -> Answer:
        """Solve by the law or the formulation; SolverFailed where they do not."""
        time = t.monitor[at.TIME]
        where = f"contact problem of {problem.n_contacts} contacts ({problem.phase}) at t = {time:.6g} s"
        if self.law is not None:
            answer = self.law.solve(problem, warm)
            if not answer.solved:
                raise SolverFailed(
                    f"{where} under {self.law!r}: residual {answer.residual:.2e}; {answer.detail}. Save it with "
                    "error.problem.save(path) and try other laws on it",
                    problem,
                    answer,
                )
            self._note(problem, answer)
            return Answer(answer.impulses, answer.moments, answer.velocity, answer.residual, answer.iterations)
        formulation: Formulation = OperationalSpace(self._n_f) if fallback else self.formulation
        solution = solve(formulation.assemble(problem), "auto" if fallback else self.solver)
        self.fallbacks += fallback
        if not solution.solved:
            raise SolverFailed(
                f"{where}: residual {solution.residual:.2e}; {solution.status.message}. Save it with "
                "error.problem.save(path) and try other solvers on it",
                problem,
                solution,
            )
        recovered = formulation.recover(problem, solution)
        self._note(problem, recovered)
        return Answer(recovered.impulses, None, recovered.velocity, solution.residual, solution.iterations)

    def _grow(self, t: Tables) -> Tables:
        """Tables for twice the contacts, in the same state; the stage that ran out of room is run again."""
        bigger = self._tables(2 * len(t.ints), (len(t.hits), len(t.rows)))
        for name, old in t._asdict().items():
            new = getattr(bigger, name)
            if new is old or name in ("W", "A", "D", "covers", "lcp_ints", "lcp_vectors"):
                continue
            if new.ndim == 1:
                new[: old.size] = old
            else:
                new[: len(old)] = old
        bigger.near[-1] = -1
        bigger.control[at.LOOKED] = 0
        return bigger

    def _note(self, problem: ContactProblem, answer: ContactSolution) -> None:
        """Certify one problem's answer, with ``certify="full"``."""
        if self.certify == "full":
            found = certify(problem, answer.impulses, answer.loop_impulses, answer.moments, promises=promised(self.law))
            self._certificates.append(found)

    def _certified(self, gap: float) -> Certificate | None:
        """The worst certificate since it was last asked for; None unless ``certify="full"``."""
        if self.certify != "full":
            return None
        worst = Certificate.worst([*self._certificates, Certificate(gap=gap, residual=0.0)])
        self._certificates.clear()
        return worst

    def _certify(self, t: Tables, certificate: Certificate | None = None) -> None:
        """Check what the monitors saw since the last row."""
        if self.certify != "off":
            depth = math.inf if isinstance(self.law, Compliant) else self.depth_limit
            found = faults(t, depth, self.loop_limit, certificate)
            if found:
                report(found, float(t.monitor[at.TIME]), self.certify)
