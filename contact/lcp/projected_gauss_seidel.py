"""Projected Gauss-Seidel with over-relaxation: row by row, z_i = max(0, z_i - omega w_i / A_ii)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops._compile.jit import kernel
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.solver import Handles, checked_start, dense_problem, not_applicable
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

NAME = "gauss-seidel"
_DIVERGED = 1e100  # residual of sweeps that do not converge


@kernel
def sweep(A: Array, b: Array, n_free: int, relaxation: float, count: int, z: Array) -> None:
    """`count` sweeps over all rows, in place."""
    n = b.size
    for _ in range(count):
        for i in range(n):
            w = b[i]
            for j in range(n):
                w += A[i, j] * z[j]
            z[i] -= relaxation * w / A[i, i]
            if i >= n_free:
                z[i] = max(z[i], 0.0)


@dataclass(frozen=True)
class ProjectedGaussSeidel:
    """Projected Gauss-Seidel, with over-relaxation.

    Proved, for a positive diagonal: it converges, linearly, for symmetric positive semidefinite
    matrices where there is a solution (0 < relaxation < 2; Luo and Tseng 1992), and for H-matrices
    with 0 < relaxation <= 1 (strictly diagonally dominant ones among them). Rows without a positive
    diagonal, such as the slip speeds of a contact problem with polyhedral friction, are refused.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    relaxation : float
        omega, between 0 and 2.
    max_sweeps : int
        Over all rows.
    polish : bool
        Whether to solve for the active set reached so far now and then: convergence is slow where
        contacts are redundant.
    """

    tolerance: float = 1e-9
    relaxation: float = 1.0
    max_sweeps: int = 20000
    polish: bool = True

    handles: ClassVar[Handles] = Handles(
        proved=(
            "symmetric positive semidefinite with a positive diagonal",
            "H with a positive diagonal",
        ),
        positive_diagonal=True,
    )

    def __post_init__(self) -> None:
        if not 0.0 < scalar(self.relaxation, "relaxation") < 2.0:
            raise ArgumentError(
                f"relaxation: expected a number between 0 and 2, got {self.relaxation!r}"
            )

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by sweeps over the rows.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            Where sweeps start; default: zero.

        Returns
        -------
        LCPSolution
            NOT_APPLICABLE where a diagonal entry is not positive.
        """
        problem = dense_problem(problem)
        flat = np.flatnonzero(~(np.diag(problem.A) > 0.0))
        if flat.size:
            reason = f"row {flat[0]} has no positive diagonal entry, which every row is divided by"
            return not_applicable(problem, NAME, reason)
        start = checked_start(problem, warm_start)
        z = np.zeros(problem.size) if start is None else start.copy()
        z[problem.n_free :] = np.maximum(z[problem.n_free :], 0.0)
        done = 0
        next_polish = 20
        residual = problem.residual(z)
        while done < self.max_sweeps and residual > self.tolerance:
            count = min(10, self.max_sweeps - done)
            sweep(problem.A, problem.b, problem.n_free, self.relaxation, count, z)
            done += count
            residual = problem.residual(z)
            if not np.isfinite(residual) or residual > _DIVERGED:
                detail = "the matrix is neither symmetric positive semidefinite nor an H-matrix"
                zero = np.zeros_like(z)
                return point(
                    problem, zero, Status.STALLED, done, NAME, self.tolerance, f"diverged: {detail}"
                )
            if self.polish and done >= next_polish and residual > self.tolerance:
                next_polish = 2 * done
                better, smaller = polish(problem, z, self.tolerance, 2)
                z, residual = (better, smaller) if smaller <= self.tolerance else (z, residual)
        return point(problem, z, Status.ITERATION_LIMIT, done, NAME, self.tolerance)
