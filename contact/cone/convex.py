"""The convex relaxation (cone complementarity): u in K*, r in K, r . u = 0, as a law of contact of its own.

These are the optimality conditions of min r'W r / 2 + b'r over the cones: convex, always with a solution where the
problem is feasible, and the law of several simulators. It leaves out the term mu |u_t| of the exact problem, so that
contacts that slide also separate, with u_n = mu |u_t|.

Reference: M. Anitescu, A. Tasora, Comput. Optim. Appl. 47 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.newton import newton
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.projection import CONVEX
from spatialops.contact.cone.proximal import Proximal
from spatialops.contact.cone.residual import Residuals
from spatialops.contact.cone.system import System
from spatialops.contact.lcp.status import Status

_ACCEPTED = 1e-8
_UNKNOWN = Residuals(float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class ConvexSolution(ConeSolution):
    """A solution of the relaxation; `status` and both residuals are those of the relaxed law.

    Attributes
    ----------
    exact : Residuals
        Its residuals in the exact problem: how much the relaxation changes.
    separation : float
        Largest mu |u_t| of the contacts that carry load, m/s: the normal velocity with which they leave each other
        although they should slide.
    """

    exact: Residuals = _UNKNOWN
    separation: float = float("nan")


@dataclass(frozen=True)
class ConvexCone:
    """The convex relaxation of Coulomb's law: interior point, then Newton and proximal points on its natural map.

    Parameters
    ----------
    max_steps : int
        Of the interior point.
    """

    max_steps: int = 100

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConvexSolution:
        """Solve the relaxation; `warm_start` (n,) is an earlier r, tried first."""
        if problem.size == 0 or not problem.b.any():
            return _judged(problem, np.zeros(problem.size), 0)
        system = System.of(problem)
        best, taken = _judged(problem, np.zeros(problem.size), 0), 0
        with np.errstate(all="ignore"):  # what diverges is judged by its residual
            for r, steps in self._tries(system, warm_start):
                taken += steps
                found = _judged(problem, system.outward(r), taken)
                if found.residual + found.scale_free < best.residual + best.scale_free:
                    best = found
                if best.residual <= 1e-10 and best.scale_free <= 1e-10:
                    break
        return best

    def _tries(self, system: System, warm_start: Any) -> Any:
        if warm_start is not None:
            r = system.inward(warm_start)
            yield r, newton(system, r, CONVEX, 15, 1e-14)[0]
        r, taken = np.zeros(system.b.size), 0
        if system.mu.shape[1] == 1:
            r, taken = interior(system, self.max_steps, exact=False)
        start = r.copy()
        yield r, taken + newton(system, r, CONVEX, 40, 1e-14)[0]
        for eps in (1e-6, 1e-2):
            r = start.copy()
            yield r, Proximal(CONVEX, eps).improve(system, r)


def _judged(problem: ConeProblem, r: Array, iterations: int) -> ConvexSolution:
    """Velocities, residuals of both laws and status, from the original data."""
    relaxed = problem.residuals(r, exact=False)
    u = np.asarray(problem.W @ r + problem.b)
    rows = u.reshape(-1, int(problem.dim))
    slip = sum(
        (problem.coefficients[:, k] * np.linalg.norm(rows[:, a:e], axis=1))
        for k, (a, e) in enumerate(zip(problem.starts[:-1], problem.starts[1:]))
    )
    loaded = r[:: int(problem.dim)] > 1e-9 * np.abs(r).max(initial=0.0)
    status = Status.SOLVED if relaxed.worst <= _ACCEPTED else Status.STALLED
    return ConvexSolution(
        r,
        u,
        status,
        iterations,
        relaxed.relative,
        "convex",
        relaxed.scale_free,
        problem.residuals(r),
        float(np.max(slip, initial=0.0, where=loaded)),
    )
