"""Inverse dynamics with contacts that do not slip ([Z] section 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from spatialops._arrays import ArrayLike
from spatialops.contact.laws.law import LawSolution
from spatialops.contact.laws.no_slip import Hold, NoSlip
from spatialops.contact.newton._layout import NO_SLIP
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_dynamics.answer import LET_GO
from spatialops.control.inverse_dynamics.base import (
    ContactInverseDynamics,
    Demand,
    Options,
)
from spatialops.control.inverse_dynamics.compiled import room
from spatialops.control.inverse_dynamics.compiled.no_slip_law import EXCESS
from spatialops.control.inverse_dynamics.inverse_problem import restated
from spatialops.control.inverse_dynamics.law_rounds import Choice
from spatialops.simulation.simulator import Simulator


@dataclass(frozen=True, kw_only=True)
class PressedNoSlip(NoSlip):
    """`NoSlip` whose friction needs a load: a contact that carries none holds ten times all loads.

    The law as printed admits tangential impulses without normal ones. In the inverse problem feet
    are tied to one moving body, tangents of feet on level ground are all but dependent, and such
    impulses get 1e6 times the weight.
    """

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Solve, letting go of contacts that hold without pressing until there is none."""
        freed = ""
        while True:
            solution = super().solve(problem, warm_start)
            solution = replace(solution, detail=solution.detail or freed)
            p = solution.impulses
            loads = np.maximum(p[:, 0], 0.0).sum()
            held = np.abs(p[:, 1:]).max(axis=1, initial=0.0) > EXCESS * loads
            idle = (p[:, 0] + problem.prior_normal_impulse <= 0.0) & held
            if not (idle & (problem.friction > 0.0)).any():
                return solution
            friction = np.where(idle, 0.0, problem.friction)
            problem = restated(problem, type(problem), friction=friction)
            freed = LET_GO


class NoSlipInverseDynamics(ContactInverseDynamics):
    """What controllers without slip share: demands that contacts cannot follow are replaced."""

    cone = "no-slip"
    consistent = True
    one_answer = False


class NoSlipController(NoSlipInverseDynamics):
    """ID(t_i) LCP, infinite friction, by principal pivoting from the contacts that pushed last.

    A demand that contacts cannot follow (splaying legs on the ground) is replaced by the nearest
    that they can.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    choice : {"nearest", "solver", "least-torque"}, default "nearest"
        As of `ContactInverseDynamics`.
    hold : {"touching", "all"}, default "touching"
        Which contacts do not slip, as of the law `NoSlip`.
    **options : dict
        Further options of `ContactInverseDynamics`: actuation, standing, within_limits, horizon,
        others, reserve.

    References
    ----------
    [Z] section 4.
    """

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        choice: Choice = "nearest",
        hold: Hold = "touching",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = PressedNoSlip(hold=hold)
        if hold == "touching":
            self._compile(NO_SLIP, room.NO_SLIP)
