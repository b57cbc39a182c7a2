"""Equilibration: powers of two that bring the largest entries of rows and columns near one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops._compile.jit import kernel
from spatialops.contact.lcp.problem import MixedLCP


class Scales(NamedTuple):
    """Of a problem with A -> R A C, b -> factor R b: z = C z' / factor and w = w' / (factor R)."""

    rows: Array
    columns: Array
    factor: float

    def back(self, z: Array) -> Array:
        """The equilibrated problem's z in the original one's units."""
        return z * self.columns / self.factor


def equilibrated(
    problem: MixedLCP, *, two_sided: bool = False, passes: int = 10
) -> tuple[MixedLCP, Scales]:
    """The problem with A -> R A C and b -> R b / max|R b|, and these scales.

    R and C are diagonal and positive (Ruiz 2001), so that complementarity does not mind. R = C
    keeps symmetry and definiteness too; with `two_sided` they may differ where A is scaled
    differently in rows and columns. Powers of two keep every digit.
    """
    A = np.array(problem.A)
    rows = np.ones(problem.size)
    columns = np.ones(problem.size)
    for _ in range(passes if problem.size else 0):
        right, left = np.abs(A).max(axis=1), np.abs(A).max(axis=0)
        if not two_sided:
            right = left = np.maximum(right, left)
        r, c = (
            _power_of_two(1.0 / np.sqrt(_or_one(right))),
            _power_of_two(1.0 / np.sqrt(_or_one(left))),
        )
        if (r == 1.0).all() and (c == 1.0).all():
            break
        A = A * r[:, None] * c
        rows = rows * r
        columns = columns * c
    b = rows * problem.b
    factor = float(_power_of_two(1.0 / _or_one(np.abs(b).max(initial=0.0))))
    return MixedLCP(A, b * factor, problem.n_free), Scales(rows, columns, factor)


def _or_one(values: ArrayLike) -> Array:
    values = np.asarray(values)
    return np.where(values > 0.0, values, 1.0)


def _power_of_two(values: Array) -> Array:
    return np.exp2(np.round(np.log2(values)))


@kernel
def row_scales(A: Array, out: Array) -> None:
    """One pass of Ruiz' scaling, S_i = 1 / sqrt(largest of row and column i): |S A S| <= 1."""
    n = out.size
    for i in range(n):
        out[i] = 0.0
    for i in range(n):
        largest = 0.0
        for j in range(n):
            a = abs(A[i, j])
            if a > largest:
                largest = a
            if a > out[j]:
                out[j] = a
        out[i] = max(out[i], largest)
    for i in range(n):
        out[i] = 1.0 / math.sqrt(out[i]) if out[i] > 0.0 else 1.0


@kernel
def balanced_residual(b: Array, n_free: int, z: Array, w: Array, scale: Array) -> float:
    """max |min(z / S, S w)| / max |S b| (|S w| on free rows): the scaled problem's residual."""
    worst = 0.0
    largest = 0.0
    reach = 0.0
    for i in range(b.size):
        largest, reach = max(largest, abs(scale[i] * b[i])), max(reach, abs(z[i] / scale[i]))
        v = scale[i] * w[i]
        worst = max(worst, abs(v if i < n_free else min(z[i] / scale[i], v)))
    largest = largest if largest > 0.0 else reach
    return worst / largest if largest > 0.0 else worst
