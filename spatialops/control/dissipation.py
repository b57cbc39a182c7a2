"""Inverse dynamics by convex programs without normal complementarity ([Z] section 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.laws.solution import LawSolution
from spatialops.contact.problem import ContactProblem
from spatialops.control.no_slip import NoSlipPredictive, PressedNoSlip
from spatialops.control.predictive import Demand, Predictive
from spatialops.errors import ArgumentError
from spatialops.simulation.simulator import Simulator

STAGES = ("two", "one", "first")
PARTING = ("pressed", "released")
_ROUGH = 1.0  # the friction that is counted on where there is more: cones of the program end where mu does
_PARTS = 1e-6  # of the largest velocity: contacts that move apart faster than that part


@dataclass(frozen=True, kw_only=True)
class Released(MaxDissipation):
    """`MaxDissipation` that does not press on contacts that part.

    Without normal complementarity ([Z] 2.3.4) a contact that slides is pressed, and parts, at mu times its slip: it
    brakes in the model what it does not brake in the world. A foot that is lifted while it slides is pushed down by the
    motors against forces that never come. Such contacts lose their friction, with which the program's conditions are
    those of complementarity for them, and it is solved again.
    """

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve until no contact that parts is pressed."""
        problem = replace(problem, friction=np.minimum(problem.friction, _ROUGH))
        while True:
            solution = super().solve(problem, warm_start)
            u = (problem.jacobian @ problem.after(solution.impulses.ravel()))[::3] + problem.closing
            parts = u > _PARTS * np.abs(problem.velocities).max(initial=0.0)
            pressed = parts & (solution.impulses[:, 0] > 0.0) & (problem.friction > 0.0)
            if not pressed.any():
                return solution
            problem = replace(problem, friction=np.where(pressed, 0.0, problem.friction))


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
    parting : {"released", "pressed"}
        Contacts that part while they slide: "pressed" as the program has it, which inverts the law "max-dissipation";
        "released" for other worlds, see `Released`.
    n_f : int
    **options
        Further options of `Predictive`.

    Notes
    -----
    The program is [Z] (75) with the 1/2 that it wants: its gradient is the contacts' velocity, so that it inverts the
    simulator's own "max-dissipation". (69) and (97) count the kinetic energy of the whole robot instead, motors' work
    included, whose minimum is a robot that brakes its own mean motion.
    """

    n_f = 4
    aligned = 6

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        stages: str = "two",
        choice: str = "least-torque",
        parting: str = "released",
        n_f: int = 4,
        **options: Any,
    ) -> None:
        if stages not in STAGES:
            raise ArgumentError(f"stages: expected one of {', '.join(STAGES)}, got {stages!r}")
        if parting not in PARTING:
            raise ArgumentError(f"parting: expected one of {', '.join(PARTING)}, got {parting!r}")
        super().__init__(simulator, demand, choice=choice if stages == "two" else "solver", **options)
        pressed = parting == "pressed"
        law, self.cone = (MaxDissipation, "dissipation") if pressed else (Released, "released")
        self.law = law(n_f=n_f, regularization=1e-8 if stages == "one" else None, shortest=False)
        self.n_f = n_f


class NoSlipDissipationControl(NoSlipPredictive):
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

    def __init__(self, simulator: Simulator, demand: Demand, *, choice: str = "least-torque", **options: Any) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = PressedNoSlip()
