"""The door for contact problems in any of their mathematical forms: `solve(problem, solver)`."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from spatialops._arrays import array
from spatialops.contact.cone.ladder import ConeSolver, solve_cone
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.lcp.convex_qp import ConvexQP
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.contact.lcp.exact import ExactLemke
from spatialops.contact.lcp.handles import Solver
from spatialops.contact.lcp.interior_point import InteriorPoint
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.newton import Newton
from spatialops.contact.lcp.principal_pivoting import PrincipalPivoting
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.projected_gauss_seidel import ProjectedGaussSeidel
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

SOLVERS: dict[str, type[Solver]] = {
    "lemke": Lemke,
    "principal-pivoting": PrincipalPivoting,
    "gauss-seidel": ProjectedGaussSeidel,
    "newton": Newton,
    "interior-point": InteriorPoint,
    "enumeration": Enumeration,
    "exact": ExactLemke,
    "qp": ConvexQP,
}
_TOLERANCE = 1e-9


@overload
def solve(problem: MixedLCP, solver: str | Solver = "auto", warm_start: Any = None) -> LCPSolution: ...


@overload
def solve(problem: ConeProblem, solver: str | ConeSolver = "auto", warm_start: Any = None) -> ConeSolution: ...


def solve(problem: Any, solver: Any = "auto", warm_start: Any = None) -> LCPSolution | ConeSolution:
    """Solve a complementarity problem, or a cone problem: see `spatialops.contact.cone.ladder.solve_cone`.

    Parameters
    ----------
    problem : MixedLCP or ConeProblem
    solver : str or Solver
        "auto" (a ladder of most that follow), "lemke", "principal-pivoting", "gauss-seidel", "newton",
        "interior-point", "enumeration", "exact", "qp", or a solver object with its options: ``Lemke(max_pivots=50)``.
        docs/solvers.md says which to choose.
    warm_start : (n,) array_like, optional
        An earlier solution.

    Returns
    -------
    LCPSolution
        `status` is SOLVED only if the residual of the original data holds.

    Raises
    ------
    ArgumentError
        For something that is not a problem, or an unknown solver.
    MissingLibraryError
        By "qp", where the extra ``spatialops[qp]`` is not installed.
    """
    if isinstance(problem, ConeProblem):
        return solve_cone(problem, solver, warm_start)
    if isinstance(problem, MixedLCP):
        return _solve_lcp(problem, check_solver(solver), warm_start)
    raise ArgumentError(f"problem: expected a MixedLCP or ConeProblem, got {type(problem).__name__}")


def _solve_lcp(problem: MixedLCP, solver: str | Solver, warm_start: Any) -> LCPSolution:
    if warm_start is not None:
        warm_start = array(warm_start, (problem.size,), "warm_start", finite=True)
    if isinstance(solver, str):
        return Auto().solve(problem, warm_start)
    return _checked(problem, solver.solve(problem, warm_start))


def check_solver(solver: Any) -> Any:
    """The solver object that a name stands for, the object itself, or "auto": each kind of problem has its own.

    Raises
    ------
    ArgumentError
        For anything else, a solver's class included.
    """
    if isinstance(solver, str) and solver == "auto":
        return solver
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    if isinstance(solver, (str, type)) or not hasattr(solver, "solve"):
        names = ", ".join(repr(name) for name in ("auto", *SOLVERS))
        raise ArgumentError(f"solver: expected {names} or a solver object such as Lemke(), got {solver!r}")
    return solver


def _checked(problem: MixedLCP, solution: LCPSolution) -> LCPSolution:
    """The same solution with w, residual and status recomputed from the original data."""
    z = np.asarray(solution.z, dtype=np.float64)
    status = Status.INACCURATE if solution.status == Status.SOLVED else solution.status
    return point(problem, z, status, solution.iterations, solution.solver, _TOLERANCE, solution.detail)
