"""Contacts as Lorentz cones, x = (mu r_n, r_t), y = (u_n / mu, u_t), y = A x + c; their algebra.

A = D W D, for one kind of friction. Reference: L. Vandenberghe, The CVXOPT linear and quadratic
cone program solvers (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.sparse.blocks import Matrix, block_diagonal, is_sparse

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

_NOTHING = 1e-300  # least determinant: points stay inside of their cones, but for rounding
_AT_REST = 1e-12  # slip, of velocities of size one, below which its direction is damped


@dataclass(frozen=True, eq=False)
class Lorentz:
    """y = A x + c (+ |y_t| n where `exact`), with the factors by which x becomes r."""

    A: Matrix
    c: Array
    stretch: Array
    exact: bool

    @classmethod
    def of(cls, system: ScaledProblem, exact: bool) -> Lorentz:
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
        """Middles of the cones, for x and for y."""
        x = np.zeros_like(self.c)
        x[:, 0] = 1.0
        return x, x.copy()

    def left_over(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Slope f of |y_t| in its rows (zero for the relaxation), and p."""
        p, f = y - self.times(x) - self.c, np.zeros_like(y)
        if self.exact:
            slip = np.linalg.norm(y[:, 1:], axis=1)
            p[:, 0] -= slip
            f[:, 1:] = y[:, 1:] / np.maximum(slip, _AT_REST)[:, None]
        return f, p

    def times(self, x: Array) -> Array:
        """A x."""
        return np.asarray(self.A @ x.ravel()).reshape(x.shape)


def apply(blocks: Array, x: Array) -> Array:
    """Products (m, dim) of blocks (m, dim, dim) and rows of x (m, dim)."""
    return np.asarray(np.einsum("cij,cj->ci", blocks, x))


def _determinant(x: Array) -> Array:
    size = np.linalg.norm(x[:, 1:], axis=1)
    return np.asarray(np.maximum((x[:, 0] - size) * (x[:, 0] + size), _NOTHING))


def scaling(x: Array, y: Array) -> tuple[Array, Array]:
    """T and T^-1 (m, dim, dim) with T x = T^-1 y."""
    dx, dy = _determinant(x), _determinant(y)
    a, b = x / np.sqrt(dx)[:, None], y / np.sqrt(dy)[:, None]
    mirror = a.copy()
    mirror[:, 1:] *= -1.0
    w = (b + mirror) / np.sqrt(2.0 * (1.0 + (a * b).sum(axis=1)))[:, None]
    beta = ((dy / dx) ** 0.25)[:, None, None]
    T = np.zeros((*x.shape, x.shape[1]))
    T[:, 1:, 1:] = (
        np.eye(x.shape[1] - 1) + w[:, 1:, None] * w[:, None, 1:] / (1.0 + w[:, 0])[:, None, None]
    )
    T[:, 0, :] = T[:, :, 0] = w
    inverse = T.copy()
    inverse[:, 0, 1:] *= -1.0
    inverse[:, 1:, 0] *= -1.0
    return T * beta, inverse / beta


def product(x: Array, y: Array) -> Array:
    """Jordan product x o y of Lorentz cones."""
    out = x[:, :1] * y + y[:, :1] * x
    out[:, 0] = (x * y).sum(axis=1)
    return out


def divide(x: Array, y: Array) -> Array:
    """The z with x o z = y."""
    z = np.empty_like(y)
    z[:, 0] = (x[:, 0] * y[:, 0] - (x[:, 1:] * y[:, 1:]).sum(axis=1)) / _determinant(x)
    z[:, 1:] = (y[:, 1:] - z[:, :1] * x[:, 1:]) / x[:, :1]
    return z


def longest(x: Array, dx: Array) -> float:
    """Largest alpha with x + alpha dx in every cone: a root of c + 2 b alpha + a alpha^2."""
    a = dx[:, 0] ** 2 - (dx[:, 1:] ** 2).sum(axis=1)
    b = x[:, 0] * dx[:, 0] - (x[:, 1:] * dx[:, 1:]).sum(axis=1)
    c = _determinant(x)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    alpha = np.where(b <= 0.0, c / (root - b), np.where(a < 0.0, (b + root) / -a, np.inf))
    alpha = np.where((b * b < a * c) & (dx[:, 0] >= 0.0), np.inf, alpha)
    tip = np.where(dx[:, 0] < 0.0, -x[:, 0] / dx[:, 0], np.inf)
    return float(min(np.nanmin(alpha), tip.min()))
