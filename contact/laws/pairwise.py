"""Contacts of which each has a law of its own: round or polyhedral friction, none, no slip, drag.

What a contact has is in the problem: `friction` (0, finite, or infinite for no slip),
`polygon_sides` (directions of its friction polyhedron, 0 for the round cone), `viscous`, `torsion`
and `rolling`. All of these are conditions of one contact at a time, so that they go together; laws
that are an optimum over all contacts (most dissipation, the convex relaxation) do not.

Polyhedra alone are a complementarity problem, round cones alone a cone problem. Both together are
solved as the zero of one map (`FrictionMap`), from the cone problem's answer, or from polyhedra
that are turned along the slip. The residual is that of each contact's own condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, scalar
from spatialops.contact.cone.fallback_solver import ConeSolver, check_cone_solver, sharpened
from spatialops.contact.constraint_rows import CONTACT
from spatialops.contact.laws.cone import round_answer, settled_cones
from spatialops.contact.laws.cone_newton import FrictionMap
from spatialops.contact.laws.coulomb import Polyhedron
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    unit_compliance,
)
from spatialops.contact.laws.reduction import Reduced
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve

_GOAL = 1e-12  # |F| from which on no other start is tried
_TURNS = 6  # starts from polyhedra that are turned along the slip


@dataclass(frozen=True, kw_only=True)
class Pairwise:
    """The friction of every contact as the problem has it, each by its own law.

    That is `friction`, `polygon_sides`, `viscous`, `torsion` and `rolling`. Torsional and rolling
    moments have round limits, also of contacts whose sliding has a polyhedron.

    Parameters
    ----------
    solver : str or ConeSolver, optional
        As `contact.solve` takes for a `ConeProblem`, where contacts are round.
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.
    """

    solver: str | ConeSolver = "auto"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        check_cone_solver(self.solver)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses that obey every contact's own condition.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier, similar problem, N s; with moments (m, 6).

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.
        """
        start, solver = checked_problem(problem, warm_start), sharpened(self.solver, self.tolerance)
        sides = _polygons(problem)

        def find(reduced: Reduced) -> tuple[Array, int, str]:
            return (
                _mixed(reduced, sides, solver, start)
                if sides.any()
                else round_answer(reduced, solver, start)
            )

        return settled_cones(problem, find, self.tolerance, sides)


def _polygons(problem: ContactProblem) -> IntArray:
    """Sides (m,) of friction polyhedra, 0 where friction is round, infinite or none."""
    some = (problem.kinds == CONTACT) & (problem.friction > 0.0) & np.isfinite(problem.friction)
    return np.where(some, problem.polygon_sides, 0)


def _mixed(
    reduced: Reduced, sides: IntArray, solver: str | ConeSolver, start: Array | None
) -> tuple[Array, int, str]:
    """Round and polyhedral cones: impulses (m, D) of the first way that does, or the best."""
    search = _Search(FrictionMap(reduced, sides))
    if start is not None:
        search.begin(_rows(reduced, start))
    if not search.done:
        search.begin(round_answer(reduced, solver, None)[0])
    count = int(sides.max())
    s = unit_compliance(reduced.problem)
    fixed = (sides > 0)[:, None]
    for _ in range(_TURNS):
        if search.done:
            break
        u = (reduced.W @ search.best.ravel() + reduced.u).reshape(-1, reduced.dim)[:, 1:3]
        polyhedron = Polyhedron(reduced, s, count, np.where(fixed, 0.0, -u))
        search.begin(polyhedron.impulses(solve(polyhedron.lcp).z).reshape(-1, reduced.dim))
    return search.best, search.steps, ""


class _Search:
    """The best zero of a map so far, impulses (m, D)."""

    def __init__(self, mapped: FrictionMap) -> None:
        self.mapped = mapped
        self.least = np.inf
        self.steps = 0
        self.best = mapped.outward(np.zeros(len(mapped.b)))

    @property
    def done(self) -> bool:
        """Whether it meets the goal."""
        return bool(self.least <= _GOAL)

    def begin(self, p: Array) -> None:
        """Newton's method, and proximal points where that is not enough, from impulses p."""
        found, merit, taken = self.mapped.improve(self.mapped.inward(p))
        self.steps += taken
        if merit < self.least:
            self.best, self.least = self.mapped.outward(found), merit


def _rows(reduced: Reduced, start: Array) -> Array:
    """Impulses of an earlier problem in the contacts' rows, (m, D)."""
    rows = np.zeros((len(start), reduced.dim))
    rows[:, :3] = start[:, :3]
    if reduced.dim > 3 and start.shape[1] == 6:
        rows[:, 3:] = start[:, 3:] / reduced.unit
    rows[reduced.sticking, 1:3] = 0.0
    return rows
