"""Force programs by the log-barrier Newton method ([A] 30, appendix .5), with a feasible start.

Equalities are eliminated first. The start is the least s with all inequalities
given s times their scale; Newton's method on the barrier of that program stops as soon as s is
negative by enough. If its least s is not negative, its multipliers prove that no point is inside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, instance
from spatialops.control.friction_cone.force_program import ForceProgram, ForceSolution
from spatialops.control.friction_cone.solve_kernel import (
    FAILED,
    PROVES,
    SOLVED,
    ints_of,
    numbers_of,
    program_kernel,
)
from spatialops.control.friction_cone.verification import CENTERED, REPORT, Found

_STATUSES = "solved", "infeasible", "inconsistent", "failed"  # in the kernel's order
_NO_GUESS = np.zeros(0)
_INVOLVED = 1e-3  # of the largest share: what a conflict is about
_PROVES = 1e-3  # scaled violation that no point avoids: how large the least is, nobody asks then


@dataclass(frozen=True, kw_only=True)
class Barrier:
    """The log-barrier Newton method.

    Parameters
    ----------
    tolerances : tuple of two floats, default (1e-12, 1e-10)
        Gap between the cost and its least value at which to stop, relative to the cost. Where
        rounding leaves the multipliers of the first too inaccurate to prove the solution, the next
        is tried.
    inside : float, default 0.02
        Scaled margin at which a start counts as good; a smaller one is taken where there is no
        better.
    least_margin : float, default 1e-7
        Scaled margin below which a program counts as infeasible.
    least_cost : float, default 1e-6
        W. Added to the cost's scale, for programs whose least cost is zero.
    max_steps : int, default 200
        Newton steps allowed in each phase.

    References
    ----------
    [A] 30 and appendix .5; S. Boyd, L. Vandenberghe, Convex Optimization (2004),
    11.3-11.4; Y. Nesterov, A. Nemirovskii, Interior-Point Polynomial Algorithms in Convex
    Programming (1994), for the cone's barrier and its parameter 2.

    Examples
    --------
    The least force with 3 N along x in a friction cone of mu = 0.5 about z presses with 6 N:

    >>> import numpy as np
    >>> from spatialops.control import Barrier, ForceProgram
    >>> none = np.zeros((0, 3)), np.zeros(0)
    >>> pull = np.array([[1.0, 0.0, 0.0]]), np.array([3.0])
    >>> cone = np.eye(3)[[2, 0, 1]], np.zeros(3), np.array([0.5])
    >>> found = Barrier().solve(ForceProgram(np.eye(3), np.zeros(3), *pull, *none, *cone))
    >>> found.status, np.round(found.x, 6).tolist()
    ('solved', [3.0, 0.0, 6.0])
    """

    tolerances: tuple[float, float] = (1e-12, 1e-10)
    inside: float = 0.02
    least_margin: float = 1e-7
    least_cost: float = 1e-6
    max_steps: int = 200

    def solve(self, program: ForceProgram, start: Array | None = None) -> ForceSolution:
        """Solve a program.

        Parameters
        ----------
        program : ForceProgram
            What is to be solved.
        start : (n,) array, optional
            A point near which to begin, once the equalities hold: with the cost if it is inside,
            else with the search for one that is.

        Returns
        -------
        ForceSolution
            With its status, its multipliers and its residual in the program as it was given.
        """
        solution, _ = self._solved(program, start, self._thorough)
        if solution.status != "infeasible":
            return solution
        return replace(solution, conflict=_conflict(program, solution))

    def solve_and_center(
        self, program: ForceProgram, start: Array | None = None
    ) -> tuple[ForceSolution, Array | None]:
        """Solve a program, and find a good start for the next one, as soon as can be.

        Parameters
        ----------
        program : ForceProgram
            What is to be solved.
        start : (n,) array, optional
            A point near which to begin, once the equalities hold: with the cost if it is inside,
            else with the search for one that is.

        Returns
        -------
        solution : ForceSolution
            As of `solve`; of an infeasible program it says only that no point is inside, and what
            it says of its violation and its multipliers is of where that was seen.
        center : (n,) array or None
            The first point on the central path: a good start for a program that differs little.
            None where no path was followed.
        """
        return self._solved(program, start, self._quick)

    def _solved(
        self, program: ForceProgram, start: Array | None, numbers: Array
    ) -> tuple[ForceSolution, Array | None]:
        """Solution and centre."""
        instance(program, ForceProgram, "program")
        n, r = program.size, len(program.e)
        m, c = len(program.d), len(program.mu)
        found = Found(
            np.zeros(n), np.zeros(n), np.zeros(r), np.zeros(m), np.zeros((c, 3)), np.zeros(REPORT)
        )
        status = program_kernel(
            program.arrays,
            _NO_GUESS if start is None else start,
            numbers,
            tuple(found),
            np.empty(numbers_of(n, r, m, c)),
            np.empty(ints_of(n, r), dtype=np.int64),
        )
        return _solution(status, found), found.center if found.report[CENTERED] else None

    @cached_property
    def _quick(self) -> Array:
        """What the kernel takes, which ends where no point can be inside any more."""
        own = self.inside, self.least_margin, self.least_cost, float(self.max_steps)
        return np.array([*self.tolerances, *own, _PROVES])

    @cached_property
    def _thorough(self) -> Array:
        """The same, but how much the inequalities must give is found to the end."""
        numbers = self._quick.copy()
        numbers[PROVES] = math.inf
        return numbers


def _solution(status: int, found: Found) -> ForceSolution:
    """What the kernel found."""
    residual, violation, steps, start_steps, centered, _ = found.report.tolist()
    judged = status == SOLVED or (status == FAILED and centered)
    return ForceSolution(
        found.x,
        _STATUSES[status],
        found.equality,
        found.linear,
        found.cones,
        residual if judged else math.inf,
        violation,
        (),
        int(steps),
        int(start_steps),
    )


def _conflict(program: ForceProgram, found: ForceSolution) -> tuple[str, ...]:
    """No point is inside: what the multipliers of the least s say, or the point that is left."""
    shares = program.scales * np.concatenate([found.linear, found.cones[:, 0] / program.mu])
    largest = shares.max(initial=0.0)
    if largest > 0.0:
        involved = shares > _INVOLVED * largest
        return tuple(name for name, counts in zip(program.names, involved, strict=True) if counts)
    pairs = zip(program.names, program.margins(found.x), strict=True)
    return tuple(name for name, margin in pairs if margin <= 0.0)[:1]
