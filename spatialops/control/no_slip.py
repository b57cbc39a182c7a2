"""Inverse dynamics with contacts that do not slip ([Z] section 4)."""

from __future__ import annotations

from typing import Any

from spatialops.contact.laws.no_slip import NoSlip
from spatialops.control.predictive import Demand, Predictive
from spatialops.simulation.simulator import Simulator


class NoSlipControl(Predictive):
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

    cone = "no-slip"
    consistent = True

    def __init__(
        self, simulator: Simulator, demand: Demand, *, choice: str = "nearest", hold: str = "touching", **options: Any
    ) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = NoSlip(hold=hold)
