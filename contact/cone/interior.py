"""Interior point: Mehrotra's predictor-corrector with Nesterov-Todd scaling, for the convex or the exact problem.

Contacts become Lorentz cones: x = (mu r_n, r_t), y = (u_n / mu, u_t), so that y = A x + c with A = D W D. The convex
relaxation asks for x, y in the cone with x.y = 0. The exact problem asks it of y + |u_t| n; its slope f = u_t / |u_t| enters
the Newton matrix as E = 1 + n f^T: with T^2 x = y, a step solves

    (T^2 + E A) dx = T d + E p,   dy = E (A dx - p).

Unlike sweeps and Newton on a projection it does not mind impulses that range over many decades. One kind of friction.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from spatialops._arrays import Array
from spatialops.contact.cone.sparse_newton import block_diagonal

if TYPE_CHECKING:
    from spatialops.contact.cone.system import System

_TO_BOUNDARY = 0.99


def interior(system: System, limit: int = 60, target: float = 1e-12, *, exact: bool = True) -> tuple[Array, int]:
    """Impulses r near a solution of the exact problem or of its convex relaxation, and the steps taken."""
    A, c, stretch = _lorentz(system)
    m, dim = system.mu.shape[0], system.dim
    x, y = np.zeros((m, dim)), np.zeros((m, dim))
    x[:, 0] = y[:, 0] = 1.0
    unit, steps, best, answer = np.zeros(dim), 0, np.inf, x.ravel()
    unit[0] = 1.0
    for steps in range(1, limit + 1):
        slip = np.linalg.norm(y[:, 1:], axis=1)
        lift, f = np.zeros((m, dim)), np.zeros((m, dim))
        if exact:
            smooth = np.sqrt(slip**2 + 1e-24)
            lift[:, 0] = slip
            f[:, 1:] = y[:, 1:] / smooth[:, None]
        p = y - (A @ x.ravel() + c).reshape(m, dim) - lift
        gap = float((x * y).sum()) / m
        error = max(gap / (1.0 + np.abs(x).max()), float(np.abs(p).max()))
        if error < best:
            best, answer = error, x.ravel().copy()
        if not error > target:
            break
        T, inverse = _scaling(x, y)
        E = np.broadcast_to(np.eye(dim), (m, dim, dim)) + unit[:, None] * f[:, None, :]
        factor = _factor(A, E, T @ T)
        if factor is None:
            break
        point = np.einsum("cij,cj->ci", T, x)
        shifted = np.einsum("cij,cj->ci", E, p)
        d = -point
        dx, dy = _direction(factor, A, E, T, d, p, shifted)
        alpha = min(1.0, _longest(x, dx), _longest(y, dy))
        left = float(((x + alpha * dx) * (y + alpha * dy)).sum()) / m
        sigma = min(max(left / gap, 0.0), 1.0) ** 3
        second = _product(np.einsum("cij,cj->ci", T, dx), np.einsum("cij,cj->ci", inverse, dy))
        d = -point + _divide(point, sigma * gap * unit - second)
        dx, dy = _direction(factor, A, E, T, d, p, shifted)
        alpha = min(1.0, _TO_BOUNDARY * min(_longest(x, dx), _longest(y, dy)))
        if not alpha > 1e-10:
            break
        x, y = x + alpha * dx, y + alpha * dy
    return answer * stretch, steps


def _lorentz(system: System) -> tuple[Any, Array, Array]:
    """A = D W D, c = D b and D; without friction the tangents are left out of it."""
    D = np.ones((system.mu.shape[0], system.dim))
    mu = system.mu[:, 0]
    D[:, 0] = 1.0 / np.where(mu > 0.0, mu, 1.0)
    D[mu == 0.0, 1:] = 0.0
    D = D.ravel()
    if system.dense:
        return D[:, None] * system.W * D, D * system.b, D
    return sp.csr_array(sp.diags_array(D) @ system.W @ sp.diags_array(D)), D * system.b, D


def _determinant(x: Array) -> Array:
    size = np.linalg.norm(x[:, 1:], axis=1)
    return np.maximum((x[:, 0] - size) * (x[:, 0] + size), 1e-300)


def _scaling(x: Array, y: Array) -> tuple[Array, Array]:
    """T and T^-1 (m, dim, dim) with T x = T^-1 y (Nesterov and Todd)."""
    dx, dy = _determinant(x), _determinant(y)
    a, b = x / np.sqrt(dx)[:, None], y / np.sqrt(dy)[:, None]
    a_mirror = a.copy()
    a_mirror[:, 1:] *= -1.0
    gamma = np.sqrt(0.5 * (1.0 + (a * b).sum(axis=1)))
    w = (b + a_mirror) / (2.0 * gamma)[:, None]
    beta = (dy / dx) ** 0.25
    m, dim = x.shape
    T = np.zeros((m, dim, dim))
    T[:, 1:, 1:] = np.eye(dim - 1) + w[:, 1:, None] * w[:, None, 1:] / (1.0 + w[:, 0])[:, None, None]
    T[:, 0, 0] = w[:, 0]
    T[:, 0, 1:] = T[:, 1:, 0] = w[:, 1:]
    inverse = T.copy()
    inverse[:, 0, 1:] *= -1.0
    inverse[:, 1:, 0] *= -1.0
    return T * beta[:, None, None], inverse / beta[:, None, None]


def _product(x: Array, y: Array) -> Array:
    """Jordan product of the Lorentz cone."""
    out = x[:, :1] * y + y[:, :1] * x
    out[:, 0] = (x * y).sum(axis=1)
    return out


def _divide(x: Array, y: Array) -> Array:
    """Z with x o z = y."""
    out, inner = np.empty_like(y), (x[:, 1:] * y[:, 1:]).sum(axis=1)
    det = _determinant(x)
    out[:, 0] = (x[:, 0] * y[:, 0] - inner) / det
    out[:, 1:] = (y[:, 1:] - out[:, :1] * x[:, 1:]) / x[:, :1]
    return out


def _longest(x: Array, dx: Array) -> float:
    """Largest step that keeps x + alpha dx within all cones."""
    a = dx[:, 0] ** 2 - (dx[:, 1:] ** 2).sum(axis=1)
    b = x[:, 0] * dx[:, 0] - (x[:, 1:] * dx[:, 1:]).sum(axis=1)
    c = _determinant(x)
    with np.errstate(all="ignore"):
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        candidate = np.where(b <= 0.0, c / (root - b), np.where(a < 0.0, (b + root) / -a, np.inf))
        candidate = np.where((b * b < a * c) & (dx[:, 0] >= 0.0), np.inf, candidate)
        tip = np.where(dx[:, 0] < 0.0, -x[:, 0] / dx[:, 0], np.inf)
    return float(min(np.nanmin(candidate, initial=np.inf), tip.min(initial=np.inf)))


def _factor(A: Any, E: Array, block: Array) -> Any:
    M = block_diagonal(E) @ A + (block_diagonal(block) if sp.issparse(A) else block_diagonal(block).toarray())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if sp.issparse(M):
                return scipy.sparse.linalg.splu(sp.csc_array(M)).solve
            lu = scipy.linalg.lu_factor(M, check_finite=False)
            return lambda right: scipy.linalg.lu_solve(lu, right, check_finite=False)
        except (RuntimeError, ValueError, np.linalg.LinAlgError):
            return None


def _direction(factor: Any, A: Any, E: Array, T: Array, d: Array, p: Array, shifted: Array) -> tuple[Array, Array]:
    right = np.einsum("cij,cj->ci", T, d) + shifted
    dx = factor(right.ravel())
    dy = np.einsum("cij,cj->ci", E, (A @ dx).reshape(p.shape) - p)
    return dx.reshape(p.shape), dy
