"""Principal pivoting: blocks at once as long as that pays, then the parametric method of Cottle.

The parametric method solves w = A z + b + lambda d for a lambda large enough that z = 0 does, and
lowers lambda to zero. Where a basic variable reaches zero its pair is exchanged; where its pivot
vanishes, with the pair that blocks. (Cottle, Pang and Stone, The Linear Complementarity Problem,
1992, section 4.5; the blocks: Kostreva 1978, Judice and Pires 1994.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, scalar
from spatialops._compile.jit import kernel
from spatialops.contact.lcp.basis import corrected, polish
from spatialops.contact.lcp.dictionary import (
    begin,
    column_of,
    complement_of,
    dictionary_point,
    exchange,
    mark_basic,
    swap_names,
)
from spatialops.contact.lcp.lemke import covering_vectors
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.solver import Handles, checked_start, dense_problem
from spatialops.contact.lcp.status import Status

# as in `Status`
_SOLVED = 0
_RAY = 1
_LIMIT = 2
_NOT_SUFFICIENT = 6

_FALLS = 1e-11  # slope by the parameter, max |b| being 1, below which a row does not fall
_PIVOT = 1e-10  # entry below which a pivot vanishes; below minus which the matrix is not sufficient


@kernel
def critical_row(D: Array, n_free: int, at: float) -> tuple[int, float]:
    """Row that reaches zero first as the parameter falls from `at`, and where; -1 if none does."""
    n = D.shape[0]
    row = -1
    first = 0.0
    for i in range(n_free, n):
        if D[i, n] > _FALLS:
            value = min(-D[i, n + 1] / D[i, n], at)
            if value > first:
                row, first = i, value
    return row, first


@kernel
def blocking_row(D: Array, column: int, n_free: int, at: float) -> int:
    """Row that reaches zero first as the variable of `column` grows; -1 if none does.

    `at` is the parameter.
    """
    n = D.shape[0]
    row = -1
    least = math.inf
    for i in range(n_free, n):
        if D[i, column] < -_PIVOT:
            ratio = max(D[i, n + 1] + at * D[i, n], 0.0) / -D[i, column]
            if ratio < least:
                row, least = i, ratio
    return row


@kernel
def parametric_pivots(
    A: Array,
    b: Array,
    n_free: int,
    cover: Array,
    limit: int,
    D: Array,
    ints: IntArray,
    active: IntArray,
) -> tuple[int, int]:
    """Pivot to the basis of lambda = 0, marked in `active`; returns a code and the pivots.

    `ints` (2, n + 1) gets the names of basic and of other variables.
    """
    n = b.size
    pivots = 0
    code = _SOLVED
    at = math.inf
    basic, others = ints[0], ints[1]
    begin(A, b, n_free, cover, D, ints[0], ints[1])
    while True:
        row, at = critical_row(D, n_free, at)
        if row < 0:
            break
        column = column_of(others, complement_of(basic[row], n))
        if D[row, column] < -_PIVOT:
            code = _NOT_SUFFICIENT
        elif D[row, column] <= _PIVOT:
            second = blocking_row(D, column, n_free, at)
            if second < 0:
                code = _RAY
                break
            other = column_of(others, complement_of(basic[second], n))
            if D[row, other] <= _PIVOT:
                code = _NOT_SUFFICIENT
            else:
                exchange(D, second, column)
                swap_names(basic, others, second, column)
                exchange(D, row, other)
                swap_names(basic, others, row, other)
        else:
            exchange(D, row, column)
            swap_names(basic, others, row, column)
        pivots += 1
        if code == _SOLVED and pivots > limit:
            code = _LIMIT
        if code != _SOLVED:
            break
    mark_basic(basic, n, active)
    return code, pivots


@dataclass(frozen=True)
class PrincipalPivoting:
    """Principal pivoting, by blocks and then parametric.

    Proved for P-matrices and for row sufficient ones, positive semidefinite among them: it ends
    with a solution, or on a ray where there is none (random covering vectors meet no ties). A
    negative principal pivot shows that the matrix is not row sufficient: NOT_APPLICABLE.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    blocks : int
        How many block exchanges are tried first; they often do, and never prove anything.
    max_pivots : int, optional
        Default 10 n + 100 for each of two covering vectors.
    """

    tolerance: float = 1e-9
    blocks: int = 10
    max_pivots: int | None = None

    handles: ClassVar[Handles] = Handles(proved=("P", "positive semidefinite", "row sufficient"))

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by blocks, then along the parameter.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            An earlier z, from whose active set the blocks start.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        problem = dense_problem(problem)
        n, total = problem.size, 0
        start = checked_start(problem, warm_start)
        guess = (np.zeros(n) if start is None else start) > 0.0
        z, residual = corrected(problem, guess, self.tolerance, self.blocks)
        best, status = (z, residual), Status.SOLVED
        D = np.empty((n, n + 2))
        ints = np.zeros((2, n + 1), dtype=np.int64)
        active = np.zeros(n, dtype=np.int64)
        limit = 10 * n + 100 if self.max_pivots is None else int(self.max_pivots)
        for cover in covering_vectors(n)[:2]:
            if best[1] <= self.tolerance:
                break
            code, pivots = parametric_pivots(
                problem.A, problem.b, problem.n_free, cover, limit, D, ints, active
            )
            total += pivots
            status = Status(code)
            z, residual = corrected(problem, active, self.tolerance, 2)
            if not residual <= self.tolerance:  # a singular free block: as the dictionary has it
                z = np.zeros(n)
                dictionary_point(D, problem.b, ints[0], problem.n_free, z)
                z, residual = polish(problem, z, self.tolerance, 2)
            best = (z, residual) if residual < best[1] else best
        detail = ""
        if status == Status.NOT_APPLICABLE:
            detail = "a principal pivot is negative: the matrix is not row sufficient"
        return point(problem, best[0], status, total, "principal-pivoting", self.tolerance, detail)
