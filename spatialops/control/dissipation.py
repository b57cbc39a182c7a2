"""Inverse dynamics by convex programs without normal complementarity ([Z] section 6)."""

from __future__ import annotations

from typing import Any

from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.control.no_slip import PressedNoSlip
from spatialops.control.predictive import Demand, Predictive
from spatialops.errors import ArgumentError
from spatialops.simulation.simulator import Simulator

STAGES = ("two", "one", "first")


class DissipationControl(Predictive):
    """ID(t_i) QP, Coulomb friction: the impulses that dissipate most, then those of them that ask least of the motors.

    Parameters
    ----------
    simulator, demand
        As `Predictive`.
    stages : {"two", "one", "first"}
        "two": stage II by `choice`. "one": the Hessian is regularised instead. "first": stage I alone, whatever its
        solver meets; torques chatter ([Z] figure 6).
    choice : {"least-torque", "nearest"}
        Of stage II: [Z] 6.2.4, or the forces nearest to the last command's.
    n_f : int
    **options
        Further options of `Predictive`.

    Notes
    -----
    The program is [Z] (75) with the 1/2 that it wants: its gradient is the contacts' velocity, so that it inverts the
    simulator's own "max-dissipation". (69) and (97) count the kinetic energy of the whole robot instead, motors' work
    included, whose minimum is a robot that brakes its own mean motion.
    """

    cone = "dissipation"
    n_f = 4
    aligned = 6

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        stages: str = "two",
        choice: str = "least-torque",
        n_f: int = 4,
        **options: Any,
    ) -> None:
        if stages not in STAGES:
            raise ArgumentError(f"stages: expected one of {', '.join(STAGES)}, got {stages!r}")
        super().__init__(simulator, demand, choice=choice if stages == "two" else "solver", **options)
        self.law = MaxDissipation(n_f=n_f, regularization=1e-8 if stages == "one" else None, shortest=False)
        self.n_f = n_f


class NoSlipDissipationControl(Predictive):
    """ID(t_i) QP, infinite friction: no slip, and of all forces that do it those that ask least of the motors.

    With the tangents held, minimal energy over pressing impulses and its complementarity conditions are the same
    problem where contacts touch; with gaps this controller takes the complementary answer.

    Parameters
    ----------
    simulator, demand
        As `Predictive`.
    choice : {"least-torque", "nearest"}
    **options
        Further options of `Predictive`.
    """

    cone = "no-slip"
    consistent = True

    def __init__(self, simulator: Simulator, demand: Demand, *, choice: str = "least-torque", **options: Any) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = PressedNoSlip()
