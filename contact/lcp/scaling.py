"""Equilibration: rows and columns scaled by powers of two until their largest entries are near one."""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops._jit import kernel
from spatialops.contact.lcp.problem import MixedLCP


def equilibrated(problem: MixedLCP, passes: int = 10) -> tuple[MixedLCP, Array]:
    """The problem with A -> S A S and b -> S b / max|S b|, S diagonal and positive (Ruiz 2001), and S with that factor.

    One S on both sides keeps complementarity, symmetry and definiteness; powers of two keep every digit.
    """
    A, scale = np.array(problem.A), np.ones(problem.size)
    for _ in range(passes if problem.size else 0):
        largest = np.sqrt(np.maximum(np.abs(A).max(axis=0), np.abs(A).max(axis=1)))
        step = np.exp2(-np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
        if (step == 1.0).all():
            break
        A, scale = A * step[:, None] * step, scale * step
    b = scale * problem.b
    largest = np.abs(b).max(initial=0.0)
    factor = np.exp2(-np.round(np.log2(largest))) if largest > 0.0 else 1.0
    return MixedLCP(A, b * factor, problem.n_free), np.append(scale, factor)


def unscaled(z: Array, scales: Array) -> Array:
    """Z of the equilibrated problem in the original one's units."""
    return z * scales[:-1] / scales[-1]


@kernel
def row_scales(A: Array, out: Array) -> None:
    """One pass of Ruiz' scaling: S_i = 1 / sqrt(largest entry of row and column i), so that |S A S| <= 1."""
    n = out.size
    for i in range(n):
        out[i] = 0.0
    for i in range(n):
        for j in range(n):
            a = abs(A[i, j])
            out[i], out[j] = max(out[i], a), max(out[j], a)
    for i in range(n):
        out[i] = 1.0 / math.sqrt(out[i]) if out[i] > 0.0 else 1.0


@kernel
def balanced_residual(b: Array, n_free: int, z: Array, w: Array, scale: Array) -> float:
    """max |min(z / S, S w)| / max |S b| (|S w| on free rows): the residual as the scaled problem has it."""
    worst, largest, reach = 0.0, 0.0, 0.0
    for i in range(b.size):
        largest, reach = max(largest, abs(scale[i] * b[i])), max(reach, abs(z[i] / scale[i]))
        v = scale[i] * w[i]
        worst = max(worst, abs(v if i < n_free else min(z[i] / scale[i], v)))
    largest = largest if largest > 0.0 else reach
    return worst / largest if largest > 0.0 else worst
