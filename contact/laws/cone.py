"""Coulomb's law with the exact friction cone, for whole mechanisms, by `contact.cone`.

Closures are held by `Elimination`, so that the contacts' compliance is L (I - Q Q^T) L^T and no
closure row is left ([J] 37-41). An impulse theta that already presses (`prior_normal_impulse`, of
decompression) widens the friction limit to mu (p_n + theta) while p_n >= 0 stays complementary to
u_n. That is no cone in p; it is one with a row more: such a contact gets a carrier of its friction
whose "velocity" is a - p_n - theta, so that its load a = p_n + theta. The dry friction of a joint
is its own carrier, with the "velocity" a - dry.

Torsional and rolling friction have limits of their own, torsion (p_n + theta) and rolling (p_n +
theta). Contacts with mu = inf do not slip while they press: their tangents are held like closures,
see `settle`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, scalar
from spatialops.contact.cone.fallback_solver import (
    ConeLadder,
    ConeSolver,
    check_cone_solver,
    sharpened,
)
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.laws.cone_newton import FrictionMap
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.law import (
    TOLERANCE,
    Conditions,
    LawSolution,
    checked_problem,
    cone_errors,
    normal_errors,
    unit_compliance,
    verified,
)
from spatialops.contact.laws.plain_cone import POLISHED, is_plain, solve_plain
from spatialops.contact.laws.reduction import Held, Reduced, settle
from spatialops.contact.laws.wedges import wedged
from spatialops.contact.newton._layout import STEEP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve


def without_closures(problem: ContactProblem) -> tuple[Elimination, Array, Array]:
    """The closures' elimination, and with it the contacts' W (3 m square) and velocities (3 m,)."""
    reduced = Reduced(problem, np.zeros(problem.n_contacts, dtype=bool))
    return reduced.held, reduced.W, reduced.u


# impulses (m, D), iterations, what there is to say of them
Find = Callable[[Reduced], tuple[Array, int, str]]


def cone_conditions(problem: ContactProblem, sides: IntArray | None = None) -> Conditions:
    """Violations of the exact law: unilateral contact, and friction the nearest to s p_t - u_t.

    In its disc, or in its polygon where a contact has `sides`.
    """
    s = unit_compliance(problem)

    def conditions(p: Array, u: Array) -> Array:
        return np.maximum(normal_errors(s, p, u), cone_errors(problem, s, p, u, sides))

    return conditions


def load_dry(problem: ContactProblem, W: Array, u: Array, stiff: float) -> tuple[Array, Array]:
    """W and velocities where dry friction is a contact loaded with its limit.

    Its normal "velocity" is a - dry.
    """
    if not problem.has_joints:
        return W, u
    W = W.copy()
    u = u.copy()
    dry = np.flatnonzero(problem.kinds == DRY)
    rows = len(u) // problem.n_contacts * dry
    W[rows, rows], u[rows] = stiff, -stiff * problem.dry[dry]
    return W, u


def with_carriers(reduced: Reduced, prior: Array, preloaded: IntArray, stiff: float) -> ConeProblem:
    """The cone problem of contacts of which some are preloaded; the last ones carry their normals.

    `stiff`, 1/kg, makes velocities of the carriers' rows: of the size of W.
    """
    m = len(prior)
    dim = reduced.dim
    extra = len(preloaded)
    n, k = dim * m, dim * extra
    carrier, normal = dim * preloaded, n + np.arange(0, k, dim)
    place = np.arange(n)
    place[carrier] = normal
    A, b = np.zeros((n + k, n + k)), np.zeros(n + k)
    A[np.ix_(place, place)], b[place] = load_dry(reduced.problem, reduced.W, reduced.u, stiff)
    A[carrier, carrier] = stiff
    A[carrier, normal] = -stiff
    b[carrier] = -stiff * prior[preloaded]
    for j in range(1, dim):
        A[normal + j, normal + j] = stiff
    mu, *others = (np.concatenate([values, np.zeros(extra)]) for _, values in reduced.kinds)
    mu[:m][reduced.problem.kinds == DRY] = 1.0
    torsion, rolling = others if others else (None, None)
    return ConeProblem(A, b, mu, torsion=torsion, rolling=rolling)


@dataclass(frozen=True, kw_only=True)
class ConeCoulomb:
    """Coulomb friction with its exact, round cone.

    Also torsional, rolling and viscous friction, and mu = inf: no slip of what presses.

    Parameters
    ----------
    solver : str or ConeSolver, optional
        As `contact.solve` takes for a `ConeProblem`. (The relaxation is verified by the exact law
        here: see `Convex`.)
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.

    References
    ----------
    G. De Saxce, Z.-Q. Feng, The bipotential method (1998); docs/cone.md has the methods.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ConeCoulomb, ContactProblem
    >>> from spatialops.models import pendulum
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(pendulum(1).model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> ConeCoulomb().solve(problem).solved
    True
    """

    solver: str | ConeSolver = "auto"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        check_cone_solver(self.solver)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses in the exact cones.

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
        start = checked_problem(problem, warm_start)
        found = self._solved(problem, start)
        steep = problem.friction > STEEP
        if start is None or not found.solved or not steep.any():
            return found
        if wedged(problem, found.impulses)[steep].any():
            cold = self._solved(problem, None)  # from zero, where what need not press does not
            return cold if cold.solved else found
        return found

    def _solved(self, problem: ContactProblem, start: Array | None) -> LawSolution:
        by_ladder = isinstance(self.solver, ConeLadder) or self.solver == "auto"
        if by_ladder and is_plain(problem):
            found = solve_plain(problem, start, self.tolerance)
            if found is not None:
                return found
        solver = sharpened(self.solver, self.tolerance)
        return settled_cones(
            problem, lambda reduced: round_answer(reduced, solver, start), self.tolerance
        )


def settled_cones(
    problem: ContactProblem, find: Find, tolerance: float, sides: IntArray | None = None
) -> LawSolution:
    """What `find` makes of the reduced rows, tangents of mu = inf held, by every contact's cone."""
    detail = ""

    def attempt(held: BoolArray, _last: Held | None, /, *, rank: float) -> Held:
        nonlocal detail
        reduced = Reduced(problem, held, rank)
        rows, iterations, detail = find(reduced)
        return reduced.impulses(rows, iterations)

    def verify(answer: Held) -> LawSolution:
        return verified(
            problem,
            answer.impulses,
            answer.loop_impulses,
            cone_conditions(problem, sides),
            answer.iterations,
            tolerance=tolerance,
            detail=detail,
            moments=answer.moments,
        )

    return settle(problem, np.isinf(problem.friction), attempt, verify)


def round_answer(
    reduced: Reduced, solver: str | ConeSolver, start: Array | None
) -> tuple[Array, int, str]:
    """Impulses (m, D) with every cone round, iterations, and what the solver says of them."""
    problem = reduced.problem
    has_friction = (problem.friction > 0.0) | (problem.torsion > 0.0) | (problem.rolling > 0.0)
    preloaded = np.flatnonzero((problem.prior_normal_impulse > 0.0) & has_friction)
    cone = with_carriers(reduced, problem.prior_normal_impulse, preloaded, unit_compliance(problem))
    found = solve(cone, solver, _guess(problem, reduced, start, preloaded))
    r = found.z.reshape(-1, reduced.dim)
    p = r[: problem.n_contacts].copy()
    p[preloaded, 0] = r[problem.n_contacts :, 0]
    p[:, 0] = np.where(problem.kinds == DRY, 0.0, np.maximum(p[:, 0], 0.0))
    polished = found.residual <= POLISHED and found.scale_free <= POLISHED
    if polished or (isinstance(solver, ConeLadder) and solver.budget is not None):
        return p, found.iterations, found.status.message
    # The prior impulses without carriers.
    mapped = FrictionMap(reduced, np.zeros(problem.n_contacts, dtype=np.int64))
    better, least, steps = mapped.improve(mapped.inward(p))
    if start is not None and least > POLISHED:
        return round_answer(reduced, solver, None)
    return mapped.outward(better), found.iterations + steps, found.status.message


def _guess(
    problem: ContactProblem, reduced: Reduced, start: Array | None, preloaded: IntArray
) -> Array | None:
    """A warm start in the rows of `with_carriers`."""
    if start is None:
        return None
    first, extra = np.zeros((len(start), reduced.dim)), np.zeros((len(preloaded), reduced.dim))
    first[:, :3] = start[:, :3]
    if reduced.dim > 3 and start.shape[1] == 6:
        first[:, 3:] = start[:, 3:] / reduced.unit
    first[reduced.sticking, 1:3] = 0.0
    extra[:, 0] = start[preloaded, 0]
    first[:, 0] += np.where(problem.kinds == DRY, problem.dry, 0.0)
    first[preloaded, 0] += problem.prior_normal_impulse[preloaded]
    result: Array = np.concatenate([first, extra]).ravel()
    return result
