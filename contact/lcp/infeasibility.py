"""A proof that no z makes A z + b >= 0: Farkas' multipliers, by a linear program, and checked."""

from __future__ import annotations

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.scaling import equilibrated

_MARGIN = 1e-7  # |b| is 1: a contradiction smaller than this may be rounding
_LP = 1e-10  # tolerances asked of the linear program
_REACH = 1e10  # a solution further away than this (of unit |A| and |b|) would be lost in rounding


def infeasible(problem: MixedLCP) -> Array | None:
    """Multipliers y (n,) that prove that the problem has no solution, or None.

    With y >= 0 on the rows w >= 0, A^T y <= 0 (= 0 in the columns of free z) and b.y < 0, every z
    would give 0 <= y.w = y.(A z + b) <= b.y < 0. Rounding leaves A^T y <= eps: what is proved is
    that no solution is nearer than -b.y / eps, and that has to be beyond any use. For positive
    semidefinite A this decides: a feasible problem is solvable (Cottle, Pang and Stone 1992,
    theorem 3.1.2).
    """
    if problem.size == 0:
        return None
    easier, scales = equilibrated(problem.dense(), two_sided=True)
    n, f = easier.size, easier.n_free
    A, b = easier.A, easier.b
    bounds = [(-1.0, 1.0)] * f + [(0.0, 1.0)] * (n - f)
    answer = scipy.optimize.linprog(
        b,
        A[:, f:].T if f < n else None,
        np.zeros(n - f) if f < n else None,
        A[:, :f].T if f else None,
        np.zeros(f) if f else None,
        bounds,
        options={"primal_feasibility_tolerance": _LP, "dual_feasibility_tolerance": _LP},
    )
    if answer.x is None:
        return None
    y = np.asarray(answer.x)
    y[f:] = np.maximum(y[f:], 0.0)
    columns, gain = A.T @ y, -float(b @ y)
    slip = max(np.abs(columns[:f]).max(initial=0.0), columns[f:].max(initial=0.0))
    if gain < _MARGIN or slip * _REACH > gain:
        return None
    return np.asarray(y * scales.rows)
