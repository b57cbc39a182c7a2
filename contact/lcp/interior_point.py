"""Mehrotra's predictor and corrector for monotone mixed problems, ended by the basis that it points to."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.handles import Handles
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.status import Status


@dataclass(frozen=True)
class InteriorPoint:
    """Infeasible interior point with a predictor and a corrector (Mehrotra 1992; Wright 1997).

    Made for positive semidefinite A, where such methods converge in practice (Mehrotra's steps are not proved to);
    often gives the basis for others. Every third iteration the basis where z > w is solved and checked.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_iterations : int
    """

    tolerance: float = 1e-9
    max_iterations: int = 60

    handles: ClassVar[Handles] = Handles(proved=(), warm_start=False)

    def solve(self, problem: MixedLCP, warm_start: Any = None) -> LCPSolution:
        """Solve; `warm_start` is not used, since an interior point does not start from a corner."""
        problem = problem.dense()
        n = problem.size
        best, smallest = np.zeros(n), problem.residual(np.zeros(n))
        if n == 0 or smallest <= self.tolerance:
            return point(problem, best, Status.SOLVED, 0, "interior-point", self.tolerance)
        easier, scales = equilibrated(problem)
        f, status, k = easier.n_free, Status.ITERATION_LIMIT, 0
        z, w = np.ones(n), np.ones(n)
        z[:f] = 0.0
        for k in range(1, self.max_iterations + 1):
            moved = _iterate(easier, z, w)
            if moved is None:
                status = Status.STALLED
                break
            z, w, length = moved
            if k % 3 == 0 or length < 1e-8:
                candidate, found = polish(problem, scales.back(z), self.tolerance, 3)
                if found < smallest:
                    best, smallest = candidate, found
            if smallest <= self.tolerance:
                break
            if length < 1e-8 or not np.abs(z).max() < 1e14:
                status = Status.STALLED
                break
        return point(problem, best, status, k, "interior-point", self.tolerance)


def _iterate(problem: MixedLCP, z: Array, w: Array) -> tuple[Array, Array, float] | None:
    """One predictor and corrector; w is kept on the constrained rows only. None where the system is singular."""
    A, b, f = problem.A, problem.b, problem.n_free
    m = z.size - f
    r = A @ z + b
    r[f:] -= w[f:]
    K = A.copy()
    K[np.diag_indices(z.size)] += np.concatenate([np.full(f, 1e-13), w[f:] / z[f:]])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
        factors = scipy.linalg.lu_factor(K, check_finite=False)

        def direction(target: Array) -> tuple[Array, Array]:
            """Newton's step to r = 0 and z w = z w + target."""
            right = -r
            right[f:] += target / z[f:]
            dz = scipy.linalg.lu_solve(factors, right, check_finite=False)
            dw = np.zeros_like(dz)
            dw[f:] = (target - w[f:] * dz[f:]) / z[f:]
            return dz, dw

        gap = z[f:] @ w[f:] / max(m, 1)
        dz, dw = direction(-z[f:] * w[f:])
        t = _length(z[f:], w[f:], dz[f:], dw[f:])
        after = (z[f:] + t * dz[f:]) @ (w[f:] + t * dw[f:]) / max(m, 1)
        center = (after / gap) ** 3 if gap > 0.0 else 0.0
        dz, dw = direction(center * gap - z[f:] * w[f:] - dz[f:] * dw[f:])
    if not (np.isfinite(dz).all() and np.isfinite(dw).all()):
        return None
    t = min(1.0, 0.99 * _length(z[f:], w[f:], dz[f:], dw[f:]))
    z, w = z + t * dz, w + t * dw
    z[f:], w[f:] = np.maximum(z[f:], 1e-200), np.maximum(w[f:], 1e-200)
    return z, w, t


def _length(z: Array, w: Array, dz: Array, dw: Array) -> float:
    """Largest step, at most 1 / 0.99, that keeps z and w from turning negative."""
    values, steps = np.concatenate([z, w]), np.concatenate([dz, dw])
    down = steps < 0.0
    return float(min(1.0 / 0.99, (values[down] / -steps[down]).min(initial=np.inf)))
