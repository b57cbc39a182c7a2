"""The demand nearest to one that contacts cannot follow ([Z] 4.5, 46-51).

Contacts that press and do not slip tie the motors' velocities: their rows want u + J d + L x = 0, where d is the change
of the demand, J how the rows answer it, and x = L^T p what forces can add. What forces can reach drops out by
projecting on the complement Q of L's range, and the smallest d follows from Q^T (u + J d) = 0.

That leaves the change of the other velocities free. A foot that comes down on the ground moves at g = G v before the
step, and its stop would be theirs: joints that move as demanded are rigid, and the whole robot would bounce. So what a
contact moves already is stopped first, by the change of the demand that leaves the other velocities most in peace: the
smallest |d|^2 + w^2 |y|^2 over G_a d + L y = -g, y their change and |y|^2 twice its energy. A leg is light, and gives.
Where what is left would still throw them by more than a limit, both share that change likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.control.inverse_problem import InverseProblem

_RANK = 1e-9
_SHARED = 3.0  # w, of sqrt(2 J) of the other velocities against rad/s of the given ones, where the limit is passed
_LANDING = 30.0  # the same of what contacts move already


def nearest_consistent(problem: InverseProblem, pressing: Any, before: Any = None, limit: float = np.inf) -> Array:
    """The smallest change (n,) of the given velocities with which contacts can press without slip.

    Parameters
    ----------
    problem : InverseProblem
    pressing : (m,) bool array
        Contacts that shall neither slip nor part.
    before : (nv,) array, optional
        Velocities now: contacts that move already are stopped by the given velocities rather than by the others, and
        with `limit` these are not thrown by one command either.
    limit : float
        Of |x - x_0|, square root of twice an energy, J^(1/2).

    Notes
    -----
    Contacts that do not press are left to the law: the inequality (47) is met when its active set is found, by solving
    again with the changed demand.
    """
    rows = np.repeat(np.asarray(pressing, dtype=bool), 3)
    given, others = problem.given, problem.others
    if not rows.any() or not len(given):
        return np.zeros(len(given))
    L, u = problem.reach[rows], problem.velocities[rows]
    G = problem.jacobian[rows][:, given]
    landed, u = (np.zeros(len(given)), u) if before is None else _stopped(problem, rows, np.asarray(before), G, L, u)
    J = G - L @ (problem.factor @ problem.mass[np.ix_(others, given)])
    left, values, right = np.linalg.svd(L)
    rank = int((values > _RANK * values.max(initial=0.0)).sum())
    Q = left[:, rank:]
    change: Array = -np.linalg.lstsq(Q.T @ J, Q.T @ u, rcond=_RANK)[0]
    if before is None:
        return change
    x = -right[:rank].T @ ((left[:, :rank].T @ (u + J @ change)) / values[:rank])
    keep = np.linalg.solve(problem.factor.T, np.asarray(before)[others] - problem.velocity[others])
    if float(np.linalg.norm(x - keep)) > limit:
        change = _shared(J, L, u + L @ keep, _SHARED)
    return landed + change


def _stopped(problem: InverseProblem, rows: Array, before: Array, G: Array, L: Array, u: Array) -> tuple[Array, Array]:
    """The change (n,) that stops what contacts `rows` move before the step, and the velocities left of u."""
    g = problem.jacobian[rows] @ before
    g[::3] = np.minimum(g[::3] + problem.closing[rows[::3]], 0.0)
    return _shared(G, L, g, _LANDING), u - g


def _shared(J: Array, L: Array, u: Array, weight: float) -> Array:
    """The d of the smallest |d|^2 + weight^2 |y|^2 with J d + L y = -u."""
    both = np.linalg.lstsq(np.hstack([J, L / weight]), -u, rcond=_RANK)[0]
    result: Array = both[: J.shape[1]]
    return result
