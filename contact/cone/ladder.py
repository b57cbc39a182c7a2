"""The door for cone problems: climb the ladder until a method's impulses hold in the original data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spatialops._arrays import Array, array
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.quick import quick
from spatialops.contact.cone.residual import Residuals
from spatialops.contact.cone.rungs import climb
from spatialops.contact.cone.system import System
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

ACCEPTED = 1e-8  # of both residuals, for success
GOAL = 1e-10  # of both, for not trying another method
_PATIENCE = 2  # methods tried for the goal when a result is good enough already


class ConeSolver(Protocol):
    """What a solver of cone problems is: options as fields, and one method."""

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConeSolution:
        """Solve `problem`, starting from `warm_start` (n,) if that helps."""


@dataclass(frozen=True)
class ConeLadder:
    """Every method in turn, cheap ones first, until both residuals are below `goal`.

    Parameters
    ----------
    goal : float
        Residual below which no other method is tried.
    """

    goal: float = GOAL

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConeSolution:
        """Solve; `warm_start` (n,) is an earlier r, or a guess."""
        first = quick(problem, warm_start)
        if first is not None:
            best = judgement(problem, *first, "warm start" if warm_start is not None and first[2] <= 8 else "quick")
            if best.residual <= self.goal and best.scale_free <= self.goal:
                return best
        else:
            best = judged(problem, np.zeros(problem.size), 0, "")
        system, total, patience = System.of(problem), best.iterations, _PATIENCE
        with np.errstate(all="ignore"):  # what diverges is judged by its residual
            for name, r, steps in climb(system, None if warm_start is None else system.inward(warm_start)):
                total += steps
                found = judged(problem, system.outward(r), total, name)
                if not found.scale_free + found.residual >= best.scale_free + best.residual:
                    best = found
                floor = rounding(problem, best.z)
                if best.scale_free <= max(self.goal, min(floor, ACCEPTED)) and best.residual <= max(self.goal, floor):
                    break
                patience -= best.solved
                if patience < 0:
                    break
        return ConeSolution(best.z, best.w, best.status, total, best.residual, best.solver, best.scale_free)


def solve_cone(problem: ConeProblem, solver: str | ConeSolver = "auto", warm_start: Any = None) -> ConeSolution:
    """Solve a cone problem; `spatialops.contact.solve` comes here with one.

    Parameters
    ----------
    problem : ConeProblem
    solver : {"auto"} or ConeSolver
        "auto" is `ConeLadder()`.
    warm_start : (n,) or (m, dim) array_like, optional
        An earlier solution r, or a guess.

    Returns
    -------
    ConeSolution
        `status` is SOLVED only if the residuals hold: see `judged`.

    Raises
    ------
    ArgumentError
        For something that is not a cone problem, an unknown solver, or a warm start that does not fit.
    """
    if not isinstance(problem, ConeProblem):
        raise ArgumentError(f"problem: expected a ConeProblem, got {type(problem).__name__}")
    if warm_start is not None:
        shape = (problem.n_contacts, problem.dim) if np.ndim(warm_start) == 2 else (problem.size,)
        warm_start = array(warm_start, shape, "warm_start", finite=True).ravel()
    chosen = check_cone_solver(solver)
    if problem.size == 0 or problem.b[:: problem.dim].min() >= 0.0:  # nothing approaches: no impulse is a solution
        return judged(problem, np.zeros(problem.size), 0, "no impulse")
    found = chosen.solve(problem, warm_start)
    if type(chosen) is ConeLadder:  # judged already
        return found
    return judged(problem, np.asarray(found.z, dtype=np.float64), found.iterations, found.solver)


def check_cone_solver(solver: Any) -> ConeSolver:
    """The solver object that a name stands for, or the object itself.

    Raises
    ------
    ArgumentError
        For anything else, a solver's class included.
    """
    if isinstance(solver, str) and solver == "auto":
        return ConeLadder()
    if isinstance(solver, (str, type)) or not hasattr(solver, "solve"):
        raise ArgumentError(
            f"solver: expected 'auto' or a solver of cone problems such as ConeLadder(), got {solver!r}"
        )
    return solver  # type: ignore[no-any-return]


def judged(problem: ConeProblem, r: Array, iterations: int, name: str) -> ConeSolution:
    """Impulses as a solution, its velocities, residuals and status computed from the original data.

    Solved are residuals of at most 1e-8, both of them. Where |b| is small against |W| |r|, or mu large, rounding of
    u = W r + b alone may leave more in the relative one: it may reach that floor, up to 1e-5, while the scale-free
    residual must still be within 1e-8.
    """
    with np.errstate(all="ignore"):
        u = np.asarray(problem.W @ r + problem.b)
        return judgement(problem, r, u, iterations, problem.residuals(r), name)


def judgement(problem: ConeProblem, r: Array, u: Array, iterations: int, found: Residuals, name: str) -> ConeSolution:
    """The solution that residuals make of impulses and velocities."""
    holds = found.scale_free <= ACCEPTED
    if holds and found.relative > ACCEPTED:
        holds = found.relative <= min(rounding(problem, r), 1e-5)
    status = Status.SOLVED if holds else Status.STALLED
    return ConeSolution(r, u, status, iterations, found.relative, name, found.scale_free)


def rounding(problem: ConeProblem, r: Array) -> float:
    """Relative residual that rounding of W r + b can leave: (1 + mu) eps max(|W| |r|) / max |b|."""
    largest = np.abs(problem.b).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    size = float((np.abs(problem.W) @ np.abs(r)).max())
    friction = float(problem.coefficients.sum(axis=1).max())
    return np.finfo(np.float64).eps * (1.0 + friction) * size / float(largest)
