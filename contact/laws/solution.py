"""What every law of contact answers, and the judge who measures it in the original data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spatialops._arrays import Array, array
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.contact.rows import DRY
from spatialops.errors import ArgumentError

TOLERANCE = 1e-9
Conditions = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class LawSolution(ContactSolution):
    """Impulses of a law, and how well they obey it.

    Attributes
    ----------
    solved : bool
        Whether the residual is within the law's tolerance.
    residual : float
        Largest violation of the law's own conditions and of the closures, relative to the largest velocity that the
        rows would have without impulses.
    iterations : int
        Pivots, sweeps or Newton steps.
    detail : str
        What went wrong, if anything did.
    """

    solved: bool
    residual: float
    iterations: int
    detail: str = ""


class Law(Protocol):
    """What a law is: options as fields, and one method."""

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Impulses and velocities of `problem`; `warm_start` (m, 3) are impulses of an earlier, similar one."""


def checked_problem(problem: Any, warm_start: Any) -> Array | None:
    """The warm start as (m, 3) impulses, or None.

    Raises
    ------
    ArgumentError
        For something that is not a contact problem, or a warm start that does not fit.
    """
    if not isinstance(problem, ContactProblem):
        raise ArgumentError(f"problem: expected a ContactProblem, got {type(problem).__name__}")
    if warm_start is None:
        return None
    return array(warm_start, (problem.n_contacts, 3), "warm_start", finite=True)


def unit_compliance(problem: ContactProblem) -> float:
    """Largest diagonal entry s of the compliance over the contacts' rows: s times an impulse is a velocity."""
    rows = problem.response.L[problem.n_loop_rows :]
    largest = float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0))
    return largest if largest > 0.0 else 1.0


def normal_errors(s: float, p: Array, u: Array) -> Array:
    """|min(s p_n, u_n)| (m,): zero where both are >= 0 and one of them is zero."""
    return np.abs(np.minimum(s * p[:, 0], u[:, 0]))


def cone_errors(problem: ContactProblem, s: float, p: Array, u: Array) -> Array:
    """How far friction (m, 2) is from the nearest to s p_t - u_t in its disc, (m,)."""
    limit = s * (problem.friction * (np.maximum(p[:, 0], 0.0) + problem.offset) + problem.dry)
    ahead = s * p[:, 1:] - u[:, 1:]
    size = np.hypot(ahead[:, 0], ahead[:, 1])
    outside = size > limit
    nearest = ahead * (limit / np.where(outside, size, 1.0))[:, None]
    friction = np.where(outside[:, None], s * p[:, 1:] - nearest, u[:, 1:])
    return np.hypot(friction[:, 0], friction[:, 1])


def of_joints_too(problem: ContactProblem, s: float, p: Array, u: Array, errors: Array) -> Array:
    """Errors (m,) of a law of contact; those of joints' dry friction, which no such law changes, are put in."""
    if not problem.has_joints:
        return errors
    return np.where(problem.kinds == DRY, cone_errors(problem, s, p, u), errors)


def judged(
    problem: ContactProblem,
    impulses: Array,
    loop_impulses: Array,
    conditions: Conditions,
    iterations: int,
    *,
    tolerance: float = TOLERANCE,
    detail: str = "",
) -> LawSolution:
    """The solution of these impulses, its residual from velocities that the Jacobian has after one O(N) sweep.

    `conditions(p, u)` gives the violations, m/s, of impulses (m, 3) and velocities (m, 3) with `closing` in the normal
    ones. What impulses beyond all measure hide by rounding counts as violated.
    """
    n_b, s = problem.n_loop_rows, unit_compliance(problem)
    p = np.concatenate([loop_impulses, impulses.ravel()])
    with np.errstate(all="ignore"):  # what is no number has no residual: it says so
        velocity = problem.after(p)
        rows = problem.jacobian @ velocity
        u = rows[n_b:].reshape(-1, 3).copy()
        u[:, 0] += problem.closing
        scale = np.abs(problem.velocities).max(initial=0.0)
        if scale == 0.0:
            scale = s * np.abs(p).max(initial=0.0)
        worst = np.abs(rows[:n_b] - problem.loop_targets).max(initial=0.0)
        worst = max(worst, float(conditions(impulses, u).max(initial=0.0)))
        worst = max(worst, np.finfo(float).eps * s * float(np.abs(impulses).max(initial=0.0)))
        residual = float(worst / scale) if scale > 0.0 else float(worst)
    if not np.isfinite(p).all() or not np.isfinite(velocity).all():
        residual = float("nan")
    slip = np.hypot(u[:, 1], u[:, 2])
    solved = bool(residual <= tolerance)
    return LawSolution(
        velocity, impulses, loop_impulses, slip, solved, residual, iterations, "" if solved else detail or "inaccurate"
    )
