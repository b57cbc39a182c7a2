"""Inverse dynamics by convex programs without normal complementarity ([Z] section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Unpack, get_args

import numpy as np

from spatialops._arrays import ArrayLike, BoolArray, is_one_of
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.newton._layout import NO_SLIP
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_dynamics.base import (
    ContactInverseDynamics,
    Demand,
    Options,
)
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import room
from spatialops.control.inverse_dynamics.compiled.dissipation_law import PARTS, ROUGH
from spatialops.control.inverse_dynamics.inverse_problem import restated
from spatialops.control.inverse_dynamics.law_rounds import Choice
from spatialops.control.inverse_dynamics.no_slip import NoSlipInverseDynamics, PressedNoSlip
from spatialops.errors import ArgumentError
from spatialops.simulation.simulator import Simulator

Stages = Literal["two", "one", "first"]
Parting = Literal["pressed", "released"]
_REGULARIZED = 1e-8  # of the one-stage program, which is singular without


@dataclass(frozen=True, kw_only=True)
class Released(MaxDissipation):
    """`MaxDissipation` that does not press on contacts that part.

    Without normal complementarity ([Z] 2.3.4) a contact that slides is pressed, and parts, at mu
    times its slip: it brakes in the model what it does not brake in the world. A foot that is
    lifted while it slides is pushed down by the motors against forces that never come. Such
    contacts lose their friction, with which the program's conditions are those of complementarity
    for them, and it is solved again.

    Parameters
    ----------
    stands : (links,) bool array, optional
        Links whose contacts are pressed all the same; default: none, and friction ends at 1.
    """

    stands: BoolArray | None = field(default=None, compare=False)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Solve until no contact that parts is pressed."""
        lifts: BoolArray = np.ones(problem.n_contacts, dtype=np.bool_)
        if self.stands is None:
            friction = np.minimum(problem.friction, ROUGH)
            problem = restated(problem, type(problem), friction=friction)
        else:
            lifts = np.logical_not(self.stands[problem.links].any(axis=1))
        while True:
            solution = super().solve(problem, warm_start)
            after = problem.after(solution.impulses.ravel())
            u = (problem.jacobian @ after)[::3] + problem.bias[:, 0]
            parts = u > PARTS * np.abs(problem.velocities).max(initial=0.0)
            pressed = lifts & parts & (solution.impulses[:, 0] > 0.0) & (problem.friction > 0.0)
            if not pressed.any():
                return solution
            friction = np.where(pressed, 0.0, problem.friction)
            problem = restated(problem, type(problem), friction=friction)


class DissipationController(ContactInverseDynamics):
    """ID(t_i) QP, Coulomb friction: most dissipation, then the least that motors must do for it.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    stages : {"two", "one", "first"}, default "two"
        "two": stage II by `choice`. "one": the Hessian is regularised instead. "first": stage I
        alone, whatever its solver meets; torques chatter ([Z] figure 6).
    choice : {"least-torque", "nearest"}, default "least-torque"
        Of stage II: [Z] 6.2.4, or the forces nearest to the last command's.
    parting : {"pressed", "released"}, default "pressed"
        Contacts that part while they slide: "pressed" as the program has it, which inverts the law
        "max-dissipation"; "released" for other worlds, see `Released`. Where `standing` says which
        feet the motion means to keep, only those are pressed: the others are lifted.
    n_f : int, default 4
        Directions of friction of each contact.
    **options : dict
        Further options of `ContactInverseDynamics`: actuation, standing, within_limits, horizon,
        others, reserve.

    Raises
    ------
    ArgumentError
        For stages or a parting that are not known.

    Notes
    -----
    The program is [Z] (75) with the 1/2 that it wants: its gradient is the contacts'
    velocity, so that it inverts the simulator's own "max-dissipation". (69) and (97) count the
    kinetic energy of the whole robot instead, motors' work included, whose minimum is a robot that
    brakes its own mean motion.

    References
    ----------
    [Z] section 6.
    """

    n_f = 4
    aligned = 6

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        stages: Stages = "two",
        choice: Choice = "least-torque",
        parting: Parting = "pressed",
        n_f: int = 4,
        **options: Unpack[Options],
    ) -> None:
        for name, value, known in (
            ("stages", stages, get_args(Stages)),
            ("parting", parting, get_args(Parting)),
        ):
            if not is_one_of(value, known):
                raise ArgumentError(f"{name}: expected one of {', '.join(known)}, got {value!r}")
        among: Choice = choice if stages == "two" else "solver"
        super().__init__(simulator, demand, choice=among, **options)
        pressed = parting == "pressed"
        law = MaxDissipation if pressed else Released
        self.cone = "dissipation" if pressed else "coulomb"
        self.rough = self.rough if pressed else ROUGH
        # A demand may have no answer, and a loop does not wait for the proof.
        self.law = law(
            n_f=n_f,
            regularization=_REGULARIZED if stages == "one" else None,
            shortest=False,
            solver=Auto(thorough=False),
        )
        self.n_f = n_f
        if stages != "one":
            which = io.DISSIPATION if pressed else io.RELEASED
            self._compile(which, room.DISSIPATION if pressed else room.COULOMB)

    def _counted(self) -> Law:
        if type(self.law) is not MaxDissipation or self._stand is None:
            return self.law
        return Released(**vars(self.law), stands=self._stand)


class NoSlipDissipationController(NoSlipInverseDynamics):
    """ID(t_i) QP, infinite friction: no slip, by the forces that ask least of the motors.

    With the tangents held, minimal energy over pressing impulses and its complementarity conditions
    are the same problem where contacts touch; with gaps this controller takes the complementary
    answer.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    choice : {"least-torque", "nearest", "solver"}, default "least-torque"
        As of `ContactInverseDynamics`.
    **options : dict
        Further options of `ContactInverseDynamics`: actuation, standing, within_limits, horizon,
        others, reserve.

    References
    ----------
    [Z] section 6.
    """

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        choice: Choice = "least-torque",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = PressedNoSlip()
        self._compile(NO_SLIP, room.NO_SLIP)
