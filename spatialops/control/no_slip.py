"""Inverse dynamics with contacts that do not slip ([Z] section 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.solution import LawSolution
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_problem import InverseProblem
from spatialops.control.predictive import Demand, Predictive
from spatialops.simulation.simulator import Simulator

_EXCESS = 10.0
LET_GO = "contacts that held without pressing were let go"


@dataclass(frozen=True, kw_only=True)
class PressedNoSlip(NoSlip):
    """`NoSlip` whose friction needs a load: one that carries none holds at most `_EXCESS` times all loads.

    The law as printed admits tangential impulses without normal ones. In the inverse problem feet are tied to one
    moving body, tangents of feet on level ground are all but dependent, and such impulses get 1e6 times the weight.
    """

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve, letting go of contacts that hold without pressing until there is none."""
        freed = ""
        while True:
            solution = super().solve(problem, warm_start)
            solution = replace(solution, detail=solution.detail or freed)
            p = solution.impulses
            held = np.abs(p[:, 1:]).max(axis=1, initial=0.0) > _EXCESS * np.maximum(p[:, 0], 0.0).sum()
            idle = (p[:, 0] + problem.offset <= 0.0) & held
            if not (idle & (problem.friction > 0.0)).any():
                return solution
            problem, freed = replace(problem, friction=np.where(idle, 0.0, problem.friction)), LET_GO


class NoSlipPredictive(Predictive):
    """What the two controllers without slip share: a demand that contacts cannot follow is replaced by the nearest."""

    cone = "no-slip"
    consistent = True

    def _several(self, problem: InverseProblem, impulses: Array) -> bool:
        return bool((impulses[:, 0] <= 0.0).any())  # open contacts: closed ones are held, and may press for that


class NoSlipControl(NoSlipPredictive):
    """ID(t_i) LCP, infinite friction: modified principal pivoting from the contacts that pushed last.

    A demand that contacts cannot follow (splaying legs on the ground) is replaced by the nearest that they can.

    Parameters
    ----------
    simulator, demand
        As `Predictive`.
    choice : {"nearest", "solver", "least-torque"}
    hold : {"touching", "all"}
        As the law `NoSlip`.
    **options
        Further options of `Predictive`.
    """

    def __init__(
        self, simulator: Simulator, demand: Demand, *, choice: str = "nearest", hold: str = "touching", **options: Any
    ) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = PressedNoSlip(hold=hold)
