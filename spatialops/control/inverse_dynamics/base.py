"""Inverse dynamics that predicts its contact forces: what the controllers of [Z] 4 to 6 share.

A command is: predict the step without motor forces; pose the inverse problem of the demand; let a
law predict the impulses; choose among those that do the same; take the motors' forces from the
actuated rows. Subclasses name the law and the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple, TypedDict, get_args

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, scalar, vector
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.inverse_dynamics.consistent_demand import nearest_consistent
from spatialops.control.inverse_dynamics.counted_step import CountedStep, counted_step
from spatialops.control.inverse_dynamics.force_distribution import (
    Bounding,
    ConeKind,
    allowed,
    least_torque,
    nearest,
)
from spatialops.control.inverse_dynamics.inverse_geometry import Geometries
from spatialops.control.inverse_dynamics.inverse_problem import (
    InverseProblem,
    demanding,
    inverse_problem,
    turned,
)
from spatialops.control.inverse_dynamics.replay import Replay, along, in_world, replay, settled
from spatialops.control.safe_command import LIMITS_BIND, UNANSWERED, SafeController
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead, StepPrediction
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

Demand = Callable[[float, State], ArrayLike]
Choice = Literal["solver", "nearest", "least-torque"]
_HORIZON = 0.02  # s; with one step of 1 ms three of four robots fall in MuJoCo
_BRAKE = 0.05  # s in which a command without an answer brings the joints to rest
_CHANGED = 1e-6  # rad/s^2: less is no change of a demand
_THROWN = 20.0  # m/s^2: above that a demand throws what has no motors, and gives way itself
# s in which the last forces lose their hold on the choice, so that legs do not go on squeezing
_FORGET = 0.02
_SAME = 1e-9  # relative: other impulses that move so little more, or leave cones so little
_TURNED = 1e-9  # entries of contact frames: by less they have not turned
_WORTHLESS = 1e-2  # residual of a law's answer from which on it is not used
_LAND = "contacts land: passively"
_TURN = "directions of friction do not settle"
_OTHERS = "other contacts come under the command"
UNSETTLED = (
    LIMITS_BIND,
    _LAND,
    _TURN,
    _OTHERS,
)  # beginnings of notes: forces that come are not those counted on
_SETTLED = 1e-7  # rad/s^2 or m/s^2: what other directions of friction may change
_CHANGES = 12  # sets of pressing contacts that are tried for a consistent demand
_ROUNDS = 5  # times that they are found with the motion that follows from them


class Prediction(NamedTuple):
    """A solution of the inverse problem, and how it was come by."""

    problem: InverseProblem
    solution: LawSolution
    impulses: Array
    status: str
    notes: tuple[str, ...]
    iterations: int
    miss: float = 0.0  # rad/s^2 or m/s^2, of joints, where directions of friction do not settle


class Asked(NamedTuple):
    """A command, where it was given, and the forces of the one before."""

    state: State
    tau: Array
    last: dict[tuple[int, ...], Array]


class Options(TypedDict, total=False):
    """Options that subclasses hand on, see `ContactInverseDynamics`."""

    actuation: Actuation | None
    standing: Callable[[float], ArrayLike] | None
    within_limits: bool
    horizon: float | None
    others: Callable[[float, State], ArrayLike] | None


class ContactInverseDynamics(SafeController):
    """Motor forces that give demanded accelerations against contact forces that it predicts.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator. Its law need not be the
        controller's.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    actuation : Actuation, optional
        Default: all joints but free ones.
    choice : {"solver", "nearest", "least-torque"}, default "solver"
        Among forces that do the same: those that the solver meets; those nearest to the last
        command's, so that loads do not jump between contacts; those that ask least of the motors.
    standing : callable, optional
        standing(time) -> kernel links (`model.body_links`) whose contacts the motion means to keep.
        Demands are changed by the least with which these neither slip nor part ([Z] 4.5), so that
        feet do not pull against each other.
    within_limits : bool, default True
        Clip commands to the motors' limits, say so, and predict what the clipped command does.
    horizon : float, optional
        s over which the demand is met and contacts are brought to rest; default: 20 ms, or one step
        of the simulator where that is longer. With one step the command is the exact inverse of
        that simulator, and of nothing else: where the ground is not as rigid as a law says, or the
        state not as exact, a foot that is stopped within a step counts on forces that do not come,
        and shakes.
    others : callable, optional
        others(time, state) -> joint forces (nv,) of motors outside `actuation`, which follow
        forces: they are counted on, and part of the command. Fingers that squeeze are such; were
        their motion given, what they squeeze would have to fit between them to the last digit.

    Attributes
    ----------
    forces : dict
        Last predicted impulses, N s in world axes, by the contacts' identities.

    Raises
    ------
    ArgumentError
        For options that are not known, or out of range.

    References
    ----------
    [Z] sections 4 to 6.
    """

    law: Law
    # What binds a contact when forces are chosen, see `force_distribution.allowed`.
    cone: ConeKind = "coulomb"
    n_f: int = 8
    # Whether demands that contacts cannot follow are replaced by the nearest that they can.
    consistent: bool = False
    # Times that contact frames are found again under the command: for polyhedral laws.
    aligned: int = 0

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        actuation: Actuation | None = None,
        choice: Choice = "solver",
        standing: Callable[[float], ArrayLike] | None = None,
        within_limits: bool = True,
        horizon: float | None = None,
        others: Callable[[float, State], ArrayLike] | None = None,
    ) -> None:
        if choice not in get_args(Choice):
            known = ", ".join(get_args(Choice))
            raise ArgumentError(f"choice: expected one of {known}, got {choice!r}")
        if not callable(demand):
            raise ArgumentError(
                f"demand: expected a function (time, state) -> accelerations, got {demand!r}"
            )
        self.lookahead = Lookahead(simulator)
        self.model = self.lookahead.model
        self._memory = 1.0 - min(simulator.dt / _FORGET, 1.0)
        horizon = max(_HORIZON, simulator.dt) if horizon is None else horizon
        self.dt = scalar(horizon, "horizon", low=simulator.dt)
        self.actuation = Actuation(self.model) if actuation is None else actuation
        self.demand = demand
        self.choice = choice
        self.within_limits = within_limits
        self.standing = standing
        self.others = others
        self.forces: dict[tuple[int, ...], Array] = {}
        self._asked: Asked | None = None
        self._is_cut = False
        self._missed = 0.0
        self._geometries = Geometries()
        self._bounding = Bounding()
        self._gain = np.zeros(self.model.nv)  # of velocity in a step, that Coriolis forces count on

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command; `explain().status` says what it is worth.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Not used: the controller predicts its contacts.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N; always finite.
        """
        return self._safe_command(time, state, lambda: self._answer(time, state))

    def _answer(self, time: float, state: State) -> Explanation:
        """The command for the demand, or one that brakes joints against predicted forces."""
        notes: tuple[str, ...] = ("the demand is not finite",)
        try:
            wanted = vector(self.demand(time, state), len(self.actuation), "demand")
            if np.isfinite(wanted).all():
                return self._commanded(state, wanted, "solved", ())
        except UNANSWERED as error:
            notes = (f"no command for the demand: {error}",)
        return self._commanded(state, -state.v[self.actuation.rows] / _BRAKE, "held", notes)

    def _commanded(
        self, state: State, accelerations: Array, status: str, notes: tuple[str, ...]
    ) -> Explanation:
        """The command; once more where it fails from what is remembered of the one before."""
        try:
            return self._command(state, accelerations, status, notes)
        except UNANSWERED:
            self._gain, self.forces = np.zeros(self.model.nv), {}
            self._bounding = Bounding()
            return self._command(state, accelerations, status, notes)

    def _command(
        self, state: State, accelerations: Array, status: str, notes: tuple[str, ...]
    ) -> Explanation:
        rows, base = self.actuation.rows, self._base(state)
        frames: Array | None = None  # in which the next round begins
        times = self.dt / self.lookahead.dt
        step: CountedStep | None = None
        stands = self._stands(state.time)
        for _ in range(_ROUNDS):
            step = counted_step(self._ahead(state, base), times, step)
            ahead, lands = step.ahead, step.lands
            if frames is not None and len(frames) != len(ahead.keys):
                frames = None
            wanted = ahead.before[rows] + self.dt * accelerations
            stated = self._stated(ahead, wanted, stands)
            found = self._predict(state, ahead, stated, ~lands, base, frames)
            frames = found.problem.frames
            after = found.problem.after(found.impulses.ravel())
            counted, self._gain = self._gain, (self.lookahead.dt / self.dt) * (after - ahead.before)
            alone = not self.lookahead.counts_gain  # Coriolis forces ask for one round only
            if alone or found.miss or settled(state, counted, self._gain, self.lookahead.dt):
                break
        if step is not None and not self.aligned:
            found = self._with_choice(step, found)
        tau, binds = self._limited(found.problem.forces(ahead, found.impulses.ravel(), self.dt))
        last = self.forces
        self.forces = in_world(ahead.keys, found.problem.frames, found.impulses)
        self._asked = Asked(state, tau + base, last)
        predicted = (after - ahead.before) / self.dt
        if not np.isfinite(predicted).all():  # of a demand so wild that limits leave nothing of it
            predicted = self.replay().accelerations
        self._missed = found.miss
        self._is_cut = binds  # what the command does is not what it was computed for: `explain`
        slack = float(np.abs(predicted[rows] - accelerations).max(initial=0.0)) + found.miss
        met = slack <= _CHANGED * max(1.0, float(np.abs(accelerations).max(initial=0.0)))
        if status == "solved" and (binds or not (met and found.status == "solved")):
            status = "nearest"
        notes = (*notes, *found.notes)
        notes += (LIMITS_BIND,) if binds else ()
        notes += (_LAND,) if lands.any() else ()
        return Explanation(
            tau=tau + base,
            demanded=self.actuation.spread(accelerations),
            predicted=predicted,
            forces=found.impulses / self.dt,
            status=status,
            residual=found.solution.residual,
            slack=slack,
            iterations=found.iterations,
            notes=notes,
        )

    def explain(self) -> Explanation:
        """Why the last command was what it was; where limits cut it, what is left of it.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        found = super().explain()
        if not self._is_cut or found.status == "damped":
            return found
        self._is_cut = False
        rows = self.actuation.rows
        try:
            predicted = self.replay().accelerations
            if not np.isfinite(predicted).all():
                raise ArgumentError("it is not finite")
        except UNANSWERED as error:
            note = f"predicted is what limits cut; of what they leave nothing is known: {error}"
            self._explanation = replace(found, notes=(*found.notes, note))
            return self._explanation
        missed = np.abs(predicted[rows] - found.demanded[rows]).max(initial=0.0)
        slack = float(missed) + self._missed
        self._explanation = replace(found, predicted=predicted, slack=slack)
        return self._explanation

    def replay(self) -> Replay:
        """What the controller's law itself answers to the last command, over one step.

        The prediction is what the command was computed for; this is a forward problem, solved
        again under its torques, which agrees with a simulator of the same law also where the
        prediction does not (`Replay`).

        Returns
        -------
        Replay
            Accelerations, forces and the law's residual.

        Raises
        ------
        ArgumentError
            Before the first command that was computed for forces.
        """
        if self._asked is None:
            raise ArgumentError("replay: there has been no command for predicted forces yet")
        asked, share = self._asked, self.lookahead.dt / self.dt
        last = {key: share * p for key, p in asked.last.items()}
        return replay(self.lookahead, self.law, asked.state, asked.tau, last)

    def _ahead(self, state: State, tau: Array) -> StepPrediction:
        """The coming step, with Coriolis forces at the mean velocity that is counted on."""
        return self.lookahead.predict(state, tau, gain=self._gain)

    def _limited(self, tau: Array) -> tuple[Array, bool]:
        """Joint forces within the motors' limits, if they are to be, and whether limits bind."""
        if not np.isfinite(tau).all():
            raise ArgumentError("the predicted forces are not finite")
        if self.within_limits:
            cut = self.actuation.clipped(tau)
            return cut, bool((cut != tau).any())
        return tau, bool((self.lookahead.simulator.effort.cut(tau) != tau).any())

    def _base(self, state: State) -> Array:
        """Forces (nv,) of the motors whose motion is not given."""
        nv, rows = self.model.nv, self.actuation.rows
        if self.others is None:
            return np.zeros(nv)
        base = vector(self.others(state.time, state), nv, "others").copy()
        base[rows] = 0.0
        return base

    def _stands(self, time: float) -> BoolArray | None:
        """Links (nv + 1,) of `standing`; the last is the world, link -1."""
        if self.standing is None:
            return None
        stands = np.zeros(self.model.nv + 1, dtype=np.bool_)
        stands[np.asarray(self.standing(time))] = True
        return stands

    def _stated(
        self, ahead: StepPrediction, wanted: Array, stands: BoolArray | None
    ) -> InverseProblem:
        """The problem of the nearest demand with which links that stand neither slip nor part."""
        problem = inverse_problem(ahead, self.actuation.rows, wanted, kept=self._geometries)
        if stands is None or ahead.problem is None:
            return problem
        feet = stands[problem.links].any(axis=1)
        # A gap that stays open ties nothing.
        feet &= (problem.gap_bias <= 0.0) | (problem.velocities[::3] < 0.0)
        limit = problem.geometry.heaviest * _THROWN * self.dt
        change = nearest_consistent(problem, feet, ahead.before, limit)
        return demanding(problem, wanted + change)

    def _predict(
        self,
        state: State,
        ahead: StepPrediction,
        stated: InverseProblem,
        rests: BoolArray,
        base: Array,
        frames: Array | None,
    ) -> Prediction:
        """Impulses by the law, in the contact frames of the step under the command that follows."""
        found = self._solved(ahead, stated, frames if self.aligned else None)
        if not self.aligned or ahead.problem is None:
            return found
        miss = 0.0
        for _ in range(self.aligned):
            frames = found.problem.frames
            tau = found.problem.forces(ahead, found.impulses.ravel(), self.dt)
            moved = self._ahead(state, tau + base)
            same = len(moved.keys) == len(rests) and np.array_equal(moved.keys[rests], ahead.keys)
            if moved.problem is None or not same:  # it throws feet to where there were none
                return found._replace(status="nearest", notes=(*found.notes, _OTHERS))
            turned = moved.problem.frames[rests]
            if np.abs(turned - frames).max(initial=0.0) < _TURNED:
                return found
            last, found = found, self._solved(ahead, stated, turned)
            miss = self._miss(ahead, last, found)
            if miss <= _SETTLED:
                return found
        note = f"{_TURN}: accelerations may miss by {miss:.1e}"
        return found._replace(miss=miss, notes=(*found.notes, note))

    def _miss(self, ahead: StepPrediction, one: Prediction, other: Prediction) -> float:
        """What the motors' accelerations miss if other forces come than those counted on."""
        push = other.problem.jacobian.T @ other.impulses.ravel()
        push -= one.problem.jacobian.T @ one.impulses.ravel()
        moved = np.linalg.solve(ahead.mass, push)[self.actuation.rows]
        return float(np.abs(moved).max(initial=0.0)) / self.dt

    def _solved(
        self, ahead: StepPrediction, stated: InverseProblem, frames: Array | None
    ) -> Prediction:
        rows = self.actuation.rows
        problem = stated
        if frames is not None:
            wanted = stated.velocity[rows]
            problem = inverse_problem(ahead, rows, wanted, frames, self._geometries)
        last = along(self.forces, ahead.keys, problem.frames)
        solution = self.law.solve(problem, last if len(last) else None)
        pivots = solution.iterations
        status = "solved"
        notes = list[str]()
        for _ in range(_CHANGES if self.consistent else 0):
            if solution.solved:
                break
            status = "nearest"
            pressing = np.abs(solution.impulses).max(axis=1, initial=0.0) > 0.0
            wanted = problem.velocity[rows] + nearest_consistent(problem, pressing)
            problem = demanding(problem, wanted)
            solution = self.law.solve(problem, solution.impulses)
            pivots += solution.iterations
        if status == "nearest":
            notes.append("contacts cannot follow the demand: the nearest that they can")
        if not solution.solved:
            status = "nearest"
            notes.append(f"the law is met to {solution.residual:.1e} only: {solution.detail}")
            if not np.isfinite(solution.impulses).all() or not solution.residual < _WORTHLESS:
                raise ArgumentError(
                    f"no contact forces for the demand: residual {solution.residual:.1e}"
                )
        elif solution.detail:
            notes.append(solution.detail)
        p = solution.impulses
        impulses = self._chosen(problem, solution, last, ahead) if self.aligned else p
        return Prediction(problem, solution, impulses, status, tuple(notes), pivots)

    def _with_choice(self, step: CountedStep, found: Prediction) -> Prediction:
        """The choice among forces, in the step's own frames: made once, as it moves nothing."""
        if self.choice == "solver" or not len(found.impulses):
            return found
        before, ahead = found.problem, step.ahead
        rows = self.actuation.rows
        wanted = before.velocity[rows]
        problem = inverse_problem(ahead, rows, wanted, step.frames, self._geometries)
        p = turned(found.impulses, before.frames, problem.frames)
        last = along(self.forces, ahead.keys, problem.frames)
        solution = replace(found.solution, impulses=p)
        impulses = self._chosen(problem, solution, last, ahead)
        return found._replace(problem=problem, impulses=impulses)

    def _chosen(
        self, problem: InverseProblem, solution: LawSolution, last: Array, ahead: StepPrediction
    ) -> Array:
        """Impulses that do the same, as `choice` says; the law's where choosing loses accuracy."""
        p = solution.impulses
        if self.choice == "solver" or not len(p):
            return p
        room = allowed(problem, p, law=self.cone, n_f=self.n_f)
        programmed = self.cone in ("dissipation", "released") and problem.gap_bias.any()
        also = problem.velocities if programmed else None
        if self.choice == "nearest":
            target = self._memory * last
            other = nearest(problem, p, target, room, also=also, last=self._bounding)
        else:
            torques = problem.forces(ahead, p.ravel(), self.dt)[problem.given]
            other = least_torque(problem, p, torques, self.dt, room, also=also, last=self._bounding)
        moved = problem.reach.T @ (other - p).ravel()
        size = np.abs(problem.reach.T @ p.ravel()).max(initial=0.0)
        outside = -(room.rows @ other.ravel()).min(initial=0.0)
        same = np.abs(moved).max(initial=0.0) <= _SAME * size
        return other if same and outside <= _SAME * np.abs(other).max(initial=0.0) else p
