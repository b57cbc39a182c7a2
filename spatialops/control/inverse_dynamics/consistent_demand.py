"""The demand nearest to one that contacts cannot follow ([Z] 4.5, 46-51).

Contacts that press and do not slip tie the motors' velocities: their rows want u + J d + L x = 0,
where d is the change of the demand, J how the rows answer it, and x = L^T p what forces can add.
What forces can reach drops out by projecting on the complement Q of L's range, and the smallest d
follows from Q^T (u + J d) = 0.

That leaves the change of the other velocities free. A foot that comes down on the ground moves at
g = G v before the step, and its stop would be theirs: joints that move as demanded are rigid, and
the whole robot would bounce. So what a contact moves already is stopped first as it would be
without motors: by the smallest w^T M w with G w = -g (Gauss). A leg is light, and gives, and its
motors need not know. Where what is left would still throw the others by more than a limit, both
share that: the smallest |d|^2 + c^2 |x - x_0|^2, in which they count as velocities and energy.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray
from spatialops.control.inverse_dynamics.inverse_geometry import RANK
from spatialops.control.inverse_dynamics.inverse_problem import InverseProblem

# c, of sqrt(2 J) of the other velocities against rad/s of the given ones, where the limit is passed
WEIGHT = 3.0
THROWN = 20.0  # m/s^2: above that a demand throws what has no motors, and gives way itself


def nearest_consistent(
    problem: InverseProblem,
    pressing: ArrayLike,
    before: ArrayLike | None = None,
    limit: float = np.inf,
) -> Array:
    """The smallest change of the given velocities with which contacts can press without slip.

    Parameters
    ----------
    problem : InverseProblem
        Contacts, and the velocities that are demanded.
    pressing : (m,) array_like of bool
        Contacts that shall neither slip nor part.
    before : (nv,) array, optional
        Velocities now: contacts that move already are stopped as passive joints would let them be,
        and with `limit` the other velocities are not thrown by one command.
    limit : float, default infinity
        Of |x - x_0|, square root of twice an energy, J^(1/2).

    Returns
    -------
    (n,) array
        To be added to the demanded velocities, rad/s or m/s.

    References
    ----------
    [Z] 4.5, 46-51.

    Notes
    -----
    Contacts that do not press are left to the law: the inequality (47) is met when its active
    set is found, by solving again with the changed demand.
    """
    rows = np.repeat(np.asarray(pressing, dtype=bool), 3)
    given, others = problem.given, problem.others
    if not rows.any() or not len(given):
        return np.zeros(len(given))
    tied = problem.geometry.tied(rows)
    rank = tied.rank
    u = problem.velocities[rows]
    g, landed = (0.0, 0.0) if before is None else _stopped(problem, rows, np.asarray(before))
    u = u - g
    change: Array = -tied.answer @ (tied.left[:, rank:].T @ u)
    if before is None:
        return change
    left = u + tied.J @ change  # what the other velocities have to make good
    x = -tied.right[:rank].T @ ((tied.left[:, :rank].T @ left) / tied.values[:rank])
    keep = np.linalg.solve(problem.factor.T, np.asarray(before)[others] - problem.velocity[others])
    if float(np.linalg.norm(x - keep)) > limit:
        L = problem.reach[rows]
        both = np.linalg.lstsq(np.hstack([tied.J, L / WEIGHT]), -(u + L @ keep), rcond=RANK)[0]
        change = both[: len(given)]
    return landed + change


def _stopped(problem: InverseProblem, rows: BoolArray, before: Array) -> tuple[Array, Array]:
    """What contacts `rows` move before, and the change of given velocities if that is stopped."""
    g = problem.jacobian[rows] @ before
    g[::3] = np.minimum(g[::3] + problem.gap_bias[rows[::3]], 0.0)
    return g, -problem.geometry.passive(rows) @ g
