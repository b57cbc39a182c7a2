"""The demand nearest to one that contacts cannot follow ([Z] 4.5, 46-51).

Contacts that press and do not slip tie the motors' velocities: their rows want u + J d + L x = 0, where d is the change
of the demand, J how the rows answer it, and x = L^T p what forces can add. What forces can reach drops out by projecting
on the complement Q of L's range, and the smallest d follows from Q^T (u + J d) = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.control.inverse_problem import InverseProblem

_RANK = 1e-9


def nearest_consistent(problem: InverseProblem, pressing: Any) -> Array:
    """The smallest change (n,) of the given velocities with which contacts can press without slip.

    Parameters
    ----------
    problem : InverseProblem
    pressing : (m,) bool array
        Contacts that shall neither slip nor part.

    Notes
    -----
    Contacts that do not press are left to the law: the inequality (47) is met when its active set is found, by solving
    again with the changed demand.
    """
    rows = np.repeat(np.asarray(pressing, dtype=bool), 3)
    given, others = problem.given, problem.others
    if not rows.any() or not len(given):
        return np.zeros(len(given))
    L, u = problem.response.L[rows], problem.velocities[rows]
    left, values, _ = np.linalg.svd(L)
    rank = int((values > _RANK * values.max(initial=0.0)).sum())
    Q = left[:, rank:]
    follow = problem.factor @ problem.mass[np.ix_(others, given)]
    J = problem.jacobian[rows][:, given] - L @ follow
    change: Array = -np.linalg.lstsq(Q.T @ J, Q.T @ u, rcond=_RANK)[0]
    return change
