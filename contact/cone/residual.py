"""Two residuals of a cone problem in the original data: relative to |b|, and free of scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.contact.cone.projection import natural_contact

if TYPE_CHECKING:
    from spatialops.contact.cone.problem import ConeProblem


LEAST_SCALE = 1e-14  # of the largest compliance: smaller ones are noise


class Residuals(NamedTuple):
    """How far impulses are from solving a cone problem.

    Parameters
    ----------
    relative : float
        max |r - P_K(r - rho (u + sum_k mu_k |u_k| n))| / (rho max |b|), rho = 1 / max |diag W|.
    scale_free : float
        The same with rho_c = 1 / (tr W_cc / dim) for each contact and velocities measured by
        sqrt(tr W_cc / dim): free of the units of single contacts. It is divided by max(1, mu):
        where a contact sticks, what remains is the error in velocity, which the term mu |u_t|
        magnifies.
    """

    relative: float
    scale_free: float

    @property
    def worst(self) -> float:
        """The larger of the two; NaN if either is."""
        return self.relative if math.isnan(self.relative) else max(self.relative, self.scale_free)


def residuals(problem: ConeProblem, r: Array, u: Array, *, exact: bool = True) -> Residuals:
    """Both residuals of impulses r with u = W r + b; elliptic cones are made round first."""
    if problem.size == 0:
        return Residuals(0.0, 0.0)
    stretch, mu, starts = round_cone(problem)
    diagonal = np.abs(problem.W.diagonal()) * stretch * stretch
    b = stretch * problem.b
    r = r / stretch
    u = stretch * u
    largest = diagonal.max() if diagonal.max() > 0.0 else 1.0
    m, scratch = problem.n_contacts, np.empty((2, problem.size))
    one, lift = np.ones(m), 1.0 if exact else 0.0
    relative = residual_kernel(lift, r, u, b, mu, starts, one / largest, one, one, scratch)
    rho = 1.0 / block_scales(diagonal, problem.dim)
    weight = 1.0 / np.maximum(1.0, mu.max(axis=1))
    worst = residual_kernel(lift, r, u, b, mu, starts, rho, np.sqrt(rho), weight, scratch)
    return Residuals(float(relative), float(worst))


def round_cone(problem: ConeProblem) -> tuple[Array, Array, IntArray]:
    """Factors of r's rows (n,) that make the cones round, and their coefficients and kinds."""
    mu, starts = problem.coefficients, problem.starts
    stretch = np.ones((problem.n_contacts, problem.dim))
    if not problem.elliptic or mu.shape[1] == 1:
        return stretch.ravel(), mu, starts
    largest = mu.max(axis=1)
    for k in range(mu.shape[1]):
        stretch[:, starts[k] : starts[k + 1]] = (mu[:, k] / largest)[:, None]
    return stretch.ravel(), np.ascontiguousarray(largest[:, None]), starts[[0, -1]]


def block_scales(diagonal: Array, dim: int) -> Array:
    """(m,) tr W_cc / dim; what hardly moves at all is kept within LEAST_SCALE."""
    scales = diagonal.reshape(-1, dim).mean(axis=1)
    largest = scales.max(initial=0.0)
    return np.maximum(scales, LEAST_SCALE * largest) if largest > 0.0 else np.ones(scales.size)


@kernel
def residual_kernel(
    lift: float,
    r: Array,
    u: Array,
    b: Array,
    mu: Array,
    starts: IntArray,
    rho: Array,
    unit: Array,
    weight: Array,
    scratch: Array,
) -> float:
    """Largest weight_c unit_c |F_c| / rho_c over the largest unit_c |b_c|, F of `Residuals`.

    Steps are rho_c. With lift = 0 F is that of the convex relaxation. Where b is zero, r = 0
    solves, and the scale is the largest unit_c |r_c| / rho_c. NaN where r or u is no number.
    """
    dim = starts[starts.size - 1]
    x = scratch[0]
    F = scratch[1]
    worst = 0.0
    scale = 0.0
    size = 0.0
    for c in range(rho.size):
        at, speed = c * dim, unit[c] / rho[c]
        natural_contact(lift, rho[c], r, u, mu, c, starts, x, F)
        for i in range(at, at + dim):
            scale, size = max(scale, unit[c] * abs(b[i])), max(size, speed * abs(r[i]))
            error = weight[c] * speed * abs(F[i])
            if not error < math.inf or not abs(r[i]) < math.inf:
                return math.nan
            worst = max(worst, error)
    if scale == 0.0:
        scale = size
    return worst / scale if scale > 0.0 else worst
