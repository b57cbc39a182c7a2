"""The convex relaxation (cone complementarity): u in K*, r in K, r . u = 0, a law of its own.

These are the optimality conditions of min r'W r / 2 + b'r over the cones: convex, always with a
solution where the problem is feasible, and the law of several simulators. It leaves out the term mu
|u_t| of the exact problem, so that contacts that slide also separate, with u_n = mu |u_t|.

Reference: M. Anitescu, A. Tasora, Comput. Optim. Appl. 47 (2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.newton import TARGET, newton
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.projection import CONVEX
from spatialops.contact.cone.proximal import Proximal
from spatialops.contact.cone.residual import Residuals
from spatialops.contact.cone.scaled_problem import ScaledProblem
from spatialops.contact.cone.verify import ACCEPTED
from spatialops.contact.lcp.status import Status

_GOAL = 1e-10  # of both residuals, for not trying another start
_WEIGHTS = (1e-6, 1e-2)  # first ones of proximal points
_LOADED = 1e-9  # normal impulse, relative to the largest, of a contact that carries load
_UNKNOWN = Residuals(float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class ConvexSolution(ConeSolution):
    """A solution of the relaxation; `status` and both residuals are those of the relaxed law.

    Parameters
    ----------
    z, w : (n,) array
        Impulses r, N s, and velocities u, m/s.
    status : Status
        How the solve ended.
    iterations : int
        Steps of the interior point and Newton steps together.
    residual : float
        Natural residual of the relaxed law relative to max |b|, in the original data.
    solver : str
        Who found it.
    scale_free : float
        The same free of units.
    proof : (m,) array, optional
        Of NO_SOLUTION; never given here.
    exact : Residuals
        Its residuals in the exact problem: how much the relaxation changes.
    separation : float
        Largest mu |u_t| of the contacts that carry load, m/s: the normal velocity with which they
        leave each other although they should slide.
    """

    exact: Residuals = _UNKNOWN
    separation: float = float("nan")


@dataclass(frozen=True)
class ConvexCone:
    """The convex relaxation by an interior point, then Newton and proximal points on its map.

    Parameters
    ----------
    max_steps : int
        Of the interior point.
    """

    max_steps: int = 100

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConvexSolution:
        """Solve the relaxation.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            An earlier r, tried first.

        Returns
        -------
        ConvexSolution
            `status` is SOLVED only if both residuals of the relaxed law hold.
        """
        if problem.size == 0 or not problem.b.any():
            return _verified(problem, np.zeros(problem.size), 0)
        system = ScaledProblem.of(problem)
        best, taken = _verified(problem, np.zeros(problem.size), 0), 0
        with np.errstate(all="ignore"):  # what diverges is verified by its residual
            for r, steps in self._tries(system, warm_start):
                taken += steps
                found = _verified(problem, system.outward(r), taken)
                if found.residual + found.scale_free < best.residual + best.scale_free:
                    best = found
                if best.residual <= _GOAL and best.scale_free <= _GOAL:
                    break
        return best

    def _tries(
        self, system: ScaledProblem, warm_start: ArrayLike | None
    ) -> Iterator[tuple[Array, int]]:
        if warm_start is not None:
            r = system.inward(warm_start)
            yield r, newton(system, r, CONVEX, 15, TARGET)[0]
        r, taken = np.zeros(system.b.size), 0
        if system.mu.shape[1] == 1:
            r, taken = interior(system, self.max_steps, exact=False)
        start = r.copy()
        yield r, taken + newton(system, r, CONVEX, 40, TARGET)[0]
        for eps in _WEIGHTS:
            r = start.copy()
            yield r, Proximal(CONVEX, eps).improve(system, r)


def _verified(problem: ConeProblem, r: Array, iterations: int) -> ConvexSolution:
    """Velocities, residuals of both laws and status, from the original data."""
    relaxed = problem.residuals(r, exact=False)
    u = np.asarray(problem.W @ r + problem.b)
    rows = u.reshape(-1, problem.dim)
    slip = sum(
        (problem.coefficients[:, k] * np.linalg.norm(rows[:, a:e], axis=1))
        for k, (a, e) in enumerate(zip(problem.starts[:-1], problem.starts[1:]))
    )
    loaded = r[:: problem.dim] > _LOADED * np.abs(r).max(initial=0.0)
    status = Status.SOLVED if relaxed.worst <= ACCEPTED else Status.STALLED
    return ConvexSolution(
        r,
        u,
        status,
        iterations,
        relaxed.relative,
        "convex",
        relaxed.scale_free,
        exact=problem.residuals(r),
        separation=float(np.max(slip, initial=0.0, where=loaded)),
    )
