"""The door for contact problems in any of their mathematical forms: `solve(problem, solver)`."""

from __future__ import annotations

from typing import Literal, cast, overload

import numpy as np

from spatialops._arrays import ArrayLike, array
from spatialops.contact.cone.fallback_solver import ConeSolver, check_cone_solver, solve_cone
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.lcp.convex_qp import ConvexQP
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.contact.lcp.exact import ExactLemke
from spatialops.contact.lcp.interior_point import InteriorPoint
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.newton import Newton
from spatialops.contact.lcp.principal_pivoting import PrincipalPivoting
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.projected_gauss_seidel import ProjectedGaussSeidel
from spatialops.contact.lcp.solver import Solver
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
_TOLERANCE = 1e-9  # residual that SOLVED promises, whatever a solver's own tolerance is


@overload
def solve(
    problem: MixedLCP, solver: str | Solver = "auto", warm_start: ArrayLike | None = None
) -> LCPSolution: ...


@overload
def solve(
    problem: ConeProblem, solver: str | ConeSolver = "auto", warm_start: ArrayLike | None = None
) -> ConeSolution: ...


def solve(
    problem: MixedLCP | ConeProblem,
    solver: str | Solver | ConeSolver = "auto",
    warm_start: ArrayLike | None = None,
) -> LCPSolution | ConeSolution:
    """Solve a complementarity problem or a cone problem, and verify the answer.

    Parameters
    ----------
    problem : MixedLCP or ConeProblem
        With a polyhedral cone of friction or none, or with the round one.
    solver : str, Solver or ConeSolver
        Of a `MixedLCP` "auto" (a ladder of most that follow), "lemke", "principal-pivoting",
        "gauss-seidel", "newton", "interior-point", "enumeration", "exact", "qp"; of a
        `ConeProblem` "auto", "gauss-seidel", "newton", "interior-point", "convex" (the relaxed
        law). Or a solver object with its options: ``Lemke(max_pivots=50)``. docs/solvers.md and
        docs/cone.md say which to choose.
    warm_start : (n,) array_like, optional
        An earlier solution z or r, or a guess; of a cone problem also (m, dim).

    Returns
    -------
    LCPSolution or ConeSolution
        `status` is SOLVED only if the residual of the original data holds.

    Raises
    ------
    ArgumentError
        For something that is not a problem, an unknown solver, or a warm start that does not fit.
    MissingLibraryError
        By "qp", where the extra ``spatialops[qp]`` is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ConeProblem, Lemke, MixedLCP, solve
    >>> lcp = MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    >>> solution = solve(lcp, Lemke(max_pivots=50))
    >>> solution.solved, solution.z.round(6).tolist()
    (True, [1.333333, 2.333333])

    A block of 1 kg that slides while it falls, with mu = 0.5 and an exact cone:

    >>> solve(ConeProblem(np.eye(3), [-1.0, 3.0, 0.0], 0.5)).r.round(9).tolist()
    [1.0, -0.5, 0.0]
    """
    if isinstance(problem, ConeProblem):
        return solve_cone(problem, check_cone_solver(solver), warm_start)
    if isinstance(problem, MixedLCP):
        return _solve_lcp(problem, check_solver(solver), warm_start)
    raise ArgumentError(
        f"problem: expected a MixedLCP or ConeProblem, got {type(problem).__name__}"
    )


def _solve_lcp(
    problem: MixedLCP, solver: str | Solver, warm_start: ArrayLike | None
) -> LCPSolution:
    if warm_start is not None:
        warm_start = array(warm_start, (problem.size,), "warm_start", finite=True)
    if isinstance(solver, str):
        return Auto().solve(problem, warm_start)
    solution = solver.solve(problem, warm_start)
    if not isinstance(solution, LCPSolution):
        raise ArgumentError(
            f"solver: {type(solver).__name__}.solve returned {type(solution).__name__}: expected "
            "LCPSolution(z=, w=, status=, iterations=, residual=)"
        )
    return _checked(problem, solution)


def check_solver(solver: object) -> Literal["auto"] | Solver:
    """The solver object that a name stands for, the object itself, or "auto".

    Raises
    ------
    ArgumentError
        For anything else, a solver's class included.
    """
    if isinstance(solver, str) and solver == "auto":
        return "auto"
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    if isinstance(solver, (str, type)) or not hasattr(solver, "solve"):
        names = ", ".join(repr(name) for name in ("auto", *SOLVERS))
        raise ArgumentError(
            f"solver: expected {names} or a solver object such as Lemke(), got {solver!r}"
        )
    return cast(Solver, solver)


def _checked(problem: MixedLCP, solution: LCPSolution) -> LCPSolution:
    """The same solution with w, residual and status recomputed from the original data."""
    z = np.asarray(solution.z, dtype=np.float64)
    status = Status.INACCURATE if solution.status == Status.SOLVED else solution.status
    return point(
        problem, z, status, solution.iterations, solution.solver, _TOLERANCE, solution.detail
    )
