"""Coulomb's law with the exact friction cone, for whole mechanisms: closures eliminated, then `contact.cone`.

Closures are held by `Elimination`, so that the contacts' compliance is L (I - Q Q^T) L^T and no closure row is left
([J] 37-41). An impulse theta that already presses (`offset`, of decompression) widens the friction limit to
mu (p_n + theta) while p_n >= 0 stays complementary to u_n. That is no cone in p; it is one with a row more: such a
contact gets a carrier of its friction whose "velocity" is a - p_n - theta, so that its load a = p_n + theta. The dry
friction of a joint is its own carrier, with the "velocity" a - dry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.ladder import ConeSolver, check_cone_solver
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.solution import (
    TOLERANCE,
    Conditions,
    LawSolution,
    cone_errors,
    checked_problem,
    judged,
    normal_errors,
    unit_compliance,
)
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import DRY, STOP
from spatialops.contact.solve import solve


def without_closures(problem: ContactProblem) -> tuple[Elimination, Array, Array]:
    """The closures' elimination, and the contacts' compliance W (3 m square) and velocities (3 m,) with it."""
    n_b, L, u = problem.n_loop_rows, problem.response.L, problem.velocities
    held = Elimination(L[:n_b], u[:n_b])
    rows, u = held.reduce(L[n_b:], u[n_b:])
    return held, rows @ rows.T, u


def cone_conditions(problem: ContactProblem) -> Conditions:
    """Violations of the exact law: unilateral contact, and friction that is the nearest to s p_t - u_t in its disc."""
    s = unit_compliance(problem)

    def conditions(p: Array, u: Array) -> Array:
        return np.maximum(normal_errors(s, p, u), cone_errors(problem, s, p, u))

    return conditions


def load_dry(problem: ContactProblem, W: Array, u: Array, stiff: float) -> tuple[Array, Array, Array]:
    """W, velocities and coefficients where dry friction is a contact loaded with its limit: normal "velocity" a - dry.

    Idle rows of joints get an entry on the diagonal, which is all that they have.
    """
    if not problem.has_joints:
        return W, u, problem.friction
    W, u = W.copy(), u.copy()
    stops, dry = 3 * np.flatnonzero(problem.kinds == STOP), 3 * np.flatnonzero(problem.kinds == DRY)
    for idle in (stops + 1, stops + 2, dry, dry + 2):
        W[idle, idle] = stiff
    u[dry] = -stiff * problem.dry[dry // 3]
    return W, u, np.where(problem.kinds == DRY, 1.0, problem.friction)


def with_carriers(W: Array, u: Array, friction: Array, offset: Array, stiff: float) -> ConeProblem:
    """The cone problem of contacts that are pressed already; the last ones carry the normals of those.

    `stiff`, 1/kg, makes velocities of the carriers' rows: of the size of W.
    """
    m, pressed = len(friction), np.flatnonzero((offset > 0.0) & (friction > 0.0))
    n, k = 3 * m, 3 * len(pressed)
    carrier, normal = 3 * pressed, n + np.arange(0, k, 3)
    place = np.arange(n)
    place[carrier] = normal
    A, b = np.zeros((n + k, n + k)), np.zeros(n + k)
    A[np.ix_(place, place)], b[place] = W, u
    A[carrier, carrier], A[carrier, normal], b[carrier] = stiff, -stiff, -stiff * offset[pressed]
    for idle in (normal + 1, normal + 2):
        A[idle, idle] = stiff
    return ConeProblem(A, b, np.concatenate([friction, np.zeros(len(pressed))]))


@dataclass(frozen=True, kw_only=True)
class Cone:
    """Coulomb friction with its exact, round cone.

    Parameters
    ----------
    solver : str or ConeSolver
        As `contact.solve` takes for a `ConeProblem`. (The relaxation is judged by the exact law here: see `Convex`.)
    tolerance : float
        Largest accepted residual.

    References
    ----------
    See docs/cone.md.
    """

    solver: str | ConeSolver = "auto"
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        check_cone_solver(self.solver)

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve, from impulses `warm_start` (m, 3) if that helps."""
        start = checked_problem(problem, warm_start)
        held, W, u = without_closures(problem)
        stiff = unit_compliance(problem)
        cone = with_carriers(*load_dry(problem, W, u, stiff), problem.offset, stiff)
        pressed = np.flatnonzero((problem.offset > 0.0) & (problem.friction > 0.0))
        guess = None
        if start is not None:
            extra = np.zeros((len(pressed), 3))
            extra[:, 0], first = start[pressed, 0], start.copy()
            first[:, 0] += np.where(problem.kinds == DRY, problem.dry, 0.0)
            first[pressed, 0] += problem.offset[pressed]
            guess = np.concatenate([first, extra]).ravel()
        found = solve(cone, self.solver, guess)
        r = found.z.reshape(-1, 3)
        p = r[: problem.n_contacts].copy()
        p[pressed, 0] = r[problem.n_contacts :, 0]
        p[:, 0] = np.where(problem.kinds == DRY, 0.0, np.maximum(p[:, 0], 0.0))
        loops = held.impulses(problem.response.L[problem.n_loop_rows :].T @ p.ravel())
        return judged(
            problem,
            p,
            loops,
            cone_conditions(problem),
            found.iterations,
            tolerance=self.tolerance,
            detail=found.status.message,
        )
