"""The same Newton method for many contacts: sparse LU, or LAPACK where W is large and full."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray
from spatialops.contact.cone.projection import contact_map, map_slopes
from spatialops.contact.semismooth import semismooth_newton
from spatialops.contact.sparse.blocks import block_diagonal, is_sparse
from spatialops.contact.sparse.lu import sparse_factor

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem


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


class _LargeMap:
    """One of the cone's maps of many contacts, with a proximal term."""

    def __init__(self, system: ScaledProblem, which: int, eps: float, center: Array) -> None:
        self.system = system
        self.which = which
        self.eps = eps
        self.center = center
        self.x = np.empty(center.size)  # what the map writes beside its value

    def speeds(self, x: Array) -> Array:
        """(W + eps) x + b - eps center."""
        system = self.system
        return np.asarray(system.W @ x + system.b + self.eps * (x - self.center))

    def change(self, step: Array) -> Array:
        """(W + eps) step."""
        return np.asarray(self.system.W @ step + self.eps * step)

    def value(self, x: Array, u: Array) -> Array:
        """F."""
        F = np.empty(x.size)
        contact_map(self.which, x, u, self.system.mu, self.system.starts, self.x, F)
        return F

    def direction(self, x: Array, u: Array, F: Array, shift: float) -> Array | None:
        """-J^-1 F; None where J is singular."""
        system = self.system
        blocks = (system.mu.shape[0], system.dim, system.dim)
        P = np.empty(blocks)
        Q = np.empty(blocks)
        again = np.empty(x.size)
        contact_map(self.which, x, u, system.mu, system.starts, self.x, again)
        map_slopes(self.which, x, u, system.mu, system.starts, self.x, F, P, Q)
        return newton_direction(system, self.eps + shift, F, P, Q)


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
    anchor = r.copy() if center is None else center
    of = _LargeMap(system, which, eps, anchor)
    best, least, taken = semismooth_newton(of, r.copy(), limit, target)
    r[:] = best
    return taken, least
