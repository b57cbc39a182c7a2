"""The convex relaxation of Coulomb's law for whole mechanisms, and its error against the exact law.

u in K*, p in K, p . u = 0: sliding contacts leave each other with u_n = mu |u_t|; see
`contact.cone.convex`. An impulse that presses already (`prior_normal_impulse`) is part of the load:
p + theta n is in the cone, so that p_n >= -theta.

The dry friction of joints is not relaxed: it is a contact with the load a of `laws.cone`, for which
the relaxed law gives stiff (a - load) = |u_t|; the load is corrected until a = dry, each time to a
hundredth of what was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, scalar
from spatialops.contact.cone.convex import ConvexCone, ConvexSolution
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.constraint_rows import CONTACT, DRY
from spatialops.contact.laws.cone import cone_conditions, load_dry, without_closures
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    cone_errors,
    finite_friction,
    speed_scale,
    unit_compliance,
    verified,
    without_moments,
)
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True, eq=False)
class ConvexLawSolution(LawSolution):
    """A solution of the relaxed law.

    Parameters
    ----------
    velocity : (nv,) array
        Joint velocities after the impulses.
    impulses : (m, 3) array
        On A along the contacts' frames, N s.
    loop_impulses : (n_b,) array
        Of the closures' rows, N s or N m s.
    slip : (m,) array
        Sliding speeds, m/s.
    solved : bool
        Whether the residual is within the law's tolerance.
    residual : float
        Largest violation of the relaxed law, relative to the largest velocity without impulses.
    iterations : int
        Steps of the solver.
    detail : str, optional
        What went wrong, if anything did.
    exact : float, optional
        Its residual in Coulomb's law: what the relaxation changes.
    separation : float, optional
        Largest mu |u_t| of loaded contacts, m/s: the speed with which they leave each other instead
        of sliding.
    moments : (m, 3) array, optional
        None: the law has no such friction.
    """

    exact: float = float("nan")
    separation: float = float("nan")


_STIFF = 100.0  # of the carriers of dry friction, beside the largest compliance
_ROUNDS = 12  # of corrections, each to a hundredth of the last
_LOADED = 1e-14  # error of a load, relative to the velocities, that is rounding


def _loaded(
    problem: ContactProblem, W: Array, u: Array, start: Array | None, dry: BoolArray
) -> ConvexSolution:
    """The relaxed problem's solution, with dry friction loaded with exactly its limit."""
    stiff, rows = _STIFF * unit_compliance(problem), 3 * np.flatnonzero(dry)
    W, u = load_dry(problem, W, u, stiff)
    friction = np.where(dry, 1.0, problem.friction)
    found = ConvexCone().solve(ConeProblem(W, u, friction), start)
    for _ in range(_ROUNDS if len(rows) else 0):
        excess = stiff * (found.z[rows] - problem.dry[dry])
        if not np.abs(excess).max() > _LOADED * np.abs(u).max():
            break
        u[rows] += excess
        found = ConvexCone().solve(ConeProblem(W, u, friction), found.z)
    return found


@dataclass(frozen=True, kw_only=True)
class Convex:
    """Coulomb friction relaxed to a convex problem: what slides separates with mu |u_t|.

    Parameters
    ----------
    tolerance : float, optional
        Largest accepted residual, of the relaxed law. Default: 1e-9.

    References
    ----------
    M. Anitescu, A. Tasora, Comput. Optim. Appl. 47 (2010); [Z] 2.3.4.
    """

    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(
        self, problem: ContactProblem, warm_start: ArrayLike | None = None
    ) -> ConvexLawSolution:
        """Impulses of the relaxed law, and what they cost.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier, similar problem, N s.

        Returns
        -------
        ConvexLawSolution
            `exact` and `separation` tell what the relaxation changed.

        Raises
        ------
        ArgumentError
            For a problem with torsional, rolling or viscous friction or mu = inf, or a warm start
            that does not fit.
        """
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        held, W, u = without_closures(problem)
        given = np.zeros((problem.n_contacts, 3))
        # Stops have no friction to relax.
        given[:, 0] = np.where(problem.kinds == CONTACT, problem.prior_normal_impulse, 0.0)
        dry = problem.kinds == DRY
        found = _loaded(
            problem,
            W,
            u - W @ given.ravel(),
            None if start is None else (start + given).ravel(),
            dry,
        )
        p = found.z.reshape(-1, 3) - given
        p[dry, 0] = 0.0
        loops = held.impulses(problem.response.L[problem.n_loop_rows :].T @ p.ravel())

        def conditions(p: Array, u: Array) -> Array:
            scale = speed_scale(problem)
            of_joints = cone_errors(problem, unit_compliance(problem), p, u)[dry]
            return np.append(of_joints, found.residual * scale)

        relaxed = verified(
            problem,
            p,
            loops,
            conditions,
            found.iterations,
            tolerance=self.tolerance,
            detail=found.status.message,
        )
        exact = verified(problem, p, loops, cone_conditions(problem), 0).residual
        own = {item.name: getattr(relaxed, item.name) for item in fields(relaxed)}
        return ConvexLawSolution(**own, exact=exact, separation=found.separation)
