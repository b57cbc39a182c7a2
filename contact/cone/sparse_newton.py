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
    from spatialops.contact.cone.system import System

_WINDOW, _HALVINGS = 4, 12


def newton_direction(system: System, shift: float, F: Array, P: Array, Q: Array) -> Array | None:
    """-J^-1 F with J = 1 - P + Q (W + shift 1), open contacts eliminated; None where J is singular."""
    dim = system.dim
    closed = P[:, 0, 0] != 0.0
    rows: IntArray = np.flatnonzero(closed.repeat(dim))
    step = -F
    if rows.size == 0:
        return step
    outer, inner = block_diagonal(Q[closed]), block_diagonal(np.eye(dim) - P[closed] + shift * Q[closed])
    part = system.W[rows]
    right = -F[rows] - outer @ (part @ np.where(closed.repeat(dim), 0.0, -F))
    J = outer @ part[:, rows] + inner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # singular and ill-conditioned matrices are met by a larger shift
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
    system: System, r: Array, which: int, limit: int, target: float, eps: float = 0.0, center: Array | None = None
) -> tuple[int, float]:
    """Change r in place by Newton steps; returns their number and |F|. See `newton.newton_kernel`."""
    W, b, mu, starts = system.W, system.b, system.mu, system.starts
    m, dim, n = mu.shape[0], system.dim, r.size
    anchor = r.copy() if center is None else center
    P, Q, x, F, trial = np.empty((m, dim, dim)), np.empty((m, dim, dim)), np.empty(n), np.empty(n), np.empty(n)
    point, u = r.copy(), W @ r + b + eps * (r - anchor)
    merit = contact_map(which, point, u, mu, starts, x, F)
    best, taken, recent = merit, 0, [merit]
    while taken < limit and best > target * target:
        map_slopes(which, point, u, mu, starts, x, F, P, Q)
        shift = min(max(0.01 * math.sqrt(merit), 1e-15), 0.1)
        step = None
        for _ in range(6):
            step = newton_direction(system, eps + shift, F, P, Q)
            if step is not None:
                break
            shift *= 100.0
        if step is None:
            break
        taken += 1
        du = W @ step + eps * step
        bound, alpha = max(recent), 1.0
        for _ in range(_HALVINGS):
            new = contact_map(which, point + alpha * step, u + alpha * du, mu, starts, x, trial)
            if new <= (1.0 - 1e-4 * alpha) * bound:
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
