"""Coulomb's law with the exact friction cone, for whole mechanisms: closures eliminated, then `contact.cone`.

Closures are held by `Elimination`, so that the contacts' compliance is L (I - Q Q^T) L^T and no closure row is left
([J] 37-41). An impulse theta that already presses (`offset`, of decompression) widens the friction limit to
mu (p_n + theta) while p_n >= 0 stays complementary to u_n. That is no cone in p; it is one with a row more: such a
contact gets a carrier of its friction whose "velocity" is a - p_n - theta, so that its load a = p_n + theta. The dry
friction of a joint is its own carrier, with the "velocity" a - dry.

Torsional and rolling friction have limits of their own, torsion (p_n + theta) and rolling (p_n + theta). Contacts with
mu = inf do not slip while they press: their tangents are held like closures, see `settle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.contact.cone.ladder import ConeSolver, check_cone_solver, sharpened
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.friction_map import FrictionMap
from spatialops.contact.laws.reduction import Held, Reduced, settle
from spatialops.contact.laws.solution import (
    TOLERANCE,
    Conditions,
    LawSolution,
    checked_problem,
    cone_errors,
    judged,
    normal_errors,
    unit_compliance,
)
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import DRY
from spatialops.contact.solve import solve

_POLISHED = 1e-11  # residuals of the cone's solver that need no more steps


def without_closures(problem: ContactProblem) -> tuple[Elimination, Array, Array]:
    """The closures' elimination, and the contacts' compliance W (3 m square) and velocities (3 m,) with it."""
    reduced = Reduced(problem, np.zeros(problem.n_contacts, dtype=bool))
    return reduced.held, reduced.W, reduced.u


Find = Callable[[Reduced], tuple[Array, int, str]]  # impulses (m, D), iterations, what there is to say of them


def cone_conditions(problem: ContactProblem, sides: IntArray | None = None) -> Conditions:
    """Violations of the exact law: unilateral contact, and friction that is the nearest to s p_t - u_t in its disc.

    In its polygon where a contact has `sides`.
    """
    s = unit_compliance(problem)

    def conditions(p: Array, u: Array) -> Array:
        return np.maximum(normal_errors(s, p, u), cone_errors(problem, s, p, u, sides))

    return conditions


def load_dry(problem: ContactProblem, W: Array, u: Array, stiff: float) -> tuple[Array, Array]:
    """W and velocities where dry friction is a contact loaded with its limit: normal "velocity" a - dry."""
    if not problem.has_joints:
        return W, u
    W, u, dry = W.copy(), u.copy(), np.flatnonzero(problem.kinds == DRY)
    rows = len(u) // problem.n_contacts * dry
    W[rows, rows], u[rows] = stiff, -stiff * problem.dry[dry]
    return W, u


def with_carriers(reduced: Reduced, offset: Array, pressed: IntArray, stiff: float) -> ConeProblem:
    """The cone problem of contacts of which some are pressed already; the last ones carry the normals of those.

    `stiff`, 1/kg, makes velocities of the carriers' rows: of the size of W.
    """
    m, dim, extra = len(offset), reduced.dim, len(pressed)
    n, k = dim * m, dim * extra
    carrier, normal = dim * pressed, n + np.arange(0, k, dim)
    place = np.arange(n)
    place[carrier] = normal
    A, b = np.zeros((n + k, n + k)), np.zeros(n + k)
    A[np.ix_(place, place)], b[place] = load_dry(reduced.problem, reduced.W, reduced.u, stiff)
    A[carrier, carrier], A[carrier, normal], b[carrier] = stiff, -stiff, -stiff * offset[pressed]
    for j in range(1, dim):
        A[normal + j, normal + j] = stiff
    mu, *others = (np.concatenate([values, np.zeros(extra)]) for _, values in reduced.kinds)
    mu[:m][reduced.problem.kinds == DRY] = 1.0
    torsion, rolling = others if others else (None, None)
    return ConeProblem(A, b, mu, torsion=torsion, rolling=rolling)


@dataclass(frozen=True, kw_only=True)
class Cone:
    """Coulomb friction with its exact, round cone; torsional, rolling and viscous friction; mu = inf.

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
        """Solve, from impulses `warm_start` (m, 3), with moments (m, 6), if that helps."""
        start, solver = checked_problem(problem, warm_start), sharpened(self.solver, self.tolerance)
        return settled_cones(problem, lambda reduced: round_answer(reduced, solver, start), self.tolerance)


def settled_cones(problem: ContactProblem, find: Find, tolerance: float, sides: IntArray | None = None) -> LawSolution:
    """What `find` makes of the reduced rows, with the tangents of mu = inf held, judged by every contact's own cone."""
    detail = ""

    def attempt(held: BoolArray, _last: Held | None, /, *, rank: float) -> Held:
        nonlocal detail
        reduced = Reduced(problem, held, rank)
        rows, iterations, detail = find(reduced)
        return reduced.impulses(rows, iterations)

    def judge(answer: Held) -> LawSolution:
        return judged(
            problem,
            answer.impulses,
            answer.loop_impulses,
            cone_conditions(problem, sides),
            answer.iterations,
            tolerance=tolerance,
            detail=detail,
            moments=answer.moments,
        )

    return settle(problem, np.isinf(problem.friction), attempt, judge)


def round_answer(reduced: Reduced, solver: str | ConeSolver, start: Array | None) -> tuple[Array, int, str]:
    """Impulses (m, D) with every cone round, iterations, and what the solver says of them."""
    problem = reduced.problem
    rough = (problem.friction > 0.0) | (problem.torsion > 0.0) | (problem.rolling > 0.0)
    pressed = np.flatnonzero((problem.offset > 0.0) & rough)
    cone = with_carriers(reduced, problem.offset, pressed, unit_compliance(problem))
    found = solve(cone, solver, _guess(problem, reduced, start, pressed))
    r = found.z.reshape(-1, reduced.dim)
    p = r[: problem.n_contacts].copy()
    p[pressed, 0] = r[problem.n_contacts :, 0]
    p[:, 0] = np.where(problem.kinds == DRY, 0.0, np.maximum(p[:, 0], 0.0))
    if found.residual <= _POLISHED and found.scale_free <= _POLISHED:
        return p, found.iterations, found.status.message
    mapped = FrictionMap(reduced, np.zeros(problem.n_contacts, dtype=np.int64))  # the offsets without carriers
    better, least, steps = mapped.improve(mapped.inward(p))
    if start is not None and least > _POLISHED:
        return round_answer(reduced, solver, None)
    return mapped.outward(better), found.iterations + steps, found.status.message


def _guess(problem: ContactProblem, reduced: Reduced, start: Array | None, pressed: IntArray) -> Array | None:
    """A warm start in the rows of `with_carriers`."""
    if start is None:
        return None
    first, extra = np.zeros((len(start), reduced.dim)), np.zeros((len(pressed), reduced.dim))
    first[:, :3] = start[:, :3]
    if reduced.dim > 3 and start.shape[1] == 6:
        first[:, 3:] = start[:, 3:] / reduced.unit
    first[reduced.stuck, 1:3] = 0.0
    extra[:, 0] = start[pressed, 0]
    first[:, 0] += np.where(problem.kinds == DRY, problem.dry, 0.0)
    first[pressed, 0] += problem.offset[pressed]
    result: Array = np.concatenate([first, extra]).ravel()
    return result
