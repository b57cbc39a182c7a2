"""Semismooth Newton with a nonmonotone line search on any of the maps, compiled for dense W.

The problem may carry a proximal term: u = (W + eps 1) r + b - eps center. The Jacobian 1 - P + Q (W
+ (eps + shift) 1) has a shift of its own that follows the residual: W may be singular, and a
shifted Newton step then moves along its null directions as a proximal step does. Rows of open
contacts are unit rows and are eliminated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import copy_into
from spatialops.contact.cone.low_rank import NO_PIVOT, factored_step
from spatialops.contact.cone.projection import contact_map, map_slopes
from spatialops.contact.cone.scratch import DenseSystem, NewtonScratch, new_newton_scratch
from spatialops.contact.cone.sparse_newton import newton_large
from spatialops.contact.lu import factor_lu, substitute_lu
from spatialops.contact.semismooth import (
    DESCENT,
    HALVINGS,
    LEAST_SHIFT,
    MOST_SHIFT,
    SHIFT_GROWTH,
    SHIFT_RATE,
    SHIFTS,
)

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

# Woodbury's formula loses the digits that a smaller shift would gain.
_SHIFT_FACTORED = 1e-9
TARGET = 1e-14  # |F| of a problem of size one at which nothing but rounding is left
_COMPILED_ROWS = 240  # beyond, BLAS or a sparse LU is the faster one


@kernel
def multiply(W: Array, x: Array, out: Array) -> None:
    """out = W x, four rows at a time: one sum alone would wait for each of its additions."""
    n, last = x.size, 4 * (x.size // 4)
    for i in range(0, last, 4):
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for j in range(n):
            s0 += W[i, j] * x[j]
            s1 += W[i + 1, j] * x[j]
            s2 += W[i + 2, j] * x[j]
            s3 += W[i + 3, j] * x[j]
        out[i] = s0
        out[i + 1] = s1
        out[i + 2] = s2
        out[i + 3] = s3
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
def newton_step(system: DenseSystem, shift: float, scratch: NewtonScratch) -> bool:
    """Solve J step = -F on the rows of closed contacts, step = -F on the others.

    False where J is singular.
    """
    W, starts = system.W, system.starts
    J, F = scratch.J, scratch.F
    P, Q = scratch.P, scratch.Q
    chosen, step = scratch.chosen, scratch.step
    n = F.size
    dim = starts[starts.size - 1]
    size = 0
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
        scratch.right[a] = total
    if factor_lu(J, size, NO_PIVOT, scratch.order, chosen) < size:
        return False
    substitute_lu(J, size, size, scratch.order, chosen, scratch.right, scratch.reduced)
    for a in range(size):
        step[chosen[a]] = scratch.reduced[a]
    return True


@kernel
def shifted_step(
    system: DenseSystem, rank: int, eps: float, merit: float, scratch: NewtonScratch
) -> bool:
    """Newton's step with the least shift that makes the Jacobian regular; False where none does.

    With rank >= 0 by W = L R^T. `merit` is |F|^2.
    """
    least = LEAST_SHIFT if rank < 0 else _SHIFT_FACTORED
    shift = min(max(SHIFT_RATE * math.sqrt(merit), least), MOST_SHIFT)
    for _ in range(SHIFTS):
        if rank < 0:
            done = newton_step(system, eps + shift, scratch)
        else:
            done = factored_step(system, rank, eps + shift, scratch)
        if done:
            return True
        shift *= SHIFT_GROWTH
    return False


@kernel
def step_length(
    which: int, system: DenseSystem, eps: float, bound: float, r: Array, scratch: NewtonScratch
) -> float:
    """How much of the step lowers |F|^2 below `bound`, 0 where no part does; leaves `point`."""
    u, step = scratch.u, scratch.step
    du, point = scratch.du, scratch.point
    speed = scratch.speed
    multiply(system.W, step, du)
    for i in range(r.size):
        du[i] += eps * step[i]
    alpha = 1.0
    for _ in range(HALVINGS):
        for i in range(r.size):
            point[i] = r[i] + alpha * step[i]
            speed[i] = u[i] + alpha * du[i]
        found = contact_map(which, point, speed, system.mu, system.starts, scratch.x, scratch.F)
        if found <= (1.0 - DESCENT * alpha) * bound:
            return alpha
        alpha *= 0.5
    return 0.0


@kernel
def newton_kernel(
    which: int,
    system: DenseSystem,
    rank: int,
    eps: float,
    center: Array,
    limit: int,
    target: float,
    r: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Newton from r, which is replaced by the best point found; returns the steps and |F| there.

    With rank >= 0 steps use W = L R^T. Ends at |F| <= target, after `limit` steps, or where no step
    helps.
    """
    mu, starts = system.mu, system.starts
    u, x = scratch.u, scratch.x
    F = scratch.F
    velocities(system.W, system.b, eps, center, r, u)
    merit = contact_map(which, r, u, mu, starts, x, F)
    best, taken = merit, 0
    # merits of the last steps
    w0 = merit
    w1 = merit
    w2 = merit
    copy_into(scratch.best, r)
    while taken < limit and best > target * target:
        map_slopes(which, r, u, mu, starts, x, F, scratch.P, scratch.Q)
        if not shifted_step(system, rank, eps, merit, scratch):
            break
        taken += 1
        bound = max(max(merit, w0), max(w1, w2))
        if step_length(which, system, eps, bound, r, scratch) == 0.0:
            break
        copy_into(r, scratch.point)
        velocities(system.W, system.b, eps, center, r, u)
        w0 = w1
        w1 = w2
        w2 = merit
        merit = contact_map(which, r, u, mu, starts, x, F)
        if merit < best:
            best = merit
            copy_into(scratch.best, r)
    copy_into(r, scratch.best)
    return taken, math.sqrt(best)


def map_norm(system: ScaledProblem, r: Array, which: int) -> float:
    """|F| of either map at r."""
    scratch = np.empty((2, r.size))
    u = np.asarray(system.W @ r + system.b)
    return math.sqrt(contact_map(which, r, u, system.mu, system.starts, scratch[0], scratch[1]))


def newton(
    system: ScaledProblem,
    r: Array,
    which: int,
    limit: int,
    target: float,
    eps: float = 0.0,
    center: Array | None = None,
) -> tuple[int, float]:
    """Change r in place by at most `limit` Newton steps; returns their number and |F|."""
    method = newton_dense if system.dense and r.size <= _COMPILED_ROWS else newton_large
    return method(system, r, which, limit, target, eps, center)


def newton_dense(
    system: ScaledProblem,
    r: Array,
    which: int,
    limit: int,
    target: float,
    eps: float = 0.0,
    center: Array | None = None,
) -> tuple[int, float]:
    """Change r in place by Newton steps; returns their number and |F|."""
    W = system.W
    dense = DenseSystem(W, W, W, system.b, system.mu, system.starts)
    scratch = new_newton_scratch(system.mu.shape[0], system.dim)
    anchor = r.copy() if center is None else center
    return newton_kernel(which, dense, -1, eps, anchor, limit, target, r, scratch)
