"""What a solver is, and declares about itself: problems that it takes, and is proved for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.status import Status


class Solver(Protocol):
    """What a solver of complementarity problems is: options as fields, and one method."""

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve a problem.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            An earlier z, if that helps.

        Returns
        -------
        LCPSolution
            What was found; `contact.solve` computes its residual and status anew.
        """


@dataclass(frozen=True)
class Handles:
    """Capabilities of a solver.

    Parameters
    ----------
    proved : tuple of str
        Matrix classes for which it is proved to solve every problem that has a solution, but for
        rounding.
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


class Work:
    """What a ladder of methods may still do, in entries of matrices that are passed over.

    Parameters
    ----------
    most : float
        How many in all.
    """

    def __init__(self, most: float) -> None:
        self.left = most

    def steps(self, each: float, most: int) -> int:
        """How many steps of so many entries are left, at most `most`."""
        return int(min(float(most), max(self.left, 0.0) // max(each, 1.0)))

    def spend(self, each: float, steps: int) -> None:
        """So many steps have been made."""
        self.left -= each * steps


def not_applicable(problem: MixedLCP, solver: str, reason: str) -> LCPSolution:
    """The answer of a solver to a problem that it does not handle: z = 0 and why."""
    z = np.zeros(problem.size)
    w, residual = problem.evaluate(z)
    return LCPSolution(z, w, Status.NOT_APPLICABLE, 0, residual, solver, reason)


def dense_problem(problem: MixedLCP) -> MixedLCP:
    """What a solver is given, with a dense matrix; something else is refused."""
    return instance(problem, MixedLCP, "problem").dense()


def checked_start(problem: MixedLCP, warm_start: ArrayLike | None) -> Array | None:
    """An earlier z that fits, or none."""
    if warm_start is None:
        return None
    return array(warm_start, (problem.size,), "warm_start", finite=True)
