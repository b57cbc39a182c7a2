"""What a solver declares about itself: the problems that it takes, and the matrices for which it is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.status import Status


class Solver(Protocol):
    """What a solver is: options as fields, and one method."""

    def solve(self, problem: MixedLCP, warm_start: Array | None = None) -> LCPSolution:
        """Solve `problem`, starting from `warm_start` (n,) if that helps."""


@dataclass(frozen=True)
class Handles:
    """Capabilities of a solver.

    Attributes
    ----------
    proved : tuple of str
        Matrix classes for which it is proved to solve every problem that has a solution, but for rounding.
    free_rows : bool
        Whether mixed problems are taken.
    positive_diagonal, semidefinite : bool
        Whether the matrix must have a positive diagonal, or a positive semidefinite symmetric part.
    warm_start : bool
        Whether an earlier z helps.
    shows_no_solution : bool
        Whether it can prove that there is none.
    """

    proved: tuple[str, ...]
    free_rows: bool = True
    positive_diagonal: bool = False
    semidefinite: bool = False
    warm_start: bool = True
    shows_no_solution: bool = False


def not_applicable(problem: MixedLCP, solver: str, reason: str) -> LCPSolution:
    """The answer of a solver to a problem that it does not handle: z = 0 and why."""
    z = np.zeros(problem.size)
    w, residual = problem.evaluate(z)
    return LCPSolution(z, w, Status.NOT_APPLICABLE, 0, residual, solver, reason)
