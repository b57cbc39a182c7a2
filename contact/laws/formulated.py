"""Coulomb's law with polyhedra in a formulation: centrally first, then by the solver's ladder."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.laws.central import central_solution
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve

_MOST = 200  # contacts; of more the linear problems are too large to be solved as dense ones


def solve_formulated(
    problem: ContactProblem,
    formulation: Formulation,
    solver: str | Solver = "auto",
    warm_start: Array | None = None,
) -> LCPSolution:
    """Solve a problem in a formulation: by the ladder centrally first, as `contact.solve` else.

    `warm_start` are impulses (m, 3) to begin from.
    """
    lcp = formulation.assemble(problem)
    by_ladder = isinstance(solver, Auto) or solver == "auto"
    if by_ladder and 0 < problem.n_contacts <= _MOST:
        found = central_solution(problem, formulation, lcp, warm_start)
        if found is not None and not found.solved:
            found = _from_cones(problem, formulation, lcp)
        if found is not None and found.solved:
            return found
    return solve(lcp, solver)


def _from_cones(
    problem: ContactProblem, formulation: Formulation, lcp: MixedLCP
) -> LCPSolution | None:
    """The central answer nearest to that of the exact cones, whose statuses do not cycle.

    What is wedged, go2's trunk between its hips, is held by impulses a thousand times what its
    weight gives in a step: with polygons neither Newton's method nor the ladder found them.
    """
    cone = ConeCoulomb().solve(problem)
    if not cone.solved:
        return None
    return central_solution(problem, formulation, lcp, cone.impulses)
