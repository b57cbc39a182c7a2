"""A proof that no impulses of the cones part all contacts: Farkas' multipliers.

Normal velocities u_n = W_n r + b_n must not be negative. With y >= 0 over the contacts and
c = W_n^T y,

    y.u_n = r.c + y.b_n <= sum_i r_ni (c_ni + mu_i |c_ti|) + y.b_n,

which is negative for all r in K where -c is in K* and y.b_n < 0. W is positive semidefinite: c = 0
then, since y, as impulses along the normals, is itself in K, and y.W_nn y = 0 is enough for c = 0.
Rounding leaves -c + eps in K*: what is proved is that no solution has a sum of normal impulses
below -y.b_n / eps, and that has to be beyond any use.

What is not proved by it may still have no solution: friction can jam what normals leave free.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy

from spatialops._arrays import Array, instance
from spatialops.contact.cone.problem import ConeProblem
from spatialops.contact.sparse.blocks import is_sparse

_MARGIN = 1e-7  # largest |b_n| is 1: a contradiction smaller than this may be rounding
_LP = 1e-10  # tolerances asked of the linear program
_REACH = 1e10  # impulses (of unit compliance) above this would be lost in rounding
_MOST = 3000  # contacts: the linear program of more takes longer than other methods


def infeasible(problem: ConeProblem) -> Array | None:
    """Multipliers y (m,) that prove that the problem has no solution, or None.

    Parameters
    ----------
    problem : ConeProblem
        With any friction.

    Returns
    -------
    (m,) array or None
        y >= 0, kg, with W_n^T y = 0 up to rounding and y.b_n < 0: the normal velocities that it
        weighs cannot all be positive, whatever the contacts do.

    Examples
    --------
    A ball of 1 kg between two walls that close at 1 m/s each:

    >>> import numpy as np
    >>> from spatialops.contact import ConeProblem
    >>> from spatialops.contact.cone.infeasibility import infeasible
    >>> L = np.vstack([np.eye(3), np.diag([-1.0, 1.0, -1.0])])
    >>> y = infeasible(ConeProblem(L @ L.T, [-1.0, 0, 0, -1.0, 0, 0], 0.5))
    >>> (y / y.max()).round(9).tolist()
    [1.0, 1.0]
    """
    instance(problem, ConeProblem, "problem")
    dim, m = problem.dim, problem.n_contacts
    if not 0 < m <= _MOST:
        return None
    diagonal = np.asarray(problem.W.diagonal())
    own = np.sqrt(np.maximum(diagonal[::dim], 0.0))
    if not own.min() > 0.0:
        return None
    scale = np.repeat(1.0 / own, dim)
    b = scale[::dim] * problem.b[::dim]
    largest = float(np.abs(b).max())
    if not b.min() < 0.0:
        return None
    normals = scaled_normals(problem, scale)
    answer = scipy.optimize.linprog(
        b / largest,
        A_eq=normals[:, ::dim],
        b_eq=np.zeros(m),
        bounds=(0.0, 1.0),
        options={"primal_feasibility_tolerance": _LP, "dual_feasibility_tolerance": _LP},
    )
    if answer.x is None:
        return None
    y = np.maximum(np.asarray(answer.x), 0.0)
    gain = -float(b @ y) / largest
    if gain < _MARGIN or _REACH * most_gained(problem, normals.T @ y) > gain:
        return None
    return np.asarray(y / own)


def scaled_normals(problem: ConeProblem, scale: Array) -> Array:
    """The rows of normals of W (m, n), of contacts whose normals have unit compliance."""
    rows = problem.W[:: problem.dim]
    dense = rows.toarray() if is_sparse(problem.W) else np.asarray(rows)
    return np.asarray(scale[:: problem.dim, None] * dense * scale)


def most_gained(problem: ConeProblem, c: Array) -> float:
    """Largest r.c / r_n over single contacts and impulses r of the cones; at least zero."""
    rows = c.reshape(-1, problem.dim)
    parts = np.zeros(problem.n_contacts)
    starts = problem.starts
    for k, (first, end) in enumerate(pairwise(starts)):
        parts += problem.coefficients[:, k] * np.linalg.norm(rows[:, first:end], axis=1)
    return max(0.0, float((rows[:, 0] + parts).max()))
