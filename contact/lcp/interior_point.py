"""Mehrotra's predictor and corrector for monotone problems, ended by the basis it points to."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.solver import Handles, dense_problem
from spatialops.contact.lcp.status import Status

_SHORT = 1e-8  # step length from which on nothing moves any more
_FAR = 1e14  # z, of an equilibrated problem, that runs away
_LIFT = 1e-13  # on the diagonal of free rows, which may be singular
_INSIDE = 1e-200  # least z and w: a step never quite reaches zero
_TO_BOUNDARY = 0.99  # part of the way to the first zero that a step takes


@dataclass(frozen=True)
class InteriorPoint:
    """Infeasible interior point with a predictor and a corrector (Mehrotra 1992; Wright 1997).

    Made for positive semidefinite A, where such methods converge in practice (Mehrotra's steps are
    not proved to); often gives the basis for others. Every third iteration the basis where z > w is
    solved and checked.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_iterations : int
        Steps, of one factorization each.
    """

    tolerance: float = 1e-9
    max_iterations: int = 60

    handles: ClassVar[Handles] = Handles(proved=(), warm_start=False)

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by predictor and corrector steps.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            Not used: an interior point does not start from a corner.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        problem = dense_problem(problem)
        n = problem.size
        best, smallest = np.zeros(n), problem.residual(np.zeros(n))
        if n == 0 or smallest <= self.tolerance:
            return point(problem, best, Status.SOLVED, 0, "interior-point", self.tolerance)
        easier, scales = equilibrated(problem)
        f = easier.n_free
        status = Status.ITERATION_LIMIT
        k = 0
        z, w = np.ones(n), np.ones(n)
        z[:f] = 0.0
        for k in range(1, self.max_iterations + 1):
            moved = _iterate(easier, z, w)
            if moved is None:
                status = Status.STALLED
                break
            z, w, length = moved
            if k % 3 == 0 or length < _SHORT:
                candidate, found = polish(problem, scales.back(z), self.tolerance, 3)
                if found < smallest:
                    best, smallest = candidate, found
            if smallest <= self.tolerance:
                break
            if length < _SHORT or not np.abs(z).max() < _FAR:
                status = Status.STALLED
                break
        return point(problem, best, status, k, "interior-point", self.tolerance)


def _iterate(problem: MixedLCP, z: Array, w: Array) -> tuple[Array, Array, float] | None:
    """One predictor and corrector; None where the system is singular.

    w is kept on the constrained rows only.
    """
    A = problem.A
    b = problem.b
    f = problem.n_free
    m = z.size - f
    r = A @ z + b
    r[f:] -= w[f:]
    K = A.copy()
    K[np.diag_indices(z.size)] += np.concatenate([np.full(f, _LIFT), w[f:] / z[f:]])
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
    t = min(1.0, _TO_BOUNDARY * _length(z[f:], w[f:], dz[f:], dw[f:]))
    z, w = z + t * dz, w + t * dw
    z[f:], w[f:] = np.maximum(z[f:], _INSIDE), np.maximum(w[f:], _INSIDE)
    return z, w, t


def _length(z: Array, w: Array, dz: Array, dw: Array) -> float:
    """Largest step, at most 1 / _TO_BOUNDARY, that keeps z and w from turning negative."""
    values, steps = np.concatenate([z, w]), np.concatenate([dz, dw])
    down = steps < 0.0
    return float(min(1.0 / _TO_BOUNDARY, (values[down] / -steps[down]).min(initial=np.inf)))
