"""Inverse dynamics that predicts its contact forces: what all controllers of [Z] sections 4 to 6 share.

A command is: look one step ahead; pose the inverse problem of the demand; let a law predict the impulses; choose among
those that do the same; take the motors' forces from the actuated rows. Subclasses name the law and the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray, scalar, vector
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.laws.solution import Law, LawSolution
from spatialops.control.actuation import Actuation
from spatialops.control.consistency import nearest_consistent
from spatialops.control.controller import Explanation
from spatialops.control.distribution import allowed, least_torque, nearest
from spatialops.control.inverse_problem import InverseProblem, inverse_problem
from spatialops.control.landing import landing, part, stretched
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.simulation.foresight import Ahead, Foresight
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

Demand = Callable[[float, State], Any]
CHOICES = ("solver", "nearest", "least-torque")
_BRAKE = 0.05  # s in which a command without an answer brings the joints to rest
_CHANGED = 1e-6  # rad/s^2: less is no change of a demand
_THROWN = 20.0  # m/s^2: above that a demand throws what has no motors, and gives way itself
_FORGET = 0.02  # s in which the last forces lose their hold on the choice, so that legs do not go on squeezing
_STEEP = 1.0  # friction above which a law has several answers every now and then
_CHANGES = 12  # sets of pressing contacts that are tried for a consistent demand


class Prediction(NamedTuple):
    """A solution of the inverse problem, and how it was come by."""

    problem: InverseProblem
    solution: LawSolution
    impulses: Array
    status: str
    notes: tuple[str, ...]
    iterations: int
    sure: bool
    """Whether the law has no other answer to the command that follows: else its own is looked up."""


class Predictive:
    """Motor forces that give demanded accelerations against contact forces that it predicts.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator. Its law need not be the controller's.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    actuation : Actuation, optional
        Default: all joints but free ones.
    choice : {"solver", "nearest", "least-torque"}
        Among forces that do the same: those that the solver meets; those nearest to the last command's, so that loads
        do not jump between contacts; those that ask least of the motors.
    standing : callable, optional
        standing(time) -> kernel links (`model.body_links`) whose contacts the motion means to keep. Demands are changed
        by the least with which these neither slip nor part ([Z] 4.5), so that feet do not pull against each other.
    within_limits : bool
        Clip commands to the motors' limits, say so, and predict what the clipped command does.
    horizon : float, optional
        s over which the demand is met and contacts are brought to rest; default: one step of the simulator, with which
        a prediction is exact. On ground that is not as rigid as a law says, a foot that is stopped within one step
        counts on forces that do not come, and shakes: there some tens of steps are better.
    others : callable, optional
        others(time, state) -> joint forces (nv,) of motors outside `actuation`, which follow forces: they are counted
        on, and part of the command. Fingers that squeeze are such; were their motion given, what they squeeze would
        have to fit between them to the last digit.

    Attributes
    ----------
    forces : dict
        Last predicted impulses, N s in world axes, by the contacts' identities.
    """

    law: Law
    cone: str = "coulomb"  # what binds a contact when forces are chosen: see `distribution.allowed`
    n_f: int = 8
    consistent: bool = False  # whether demands that contacts cannot follow are replaced by the nearest that they can
    aligned: int = 0  # times that contact frames are looked up again under the command: for polyhedral laws

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        actuation: Actuation | None = None,
        choice: str = "solver",
        standing: Callable[[float], Any] | None = None,
        within_limits: bool = True,
        horizon: float | None = None,
        others: Callable[[float, State], Any] | None = None,
    ) -> None:
        if choice not in CHOICES:
            raise ArgumentError(f"choice: expected one of {', '.join(CHOICES)}, got {choice!r}")
        if not callable(demand):
            raise ArgumentError(f"demand: expected a function (time, state) -> accelerations, got {demand!r}")
        self.foresight = Foresight(simulator)
        self.model, self._memory = self.foresight.model, 1.0 - min(simulator.dt / _FORGET, 1.0)
        self.dt = simulator.dt if horizon is None else scalar(horizon, "horizon", low=simulator.dt)
        self.actuation = Actuation(self.model) if actuation is None else actuation
        self.demand, self.choice, self.within_limits, self.standing = demand, choice, within_limits, standing
        self.others = others
        self.forces: dict[tuple[int, ...], Array] = {}
        self._said: Explanation | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """Joint forces (nv,), N m or N; always finite: `explain().status` says what they are worth."""
        begun = perf_counter()
        said = self._safely(time, state)
        values = {name: getattr(said, name) for name in said.__dataclass_fields__}
        self._said = Explanation(**{**values, "seconds": perf_counter() - begun})
        return said.tau

    def explain(self) -> Explanation:
        """Why the last command was what it was."""
        if self._said is None:
            raise ArgumentError("explain: there has been no command yet")
        return self._said

    def _safely(self, time: float, state: State) -> Explanation:
        """The command, or a safe one: braking joints against the forces predicted for that, else damped ones."""
        notes: tuple[str, ...] = ()
        try:
            wanted = vector(self.demand(time, state), len(self.actuation), "demand")
            if np.isfinite(wanted).all():
                return self._command(state, wanted, "solved", ())
            notes = ("the demand is not finite",)
        except (SpatialOpsError, np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
            notes = (f"no command for the demand: {error}",)
        try:
            return self._command(state, -state.v[self.actuation.rows] / _BRAKE, "held", notes)
        except (SpatialOpsError, np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
            return damped(self.model.nv, self.actuation, state, (*notes, f"no command to brake: {error}"))

    def _command(self, state: State, accelerations: Array, status: str, notes: tuple[str, ...]) -> Explanation:
        rows, base = self.actuation.rows, self._base(state)
        ahead = stretched(self.foresight.look(state, base), self.dt / self.foresight.dt)
        lands = landing(ahead)
        ahead = part(ahead, ~lands) if lands.any() else ahead
        wanted = ahead.before[rows] + self.dt * accelerations
        kept = self._kept(state.time, ahead, wanted)
        found = self._predict(state, ahead, kept, ~lands, base)
        if found.status == "solved" and np.abs(kept - wanted).max(initial=0.0) > _CHANGED * self.dt:
            found = found._replace(status="nearest")
        p = found.impulses
        tau = found.problem.forces(ahead, p.ravel(), self.dt)
        if not np.isfinite(tau).all():
            raise ArgumentError("the predicted forces are not finite")
        notes = (*notes, *found.notes)
        binds = self.within_limits and bool((np.abs(tau[rows]) > self.actuation.limits).any())
        if binds:
            tau, notes = self.actuation.clipped(tau), (*notes, "limits of motors bind")
        if lands.any():
            notes = (*notes, "contacts land: passively")
        tau = tau + base
        world = np.einsum("mi,mij->mj", p, found.problem.frames)
        self.forces = {tuple(key): f for key, f in zip(ahead.keys.tolist(), world, strict=True)}
        demanded, predicted = np.zeros(self.model.nv), (found.problem.after(p.ravel()) - ahead.before) / self.dt
        demanded[rows] = accelerations
        said = Explanation(
            tau=tau,
            demanded=demanded,
            predicted=predicted,
            forces=p / self.dt,
            status=found.status if status == "solved" else status,
            residual=found.solution.residual,
            slack=float(np.abs(predicted[rows] - accelerations).max(initial=0.0)),
            iterations=found.iterations,
            notes=notes,
        )
        return said if found.sure and not (binds or lands.any()) else self._foreseen(state, said)

    def _foreseen(self, state: State, said: Explanation) -> Explanation:
        """The same command, and what comes of it by the law, where that is not what the command was made for."""
        seen, rows, dt = self.foresight.look(state, said.tau), self.actuation.rows, self.foresight.dt
        forces, residual, after = np.zeros((0, 3)), 0.0, seen.free
        if seen.problem is not None:
            answer = self.law.solve(seen.problem)
            forces, residual = answer.impulses / dt, answer.residual
            after = seen.problem.after(answer.impulses.ravel())
        predicted = (after - seen.before) / dt
        slack = float(np.abs(predicted - said.demanded)[rows].max(initial=0.0))
        met = slack <= _CHANGED * max(1.0, np.abs(said.demanded).max(initial=0.0))
        status = "nearest" if said.status == "solved" and not met else said.status
        return replace(said, predicted=predicted, forces=forces, status=status, residual=residual, slack=slack)

    def _base(self, state: State) -> Array:
        """Forces (nv,) of the motors whose motion is not given."""
        nv, rows = self.model.nv, self.actuation.rows
        if self.others is None:
            return np.zeros(nv)
        base = vector(self.others(state.time, state), nv, "others").copy()
        base[rows] = 0.0
        return base

    def _kept(self, time: float, ahead: Ahead, wanted: Array) -> Array:
        """The nearest demand with which contacts of `standing` links neither slip nor part."""
        if self.standing is None or ahead.problem is None:
            return wanted
        feet = np.isin(ahead.problem.links, np.asarray(self.standing(time))).any(axis=1)
        problem = inverse_problem(ahead, self.actuation.rows, wanted)
        feet &= (problem.closing <= 0.0) | (problem.velocities[::3] < 0.0)  # a gap that stays open ties nothing
        mass = float(np.diag(ahead.mass)[problem.others].max(initial=0.0))
        limit = np.sqrt(mass) * _THROWN * self.dt
        return wanted + nearest_consistent(problem, feet, ahead.before, limit)

    def _predict(self, state: State, ahead: Ahead, wanted: Array, rests: BoolArray, base: Array) -> Prediction:
        """Impulses by the law, in the contact frames that the step will have under the command that follows."""
        found = self._solved(ahead, wanted, None)
        frames = None if ahead.problem is None else ahead.problem.frames
        if not self.aligned or frames is None:
            return found
        for _ in range(self.aligned):
            tau = found.problem.forces(ahead, found.impulses.ravel(), self.dt)
            seen = self.foresight.look(state, tau + base).problem
            if seen is None:
                return found
            turned = seen.frames[rests]
            if np.abs(turned - frames).max(initial=0.0) < 1e-9:
                return found
            frames = turned
            found = self._solved(ahead, wanted, frames)
        return found._replace(sure=False)

    def _solved(self, ahead: Ahead, wanted: Array, frames: Array | None) -> Prediction:
        rows = self.actuation.rows
        problem = inverse_problem(ahead, rows, wanted, frames)
        last = self._last(ahead.keys, problem.frames)
        solution = self.law.solve(problem, last if len(last) else None)
        pivots, status, notes = solution.iterations, "solved", list[str]()
        for _ in range(_CHANGES if self.consistent else 0):
            if solution.solved:
                break
            status = "nearest"
            pressing = np.abs(solution.impulses).max(axis=1, initial=0.0) > 0.0
            wanted = problem.velocity[rows] + nearest_consistent(problem, pressing)
            problem = inverse_problem(ahead, rows, wanted, frames)
            solution = self.law.solve(problem, solution.impulses)
            pivots += solution.iterations
        if status == "nearest":
            notes.append("contacts cannot follow the demand: the nearest that they can")
        if not solution.solved:
            status = "nearest"
            notes.append(f"the law is met to {solution.residual:.1e} only: {solution.detail}")
            if not np.isfinite(solution.impulses).all() or not solution.residual < 1e-2:
                raise ArgumentError(f"no contact forces for the demand: residual {solution.residual:.1e}")
        elif solution.detail:
            notes.append(solution.detail)
        impulses = self._chosen(problem, solution, last, ahead)
        sure = not solution.detail and not self._several(problem, impulses)
        return Prediction(problem, solution, impulses, status, tuple(notes), pivots, sure)

    def _several(self, problem: InverseProblem, impulses: Array) -> bool:
        """Whether the law may well have another answer to the command than that which the command was made for."""
        return bool((problem.friction > _STEEP).any())

    def _last(self, keys: IntArray, frames: Array) -> Array:
        """The last command's impulses (m, 3) on the same contacts along their present frames; new ones have none."""
        none = np.zeros(3)
        world = np.array([self.forces.get(tuple(key), none) for key in keys.tolist()]).reshape(-1, 3)
        result: Array = np.einsum("mij,mj->mi", frames, world)
        return result

    def _chosen(self, problem: InverseProblem, solution: LawSolution, last: Array, ahead: Ahead) -> Array:
        """Other impulses that do the same, as `choice` says; the law's own where choosing loses accuracy."""
        p = solution.impulses
        if self.choice == "solver" or not len(p):
            return p
        room = allowed(problem, p, law=self.cone, n_f=self.n_f)
        also = problem.velocities if self.cone in ("dissipation", "released") and problem.closing.any() else None
        if self.choice == "nearest":
            other = nearest(problem, p, self._memory * last, room, also=also)
        else:
            torques = problem.forces(ahead, p.ravel(), self.dt)[problem.given]
            other = least_torque(problem, p, torques, self.dt, room, also=also)
        moved = problem.reach.T @ (other - p).ravel()
        size = np.abs(problem.reach.T @ p.ravel()).max(initial=0.0)
        kept = np.abs(moved).max(initial=0.0) <= 1e-9 * size and (room.rows @ other.ravel()).min(initial=0.0) >= (
            -1e-9 * np.abs(other).max(initial=0.0)
        )
        return other if kept else p


def damped(nv: int, actuation: Actuation, state: Any, notes: tuple[str, ...]) -> Explanation:
    """The last resort: forces against the motion of each joint, none where not even that is known.

    A motor brakes with the share of its limit that its speed is of 10 rad/s (m/s), of 1 N m where it names no limit.
    """
    tau = np.zeros(nv)
    v = np.asarray(getattr(state, "v", np.zeros(nv)), dtype=np.float64)
    if v.shape == (nv,):
        strength = np.where(np.isfinite(actuation.limits), actuation.limits, 1.0)
        speed = np.nan_to_num(v[actuation.rows], nan=0.0, posinf=0.0, neginf=0.0)
        tau[actuation.rows] = -strength * np.clip(0.1 * speed, -1.0, 1.0)
    still = np.zeros(nv)
    return Explanation(tau=tau, demanded=still, predicted=still, status="damped", residual=float("nan"), notes=notes)
