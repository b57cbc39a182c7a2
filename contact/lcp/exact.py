"""Lemke's method without rounding: entries are whole numbers over one common denominator.

Doubles are whole numbers times a power of two, so that the problem is taken as it stands. A pivot
keeps the numbers whole: T_ij <- (T_ij p - T_ic T_rj) / d divides without remainder (Edmonds 1967,
Bareiss 1968; von Stengel 2002 for games). They are minors of the matrix, and grow no longer than
Hadamard's bound for n rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.solver import Handles, dense_problem, not_applicable
from spatialops.contact.lcp.status import Status

Whole: TypeAlias = npt.NDArray[np.object_]  # arrays of Python's whole numbers

_MAX_BITS = 600  # between the largest and the smallest entry
_DIGIT = 30  # bits of a digit of Python's whole numbers
_OVERHEAD = 50  # products of digits that take as long as a number of any length


class Limits(NamedTuple):
    """Of pivots, and of products of digits."""

    pivots: int
    work: float


@dataclass(frozen=True)
class ExactLemke:
    """Lemke's method in whole numbers, for small problems too close to singular for doubles.

    Proved for P-, positive semidefinite and copositive-plus matrices, rounding included: ties are
    exact, and broken lexicographically. Only z itself is rounded in the end.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_rows : int
        Dense problems of 30 rows take some 0.06 s, of 60 rows 1.5 s; of 90 rows 17 s and more,
        which `max_work` ends.
    max_pivots : int, optional
        Default 5 n + 50.
    max_work : float
        Products of digits: a pivot with numbers of k digits (of 30 bits) takes n^2 (k^2 + 50). The
        default is some 1.5 s. The status is PIVOT_LIMIT where it is used up.
    """

    tolerance: float = 1e-9
    max_rows: int = 100
    max_pivots: int | None = None
    max_work: float = 5e8

    handles: ClassVar[Handles] = Handles(
        proved=("P", "positive semidefinite", "copositive-plus"), free_rows=False, warm_start=False
    )

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve in whole numbers.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            Not used.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        problem = dense_problem(problem)
        if problem.n_free:
            return not_applicable(
                problem, "exact", "free rows are not taken: eliminate them, or use 'auto'"
            )
        if problem.size > self.max_rows:
            return not_applicable(
                problem, "exact", f"{problem.size} rows are more than max_rows = {self.max_rows}"
            )
        if problem.size == 0:
            return point(problem, np.zeros(0), Status.SOLVED, 0, "exact", self.tolerance)
        easier, scales = equilibrated(problem, two_sided=True)
        limit = 5 * problem.size + 50 if self.max_pivots is None else int(self.max_pivots)
        A, b = _whole(easier.A), _whole(easier.b)
        if A is None or b is None:
            return not_applicable(
                problem, "exact", "entries lie too many orders of magnitude apart"
            )
        status, pivots, y = _pivots(A[0], b[0], Limits(limit, self.max_work))
        z = scales.back(y * np.exp2(float(b[1] - A[1])))
        if problem.residual(z) > self.tolerance:
            z, _ = polish(problem, z, self.tolerance, 2)
        return point(problem, z, status, pivots, "exact", self.tolerance)


def _whole(values: Array) -> tuple[Whole, int] | None:
    """Whole numbers and k with values = numbers 2^k; None if they would be too long."""
    mantissas, exponents = np.frexp(values)
    used = exponents[values != 0.0]
    low = int(used.min(initial=0))
    if int(used.max(initial=0)) - low > _MAX_BITS:
        return None
    numbers = np.zeros(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        numbers[index] = int(mantissas[index] * 2.0**53) << max(int(exponents[index]) - low, 0)
    return numbers, low - 53


def _pivots(A: Whole, b: Whole, limits: Limits) -> tuple[Status, int, Array]:
    """Lemke's path over the dictionary T / d (z, the artificial variable, one)."""
    n = len(b)
    cover = np.random.default_rng(20130216).integers(2**9, 2**10, n).astype(object)
    T, d = np.column_stack([A, cover, b]), 1
    basic, others = list(range(n)), [*range(n, 2 * n), 2 * n]
    row = _start(T, n)
    column = n
    pivots = 0
    work = 0.0
    status = Status.SOLVED
    while row is not None:
        d = _exchange(T, d, row, column)
        basic[row], others[column] = others[column], basic[row]
        left, pivots = others[column], pivots + 1
        if left == 2 * n:
            break
        work += T.size * ((d.bit_length() / _DIGIT) ** 2 + _OVERHEAD)
        if pivots >= limits.pivots or work > limits.work:
            status = Status.PIVOT_LIMIT
            break
        column = others.index(left - n if left >= n else left + n)
        row = _leaving(T, d, column, basic, others)
        if row is None:
            status = Status.RAY
    z = np.zeros(n)
    for i, name in enumerate(basic):
        if n <= name < 2 * n:
            z[name - n] = T[i, n + 1] / d
    return status, pivots, np.maximum(z, 0.0)


def _start(T: Whole, n: int) -> int | None:
    """Row with the least b / cover, if that is negative."""
    row = 0
    for i in range(1, n):
        if T[i, n + 1] * T[row, n] < T[row, n + 1] * T[i, n]:
            row = i
    return row if T[row, n + 1] < 0 else None


def _exchange(T: Whole, d: int, row: int, column: int) -> int:
    """Swap a basic and a non-basic variable in place; returns the new denominator, positive."""
    p = T[row, column]
    pivot_row, entering = T[row].copy(), T[:, column].copy()
    T[:] = (T * p - np.outer(entering, pivot_row)) // d
    T[:, column] = entering
    T[row] = -pivot_row
    T[row, column] = d
    if p < 0:
        T[:] = -T
    return abs(p)


def _leaving(T: Whole, d: int, column: int, basic: list[int], others: list[int]) -> int | None:
    """Row that blocks first: the artificial variable's, else lexicographically the least."""
    n = len(T)
    rows = [i for i in range(n) if T[i, column] < 0]
    rows = _least(rows, T[:, n + 1], T[:, column])
    for i in rows:
        if basic[i] == 2 * n:
            return i
    for j in range(n):
        if len(rows) <= 1:
            break
        if j in others:
            key = -T[:, others.index(j)]
        else:
            key = np.array([d if name == j else 0 for name in basic], dtype=object)
        rows = _least(rows, key, T[:, column])
    return rows[0] if rows else None


def _least(rows: list[int], values: Whole, pivots: Whole) -> list[int]:
    """The rows whose value / -pivot is least, by cross-multiplication."""
    kept: list[int] = []
    for i in rows:
        if kept:
            difference = values[i] * -pivots[kept[0]] - values[kept[0]] * -pivots[i]
            if difference > 0:
                continue
            if difference < 0:
                kept = []
        kept.append(i)
    return kept
