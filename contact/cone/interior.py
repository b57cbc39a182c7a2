"""Interior point: Mehrotra's steps with Nesterov-Todd scaling, for the convex or exact problem.

Contacts become Lorentz cones: x = (mu r_n, r_t), y = (u_n / mu, u_t), so that y = A x + c with A =
D W D. The convex relaxation asks for x, y in the cone with x.y = 0. The exact problem asks it of y
+ |u_t| n; with the slope f of |u_t| in E = 1 + n f^T, T^2 x = y, and p = y - (A x + c + |y_t| n)
what is left of the equations, a step solves

    (T^2 + E A) dx = T d + E p,   dy = E (A dx - p).

Unlike sweeps and Newton on a projection it does not mind impulses that range over many decades. One
kind of friction.

References: S. Mehrotra, SIAM J. Optim. 2 (1992); Y. Nesterov, M. Todd, Math. Oper. Res. 22 (1997);
L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), for the scaling of
Lorentz cones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.cone.second_order_cone import (
    Lorentz,
    apply,
    divide,
    longest,
    product,
    scaling,
)
from spatialops.contact.sparse.blocks import Matrix, block_diagonal, is_sparse
from spatialops.contact.sparse.lu import sparse_factor

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

_TO_BOUNDARY = 0.99  # part of the way to the boundary of a cone that a step takes
_SHORT = 1e-10  # steps shorter than this lead nowhere
Solve = Callable[[Array], Array]


def interior(
    system: ScaledProblem, limit: int = 60, target: float = 1e-12, *, exact: bool = True
) -> tuple[Array, int]:
    """Impulses near a solution, of the relaxation where not `exact`, and the steps taken."""
    lorentz = Lorentz.of(system, exact)
    x, y = lorentz.start()
    best = np.inf
    answer = x
    taken = 0
    with np.errstate(all="ignore"):  # what diverges is not the best
        while taken < limit:
            lift, p = lorentz.left_over(x, y)
            gap = float((x * y).sum()) / len(x)
            error = max(gap / (1.0 + float(np.abs(x).max())), float(np.abs(p).max()))
            if error < best:
                best, answer = error, x
            if not error > target:
                break
            taken += 1
            stepped = _step(lorentz, x, y, gap, p, lift)
            if stepped is None:
                break
            x, y = stepped
    return answer.ravel() * lorentz.stretch, taken


def _step(
    lorentz: Lorentz, x: Array, y: Array, gap: float, p: Array, f: Array
) -> tuple[Array, Array] | None:
    """One predictor-corrector step; None where it cannot be made."""
    T, inverse = scaling(x, y)
    unit = np.zeros(x.shape[1])
    unit[0] = 1.0
    E = np.eye(x.shape[1]) + unit[:, None] * f[:, None, :]
    solve = _factor(lorentz.A, E, T @ T)
    if solve is None:
        return None

    def direction(d: Array) -> tuple[Array, Array]:
        right = apply(T, d) + apply(E, p)
        dx = solve(right.ravel()).reshape(x.shape)
        return dx, apply(E, lorentz.times(dx) - p)

    point = apply(T, x)
    dx, dy = direction(-point)
    alpha = min(1.0, longest(x, dx), longest(y, dy))
    left = float(((x + alpha * dx) * (y + alpha * dy)).sum()) / len(x)
    center = gap * min(max(left / gap, 0.0), 1.0) ** 3
    second = product(apply(T, dx), apply(inverse, dy))
    dx, dy = direction(divide(point, center * unit - second) - point)
    alpha = min(1.0, _TO_BOUNDARY * min(longest(x, dx), longest(y, dy)))
    return (x + alpha * dx, y + alpha * dy) if alpha > _SHORT else None


def _factor(A: Matrix, E: Array, blocks: Array) -> Solve | None:
    """Solver of (blocks + E A) x = right; None where that is singular."""
    M = block_diagonal(E) @ A + (
        block_diagonal(blocks) if is_sparse(A) else block_diagonal(blocks).toarray()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if is_sparse(M):
                return sparse_factor(M).solve
            lu = scipy.linalg.lu_factor(M, check_finite=False)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            return None
    return lambda right: np.asarray(scipy.linalg.lu_solve(lu, right, check_finite=False))
