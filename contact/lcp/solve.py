"""The door for complementarity problems: `solve(problem, solver)`."""

from __future__ import annotations

from typing import Any, Protocol, overload

import numpy as np

from spatialops._arrays import array
from spatialops.contact.cone.ladder import ConeSolver, solve_cone
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.scaling import equilibrated, scaled_back
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError


class Solver(Protocol):
    """What a solver is: options as fields, and one method."""

    def solve(self, problem: MixedLCP, warm_start: Any = None) -> LCPSolution:
        """Solve `problem`, starting from `warm_start` (n,) if that helps."""


@overload
def solve(problem: MixedLCP, solver: str | Solver = "auto", warm_start: Any = None) -> LCPSolution: ...


@overload
def solve(problem: ConeProblem, solver: str | ConeSolver = "auto", warm_start: Any = None) -> ConeSolution: ...


def solve(problem: Any, solver: Any = "auto", warm_start: Any = None) -> LCPSolution | ConeSolution:
    """Solve a complementarity problem, or a cone problem: see `spatialops.contact.cone.ladder.solve_cone`.

    Parameters
    ----------
    problem : MixedLCP or ConeProblem
    solver : {"auto", "lemke"} or Solver
        "auto" tries Lemke as given, then on the equilibrated problem; the residual is that of the original data.
    warm_start : (n,) array_like, optional
        An earlier solution.

    Returns
    -------
    LCPSolution
        `status` is SOLVED only if the residual holds.

    Raises
    ------
    ArgumentError
        For something that is not a problem, or an unknown solver.
    """
    if isinstance(problem, ConeProblem):
        return solve_cone(problem, solver, warm_start)
    if not isinstance(problem, MixedLCP):
        raise ArgumentError(f"problem: expected a MixedLCP or ConeProblem, got {type(problem).__name__}")
    if warm_start is not None:
        warm_start = array(warm_start, (problem.size,), "warm_start", finite=True)
    chosen = check_solver(solver)
    if isinstance(chosen, str):
        return _auto(problem, warm_start)
    return _checked(problem, chosen.solve(problem, warm_start))


def check_solver(solver: Any) -> Any:
    """The solver object that a name stands for, the object itself, or "auto".

    Raises
    ------
    ArgumentError
        For anything else, a solver's class included.
    """
    if isinstance(solver, str) and solver == "auto":
        return solver
    if isinstance(solver, str) and solver == "lemke":
        return Lemke()
    if isinstance(solver, (str, type)) or not hasattr(solver, "solve"):
        raise ArgumentError(f"solver: expected 'auto', 'lemke' or a solver object such as Lemke(), got {solver!r}")
    return solver


def _auto(problem: MixedLCP, warm_start: Any) -> LCPSolution:
    first = _checked(problem, Lemke().solve(problem, warm_start))
    if first.solved:
        return first
    easier, scales = equilibrated(problem)
    second = _checked(problem, scaled_back(Lemke(tolerance=1e-12).solve(easier), scales))
    return min(first, second, key=lambda solution: solution.residual)


def _checked(problem: MixedLCP, solution: LCPSolution, tolerance: float = 1e-9) -> LCPSolution:
    """The same solution with w, residual and status recomputed from the original data."""
    z, residual = np.asarray(solution.z, dtype=np.float64), problem.residual(solution.z)
    with np.errstate(invalid="ignore"):  # a solver may return NaN: the residual says so
        w = problem.A @ z + problem.b
    status = solution.status
    if residual <= tolerance:
        status = Status.SOLVED
    elif status == Status.SOLVED:
        status = Status.INACCURATE
    return LCPSolution(z, w, status, solution.iterations, residual, solution.solver)
