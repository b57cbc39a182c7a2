"""Coulomb's law with a friction polyhedron: any formulation and solver of the complementarity problem, as a law."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from spatialops.contact.formulations import Formulation, check_formulation
from spatialops.contact.laws.solution import LawSolution, checked_problem
from spatialops.contact.lcp.handles import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver, solve


@dataclass(frozen=True, kw_only=True)
class Coulomb:
    """Coulomb friction with `n_f` directions.

    Parameters
    ----------
    formulation : str or Formulation
        "os", "nmc", "mc", "rmc", "nmc/os", "trinkle", or an object, whose own `n_f` counts.
    solver : str or Solver
        As `contact.solve` takes.
    n_f : int
        Directions of friction of a formulation that is given by name: even.

    Raises
    ------
    ArgumentError
        For an unknown formulation or solver, or an odd `n_f`.
    """

    formulation: str | Formulation = "os"
    solver: str | Solver = "auto"
    n_f: int = 4

    def __post_init__(self) -> None:
        check_formulation(self.formulation, self.n_f)
        check_solver(self.solver)

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve; `warm_start` is not used: impulses of another problem do not tell the formulation's other unknowns."""
        checked_problem(problem, warm_start)
        formulation = check_formulation(self.formulation, self.n_f)
        found = solve(formulation.assemble(problem), self.solver)
        answer = formulation.recover(problem, found)
        own = {item.name: getattr(answer, item.name) for item in fields(answer)}
        detail = "" if found.solved else found.status.message
        return LawSolution(
            **own, solved=found.solved, residual=found.residual, iterations=found.iterations, detail=detail
        )
