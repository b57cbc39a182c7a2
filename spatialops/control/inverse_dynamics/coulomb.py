"""Inverse dynamics with Coulomb friction and complementarity ([Z] section 5)."""

from __future__ import annotations

from typing import Literal, Unpack, cast

import numpy as np

from spatialops._arrays import Array, is_one_of
from spatialops.contact.cone.fallback_solver import ConeLadder
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.law import LawSolution
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.newton._layout import CONE, POLYGON
from spatialops.control.inverse_dynamics.base import (
    ContactInverseDynamics,
    Demand,
    Options,
)
from spatialops.control.inverse_dynamics.compiled.room import COULOMB
from spatialops.control.inverse_dynamics.force_distribution import allowed, nearest
from spatialops.control.inverse_dynamics.inverse_problem import InverseProblem
from spatialops.control.inverse_dynamics.law_rounds import Choice
from spatialops.simulation.lookahead import StepPrediction
from spatialops.simulation.simulator import Simulator

# Of solvers where the cone's kernel has no answer; most that have one are found in 30.
_ITERATIONS = 100


class CoulombController(ContactInverseDynamics):
    """ID(t_i) LCP, Coulomb friction with `n_f` directions, by Lemke's algorithm.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    choice : {"solver", "nearest", "least-torque", "minimal-difference"}, default "solver"
        "solver" is the paper's: it has no means against chatter. "minimal-difference" is algorithm
        3 (MINDIFF): of all basic solutions the one nearest to the last command's, see
        `minimal_difference`.
    n_f : int, default 4
        Directions of friction of each contact.
    **options : dict
        Further options of `ContactInverseDynamics`: actuation, standing, within_limits, horizon,
        others, reserve.

    References
    ----------
    [Z] section 5 and algorithm 3.

    Examples
    --------
    A robot on its feet, told to stay:

    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import CoulombController
    >>> robot = so.models.quadruped()
    >>> sim = so.Simulator(robot.scene(friction=0.8), law="coulomb", impact_threshold=100.0)
    >>> controller = CoulombController(sim, lambda time, state: np.zeros(12))
    >>> tau = controller(0.0, robot.state)
    >>> told = controller.explain()
    >>> told.status, round(float(told.forces[:, 0].sum() / (9.81 * robot.model.mass)), 6)
    ('solved', 1.0)
    """

    aligned = 6

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        choice: Choice | Literal["minimal-difference"] = "solver",
        n_f: int = 4,
        **options: Unpack[Options],
    ) -> None:
        self._all = is_one_of(choice, ("minimal-difference",))
        among = "solver" if self._all else cast("Choice", choice)
        super().__init__(simulator, demand, choice=among, **options)
        # A demand may have no answer, and a loop does not wait for the proof.
        self.law, self.n_f = Coulomb(n_f=n_f, solver=Auto(thorough=False)), n_f
        if not self._all:
            self._compile(POLYGON, COULOMB)

    def _chosen(
        self, problem: InverseProblem, solution: LawSolution, last: Array, ahead: StepPrediction
    ) -> Array:
        if self._all and len(last):
            return minimal_difference(problem, solution, last, self.n_f)
        return super()._chosen(problem, solution, last, ahead)


def minimal_difference(
    problem: InverseProblem, solution: LawSolution, last: Array, n_f: int
) -> Array:
    """Of all basic solutions of the Coulomb LCP the impulses nearest to the last ([Z] algorithm 3).

    Beyond 16 pairs (two contacts of four directions) bases are too many: there the difference is
    minimized over all forces that do the same and that contacts may have as they stick, slide and
    part in `solution`. That is a convex set, with its basic solutions for corners, so that the
    difference is no larger than theirs.

    Parameters
    ----------
    problem : InverseProblem
        The contacts.
    solution : LawSolution
        One solution.
    last : (m, 3) array
        The last command's impulses, N s.
    n_f : int
        Directions of friction of each contact.

    Returns
    -------
    (m, 3) array
        Impulses, N s.
    """
    formulation = OperationalSpace(n_f)
    lcp = formulation.assemble(problem)
    solver = Enumeration()
    if lcp.size > solver.max_pairs:
        room = allowed(problem, solution.impulses, law="coulomb", n_f=n_f)
        return nearest(problem, solution.impulses, last, room)
    best, distance = solution.impulses, float(np.linalg.norm(solution.impulses - last))
    for z in solver.all_solutions(lcp):
        found = solver.solve(lcp, z)
        p = formulation.recover(problem, found).impulses
        gap = float(np.linalg.norm(p - last))
        if found.solved and gap < distance:
            best, distance = p, gap
    return best


class ConeController(ContactInverseDynamics):
    """Inverse dynamics with the exact friction cone, which does not depend on how tangents lie.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    choice : {"nearest", "solver", "least-torque"}, default "nearest"
        As of `ContactInverseDynamics`.
    **options : dict
        Further options of `ContactInverseDynamics`: actuation, standing, within_limits, horizon,
        others, reserve.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import ConeController
    >>> robot = so.models.quadruped()
    >>> sim = so.Simulator(robot.scene(friction=0.8), law="cone", impact_threshold=100.0)
    >>> controller = ConeController(sim, lambda time, state: np.zeros(12))
    >>> tau = controller(0.0, robot.state)
    >>> bool(np.abs(controller.explain().predicted).max() < 1e-6)
    True
    """

    n_f = 16
    one_answer = False

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        choice: Choice = "nearest",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(simulator, demand, choice=choice, **options)
        self.law = ConeCoulomb(solver=ConeLadder(budget=_ITERATIONS))
        self._compile(CONE, COULOMB)
