"""Equilibration: rows and columns scaled by powers of two until their largest entries are near one."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP


def equilibrated(problem: MixedLCP, passes: int = 10) -> tuple[MixedLCP, Array]:
    """The problem with A -> S A S and b -> S b / max|S b|, S diagonal and positive (Ruiz 2001), and S with that factor.

    One S on both sides keeps complementarity, symmetry and definiteness; powers of two keep every digit.
    """
    A, scale = np.array(problem.A), np.ones(problem.size)
    for _ in range(passes):
        largest = np.sqrt(np.maximum(np.abs(A).max(axis=0), np.abs(A).max(axis=1)))
        step = np.exp2(-np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
        A, scale = A * step[:, None] * step, scale * step
    b = scale * problem.b
    factor = np.exp2(-np.round(np.log2(np.abs(b).max()))) if np.abs(b).max() > 0.0 else 1.0
    return MixedLCP(A, b * factor, problem.n_free), np.append(scale, factor)


def scaled_back(solution: LCPSolution, scales: Array) -> LCPSolution:
    """A solution of the equilibrated problem in the original one's units."""
    scale, factor = scales[:-1], scales[-1]
    z, w = solution.z * scale / factor, solution.w / scale / factor
    return LCPSolution(
        z, w, solution.status, solution.iterations, solution.residual, solution.solver + ", equilibrated"
    )
