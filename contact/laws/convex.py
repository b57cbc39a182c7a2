"""The convex relaxation of Coulomb's law for whole mechanisms, and its error against the exact law.

u in K*, p in K, p . u = 0: sliding contacts leave each other with u_n = mu |u_t|; see `contact.cone.convex`. An impulse
that presses already (`offset`) is part of the load: p + theta n is in the cone, so that p_n >= -theta.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.convex import ConvexCone
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.laws.cone import cone_conditions, without_closures
from spatialops.contact.laws.solution import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    finite_friction,
    judged,
    without_moments,
)
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True, eq=False)
class ConvexLawSolution(LawSolution):
    """A solution of the relaxed law.

    Attributes
    ----------
    exact : float
        Its residual in Coulomb's law: what the relaxation changes.
    separation : float
        Largest mu |u_t| of loaded contacts, m/s: the speed with which they leave each other instead of sliding.
    """

    exact: float = float("nan")
    separation: float = float("nan")


@dataclass(frozen=True, kw_only=True)
class Convex:
    """Coulomb friction relaxed to a convex problem.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, of the relaxed law.

    References
    ----------
    M. Anitescu, A. Tasora, Comput. Optim. Appl. 47 (2010); [Z] 2.3.4.
    """

    tolerance: float = TOLERANCE

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> ConvexLawSolution:
        """Solve, from impulses `warm_start` (m, 3) if that helps."""
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        held, W, u = without_closures(problem)
        given = np.zeros((problem.n_contacts, 3))
        given[:, 0] = problem.offset
        cone = ConeProblem(W, u - W @ given.ravel(), problem.friction)
        found = ConvexCone().solve(cone, None if start is None else (start + given).ravel())
        p = found.z.reshape(-1, 3) - given
        loops = held.impulses(problem.response.L[problem.n_loop_rows :].T @ p.ravel())

        def conditions(_p: Array, _u: Array) -> Array:
            scale = np.abs(problem.velocities).max(initial=0.0)
            return np.array([found.residual * scale])

        relaxed = judged(
            problem, p, loops, conditions, found.iterations, tolerance=self.tolerance, detail=found.status.message
        )
        exact = judged(problem, p, loops, cone_conditions(problem), 0).residual
        own = {item.name: getattr(relaxed, item.name) for item in fields(relaxed)}
        return ConvexLawSolution(**own, exact=exact, separation=found.separation)
