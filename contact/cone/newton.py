"""Semismooth Newton with a nonmonotone line search on any of the maps, compiled for dense W of moderate size.

The problem may carry a proximal term: u = (W + eps 1) r + b - eps center. The Jacobian 1 - P + Q (W + (eps + shift) 1)
has a shift of its own that follows the residual: W may be singular, and a shifted Newton step then moves along its null
directions as a proximal step does. Rows of open contacts are unit rows and are eliminated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.cone.factors import factored_step
from spatialops.contact.cone.linear import factor, substitute
from spatialops.contact.cone.projection import contact_map, map_slopes
from spatialops.contact.cone.sparse_newton import newton_large

if TYPE_CHECKING:
    from spatialops.contact.cone.system import System

_HALVINGS = 12
_SHIFT, _SHIFT_FACTORED = 1e-15, 1e-9  # least shift; Woodbury's formula loses the digits that it gains
_COMPILED_ROWS = 240


@kernel
def multiply(W: Array, x: Array, out: Array) -> None:
    """out = W x, four rows at a time: one sum alone would wait for each of its additions."""
    n, last = x.size, 4 * (x.size // 4)
    for i in range(0, last, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            s0 += W[i, j] * x[j]
            s1 += W[i + 1, j] * x[j]
            s2 += W[i + 2, j] * x[j]
            s3 += W[i + 3, j] * x[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(last, n):
        s0 = 0.0
        for j in range(n):
            s0 += W[i, j] * x[j]
        out[i] = s0


@kernel
def velocities(W: Array, b: Array, eps: float, center: Array, r: Array, u: Array) -> None:
    """u = (W + eps 1) r + b - eps center."""
    multiply(W, r, u)
    for i in range(b.size):
        u[i] += b[i] + eps * (r[i] - center[i])


@kernel
def newton_step(
    W: Array, shift: float, starts: IntArray, F: Array, P: Array, Q: Array, J: Array, ints: IntArray, right: Array,
    step: Array,
) -> bool:  # fmt: skip
    """Solve J step = -F on the rows of closed contacts, step = -F on the others; False where J is singular."""
    n, dim, size = F.size, starts[starts.size - 1], 0
    chosen, order = ints[0], ints[1]
    for i in range(n):
        step[i] = -F[i]
        if P[i // dim, 0, 0] != 0.0:
            chosen[size] = i
            size += 1
    for a in range(size):
        i = chosen[a]
        c, row = i // dim, i % dim
        at, total = c * dim, -F[i]
        for j in range(size):
            J[a, j] = 0.0
        for k in range(dim):
            weight = Q[c, row, k]
            if weight == 0.0:
                continue
            for j in range(n):
                if P[j // dim, 0, 0] == 0.0:
                    total += weight * W[at + k, j] * F[j]
            for j in range(size):
                J[a, j] += weight * W[at + k, chosen[j]]
        for j in range(size):
            if chosen[j] // dim == c:
                k = chosen[j] % dim
                J[a, j] += (1.0 if k == row else 0.0) - P[c, row, k] + shift * Q[c, row, k]
        right[a] = total
    if not factor(J, size, order):
        return False
    substitute(J, size, order, right, step[:size])
    for a in range(size - 1, -1, -1):  # spread over all rows, from the last on: chosen[a] >= a
        right[a] = step[a]
    for i in range(n):
        step[i] = -F[i]
    for a in range(size):
        step[chosen[a]] = right[a]
    return True


@kernel
def newton_kernel(
    which: int, W: Array, rank: int, L: Array, R: Array, b: Array, mu: Array, starts: IntArray, eps: float,
    center: Array, limit: int, target: float, r: Array, J: Array, Y: Array, P: Array, Q: Array, ints: IntArray,
    vectors: Array, work: Array,
) -> tuple[int, float]:  # fmt: skip
    """Newton from r, which is replaced by the best point found; returns the steps and |F| there.

    With rank >= 0 steps use W = L R^T. J and Y are (n, n), P and Q (m, dim, dim), `vectors` is (9, n), `ints` (2, n),
    `work` (16, 6). Ends at |F| <= target, after `limit` steps, or where no step helps.
    """
    n = b.size
    u, x, F, step, du, right = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    point, speed, best_r = vectors[6], vectors[7], vectors[8]
    velocities(W, b, eps, center, r, u)
    merit = contact_map(which, r, u, mu, starts, x, F)
    best, taken = merit, 0
    w0, w1, w2 = merit, merit, merit  # merits of the last steps
    for i in range(n):
        best_r[i] = r[i]
    while taken < limit and best > target * target:
        map_slopes(which, r, u, mu, starts, x, F, P, Q)
        shift = min(max(0.01 * math.sqrt(merit), _SHIFT if rank < 0 else _SHIFT_FACTORED), 0.1)
        done = False
        for _ in range(8):
            if rank < 0:
                done = newton_step(W, eps + shift, starts, F, P, Q, J, ints, right, step)
            else:
                done = factored_step(rank, L, R, eps + shift, starts, F, P, Q, Y, J, ints[1], right, du, step, work)
            if done:
                break
            shift *= 100.0
        if not done:
            break
        taken += 1
        multiply(W, step, du)
        for i in range(n):
            du[i] += eps * step[i]
        bound, alpha, new, better = max(max(merit, w0), max(w1, w2)), 1.0, merit, False
        for _ in range(_HALVINGS):
            for i in range(n):
                point[i], speed[i] = r[i] + alpha * step[i], u[i] + alpha * du[i]
            new = contact_map(which, point, speed, mu, starts, x, F)
            if new <= (1.0 - 1e-4 * alpha) * bound:
                better = True
                break
            alpha *= 0.5
        if not better:
            break
        for i in range(n):
            r[i] = point[i]
        velocities(W, b, eps, center, r, u)
        w0, w1, w2 = w1, w2, merit
        merit = contact_map(which, r, u, mu, starts, x, F)
        if merit < best:
            best = merit
            for i in range(n):
                best_r[i] = r[i]
    for i in range(n):
        r[i] = best_r[i]
    return taken, math.sqrt(best)


def map_norm(system: System, r: Array, which: int) -> float:
    """|F| of either map at r."""
    scratch = np.empty((2, r.size))
    u = np.asarray(system.W @ r + system.b)
    return math.sqrt(contact_map(which, r, u, system.mu, system.starts, scratch[0], scratch[1]))


def newton(
    system: System, r: Array, which: int, limit: int, target: float, eps: float = 0.0, center: Array | None = None
) -> tuple[int, float]:
    """Change r in place by at most `limit` Newton steps; returns their number and |F|."""
    method = newton_dense if system.dense and r.size <= _COMPILED_ROWS else newton_large
    return method(system, r, which, limit, target, eps, center)


def newton_dense(
    system: System, r: Array, which: int, limit: int, target: float, eps: float = 0.0, center: Array | None = None
) -> tuple[int, float]:
    """Change r in place by Newton steps; returns their number and |F|."""
    n, m, dim = r.size, system.mu.shape[0], system.dim
    slopes = np.empty((2, m, dim, dim))
    return newton_kernel(
        which,
        system.W,
        -1,
        system.W,
        system.W,
        system.b,
        system.mu,
        system.starts,
        eps,
        r.copy() if center is None else center,
        limit,
        target,
        r,
        np.empty((n, n)),
        system.W,
        slopes[0],
        slopes[1],
        np.empty((2, n), dtype=np.int64),
        np.empty((9, n)),
        np.empty((16, 6)),
    )
