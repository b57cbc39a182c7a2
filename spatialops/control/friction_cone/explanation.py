"""Why a friction-cone controller chose its command: margins, multipliers, conflicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone.assembly import Assembly
from spatialops.control.friction_cone.barrier import Barrier
from spatialops.control.friction_cone.conflict import smallest_conflict
from spatialops.control.friction_cone.force_program import ForceProgram, ForceSolution
from spatialops.control.projected.control_state import Consistency, ControlState

_RANK = 1e-8
# A constraint binds whose multiplier, times its scale, is above this share of the largest, and
# whose margin is below this share of its scale.
_BINDS = 1e-4


@dataclass(frozen=True, eq=False)
class ConeExplanation(Explanation):
    """Why a friction-cone controller chose its command.

    Parameters
    ----------
    tau, demanded, predicted, forces : arrays
        As of `Explanation`.
    status, residual, slack, iterations, seconds, notes, unanswered : str, numbers and tuple
        As of `Explanation`.
    power : float
        Losses in the windings, W.
    margins : dict of str to float
        How far inside each limit (N, N m) and cone (mu n - |t|, N) the command is.
    multipliers : dict of str to float
        What one unit more of each limit, and of each cone's normal force, would save, W per N or
        N m.
    binding : tuple of str
        Constraints that cost power: those with the largest multipliers and hardly a margin.
    conflict : tuple of str
        Where the task had to give way: limits and cones that cannot hold together with it, none of
        which can be left out.
    disturbance : (l,) array
        What the task's error dynamics are disturbed by, zeta of [A] 20: accelerations missing of
        each row.
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


class Command(NamedTuple):
    """A command, and how it was come by."""

    at: ControlState
    assembly: Assembly
    x: Array  # unknowns of the program: motor forces, then internal forces
    tau: Array
    status: str
    program: ForceProgram
    solution: ForceSolution | None
    refused: ForceProgram | None  # the first program that could not be solved


def explanation(command: Command) -> ConeExplanation:
    """The explanation of a command; where the task gave way, with the smallest conflict."""
    at, assembly = command.at, command.assembly
    program, solution = command.program, command.solution
    x = command.x
    u = x[: assembly.p]
    predicted = at.accelerations(u)
    zeta = at.task.wanted - at.task.drift - at.task.J @ predicted
    margins = dict(zip(assembly.names, program.margins(x).tolist(), strict=True))
    weights: dict[str, float] = {}
    if solution is not None:
        values = np.concatenate([solution.linear, solution.cones[:, 0]])
        weights = dict(zip(assembly.names, values.tolist(), strict=True))
    conflict, why = _conflict(command.refused)
    consistency = at.consistency()
    notes = list(consistency.reasons)
    if command.refused is not None:
        what = "tasks" if command.status != "solved" else "posture"
        notes.append(f"{what} could not be met exactly: {why}")
    missing = np.linalg.lstsq(at.task.J, zeta, rcond=_RANK)[0]
    return ConeExplanation(
        tau=command.tau,
        demanded=predicted + missing,
        predicted=predicted,
        forces=program.forces(x) if len(program.mu) else np.zeros((0, 3)),
        status=command.status,
        residual=0.0 if solution is None else solution.residual,
        slack=float(np.abs(missing).max(initial=0.0)),
        iterations=0 if solution is None else solution.iterations,
        notes=tuple(notes),
        power=at.motors.power(u),
        margins=margins,
        multipliers=weights,
        binding=_binding(assembly, program.scales, weights, margins),
        conflict=conflict,
        disturbance=zeta,
        consistency=consistency,
    )


def _binding(
    assembly: Assembly, scales: Array, weights: dict[str, float], margins: dict[str, float]
) -> tuple[str, ...]:
    """Names of constraints that cost power."""
    sizes = dict(zip(assembly.names, scales.tolist(), strict=True))
    most = max((weights[name] * sizes[name] for name in weights), default=0.0)
    return tuple(
        name
        for name in weights
        if weights[name] * sizes[name] > _BINDS * most and margins[name] < _BINDS * sizes[name]
    )


def _conflict(refused: ForceProgram | None) -> tuple[tuple[str, ...], str]:
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
