"""The convex relaxation of Coulomb's law for whole mechanisms, and its error against the exact law.

u in K*, p in K, p . u = 0: sliding contacts leave each other with u_n = mu |u_t|; see `contact.cone.convex`. An impulse
that presses already (`offset`) is part of the load: p + theta n is in the cone, so that p_n >= -theta.

The dry friction of joints is not relaxed: it is a contact with the load a of `laws.cone`, for which the relaxed law
gives stiff (a - load) = |u_t|; the load is corrected until a = dry, each time to a hundredth of what was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.convex import ConvexCone, ConvexSolution
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.laws.cone import cone_conditions, load_dry, without_closures
from spatialops.contact.laws.solution import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    cone_errors,
    finite_friction,
    judged,
    unit_compliance,
    without_moments,
)
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import CONTACT, DRY


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


_STIFF = 100.0  # of the carriers of dry friction, beside the largest compliance
_ROUNDS = 12


def _loaded(problem: ContactProblem, W: Array, u: Array, start: Array | None, dry: Any) -> ConvexSolution:
    """The relaxed problem's solution, with dry friction loaded with exactly its limit."""
    stiff, rows = _STIFF * unit_compliance(problem), 3 * np.flatnonzero(dry)
    W, u = load_dry(problem, W, u, stiff)
    friction = np.where(dry, 1.0, problem.friction)
    found = ConvexCone().solve(ConeProblem(W, u, friction), start)
    for _ in range(_ROUNDS if len(rows) else 0):
        excess = stiff * (found.z[rows] - problem.dry[dry])
        if not np.abs(excess).max() > 1e-14 * np.abs(u).max():
            break
        u[rows] += excess
        found = ConvexCone().solve(ConeProblem(W, u, friction), found.z)
    return found


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
        given[:, 0] = np.where(problem.kinds == CONTACT, problem.offset, 0.0)  # stops have no friction to relax
        dry = problem.kinds == DRY
        found = _loaded(problem, W, u - W @ given.ravel(), None if start is None else (start + given).ravel(), dry)
        p = found.z.reshape(-1, 3) - given
        p[dry, 0] = 0.0
        loops = held.impulses(problem.response.L[problem.n_loop_rows :].T @ p.ravel())

        def conditions(p: Array, u: Array) -> Array:
            scale = np.abs(problem.velocities).max(initial=0.0)
            of_joints = cone_errors(problem, unit_compliance(problem), p, u)[dry]
            return np.append(of_joints, found.residual * scale)

        relaxed = judged(
            problem, p, loops, conditions, found.iterations, tolerance=self.tolerance, detail=found.status.message
        )
        exact = judged(problem, p, loops, cone_conditions(problem), 0).residual
        own = {item.name: getattr(relaxed, item.name) for item in fields(relaxed)}
        return ConvexLawSolution(**own, exact=exact, separation=found.separation)
