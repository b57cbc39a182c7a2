"""Contact without slip ([D] section VI, [Z] 40-45): infinite friction, at the level of velocities.

    0 <= p_n  _|_  N v+ >= 0,    S v+ = T v+ = 0, or no impulse at all

Tangents are held as equalities and eliminated, an independent choice of them: see `Elimination`. What is left is an
LCP of one variable a contact, positive semidefinite, which `pivot` solves. [D] and [Z] hold the tangents of all
contacts. A contact that leaves would be held from sliding while it flies; here it is let go, and the problem solved
again. One that presses and slides when let go is held for good: it closes its gap within the step, and no choice need
exist that counts it on one side. (Where tangents alone stop a contact its normal impulse is zero: infinite friction.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.pivoting import Pivoted, pivot
from spatialops.contact.laws.solution import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    judged,
    normal_errors,
    unit_compliance,
)
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver, solve
from spatialops.errors import ArgumentError

HOLD = ("touching", "all")
Mask = np.ndarray[Any, np.dtype[np.bool_]]


class Held(NamedTuple):
    """Impulses with some contacts' tangents held: (m, 3), those of closures, who pushes, and pivots."""

    impulses: Array
    loop_impulses: Array
    active: IntArray
    iterations: int


class Reduced(NamedTuple):
    """What is left when rows are held: rows (m, nv) of the normals, their velocities, and sizes for `pivot`."""

    rows: Array
    speeds: Array
    lengths: Array
    scale: float
    eliminated: Elimination


def reduced_normals(problem: ContactProblem, held: Mask) -> Reduced:
    """The normals of a problem while its closures and the tangents of contacts `held` (m,) do not move."""
    n_b, m = problem.n_loop_rows, problem.n_contacts
    L, u = problem.response.L, problem.velocities
    normals = n_b + 3 * np.arange(m)
    tangents = np.column_stack([normals + 1, normals + 2])[held].ravel()
    rows = np.concatenate([np.arange(n_b), tangents])
    eliminated, N = Elimination(L[rows], u[rows]), L[normals]
    lengths = np.sqrt(np.einsum("ij,ij->i", N, N))
    return Reduced(*eliminated.reduce(N, u[normals]), lengths, float(np.abs(u).max(initial=0.0)), eliminated)


def hold_tangents(problem: ContactProblem, held: Mask, active: Any = (), solver: Any = None) -> Held:
    """Normal impulses while closures and the tangents of contacts `held` (m,) do not move.

    By principal pivoting, or by a solver of complementarity problems on the whole N X^-1 N^T ([D] 56-57).
    """
    n_b, m = problem.n_loop_rows, problem.n_contacts
    rows, speeds, lengths, scale, eliminated = reduced_normals(problem, held)
    if solver is None:
        found = pivot(rows, speeds, active, lengths=lengths, scale=scale)
    else:
        answer = solve(MixedLCP(rows @ rows.T, speeds), solver)
        found = Pivoted(answer.z, np.flatnonzero(answer.z > 0.0), answer.iterations, False)
    others = eliminated.impulses(problem.response.L[n_b::3].T @ found.p)
    impulses = np.zeros((m, 3))
    impulses[:, 0] = found.p
    impulses[held, 1:] = others[n_b:].reshape(-1, 2)
    return Held(impulses, others[:n_b], found.active, found.iterations)


@dataclass(frozen=True, kw_only=True)
class NoSlip:
    """Contacts that press do not slip, those that leave are free.

    Coefficients of friction only say where there is friction at all: mu > 0.

    Parameters
    ----------
    hold : {"touching", "all"}
        "all" is the law as printed: tangents of all contacts of the problem are held, also of those that leave.
        "touching" lets those go.
    solver : str or Solver
        "pivoting" (`laws.pivoting`), or what `contact.solve` takes for the complementarity problem of the m normals:
        "qp" for a convex quadratic program by an active-set method.
    tolerance : float
        Largest accepted residual.

    Raises
    ------
    ArgumentError
        For another `hold` or an unknown solver.

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models (2015), section VI.
    """

    hold: str = "touching"
    solver: Any = "pivoting"
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        if self._solver is not None:
            check_solver(self._solver)
        if self.hold not in HOLD:
            raise ArgumentError(f"hold: expected one of {', '.join(HOLD)}, got {self.hold!r}")

    @property
    def _solver(self) -> Any:
        return None if isinstance(self.solver, str) and self.solver == "pivoting" else self.solver

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve; contacts that push in `warm_start` (m, 3) are tried first."""
        start = checked_problem(problem, warm_start)
        rough = problem.friction > 0.0
        active = () if start is None else np.flatnonzero(start[:, 0] > 0.0)
        answer = hold_tangents(problem, rough, active, self._solver)
        total = answer.iterations
        if self.hold == "touching":
            answer, total = self._settle(problem, rough, answer)
        s, pressed, everywhere = unit_compliance(problem), problem.offset, self.hold == "all"

        def conditions(p: Array, u: Array) -> Array:
            slip, sideways = np.hypot(u[:, 1], u[:, 2]), s * np.hypot(p[:, 1], p[:, 2])
            stuck = np.minimum(np.maximum(s * (p[:, 0] + pressed), sideways), slip)
            return np.maximum(normal_errors(s, p, u), np.where(rough, slip if everywhere else stuck, sideways))

        return judged(
            problem,
            answer.impulses,
            answer.loop_impulses,
            conditions,
            total,
            tolerance=self.tolerance,
            detail="closures or tangents that are held force contacts together",
        )

    def _settle(self, problem: ContactProblem, rough: Mask, answer: Held) -> tuple[Held, int]:
        """Let go of contacts that leave; hold those for good that press and slide then: at most 2 m changes."""
        held, kept, total = rough.copy(), np.zeros_like(rough), answer.iterations
        limit = 1e-10 * np.abs(problem.velocities).max(initial=0.0)
        while True:
            after = problem.after(np.concatenate([answer.loop_impulses, answer.impulses.ravel()]))
            u = (problem.jacobian @ after)[problem.n_loop_rows :].reshape(-1, 3)
            presses = answer.impulses[:, 0] + problem.offset > 0.0
            back = ~held & rough & presses & (np.hypot(u[:, 1], u[:, 2]) > limit)
            leave = held & ~kept & ~presses & (u[:, 0] + problem.closing > limit)
            if not (back | leave).any():
                return answer, total
            kept |= back
            held = (held | back) & ~leave
            answer = hold_tangents(problem, held, answer.active, self._solver)
            total += answer.iterations + 1
