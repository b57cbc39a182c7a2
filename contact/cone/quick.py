"""The first try on problems of moderate size, in one compiled call: scaling, sweeps, Newton, both residuals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.cone.factors import factor_kernel, sweep_factored
from spatialops.contact.cone.newton import newton_kernel, velocities
from spatialops.contact.cone.projection import DISCS, NATURAL, project_all
from spatialops.contact.cone.residual import Residuals, residual_kernel

if TYPE_CHECKING:
    from spatialops.contact.cone.problem import ConeProblem

MOST_ROWS = 240
_TARGET = 1e-13
_SWEEPS, _MORE_SWEEPS = 4, 26  # even: what the first sweep of a pair takes from the last contacts the second gives back
_FAR, _NEAR = 20, 8  # Newton steps after sweeps, and from a warm start


@kernel
def scale_kernel(
    W: Array, b: Array, dim: int, scaled: Array, right: Array, factor: Array, mu: Array, rho: Array, weight: Array
) -> tuple[float, float]:
    """Blocks of unit mean diagonal and max |b| = 1, as `System`; returns the unit of b and the largest diagonal.

    Also writes rho_c, its root and 1 / max(1, mu_c) (rows of `rho` and `weight`) as `residuals` uses them.
    """
    n, largest, widest = b.size, 0.0, 0.0
    for c in range(n // dim):
        trace = 0.0
        for i in range(c * dim, c * dim + dim):
            trace += abs(W[i, i])
            widest = max(widest, abs(W[i, i]))
        rho[0, c] = trace / dim
        largest = max(largest, rho[0, c])
    unit = 0.0
    for c in range(n // dim):
        mean = max(rho[0, c], 1e-14 * largest) if largest > 0.0 else 1.0
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


@kernel
def quick_kernel(
    W: Array, b: Array, mu: Array, starts: IntArray, warm: bool, r: Array, u: Array, matrices: Array,
    slopes: Array, ints: IntArray, vectors: Array, small: Array, work: Array, report: Array,
) -> int:  # fmt: skip
    """Impulses r and velocities u = W r + b of the problem as given; returns iterations, `report` both residuals.

    Scratch: `matrices` (5, n, n), `slopes` (2, m, dim, dim), `ints` (2, n), `vectors` (14, n), `small` (5, m), `work`
    (16, 6).
    """
    n, m, dim = b.size, mu.shape[0], starts[starts.size - 1]
    scaled, L, R, J, Y = matrices[0], matrices[1], matrices[2], matrices[3], matrices[4]
    right, factor, point = vectors[9], vectors[10], vectors[11]
    block, rho, weight, one, uniform = J[:dim, :dim], small[0:2], small[2:3], small[3], small[4]
    unit, widest = scale_kernel(W, b, dim, scaled, right, factor, mu, rho, weight)
    rank = factor_kernel(scaled, L, R, vectors[12])
    used = rank if 2 * rank <= n else -1
    taken, reached = 0, 1.0
    if warm:
        for i in range(n):
            point[i] = r[i] / (factor[i] * unit)
        taken, reached = newton_kernel(
            DISCS, scaled, used, L, R, right, mu, starts, 0.0, right, _NEAR, _TARGET, point, J, Y, slopes[0], slopes[1],
            ints, vectors, work,
        )  # fmt: skip
    swept = vectors[13]
    for i in range(n):
        swept[i] = 0.0
    for attempt in range(2):
        if reached <= 1e-10:
            break
        limit, which = (_SWEEPS, DISCS) if attempt == 0 else (_MORE_SWEEPS, NATURAL)
        taken += sweep_factored(scaled, rank, L, R, right, mu, starts, limit, 0.03, swept, vectors[12], block, work)
        for i in range(n):
            point[i] = swept[i]
        steps, reached = newton_kernel(
            which, scaled, used, L, R, right, mu, starts, 0.0, right, _FAR, _TARGET, point, J, Y, slopes[0], slopes[1],
            ints, vectors, work,
        )  # fmt: skip
        taken += steps
    if used >= 0 and 1e-12 < reached < 1e-4:  # the last digits without Woodbury's loss
        steps, reached = newton_kernel(
            DISCS, scaled, -1, L, R, right, mu, starts, 0.0, right, _NEAR, _TARGET, point, J, Y, slopes[0], slopes[1],
            ints, vectors, work,
        )  # fmt: skip
        taken += steps
    project_all(point, mu, starts, vectors[0])
    for i in range(n):
        r[i] = unit * factor[i] * point[i]
    velocities(W, b, 0.0, b, r, u)
    for c in range(m):
        one[c], uniform[c] = 1.0, 1.0 / widest
    report[0] = residual_kernel(1.0, r, u, b, mu, starts, uniform, one, one, vectors[0:2])
    report[1] = residual_kernel(1.0, r, u, b, mu, starts, rho[0], rho[1], weight[0], vectors[0:2])
    return taken


def quick(problem: ConeProblem, warm_start: Array | None) -> tuple[Array, Array, int, Residuals] | None:
    """Impulses, velocities, iterations and residuals; None where the problem is not of this kind."""
    n, m, dim = problem.size, problem.n_contacts, int(problem.dim)
    if n == 0 or n > MOST_ROWS or problem.elliptic:
        return None
    W = problem.W if isinstance(problem.W, np.ndarray) else problem.W.toarray()
    r = np.zeros(n) if warm_start is None else np.array(warm_start, dtype=np.float64).ravel()
    u, report = np.empty(n), np.empty(2)
    taken = quick_kernel(
        W,
        problem.b,
        problem.coefficients,
        problem.starts,
        warm_start is not None,
        r,
        u,
        np.empty((5, n, n)),
        np.empty((2, m, dim, dim)),
        np.empty((2, n), dtype=np.int64),
        np.empty((14, n)),
        np.empty((5, m)),
        np.empty((16, 6)),
        report,
    )
    return r, u, taken, Residuals(float(report[0]), float(report[1]))
