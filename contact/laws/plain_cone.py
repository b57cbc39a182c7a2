"""The common case of the exact cone, past everything that it does not need.

Contacts with finite friction only: no closures, stops, dry friction, moments, viscous friction or
impulses from before. W = L L^T and u are the cone problem as they are. The first try of the cone's
solvers is one kernel. Rows that depend on one another, as those of soles with four corners, it
does not solve to the last digits; Newton's method on statuses does, in a hundredth of the time that
the ladder of solvers takes. What is left goes the own way of `ConeCoulomb`.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.contact.cone.fast_path import MOST_ROWS, fast_kernel, room
from spatialops.contact.friction import directions
from spatialops.contact.laws.central import impulses_of
from spatialops.contact.laws.law import LawSolution, unit_compliance
from spatialops.contact.newton import _layout as at
from spatialops.contact.problem import ContactProblem

POLISHED = 1e-11  # residuals of the cone's solver that need no more steps
_ROUNDING = float(np.finfo(np.float64).eps)
SHARPER = 0.1  # of the tolerance: what ends the search of the cone's solvers too
_CORNERS = directions(4)  # which the circle does not look at
_STARTS = np.array([1, 3])  # rows of a contact: normal, two tangents
_ABSENT = (
    "kinds",
    "prior_normal_impulse",
    "torsion",
    "rolling",
    "viscous",
    "polygon_sides",
)


def is_plain(problem: ContactProblem) -> bool:
    """Whether contacts have round cones of finite friction, and nothing else."""
    if problem.n_loop_rows or not 0 < 3 * problem.n_contacts <= MOST_ROWS:
        return False
    friction = problem.friction.max() < math.inf
    return bool(friction) and not any(getattr(problem, name).any() for name in _ABSENT)


def solve_plain(
    problem: ContactProblem, start: Array | None, tolerance: float
) -> LawSolution | None:
    """The law's solution where `is_plain`; None where neither method is good enough.

    Parameters
    ----------
    problem : ContactProblem
        Of plain contacts.
    start : (m, 3) array or None
        Impulses of an earlier, similar problem, N s.
    tolerance : float
        Largest accepted residual of the law.
    """
    found = _polished(problem, start, tolerance)
    return _central(problem, start, tolerance) if found is None else found


def _central(problem: ContactProblem, start: Array | None, tolerance: float) -> LawSolution | None:
    """By Newton's method on statuses, for rows that depend on one another: soles, heaps."""
    L = problem.response.L
    own = problem.velocities
    p, taken = impulses_of(
        problem, L, own, _CORNERS, at.CONE, start, min(POLISHED, SHARPER * tolerance)
    )
    return _judged(problem, p, taken, SHARPER * tolerance)


def _polished(problem: ContactProblem, start: Array | None, tolerance: float) -> LawSolution | None:
    """By the first try of the cone's solver, where it ends at the last digits."""
    m = problem.n_contacts
    W = problem.compliance
    b = problem.velocities
    r = np.zeros(3 * m) if start is None else start[:, :3].flatten()
    u = np.empty(3 * m)
    report = np.empty(2)
    mu = problem.friction
    ints = np.empty((2, 3 * m), dtype=np.int64)
    warm = start is not None
    taken = fast_kernel(W, b, mu[:, None], _STARTS, warm, r, u, report, room(m, 3), ints)
    if not (report <= min(POLISHED, SHARPER * tolerance)).all():
        return None
    p = r.reshape(m, 3)
    p[:, 0] = np.maximum(p[:, 0], 0.0)
    return _judged(problem, p, int(taken), tolerance)


def _judged(problem: ContactProblem, p: Array, taken: int, tolerance: float) -> LawSolution | None:
    """The solution of impulses (m, 3); None where the law's residual is above the tolerance."""
    m = problem.n_contacts
    b = problem.velocities
    mu = problem.friction
    velocity = problem.after(p.ravel())
    u = (problem.jacobian @ velocity).reshape(m, 3) + problem.bias
    slip = np.empty(m)
    worst = cone_violation(unit_compliance(problem), p, u, mu, slip)
    scale = float(np.abs(b).max()) or unit_compliance(problem) * float(np.abs(p).max())
    residual = worst / scale if scale > 0.0 else worst
    if not residual <= tolerance:
        return None
    return LawSolution(velocity, p, np.zeros(0), slip, True, residual, taken, "")


@kernel
def cone_violation(s: float, p: Array, u: Array, mu: Array, slip: Array) -> float:
    """Largest violation of the law, m/s, or what rounding of the impulses hides; slip of each.

    |min(s p_n, u_n)|, and how far s p_t is from the point of its disc nearest to s p_t - u_t.
    """
    worst = 0.0
    total = 0.0
    largest = 0.0
    for i in range(p.shape[0]):
        load = s * p[i, 0]
        one = abs(min(load, u[i, 0]))
        a = s * p[i, 1]
        b = s * p[i, 2]
        ahead_a = a - u[i, 1]
        ahead_b = b - u[i, 2]
        size = math.hypot(ahead_a, ahead_b)
        limit = mu[i] * max(load, 0.0)
        if size > limit:
            two = math.hypot(a - ahead_a * (limit / size), b - ahead_b * (limit / size))
        else:
            two = math.hypot(u[i, 1], u[i, 2])
        slip[i] = math.hypot(u[i, 1], u[i, 2])
        worst = max(worst, one, two)
        total += one + two
        for k in range(3):
            largest = max(largest, abs(p[i, k]))
    if math.isnan(total):  # which `max` may have lost
        return math.nan
    return max(worst, _ROUNDING * s * largest)
