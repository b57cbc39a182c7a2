"""Rounds of a command that ask a law itself: what all laws, and all contacts, can have.

Compiled rounds (`compiled`) are for plain contacts, and leave the rest to these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.contact.constraint_rows import CONTACT
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.control.actuation import Actuation
from spatialops.control.inverse_dynamics.answer import GAVE_WAY, OTHERS, Answer, unsettled
from spatialops.control.inverse_dynamics.compiled.alignment import (
    NEARER,
    PATIENCE,
    SETTLED,
    TURNED,
)
from spatialops.control.inverse_dynamics.compiled.giving_way import CHANGES
from spatialops.control.inverse_dynamics.consistent_demand import THROWN, nearest_consistent
from spatialops.control.inverse_dynamics.counted_step import CountedStep, counted_step
from spatialops.control.inverse_dynamics.force_distribution import (
    REST,
    SAME,
    STUCK,
    Bounding,
    ConeKind,
    allowed,
    least_torque,
    middles,
    nearest,
)
from spatialops.control.inverse_dynamics.inverse_geometry import Geometries
from spatialops.control.inverse_dynamics.inverse_problem import (
    InverseProblem,
    demanding,
    inverse_problem,
    turned,
)
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.control.inverse_dynamics.replay import settled
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead, StepPrediction
from spatialops.tree.state import State

Choice = Literal["solver", "nearest", "least-torque"]
# s in which the last forces lose their hold on the choice, so that legs do not go on squeezing
_FORGET = 0.02
_WORTHLESS = 1e-2  # residual of a law's answer from which on it is not used
_ROUNDS = 5  # times that Coriolis forces are found with the motion that follows from them


class Prediction(NamedTuple):
    """A solution of the inverse problem, and how it was come by."""

    problem: InverseProblem
    solution: LawSolution
    impulses: Array
    status: str
    notes: tuple[str, ...]
    iterations: int
    miss: float = 0.0  # rad/s^2 or m/s^2, of joints, where directions of friction do not settle


class LawRounds:
    """Commands for the forces that a law predicts; subclasses name the law and the choice.

    Parameters
    ----------
    lookahead : Lookahead
        The controller's model of the coming step.
    actuation : Actuation
        Joints whose motion is demanded.
    choice : {"solver", "nearest", "least-torque"}
        Among forces that do the same.
    horizon : float
        s over which the demand is met.
    """

    law: Law
    # What binds a contact when forces are chosen, see `force_distribution.allowed`.
    cone: ConeKind = "coulomb"
    n_f: int = 8
    rough: float = np.inf  # friction that is counted on where there is more
    reserve: float = 0.0  # share of it that the choice leaves unused
    # Whether demands that contacts cannot follow are replaced by the nearest that they can.
    consistent: bool = False
    # Times that contact frames are found again under the command: for polyhedral laws.
    aligned: int = 0

    def __init__(
        self, lookahead: Lookahead, actuation: Actuation, choice: Choice, horizon: float
    ) -> None:
        self.lookahead = lookahead
        self.model = lookahead.model
        self.actuation = actuation
        self.choice = choice
        self.dt = horizon
        self._memory = 1.0 - min(lookahead.dt / _FORGET, 1.0)
        self._geometries = Geometries()
        self._forget()

    def _forget(self) -> None:
        """Begin as if there had been no command."""
        self._fresh = True
        self._gain = np.zeros(self.model.nv)  # of velocity in a step, that Coriolis forces count on
        self._forces = Remembered.nothing()
        self._bounding = Bounding()
        self._stand: BoolArray | None = None  # links (nv + 1,) that the motion means to keep

    def _counted(self) -> Law:
        """The law of a command's forces."""
        return self.law

    def _by_law(
        self, state: State, accelerations: Array, base: Array, stands: BoolArray | None
    ) -> Answer:
        """Rounds until Coriolis forces settle, and the choice of forces."""
        rows = self.actuation.rows
        self._stand = stands
        frames: Array | None = None  # in which the next round begins
        times = self.dt / self.lookahead.dt
        step: CountedStep | None = None
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
        return Answer(
            ahead.before,
            after,
            found.problem.forces(ahead, found.impulses.ravel(), self.dt),
            found.impulses[found.problem.kinds == CONTACT],
            Remembered.of(ahead.keys, found.problem.frames, found.impulses),
            found.solution.residual,
            found.iterations,
            bool(lands.any()),
            found.status,
            found.notes,
            found.miss,
        )

    def _ahead(self, state: State, tau: Array) -> StepPrediction:
        """The coming step, with Coriolis forces at the mean velocity that is counted on."""
        return self.lookahead.predict(state, tau, gain=self._gain)

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
        limit = problem.geometry.heaviest * THROWN * self.dt
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
        least = np.inf
        vain = 0
        for _ in range(self.aligned):
            frames = found.problem.frames
            tau = found.problem.forces(ahead, found.impulses.ravel(), self.dt)
            moved = self._ahead(state, tau + base)
            same = len(moved.keys) == len(rests) and np.array_equal(moved.keys[rests], ahead.keys)
            if moved.problem is None or not same:  # it throws feet to where there were none
                return found._replace(status="nearest", notes=(*found.notes, OTHERS))
            turns = moved.problem.frames[rests]
            if np.abs(turns - frames).max(initial=0.0) < TURNED:
                return found
            if self._lies_within(found, turns):
                return self._turned(ahead, found, turns)
            last, found = found, self._solved(ahead, stated, turns)
            miss = self._miss(ahead, last, found)
            if miss <= SETTLED:
                return found
            vain = 0 if miss <= NEARER * least else vain + 1
            least = min(least, miss) if vain == 0 else least
            if vain == PATIENCE:
                break
        return found._replace(miss=miss, notes=(*found.notes, unsettled(miss)))

    def _lies_within(self, found: Prediction, frames: Array) -> bool:
        """Whether contacts whose frames turn are open, or stick inside their turned polygons."""
        problem = found.problem
        after = problem.after(found.impulses.ravel())
        u = (problem.jacobian @ after).reshape(-1, 3) + problem.bias
        still = STUCK * max(float(np.abs(problem.velocities).max(initial=0.0)), REST)
        p = turned(found.impulses, problem.frames, frames)
        mu = np.minimum(problem.friction, self.rough)
        most = mu * np.cos(np.pi / self.n_f) ** 2 * p[:, 0] + SAME * np.abs(p[:, 0])
        inside = (p[:, 1:] @ middles(self.n_f).T <= most[:, None]).all(axis=1)
        sticks = (u[:, 0] <= still) & (np.hypot(u[:, 1], u[:, 2]) <= still)
        unmoved = np.abs(frames - problem.frames).max(axis=(1, 2), initial=0.0) < TURNED
        return bool((unmoved | (p == 0.0).all(axis=1) | (sticks & inside)).all())

    def _turned(self, ahead: StepPrediction, found: Prediction, frames: Array) -> Prediction:
        """The same impulses along other frames."""
        before = found.problem
        rows = self.actuation.rows
        problem = inverse_problem(ahead, rows, before.velocity[rows], frames, self._geometries)
        return found._replace(
            problem=problem, impulses=turned(found.impulses, before.frames, problem.frames)
        )

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
        last = self._forces.along(ahead.keys, problem.frames)
        law = self._counted()
        solution = law.solve(problem, last if len(last) else None)
        pivots = solution.iterations
        status = "solved"
        notes = list[str]()
        for _ in range(CHANGES if self.consistent else 0):
            if solution.solved:
                break
            status = "nearest"
            pressing = np.abs(solution.impulses).max(axis=1, initial=0.0) > 0.0
            wanted = problem.velocity[rows] + nearest_consistent(problem, pressing)
            problem = demanding(problem, wanted)
            solution = law.solve(problem, solution.impulses)
            pivots += solution.iterations
        if status == "nearest":
            notes.append(GAVE_WAY)
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
        ahead, frames = step.ahead, step.frames
        if frames is None:
            return found
        found = self._turned(ahead, found, frames)
        problem = found.problem
        last = self._forces.along(ahead.keys, problem.frames)
        solution = replace(found.solution, impulses=found.impulses)
        return found._replace(impulses=self._chosen(problem, solution, last, ahead))

    def _chosen(
        self, problem: InverseProblem, solution: LawSolution, last: Array, ahead: StepPrediction
    ) -> Array:
        """Impulses that do the same, as `choice` says; the law's where choosing loses accuracy."""
        p = solution.impulses
        if self.choice == "solver" or not len(p):
            return p
        room = allowed(problem, p, law=self.cone, n_f=self.n_f, kept=1.0 - self.reserve)
        if self.choice == "nearest":
            target = self._memory * last
            other = nearest(problem, p, target, room, last=self._bounding)
        else:
            torques = problem.forces(ahead, p.ravel(), self.dt)[problem.given]
            other = least_torque(problem, p, torques, self.dt, room, last=self._bounding)
        moved = problem.reach.T @ (other - p).ravel()
        size = np.abs(problem.reach.T @ p.ravel()).max(initial=0.0)
        outside = -(room.rows @ other.ravel()).min(initial=0.0)
        same = np.abs(moved).max(initial=0.0) <= SAME * size
        return other if same and outside <= SAME * np.abs(other).max(initial=0.0) else p
