"""What decides whether impulses solve a problem: both residuals, from the original data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.problem import ConeSolution
from spatialops.contact.lcp.status import Status

if TYPE_CHECKING:
    from spatialops.contact.cone.problem import ConeProblem
    from spatialops.contact.cone.residual import Residuals

ACCEPTED = 1e-8  # both residuals of what is called solved, and
_ROUNDED = 1e-5  # the relative one where rounding alone leaves more


def verified(problem: ConeProblem, r: Array, iterations: int, name: str) -> ConeSolution:
    """Impulses as a solution, its velocities, residuals and status computed from the original data.

    Solved are residuals of at most 1e-8, both of them. Where |b| is small against |W| |r|, or mu
    large, rounding of u = W r + b and of r alone may leave more in the relative one: it may reach
    that floor, up to 1e-5, while the scale-free residual must still be within 1e-8.
    """
    with np.errstate(all="ignore"):
        u = np.asarray(problem.W @ r + problem.b)
        return with_status(problem, r, u, iterations, problem.residuals(r), name)


def with_status(
    problem: ConeProblem, r: Array, u: Array, iterations: int, found: Residuals, name: str
) -> ConeSolution:
    """The solution that residuals make of impulses and velocities."""
    holds = found.scale_free <= ACCEPTED
    if holds and found.relative > ACCEPTED:
        holds = found.relative <= min(rounding(problem, r), _ROUNDED)
    status = Status.SOLVED if holds else Status.STALLED
    return ConeSolution(r, u, status, iterations, found.relative, name, found.scale_free)


def rounding(problem: ConeProblem, r: Array) -> float:
    """Relative residual that rounding of r and W r + b can leave.

    That is (1 + mu) eps max(|W| |r|, |r| / rho) / max |b|.
    """
    largest = np.abs(problem.b).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    size = np.abs(r)
    speed = max(
        float((np.abs(problem.W) @ size).max()),
        float(np.abs(problem.W.diagonal()).max() * size.max()),
    )
    friction = float(problem.coefficients.sum(axis=1).max())
    return float(np.finfo(np.float64).eps) * (1.0 + friction) * speed / float(largest)
