"""Energy-optimal control under friction cones ([A] section 3): least losses in the motors that do the task."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.collision.contact_set import ContactSet
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone_assembly import Assembly, ForceGoals
from spatialops.control.friction_cone_barrier import Barrier, smallest_conflict
from spatialops.control.friction_cone_problem import ForceProgram, ForceSolution
from spatialops.control.motors import Motors
from spatialops.control.projection_contacts import HeldContacts, held
from spatialops.control.projection_control import Consistency, ControlState, control_state, minimum_norm
from spatialops.control.projection_tasks import Tracking
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

Schedule = Callable[[float, State], HeldContacts]
Posture = Callable[[Model, State], Array]


class ForceSolver(Protocol):
    """Solves force programs: `Barrier` or `Conic`."""

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve from near `start`."""


@dataclass(frozen=True, eq=False)
class ConeExplanation(Explanation):
    """Why a friction-cone controller chose its command.

    Attributes
    ----------
    power : float
        Losses in the windings, W.
    margins : dict
        How far inside each limit (N, N m) and cone (mu n - |t|, N) the command is.
    multipliers : dict
        What one unit more of each limit, and of each cone's normal force, would save, W per N or N m.
    binding : tuple of str
        Constraints that cost power: those with the largest multipliers and hardly a margin.
    conflict : tuple of str
        Where the task had to give way: limits and cones that cannot hold together with it, none of which can be left
        out.
    disturbance : (l,) array
        What the task's error dynamics are disturbed by, zeta of [A] 20: accelerations missing of each row.
    consistency : Consistency or None
        How tasks, contacts and motors fit.
    """

    power: float = 0.0
    margins: dict[str, float] = field(default_factory=dict)
    multipliers: dict[str, float] = field(default_factory=dict)
    binding: tuple[str, ...] = ()
    conflict: tuple[str, ...] = ()
    disturbance: Array = field(default_factory=lambda: np.zeros(0))
    consistency: Consistency | None = None


class FrictionConeController:
    """Tracks tasks with least losses while contact forces stay in their cones and motors within their limits.

    A command is sought in this order: tasks and posture met exactly ("solved"); tasks exactly, posture as a cost; tasks
    as a cost too, by [A] 31-33 ("nearest"); and where no forces at all keep the contacts, the least that do the task,
    cut off at the motors' limits ("held").

    Parameters
    ----------
    model : Model
    tasks : sequence of Tracking, or callable
        (time, state) -> sequence of Tracking, where they change.
    motors : Motors
    contacts : HeldContacts, callable or None
        What is held: fixed, or by time and state; None: the contacts of the simulator's last step that touch.
    posture : callable, optional
        (model, state) -> accelerations (nv,) wanted where tasks leave freedom, see `projection_secondary`. Default: -10
        v where there is freedom.
    force_goals : callable, optional
        time -> (k, 3) contact forces to regulate ([A] 35), N; NaN where free.
    solver : ForceSolver
    trade_off : float
        rho of [A] 32, W s^4; how much a missed acceleration costs.
    posture_weight : float
        The same for posture, where it is a cost.
    minimum_norm : bool
        Forces of least norm instead ([A] 14), blind to cones and limits: for comparison.

    Raises
    ------
    ArgumentError
        For options that do not fit.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Tracking] | Callable[[float, State], Sequence[Tracking]],
        motors: Motors,
        *,
        contacts: HeldContacts | Schedule | None = None,
        posture: Posture | None = None,
        force_goals: ForceGoals | None = None,
        solver: ForceSolver | None = None,
        trade_off: float = 1e3,
        posture_weight: float = 1e-2,
        minimum_norm: bool = False,
    ) -> None:
        if motors.actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        if not callable(tasks) and (not tasks or not all(isinstance(item, Tracking) for item in tasks)):
            raise ArgumentError("tasks: expected at least one Tracking")
        self.model, self.tasks, self.motors = model, tasks, motors
        self.contacts, self.posture, self.force_goals = contacts, posture, force_goals
        self.solver: ForceSolver = solver or Barrier()
        self.trade_off = scalar(trade_off, "trade_off", low=0.0, strict=True)
        self.posture_weight = scalar(posture_weight, "posture_weight", low=0.0)
        self.minimum_norm = minimum_norm
        self._start: Array | None = None
        self._attempts: list[str] = []
        self._last: tuple[Any, ...] | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """Joint forces (nv,), N m or N, zero where there is no motor."""
        begin = clock.perf_counter()
        tasks = self.tasks(time, state) if callable(self.tasks) else self.tasks
        at = control_state(self.model, state, self._held(time, state, contacts), self.motors, tasks, time)
        assembly = Assembly(at, self._posture(at, state), None if self.force_goals is None else self.force_goals(time))
        if self.minimum_norm:
            program = assembly.strict()
            x, status, solution, refused = minimum_norm(program.E, program.e), "solved", None, None
        else:
            x, status, program, solution, refused = self._choose(assembly)
        u = x[: assembly.p]
        tau = np.zeros(self.model.nv)
        tau[self.motors.actuation.rows] = u
        self._last = (at, assembly, x, tau, status, program, solution, refused, clock.perf_counter() - begin)
        return tau

    def _held(self, time: float, state: State, contacts: ContactSet | None) -> HeldContacts:
        if isinstance(self.contacts, HeldContacts):
            return self.contacts
        if self.contacts is not None:
            return self.contacts(time, state)
        if contacts is None:
            raise ArgumentError("contacts: the controller has none of its own, and none were given")
        return held(self.model, state.q, contacts)

    def _posture(self, at: ControlState, state: State) -> Array | None:
        if self.posture is not None:
            return self.posture(self.model, state)
        return -10.0 * state.v if len(at.half) > len(at.goal) else None

    def _choose(self, assembly: Assembly) -> tuple[Array, str, ForceProgram, ForceSolution | None, ForceProgram | None]:
        """Unknowns, status, the program that was solved, its solution, and the first that could not be."""
        programs = [(assembly.strict, "solved")]
        if assembly.posture is not None:
            programs.append((lambda: assembly.soft_posture(self.posture_weight), "solved"))
        programs.append((lambda: assembly.trade_off(self.trade_off, self.posture_weight), "nearest"))
        refused, self._attempts = None, []
        for make, status in programs:
            program = make()
            solution = self._solve(program)
            self._attempts.append(solution.status)
            if solution.solved:
                return solution.x, status, program, solution, refused
            refused = refused or program
        cut = minimum_norm(refused.E, refused.e) if refused is not None else np.zeros(assembly.n)
        limits = self.motors.actuation.limits
        cut[: assembly.p] = np.clip(cut[: assembly.p], -limits, limits)
        return cut, "held", program, None, refused

    def _solve(self, program: ForceProgram) -> ForceSolution:
        if not isinstance(self.solver, Barrier):
            return self.solver.solve(program)
        start = self._start if self._start is not None and len(self._start) == program.size else None
        solution, center = self.solver.solve_and_center(program, start)
        if center is not None:
            self._start = center
        return solution

    @property
    def status(self) -> str:
        """Status of the last command."""
        return str(self._remembered()[4])

    @property
    def attempts(self) -> tuple[str, ...]:
        """Status of each program that was tried for the last command; "failed" where the method gave up."""
        return tuple(self._attempts)

    @property
    def answer(self) -> tuple[ForceProgram, Array]:
        """The program behind the last command, and its unknowns: motor forces, then internal forces."""
        return self._remembered()[5], self._remembered()[2]

    @property
    def at(self) -> ControlState:
        """Dynamics and tasks at the last command."""
        at: ControlState = self._remembered()[0]
        return at

    def _remembered(self) -> tuple[Any, ...]:
        if self._last is None:
            raise ArgumentError("explain: there was no command yet")
        return self._last

    def explain(self) -> ConeExplanation:
        """Why the last command was what it was; where the task gave way, this looks for the smallest conflict.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        at, assembly, x, tau, status, program, solution, refused, seconds = self._remembered()
        predicted, u = at.accelerations(x[: assembly.p]), x[: assembly.p]
        zeta = at.goal - at.task.drift - at.task.J @ predicted
        margins = dict(zip(assembly.names, program.margins(x).tolist(), strict=True))
        weights: dict[str, float] = {}
        if solution is not None:
            values = np.concatenate([solution.linear, solution.cones[:, 0]])
            weights = dict(zip(assembly.names, values.tolist(), strict=True))
        (conflict, why), notes = self._conflict(refused), list(at.consistency().reasons)
        if refused is not None:
            what = "tasks" if status != "solved" else "posture"
            notes.append(f"{what} could not be met exactly: {why}")
        wanted = np.linalg.lstsq(at.task.J, at.goal - at.task.drift - at.task.J @ predicted, rcond=_RANK)[0]
        sizes = dict(zip(assembly.names, assembly.scales.tolist(), strict=True))
        most = max((weights[name] * sizes[name] for name in weights), default=0.0)
        binding = [
            name for name in weights if weights[name] * sizes[name] > 1e-4 * most and margins[name] < 1e-4 * sizes[name]
        ]
        return ConeExplanation(
            tau=tau,
            demanded=predicted + wanted,
            predicted=predicted,
            forces=program.forces(x) if len(program.mu) else np.zeros((0, 3)),
            status=status,
            residual=0.0 if solution is None else solution.residual,
            slack=float(np.abs(wanted).max(initial=0.0)),
            iterations=0 if solution is None else solution.iterations,
            seconds=seconds,
            notes=tuple(notes),
            power=self.motors.power(u),
            margins=margins,
            multipliers=weights,
            binding=tuple(binding),
            conflict=conflict,
            disturbance=zeta,
            consistency=at.consistency(),
        )

    def _conflict(self, refused: ForceProgram | None) -> tuple[tuple[str, ...], str]:
        """Inequalities that conflict in a program that was refused, and why it was, in words."""
        if refused is None:
            return (), ""
        found = Barrier().solve(refused)
        if found.status == "infeasible":
            conflict = smallest_conflict(refused, found.conflict)
            return conflict, f"not together with {', '.join(conflict)}"
        if found.status == "inconsistent":
            return (), "the equalities contradict each other"
        return (), "no solution was found for the program that asks for them"


_RANK = 1e-8
