"""The same Newton method for many contacts: sparse LU, or LAPACK where W is large and full."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops.contact.cone.projection import contact_map, map_slopes
from spatialops.contact.cone.sparse import block_diagonal, is_sparse, sparse_factor

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

# Both Newton methods: the shift of the Jacobian follows the residual |F| between two bounds, and
# grows where the matrix is singular; a step must lower the largest |F|^2 of the last ones by a
# share (Grippo, Lampariello and Lucidi 1986), or is halved.
SHIFT_RATE = 0.01
LEAST_SHIFT = 1e-15
MOST_SHIFT = 0.1
SHIFT_GROWTH = 100.0
DESCENT = 1e-4
HALVINGS = 12
_WINDOW = 4  # steps that the line search looks back


def newton_direction(
    system: ScaledProblem, shift: float, F: Array, P: Array, Q: Array
) -> Array | None:
    """-J^-1 F with J = 1 - P + Q (W + shift 1), open contacts eliminated.

    None where J is singular.
    """
    dim = system.dim
    closed = P[:, 0, 0] != 0.0
    rows: IntArray = np.flatnonzero(closed.repeat(dim))
    step = -F
    if rows.size == 0:
        return step
    outer = block_diagonal(Q[closed])
    inner = block_diagonal(np.eye(dim) - P[closed] + shift * Q[closed])
    part = system.W[rows]
    right = -F[rows] - outer @ (part @ np.where(closed.repeat(dim), 0.0, -F))
    J = outer @ part[:, rows] + inner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # singular and ill-conditioned: a larger shift meets them
        try:
            if is_sparse(J):
                solution = sparse_factor(J).solve(right)
            else:
                solution = scipy.linalg.solve(J, right, check_finite=False)
        except (RuntimeError, np.linalg.LinAlgError):
            return None
    if not np.isfinite(solution).all():
        return None
    step[rows] = solution
    return step


def newton_large(
    system: ScaledProblem,
    r: Array,
    which: int,
    limit: int,
    target: float,
    eps: float = 0.0,
    center: Array | None = None,
) -> tuple[int, float]:
    """Change r in place by Newton steps as `newton_kernel` does; returns their number and |F|."""
    W = system.W
    b = system.b
    mu = system.mu
    starts = system.starts
    m = mu.shape[0]
    dim = system.dim
    n = r.size
    anchor = r.copy() if center is None else center
    P = np.empty((m, dim, dim))
    Q = np.empty((m, dim, dim))
    x = np.empty(n)
    F = np.empty(n)
    trial = np.empty(n)
    point, u = r.copy(), W @ r + b + eps * (r - anchor)
    merit = contact_map(which, point, u, mu, starts, x, F)
    best = merit
    taken = 0
    recent = [merit]
    while taken < limit and best > target * target:
        map_slopes(which, point, u, mu, starts, x, F, P, Q)
        shift = min(max(SHIFT_RATE * math.sqrt(merit), LEAST_SHIFT), MOST_SHIFT)
        step = None
        for _ in range(6):
            step = newton_direction(system, eps + shift, F, P, Q)
            if step is not None:
                break
            shift *= SHIFT_GROWTH
        if step is None:
            break
        taken += 1
        du = W @ step + eps * step
        bound, alpha = max(recent), 1.0
        for _ in range(HALVINGS):
            new = contact_map(which, point + alpha * step, u + alpha * du, mu, starts, x, trial)
            if new <= (1.0 - DESCENT * alpha) * bound:
                break
            alpha *= 0.5
        else:
            break
        point = point + alpha * step
        u = W @ point + b + eps * (point - anchor)
        merit = contact_map(which, point, u, mu, starts, x, F)
        recent = [*recent[1 - _WINDOW :], merit]
        if merit < best:
            best = merit
            r[:] = point
    return taken, math.sqrt(best)
