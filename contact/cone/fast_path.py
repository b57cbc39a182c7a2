"""The first try on problems of moderate size: scaling, sweeps, Newton, both residuals, one call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.cone.low_rank import factor_kernel, sweep_factored
from spatialops.contact.cone.newton import newton_kernel, velocities
from spatialops.contact.cone.projection import ALART_CURNIER, DE_SAXCE, project_all
from spatialops.contact.cone.residual import LEAST_SCALE, Residuals, residual_kernel
from spatialops.contact.cone.scratch import (
    CONTACT_ROWS,
    MOST_DIM,
    DenseSystem,
    NewtonScratch,
    newton_scratch,
)

if TYPE_CHECKING:
    from spatialops.contact.cone.problem import ConeProblem

MOST_ROWS = 240
# Even: what the first sweep of a pair takes from the last contacts the second gives back.
_SWEEPS = 4
_MORE_SWEEPS = 26
_SETTLED = 0.03  # relative change of r in a pair of sweeps from which on Newton does better
# Newton steps after sweeps, and from a warm start.
_FAR = 20
NEAR_STEPS = 8
# |F| of the scaled problem: where Newton ends, where sweeps need not go on, and between which two
# steps with the whole W find digits that Woodbury's formula has lost.
_TARGET = 1e-13
_DONE = 1e-10
_LOST = 1e-12
_HOPELESS = 1e-4


@kernel
def scale_kernel(
    W: Array,
    b: Array,
    dim: int,
    scaled: Array,
    right: Array,
    factor: Array,
    mu: Array,
    rho: Array,
    weight: Array,
) -> tuple[float, float]:
    """Blocks of unit mean diagonal and max |b| = 1, as `ScaledProblem`.

    Returns the unit of b and the largest diagonal. Also writes rho_c, its root and 1 / max(1, mu_c)
    (rows of `rho` and `weight`) as `residuals` uses them.
    """
    n = b.size
    largest = 0.0
    widest = 0.0
    for c in range(n // dim):
        trace = 0.0
        for i in range(c * dim, c * dim + dim):
            trace += abs(W[i, i])
            widest = max(widest, abs(W[i, i]))
        rho[0, c] = trace / dim
        largest = max(largest, rho[0, c])
    unit = 0.0
    for c in range(n // dim):
        mean = max(rho[0, c], LEAST_SCALE * largest) if largest > 0.0 else 1.0
        rho[0, c], rho[1, c] = 1.0 / mean, math.sqrt(1.0 / mean)
        friction = 1.0
        for k in range(mu.shape[1]):
            friction = max(friction, mu[c, k])
        weight[0, c] = 1.0 / friction
        for i in range(c * dim, c * dim + dim):
            factor[i] = rho[1, c]
            right[i] = factor[i] * b[i]
            unit = max(unit, abs(right[i]))
    unit = unit if unit > 0.0 else 1.0
    for i in range(n):
        right[i] /= unit
        for j in range(n):
            scaled[i, j] = factor[i] * W[i, j] * factor[j]
    return unit, widest if widest > 0.0 else 1.0


class FastScratch(NamedTuple):
    """What `fast_kernel` works in, beside Newton's method."""

    scaled: Array  # (n, n): W, and its factors
    L: Array  # (n, n)
    R: Array  # (n, n)
    right: Array  # (n,): b, and
    factor: Array  # (n,) of every row, scaled
    point: Array  # (n,) impulses of Newton's method
    swept: Array  # (n,) those of sweeps
    spare: Array  # (n,)
    pair: Array  # (2, n) for residuals
    rho: Array  # (2, m) steps of contacts, and their roots
    weight: Array  # (1, m)
    one: Array  # (m,)
    uniform: Array  # (m,) one step for all
    block: Array  # (dim, dim)


_SQUARES = 5
_SLOPES = 2
_VECTORS = 17
_OF_CONTACTS = 5


def room(m: int, dim: int) -> Array:
    """Memory for `cut`."""
    n = m * dim
    each = (_SQUARES * n * n, (_SLOPES * m + 1) * dim * dim, _VECTORS * n, _OF_CONTACTS * m)
    return np.empty(sum(each) + CONTACT_ROWS * MOST_DIM)


@inlined
def cut(m: int, dim: int, floats: Array, ints: IntArray) -> tuple[FastScratch, NewtonScratch]:
    """Name the parts of `room`, and of `ints` (2, n)."""
    n = m * dim
    squares = floats[: _SQUARES * n * n].reshape(_SQUARES, n, n)
    at = _SQUARES * n * n
    slopes = floats[at : at + _SLOPES * m * dim * dim].reshape(_SLOPES, m, dim, dim)
    at += _SLOPES * m * dim * dim
    block = floats[at : at + dim * dim].reshape(dim, dim)
    at += dim * dim
    vectors = floats[at : at + _VECTORS * n].reshape(_VECTORS, n)
    at += _VECTORS * n
    small = floats[at : at + _OF_CONTACTS * m].reshape(_OF_CONTACTS, m)
    at += _OF_CONTACTS * m
    contact = floats[at : at + CONTACT_ROWS * MOST_DIM].reshape(CONTACT_ROWS, MOST_DIM)
    own = FastScratch(
        squares[2],
        squares[3],
        squares[4],
        vectors[10],
        vectors[11],
        vectors[12],
        vectors[13],
        vectors[14],
        vectors[15:17],
        small[0:2],
        small[2:3],
        small[3],
        small[4],
        block,
    )
    return own, newton_scratch(squares, slopes, ints, vectors, contact)


@kernel
def fast_kernel(
    W: Array,
    b: Array,
    mu: Array,
    starts: IntArray,
    warm: bool,
    r: Array,
    u: Array,
    report: Array,
    floats: Array,
    ints: IntArray,
) -> int:
    """Impulses r and velocities u = W r + b of the problem as given; returns iterations.

    `report` (2,) gets both residuals; `floats` and `ints` are what `cut` takes.
    """
    n = b.size
    m = mu.shape[0]
    dim = starts[starts.size - 1]
    t, scratch = cut(m, dim, floats, ints)
    unit, widest = scale_kernel(W, b, dim, t.scaled, t.right, t.factor, mu, t.rho, t.weight)
    system = DenseSystem(t.scaled, t.L, t.R, t.right, mu, starts)
    rank = factor_kernel(t.scaled, t.L, t.R, t.spare)
    used = rank if 2 * rank <= n else -1
    point, swept = t.point, t.swept
    taken, reached = 0, 1.0
    if warm:
        for i in range(n):
            point[i] = r[i] / (t.factor[i] * unit)
        taken, reached = newton_kernel(
            ALART_CURNIER, system, used, 0.0, t.right, NEAR_STEPS, _TARGET, point, scratch
        )
    for i in range(n):
        swept[i] = 0.0
    for attempt in range(2):
        if reached <= _DONE:
            break
        limit, which = (_SWEEPS, ALART_CURNIER) if attempt == 0 else (_MORE_SWEEPS, DE_SAXCE)
        taken += sweep_factored(
            system, rank, limit, _SETTLED, swept, t.spare, t.block, scratch.contact
        )
        for i in range(n):
            point[i] = swept[i]
        steps, reached = newton_kernel(
            which, system, used, 0.0, t.right, _FAR, _TARGET, point, scratch
        )
        taken += steps
    if used >= 0 and _LOST < reached < _HOPELESS:  # the last digits without Woodbury's loss
        steps, reached = newton_kernel(
            ALART_CURNIER, system, -1, 0.0, t.right, NEAR_STEPS, _TARGET, point, scratch
        )
        taken += steps
    project_all(point, mu, starts, t.spare)
    for i in range(n):
        r[i] = unit * t.factor[i] * point[i]
    velocities(W, b, 0.0, b, r, u)
    for c in range(m):
        t.one[c], t.uniform[c] = 1.0, 1.0 / widest
    report[0] = residual_kernel(1.0, r, u, b, mu, starts, t.uniform, t.one, t.one, t.pair)
    report[1] = residual_kernel(1.0, r, u, b, mu, starts, t.rho[0], t.rho[1], t.weight[0], t.pair)
    return taken


def solve_fast(
    problem: ConeProblem, warm_start: ArrayLike | None
) -> tuple[Array, Array, int, Residuals] | None:
    """Impulses, velocities, iterations and residuals; None where the problem is not for it."""
    n = problem.size
    m = problem.n_contacts
    if n == 0 or n > MOST_ROWS or problem.elliptic:
        return None
    W = problem.W if isinstance(problem.W, np.ndarray) else problem.W.toarray()
    r = np.zeros(n) if warm_start is None else np.array(warm_start, dtype=np.float64).ravel()
    u, report = np.empty(n), np.empty(2)
    taken = fast_kernel(
        W,
        problem.b,
        problem.coefficients,
        problem.starts,
        warm_start is not None,
        r,
        u,
        report,
        room(m, problem.dim),
        np.empty((2, n), dtype=np.int64),
    )
    return r, u, taken, Residuals(float(report[0]), float(report[1]))
