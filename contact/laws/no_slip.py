"""Contact without slip ([D] section VI, [Z] 40-45): infinite friction, in velocities.

    0 <= p_n  _|_  N v+ >= 0,    S v+ = T v+ = 0, or no impulse at all

Tangents are held as equalities and eliminated, an independent choice of them: see `Elimination`.
What is left is an LCP of one variable a contact, positive semidefinite, which `pivot` solves. [D]
and [Z] hold the tangents of all contacts. A contact that leaves would be held from sliding while it
flies; here it is let go, and the problem solved again. One that presses and slides when let go is
held for good: it closes its gap within the step, and no choice need exist that counts it on one
side. (Where tangents alone stop a contact its normal impulse is zero: infinite friction.) Of
several answers it is the one that holds fewest, as in `contact.newton.no_slip`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, is_one_of, scalar
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    normal_errors,
    of_joints_too,
    unit_compliance,
    verified,
    without_moments,
)
from spatialops.contact.laws.pivoting import Pivoted, pivot
from spatialops.contact.laws.reduction import Held, settle
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver, solve
from spatialops.errors import ArgumentError

Hold: TypeAlias = Literal["touching", "all"]


class Normals(NamedTuple):
    """What is left when rows are held: rows (m, nv) of normals, velocities, sizes for `pivot`."""

    rows: Array
    speeds: Array
    lengths: Array
    scale: float
    eliminated: Elimination


def reduced_normals(problem: ContactProblem, held: BoolArray, rank: float = 0.0) -> Normals:
    """The normals while closures and the tangents of contacts `held` (m,) do not move."""
    n_b, m = problem.n_loop_rows, problem.n_contacts
    L, u = problem.response.L, problem.velocities
    normals = n_b + 3 * np.arange(m)
    tangents = np.column_stack([normals + 1, normals + 2])[held].ravel()
    rows = np.concatenate([np.arange(n_b), tangents])
    eliminated, N = Elimination(L[rows], u[rows], rank), L[normals]
    lengths = np.sqrt(np.einsum("ij,ij->i", N, N))
    return Normals(
        *eliminated.reduce(N, u[normals]), lengths, float(np.abs(u).max(initial=0.0)), eliminated
    )


def hold_tangents(
    problem: ContactProblem,
    held: BoolArray,
    active: Sequence[int] | IntArray = (),
    solver: str | Solver | None = None,
    *,
    rank: float = 0.0,
) -> Held:
    """Normal impulses while closures and the tangents of contacts `held` (m,) do not move.

    By principal pivoting, or by a `solver` of complementarity problems on the whole N X^-1 N^T ([D]
    56-57).
    """
    n_b, m = problem.n_loop_rows, problem.n_contacts
    rows, speeds, lengths, scale, eliminated = reduced_normals(problem, held, rank)
    impulses = np.zeros((m, 3))
    L, u = problem.response.L[n_b : n_b + 3 * m], problem.velocities[n_b : n_b + 3 * m]
    if (problem.kinds == DRY).any():
        chosen = normals_and_dry(problem)
        found, impulses[:, 1] = with_dry_friction(problem, *eliminated.reduce(L[chosen], u[chosen]))
    elif solver is None:
        found = pivot(rows, speeds, active, lengths=lengths, scale=scale)
    else:
        found = by_solver(rows, speeds, solver)
    pushed = L[::3].T @ found.p + L[1::3].T @ impulses[:, 1]
    others = eliminated.impulses(pushed)
    impulses[:, 0] = found.p
    impulses[held, 1:] = others[n_b:].reshape(-1, 2)
    return Held(impulses, others[:n_b], found.iterations, found.active)


def by_solver(rows: Array, speeds: Array, solver: str | Solver) -> Pivoted:
    """What `pivot` returns, of the dense problem 0 <= p, speeds + rows rows^T p >= 0."""
    answer = solve(MixedLCP(rows @ rows.T, speeds), solver)
    return Pivoted(answer.z, np.flatnonzero(answer.z > 0.0), answer.iterations, False)


def other_than_pivoting(solver: str | Solver) -> str | Solver | None:
    """The solver of a law that pivots by default, None for that default.

    Raises
    ------
    ArgumentError
        For an unknown solver.
    """
    if isinstance(solver, str) and solver == "pivoting":
        return None
    check_solver(solver)
    return solver


def pushing(start: Array | None) -> IntArray:
    """Contacts that push in impulses (m, 3) of an earlier problem."""
    return np.flatnonzero([] if start is None else start[:, 0] > 0.0)


def normals_and_dry(problem: ContactProblem) -> IntArray:
    """The contacts' rows of normals, and after them the first tangents of joints' dry friction."""
    of_dry = problem.kinds == DRY
    return np.concatenate([3 * np.flatnonzero(~of_dry), 3 * np.flatnonzero(of_dry) + 1])


def with_dry_friction(problem: ContactProblem, rows: Array, u: Array) -> tuple[Pivoted, Array]:
    """Impulses on the `normals_and_dry` rows of L, unilateral and bounded: one monotone problem.

    u are their velocities. Returns what `pivot` would of all normals, and the impulses (m,) along
    the first tangents.
    """
    m, s = problem.n_contacts, unit_compliance(problem)
    dry, normal = np.flatnonzero(problem.kinds == DRY), np.flatnonzero(problem.kinds != DRY)
    limits = s * problem.dry[dry]
    lower = np.concatenate([np.zeros(len(normal)), -limits])
    upper = np.concatenate([np.full(len(normal), np.inf), limits])
    bounded, recover = MixedLCP.from_bounds(rows @ rows.T / s, u, lower, upper)
    answer = solve(bounded)
    x = recover(answer) / s
    p, along = np.zeros(m), np.zeros(m)
    p[normal], along[dry] = x[: len(normal)], x[len(normal) :]
    return Pivoted(p, np.flatnonzero(p > 0.0), answer.iterations, True), along


@dataclass(frozen=True, kw_only=True)
class NoSlip:
    """Contacts that press do not slip, those that leave are free.

    Coefficients of friction only say where there is friction at all: mu > 0.

    Parameters
    ----------
    hold : {"touching", "all"}, optional
        "all" is the law as printed: tangents of all contacts of the problem are held, also of those
        that leave. "touching", the default, lets those go.
    solver : str or Solver, optional
        "pivoting" (`laws.pivoting`), or what `contact.solve` takes for the complementarity problem
        of the m normals: "qp" for a convex quadratic program by an active-set method.
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.

    Raises
    ------
    ArgumentError
        For another `hold` or an unknown solver.

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models (2015),
    section VI.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ContactProblem, NoSlip
    >>> from spatialops.models import pendulum
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(pendulum(1).model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> NoSlip().solve(problem).solved
    True
    """

    hold: Hold = "touching"
    solver: str | Solver = "pivoting"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        other_than_pivoting(self.solver)
        if not is_one_of(self.hold, get_args(Hold)):
            raise ArgumentError(
                f"hold: expected one of {', '.join(get_args(Hold))}, got {self.hold!r}"
            )

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses with the tangents of what presses held.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier problem; contacts that push in it are tried first.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.

        Raises
        ------
        ArgumentError
            For a problem with torsional, rolling or viscous friction, or a warm start that does not
            fit.
        """
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        has_friction = problem.friction > 0.0
        active = pushing(start)
        solver = other_than_pivoting(self.solver)

        def attempt(held: BoolArray, last: Held | None, /, *, rank: float) -> Held:
            first = active if last is None else last.active
            return hold_tangents(problem, held, first, solver, rank=rank)

        s = unit_compliance(problem)
        preloaded = problem.prior_normal_impulse
        everywhere = self.hold == "all"

        def conditions(p: Array, u: Array) -> Array:
            slip, sideways = np.hypot(u[:, 1], u[:, 2]), s * np.hypot(p[:, 1], p[:, 2])
            sticking = np.minimum(np.maximum(s * (p[:, 0] + preloaded), sideways), slip)
            errors = np.maximum(
                normal_errors(s, p, u),
                np.where(has_friction, slip if everywhere else sticking, sideways),
            )
            return of_joints_too(problem, s, p, u, errors)

        def verify(answer: Held) -> LawSolution:
            return verified(
                problem,
                answer.impulses,
                answer.loop_impulses,
                conditions,
                answer.iterations,
                tolerance=self.tolerance,
                detail="closures or tangents that are held force contacts together",
            )

        return (
            verify(attempt(has_friction, None, rank=0.0))
            if everywhere
            else settle(problem, has_friction, attempt, verify)
        )
