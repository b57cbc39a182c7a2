"""Inverse dynamics with Coulomb friction and complementarity ([Z] section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.cone import Cone
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.solution import LawSolution
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.control.inverse_problem import InverseProblem
from spatialops.control.predictive import Demand, Predictive
from spatialops.simulation.foresight import Ahead
from spatialops.simulation.simulator import Simulator


class CoulombControl(Predictive):
    """ID(t_i) LCP, Coulomb friction with `n_f` directions, by Lemke's algorithm.

    Parameters
    ----------
    simulator, demand
        As `Predictive`.
    choice : {"solver", "nearest", "least-torque", "minimal-difference"}
        "solver" is the paper's: it has no means against chatter. "minimal-difference" is algorithm 3 (MINDIFF): of all
        basic solutions the one nearest to the last command's; enumerates up to 2 contacts of 4 directions.
    n_f : int
    **options
        Further options of `Predictive`.
    """

    aligned = 6

    def __init__(
        self, simulator: Simulator, demand: Demand, *, choice: str = "solver", n_f: int = 4, **options: Any
    ) -> None:
        self._all = choice == "minimal-difference"
        super().__init__(simulator, demand, choice="solver" if self._all else choice, **options)
        self.law, self.n_f = Coulomb(n_f=n_f), n_f

    def _chosen(self, problem: InverseProblem, solution: LawSolution, last: Array, ahead: Ahead) -> Array:
        if self._all and len(last):
            return minimal_difference(problem, solution, last, self.n_f)
        return super()._chosen(problem, solution, last, ahead)


def minimal_difference(problem: InverseProblem, solution: LawSolution, last: Array, n_f: int) -> Array:
    """Of all basic solutions of the Coulomb LCP the impulses nearest to `last` (m, 3): [Z] algorithm 3.

    The problem's own solution where there are too many bases to look at.
    """
    formulation = OperationalSpace(n_f)
    lcp = formulation.assemble(problem)
    solver = Enumeration()
    if lcp.size > solver.max_pairs:
        return solution.impulses
    best, distance = solution.impulses, float(np.linalg.norm(solution.impulses - last))
    for z in solver.all_solutions(lcp):
        found = solver.solve(lcp, z)
        p = formulation.recover(problem, found).impulses
        gap = float(np.linalg.norm(p - last))
        if found.solved and gap < distance:
            best, distance = p, gap
    return best


class ConeControl(Predictive):
    """The same with the exact friction cone, whose problem does not depend on how the contacts' tangents lie.

    Parameters
    ----------
    simulator, demand
        As `Predictive`.
    choice : {"nearest", "solver", "least-torque"}
    **options
        Further options of `Predictive`.
    """

    n_f = 16

    def __init__(self, simulator: Simulator, demand: Demand, *, choice: str = "nearest", **options: Any) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = Cone()
