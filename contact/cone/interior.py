"""Interior point: Mehrotra's predictor-corrector with Nesterov-Todd scaling, for the convex or the exact problem.

Contacts become Lorentz cones: x = (mu r_n, r_t), y = (u_n / mu, u_t), so that y = A x + c with A = D W D. The convex
relaxation asks for x, y in the cone with x.y = 0. The exact problem asks it of y + |u_t| n; with the slope f of |u_t|
in E = 1 + n f^T, T^2 x = y, and p = y - (A x + c + |y_t| n) what is left of the equations, a step solves

    (T^2 + E A) dx = T d + E p,   dy = E (A dx - p).

Unlike sweeps and Newton on a projection it does not mind impulses that range over many decades. One kind of friction.

References: S. Mehrotra, SIAM J. Optim. 2 (1992); Y. Nesterov, M. Todd, Math. Oper. Res. 22 (1997); L. Vandenberghe, The
CVXOPT linear and quadratic cone program solvers (2010), for the scaling of Lorentz cones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.cone.sparse import block_diagonal, is_sparse, sparse_factor

if TYPE_CHECKING:
    from spatialops.contact.cone.system import System

_TO_BOUNDARY = 0.99
Solve = Callable[[Array], Array]


def interior(system: System, limit: int = 60, target: float = 1e-12, *, exact: bool = True) -> tuple[Array, int]:
    """Impulses near a solution of the exact problem or of its convex relaxation, and the steps taken."""
    lorentz = _Lorentz.of(system, exact)
    x, y = lorentz.start()
    best, answer, taken = np.inf, x, 0
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


@dataclass(frozen=True, eq=False)
class _Lorentz:
    """y = A x + c (+ |y_t| n where `exact`), with the factors by which x becomes r."""

    A: Any
    c: Array
    stretch: Array
    exact: bool

    @classmethod
    def of(cls, system: System, exact: bool) -> _Lorentz:
        """A = D W D, c = D b; without friction the tangents are left out of it."""
        D = np.ones((system.mu.shape[0], system.dim))
        mu = system.mu[:, 0]
        D[:, 0] = 1.0 / np.where(mu > 0.0, mu, 1.0)
        D[mu == 0.0, 1:] = 0.0
        flat = D.ravel()
        A = block_diagonal(flat[:, None, None])
        A = A @ system.W @ A if is_sparse(system.W) else flat[:, None] * system.W * flat
        return cls(A, (flat * system.b).reshape(D.shape), flat, exact)

    def start(self) -> tuple[Array, Array]:
        x = np.zeros_like(self.c)
        x[:, 0] = 1.0
        return x, x.copy()

    def left_over(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Slope f of |y_t| in its rows (zero for the relaxation), and p."""
        p, f = y - self.times(x) - self.c, np.zeros_like(y)
        if self.exact:
            slip = np.linalg.norm(y[:, 1:], axis=1)
            p[:, 0] -= slip
            f[:, 1:] = y[:, 1:] / np.maximum(slip, 1e-12)[:, None]
        return f, p

    def times(self, x: Array) -> Array:
        return np.asarray(self.A @ x.ravel()).reshape(x.shape)


def _step(lorentz: _Lorentz, x: Array, y: Array, gap: float, p: Array, f: Array) -> tuple[Array, Array] | None:
    """One predictor-corrector step; None where it cannot be made."""
    T, inverse = _scaling(x, y)
    unit = np.zeros(x.shape[1])
    unit[0] = 1.0
    E = np.eye(x.shape[1]) + unit[:, None] * f[:, None, :]
    solve = _factor(lorentz.A, E, T @ T)
    if solve is None:
        return None

    def direction(d: Array) -> tuple[Array, Array]:
        right = _apply(T, d) + _apply(E, p)
        dx = solve(right.ravel()).reshape(x.shape)
        return dx, _apply(E, lorentz.times(dx) - p)

    point = _apply(T, x)
    dx, dy = direction(-point)
    alpha = min(1.0, _longest(x, dx), _longest(y, dy))
    left = float(((x + alpha * dx) * (y + alpha * dy)).sum()) / len(x)
    center = gap * min(max(left / gap, 0.0), 1.0) ** 3
    second = _product(_apply(T, dx), _apply(inverse, dy))
    dx, dy = direction(_divide(point, center * unit - second) - point)
    alpha = min(1.0, _TO_BOUNDARY * min(_longest(x, dx), _longest(y, dy)))
    return (x + alpha * dx, y + alpha * dy) if alpha > 1e-10 else None


def _apply(blocks: Array, x: Array) -> Array:
    return np.asarray(np.einsum("cij,cj->ci", blocks, x))


def _determinant(x: Array) -> Array:
    size = np.linalg.norm(x[:, 1:], axis=1)
    return np.asarray(np.maximum((x[:, 0] - size) * (x[:, 0] + size), 1e-300))


def _scaling(x: Array, y: Array) -> tuple[Array, Array]:
    """T and T^-1 (m, dim, dim) with T x = T^-1 y."""
    dx, dy = _determinant(x), _determinant(y)
    a, b = x / np.sqrt(dx)[:, None], y / np.sqrt(dy)[:, None]
    mirror = a.copy()
    mirror[:, 1:] *= -1.0
    w = (b + mirror) / np.sqrt(2.0 * (1.0 + (a * b).sum(axis=1)))[:, None]
    beta = ((dy / dx) ** 0.25)[:, None, None]
    T = np.zeros((*x.shape, x.shape[1]))
    T[:, 1:, 1:] = np.eye(x.shape[1] - 1) + w[:, 1:, None] * w[:, None, 1:] / (1.0 + w[:, 0])[:, None, None]
    T[:, 0, :] = T[:, :, 0] = w
    inverse = T.copy()
    inverse[:, 0, 1:] *= -1.0
    inverse[:, 1:, 0] *= -1.0
    return T * beta, inverse / beta


def _product(x: Array, y: Array) -> Array:
    """Jordan product x o y of Lorentz cones."""
    out = x[:, :1] * y + y[:, :1] * x
    out[:, 0] = (x * y).sum(axis=1)
    return out


def _divide(x: Array, y: Array) -> Array:
    """Z with x o z = y."""
    z = np.empty_like(y)
    z[:, 0] = (x[:, 0] * y[:, 0] - (x[:, 1:] * y[:, 1:]).sum(axis=1)) / _determinant(x)
    z[:, 1:] = (y[:, 1:] - z[:, :1] * x[:, 1:]) / x[:, :1]
    return z


def _longest(x: Array, dx: Array) -> float:
    """Largest alpha with x + alpha dx in every cone: the first root of its determinant c + 2 b alpha + a alpha^2."""
    a = dx[:, 0] ** 2 - (dx[:, 1:] ** 2).sum(axis=1)
    b = x[:, 0] * dx[:, 0] - (x[:, 1:] * dx[:, 1:]).sum(axis=1)
    c = _determinant(x)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    alpha = np.where(b <= 0.0, c / (root - b), np.where(a < 0.0, (b + root) / -a, np.inf))
    alpha = np.where((b * b < a * c) & (dx[:, 0] >= 0.0), np.inf, alpha)
    tip = np.where(dx[:, 0] < 0.0, -x[:, 0] / dx[:, 0], np.inf)
    return float(min(np.nanmin(alpha), tip.min()))


def _factor(A: Any, E: Array, blocks: Array) -> Solve | None:
    """Solver of (blocks + E A) x = right; None where that is singular."""
    M = block_diagonal(E) @ A + (block_diagonal(blocks) if is_sparse(A) else block_diagonal(blocks).toarray())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if is_sparse(M):
                return sparse_factor(M).solve
            lu = scipy.linalg.lu_factor(M, check_finite=False)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            return None
    return lambda right: np.asarray(scipy.linalg.lu_solve(lu, right, check_finite=False))
