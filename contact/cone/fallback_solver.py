"""The door for cone problems: one method after the other until its impulses hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from spatialops._arrays import ArrayLike, array, dimensions
from spatialops.contact.cone.convex import ConvexCone
from spatialops.contact.cone.fallback_methods import climb
from spatialops.contact.cone.fast_path import NEAR_STEPS, solve_fast
from spatialops.contact.cone.infeasibility import infeasible
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.scaled_problem import ScaledProblem
from spatialops.contact.cone.solvers import ConeGaussSeidel, ConeInteriorPoint, ConeNewton
from spatialops.contact.cone.verify import ACCEPTED, rounding, verified, with_status
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

GOAL = 1e-10  # of both residuals, for not trying another method
_ENOUGH = 1e-9  # the same for trying few others,
_PATIENCE = 2  # namely so many
_BUDGET = 30_000  # iterations altogether, and
_BUDGET_LARGE = 6_000  # for more rows than
_LARGE = 1500
_SHARPER = 0.1  # of the tolerance of a law that measures by a map of its own


class ConeSolver(Protocol):
    """What a solver of cone problems is: options as fields, and one method."""

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConeSolution:
        """Solve a problem.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            An earlier r, if that helps.

        Returns
        -------
        ConeSolution
            What was found; `contact.solve` computes its residuals and status anew.
        """


@dataclass(frozen=True)
class ConeLadder:
    """Every method in turn, cheap ones first, until both residuals are below `goal`.

    What the first of them leaves may have no solution: see `infeasibility.infeasible`.

    Parameters
    ----------
    goal : float
        Residual below which no other method is tried.
    enough : float
        Residual below which two more methods are tried for the goal. What is above it is not, even
        if it is `SOLVED`.
    budget : int, optional
        Iterations altogether after which no other method is begun. Default: 30 000, 6 000 of more
        than 1 000 rows. A loop that cannot wait takes a hundred.
    """

    goal: float = GOAL
    enough: float = _ENOUGH
    budget: int | None = None

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConeSolution:
        """Solve by the first method whose answer holds.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            An earlier r, or a guess.

        Returns
        -------
        ConeSolution
            `status` is SOLVED only if both residuals in the original data hold, NO_SOLUTION only
            with a `proof`.
        """
        first = solve_fast(problem, warm_start)
        if first is not None:
            r, u, steps, left = first
            name = "warm start" if warm_start is not None and steps <= NEAR_STEPS else "fast path"
            best = with_status(problem, r, u, steps, left, name)
            if best.residual <= self.goal and best.scale_free <= self.goal:
                return best
        else:
            best = verified(problem, np.zeros(problem.size), 0, "")
        proof = None if best.solved else infeasible(problem)
        if proof is not None:
            return replace(best, status=Status.NO_SOLUTION, solver="certificate", proof=proof)
        system = ScaledProblem.of(problem)
        total = best.iterations
        patience = _PATIENCE
        most = _BUDGET if problem.size <= _LARGE else _BUDGET_LARGE
        most = most if self.budget is None else self.budget
        with np.errstate(all="ignore"):  # what diverges is verified by its residual
            for name, r, steps in climb(
                system, None if warm_start is None else system.inward(warm_start)
            ):
                total += steps
                found = verified(problem, system.outward(r), total, name)
                best = min(best, found, key=_total)
                floor = rounding(problem, best.z)
                if best.scale_free <= max(self.goal, min(floor, ACCEPTED)) and best.residual <= max(
                    self.goal, floor
                ):
                    break
                patience -= best.solved and _worst(best) <= max(self.enough, floor)
                if patience < 0 or total > most:
                    break
        return ConeSolution(
            best.z, best.w, best.status, total, best.residual, best.solver, best.scale_free
        )


def sharpened(solver: str | ConeSolver, tolerance: float) -> str | ConeSolver:
    """`solver`; for "auto" one that goes on to a tenth of `tolerance`.

    For a law that measures by a map of its own: the natural map of Alart and Curnier differs from
    that of De Saxce by a factor of the size of 1 + mu.
    """
    if not isinstance(solver, str) or solver != "auto":
        return solver
    enough = min(_SHARPER * tolerance, _ENOUGH)
    return ConeLadder(goal=min(enough, GOAL), enough=enough)


def _worst(solution: ConeSolution) -> float:
    return max(solution.residual, solution.scale_free)


def _total(solution: ConeSolution) -> float:
    """The two residuals together; infinite where they are no numbers."""
    total = solution.residual + solution.scale_free
    return total if total == total else float("inf")


_BY_NAME: dict[str, ConeSolver] = {
    "auto": ConeLadder(),
    "gauss-seidel": ConeGaussSeidel(),
    "newton": ConeNewton(),
    "interior-point": ConeInteriorPoint(),
    "convex": ConvexCone(),
}


def solve_cone(
    problem: ConeProblem, solver: str | ConeSolver = "auto", warm_start: ArrayLike | None = None
) -> ConeSolution:
    """Solve a cone problem; `spatialops.contact.solve` comes here with one.

    Parameters
    ----------
    problem : ConeProblem
        Contacts with their frames and coefficients.
    solver : {"auto", "gauss-seidel", "newton", "interior-point", "convex"} or ConeSolver
        "auto" is `ConeLadder()`. "convex" solves the relaxed law and is verified by that: see
        `ConvexCone`.
    warm_start : (n,) or (m, dim) array_like, optional
        An earlier solution r, or a guess.

    Returns
    -------
    ConeSolution
        `status` is SOLVED only if the residuals hold: see `verified`.

    Raises
    ------
    ArgumentError
        For something that is not a cone problem, an unknown solver, or a warm start that does not
        fit.
    """
    if not isinstance(problem, ConeProblem):
        raise ArgumentError(f"problem: expected a ConeProblem, got {type(problem).__name__}")
    if warm_start is not None:
        stacked = dimensions(warm_start, "warm_start") == 2
        shape = (problem.n_contacts, problem.dim) if stacked else (problem.size,)
        warm_start = array(warm_start, shape, "warm_start", finite=True).ravel()
    chosen = check_cone_solver(solver)
    if isinstance(chosen, ConvexCone):
        return chosen.solve(problem, warm_start)  # verified by a law of its own
    if problem.size == 0 or problem.b[:: problem.dim].min() >= 0.0:  # nothing approaches
        return verified(problem, np.zeros(problem.size), 0, "no impulse")
    found = chosen.solve(problem, warm_start)
    if isinstance(chosen, ConeLadder):  # verified already
        return found
    return verified(problem, np.asarray(found.z, dtype=np.float64), found.iterations, found.solver)


def check_cone_solver(solver: object) -> ConeSolver:
    """The solver object that a name stands for, or the object itself.

    Raises
    ------
    ArgumentError
        For anything else, a solver's class included.
    """
    if isinstance(solver, str) and solver in _BY_NAME:
        return _BY_NAME[solver]
    if isinstance(solver, (str, type)) or not hasattr(solver, "solve"):
        names = ", ".join(repr(name) for name in _BY_NAME)
        raise ArgumentError(
            f"solver: expected {names} or a solver such as ConeLadder(), got {solver!r}"
        )
    return cast(ConeSolver, solver)
