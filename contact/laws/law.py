"""What every law of contact is and answers, and how that is measured in the original data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array, dimensions
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.disc_projection import on_polygons
from spatialops.contact.lcp.status import Status
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.errors import ArgumentError

TOLERANCE = 1e-9
Conditions = Callable[[Array, Array], Array]


@dataclass(frozen=True, eq=False)
class LawSolution(ContactSolution):
    """Impulses of a law, and how well they obey it.

    Parameters
    ----------
    velocity : (nv,) array
        Joint velocities after the impulses.
    impulses : (m, 3) array
        On A along the contacts' frames, N s (without `prior_normal_impulse`).
    loop_impulses : (n_b,) array
        Of the closures' rows, N s or N m s.
    slip : (m,) array
        Sliding speeds, m/s.
    solved : bool
        Whether the residual is within the law's tolerance.
    residual : float
        Largest violation of the law's own conditions and of the closures, relative to the largest
        velocity that the rows would have without impulses.
    iterations : int
        Pivots, sweeps or Newton steps.
    detail : str, optional
        What went wrong, if anything did.
    moments : (m, 3) array, optional
        Impulses of torsional and rolling friction on A along the frames, N m s; None where no
        contact has any.
    """

    solved: bool
    residual: float
    iterations: int
    detail: str = ""


class Law(Protocol):
    """What a law of contact is: options as fields, a trait, and one method."""

    @property
    def rigid(self) -> bool:
        """Whether contacts do not give way: bodies do not sink in, and impacts are sudden."""
        return True

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses and velocities of a problem.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier, similar problem, N s; with moments (m, 6).

        Returns
        -------
        LawSolution
            What was found, and how well it obeys the law.
        """


def is_rigid(law: object) -> bool:
    """Whether contacts are rigid: what a law's `rigid` says, and true of laws that say nothing."""
    return bool(getattr(law, "rigid", True))


def checked_problem(problem: object, warm_start: ArrayLike | None) -> Array | None:
    """The warm start as (m, 3) or (m, 6) impulses, or None.

    Raises
    ------
    ArgumentError
        For something that is not a contact problem, or a warm start that does not fit.
    """
    if not isinstance(problem, ContactProblem):
        raise ArgumentError(f"problem: expected a ContactProblem, got {type(problem).__name__}")
    if warm_start is None:
        return None
    stacked = dimensions(warm_start, "warm_start") == 2
    columns = 6 if stacked and np.shape(warm_start)[1:] == (6,) else 3
    return array(warm_start, (problem.n_contacts, columns), "warm_start", finite=True)


def without_moments(law: object, start: Array | None, problem: ContactProblem) -> Array | None:
    """The warm start, for laws that know of impulses only.

    Raises
    ------
    ArgumentError
        For a problem with torsional, rolling or viscous friction.
    """
    if problem.viscous.any():
        raise ArgumentError(
            f"problem: {type(law).__name__} does not take viscous friction; 'cone', 'coulomb' and "
            "Pairwise() do"
        )
    if problem.has_moments:
        raise ArgumentError(
            f"problem: {type(law).__name__} has no torsional or rolling friction; the laws "
            "'cone' and 'coulomb' have"
        )
    return None if start is None else start[:, :3]


def finite_friction(law: object, problem: ContactProblem) -> None:
    """Raise ArgumentError for a problem with infinite friction, which `law` does not know."""
    if np.isinf(problem.friction).any():
        raise ArgumentError(
            f"problem: {type(law).__name__} does not take mu = inf; 'cone', 'coulomb', 'no-slip' do"
        )


def unit_compliance(problem: ContactProblem) -> float:
    """Largest diagonal entry s of the compliance over the contacts' rows: s p is a velocity."""
    return problem.once(_unit_compliance)


def _unit_compliance(problem: ContactProblem) -> float:
    rows = problem.response.L[problem.n_loop_rows :]
    largest = float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0))
    return largest if largest > 0.0 else 1.0


def speed_scale(problem: ContactProblem) -> float:
    """What residuals are relative to, m/s.

    The fastest row without impulses, or what dry friction of joints could stop: of joints that it
    holds at rest velocities are rounding.
    """
    fastest = float(np.abs(problem.velocities).max(initial=0.0))
    return max(fastest, unit_compliance(problem) * float(problem.dry.max(initial=0.0)))


def spin_unit(problem: ContactProblem) -> float:
    """Length (m) by which spins are measured, so that their compliance is as large as others'."""
    if not problem.has_moments:
        return 1.0
    rows = problem.spin_response
    largest = float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0))
    return float(np.sqrt(unit_compliance(problem) / largest)) if largest > 0.0 else 1.0


def normal_errors(s: float, p: Array, u: Array) -> Array:
    """|min(s p_n, u_n)| (m,): zero where both are >= 0 and one of them is zero."""
    return np.abs(np.minimum(s * p[:, 0], u[:, 0]))


def cone_errors(
    problem: ContactProblem, s: float, p: Array, u: Array, sides: IntArray | None = None
) -> Array:
    """How far friction is from the nearest to s p_t - u_t in its disc, (m,).

    Where mu is infinite: the slip of what presses. p and u have three columns, or six with moments
    and spins. Viscous friction is what it has to be; what is left counts. Contacts with `sides`
    (m,) above zero have polygons of so many corners in place of discs.
    """
    endless = np.isinf(problem.friction)
    load = s * (np.maximum(p[:, 0], 0.0) + problem.prior_normal_impulse)
    slide = slice(1, 3)
    limits = np.where(endless, 0.0, problem.friction) * load + s * problem.dry
    dry = s * (p[:, slide] + problem.viscous[:, None] * u[:, slide])
    worst = _disc_errors(dry, u[:, slide], limits)
    for count in () if sides is None else np.unique(sides[sides > 0]):
        some = sides == count
        near = on_polygons(dry[some] - u[some, slide], limits[some], int(count))[0]
        worst[some] = np.linalg.norm(dry[some] - near, axis=1)
    worst /= 1.0 + s * problem.viscous
    pressing = np.maximum(load, s * np.hypot(p[:, 1], p[:, 2]))
    worst = np.where(endless, np.minimum(pressing, np.hypot(u[:, 1], u[:, 2])), worst)
    if p.shape[1] == 3:
        return worst
    unit = spin_unit(problem)
    for columns, limit in ((slice(3, 4), problem.torsion), (slice(4, 6), problem.rolling)):
        worst = np.maximum(
            worst, _disc_errors(s * p[:, columns], u[:, columns], limit / unit * load)
        )
    return worst


def _disc_errors(sp: Array, u: Array, limit: Array) -> Array:
    """|s p - P(s p - u)| (m,), P onto discs of radius `limit`."""
    ahead = sp - u
    size = np.linalg.norm(ahead, axis=1)
    outside = size > limit
    nearest = ahead * (limit / np.where(outside, size, 1.0))[:, None]
    return np.asarray(np.linalg.norm(np.where(outside[:, None], sp - nearest, u), axis=1))


def of_joints_too(problem: ContactProblem, s: float, p: Array, u: Array, errors: Array) -> Array:
    """Errors (m,) of a law, with those of joints' dry friction, which no law of contact changes."""
    if not problem.has_joints:
        return errors
    return np.where(problem.kinds == DRY, cone_errors(problem, s, p, u), errors)


def verified(
    problem: ContactProblem,
    impulses: Array,
    loop_impulses: Array,
    conditions: Conditions,
    iterations: int,
    *,
    tolerance: float = TOLERANCE,
    detail: str = "",
    moments: Array | None = None,
) -> LawSolution:
    """The solution of these impulses; its residual is of velocities after one O(N) sweep.

    `conditions(p, u)` gives the violations, m/s, of impulses (m, 3) and velocities (m, 3) with
    their `bias`; with `moments` both have six columns, moments and spins measured
    by `spin_unit`. What impulses beyond all measure hide by rounding counts as violated.
    """
    n_b, s = problem.n_loop_rows, unit_compliance(problem)
    p = np.concatenate([loop_impulses, impulses.ravel()])
    with np.errstate(all="ignore"):  # what is no number has no residual: it says so
        velocity = problem.after(p, moments)
        rows = problem.jacobian @ velocity
        u = rows[n_b:].reshape(-1, 3) + problem.bias
        scale = speed_scale(problem)
        if scale == 0.0:
            scale = s * np.abs(p).max(initial=0.0)
        worst = np.abs(rows[:n_b] - problem.loop_targets).max(initial=0.0)
        all_p, all_u = impulses, u
        if moments is not None:
            unit = spin_unit(problem)
            all_p = np.hstack([impulses, moments / unit])
            all_u = np.hstack([u, unit * (problem.spin_jacobian @ velocity).reshape(-1, 3)])
        worst = max(worst, float(conditions(all_p, all_u).max(initial=0.0)))
        worst = max(worst, np.finfo(float).eps * s * float(np.abs(impulses).max(initial=0.0)))
        residual = float(worst / scale) if scale > 0.0 else float(worst)
    if not np.isfinite(p).all() or not np.isfinite(velocity).all():
        residual = float("nan")
    slip = np.hypot(u[:, 1], u[:, 2])
    solved = bool(residual <= tolerance)
    if detail == Status.SOLVED.message:  # by its solver's own measure
        detail = (
            f"inaccurate: the residual of the law, {residual:.2g}, is above {tolerance:.2g}; its "
            "solver's is small"
        )
    detail = "" if solved else detail or "inaccurate"
    return LawSolution(
        velocity,
        impulses,
        loop_impulses,
        slip,
        solved,
        residual,
        iterations,
        detail,
        moments=moments,
    )
