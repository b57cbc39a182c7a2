"""Lemke's method on a condensed dictionary, with a lexicographic rule against cycling.

The dictionary expresses the basic variables by the others: x_i = D[i, n+1] + sum_j D[i, j] x_j, where column n started
as the artificial variable's. Free rows are pivoted out first and never come back. Symmetric contacts make many exact
ties, which rounding breaks at random; a covering vector of random entries keeps them apart (measured: 0 failures
against 35-60 of 432 for a vector of ones), and what ties remain are broken lexicographically, which cannot cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import inlined, kernel
from spatialops.contact.lcp.basis import correct_basis, warm_basis
from spatialops.contact.lcp.dictionary import (
    begin,
    column_of,
    complement_of,
    dictionary_point,
    exchange,
    swap_names,
)
from spatialops.contact.lcp.handles import Handles
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, residual_kernel
from spatialops.contact.lcp.revised import SMALLEST, lemke_by_active_block
from spatialops.contact.lcp.status import Status

_SOLVED, _RAY, _LIMIT, _INACCURATE = 0, 1, 2, 3
# Relative widths within which two ratios count as tied, one after the other: a wide one keeps exact ties together that
# rounding pulls apart, a narrow one keeps apart what nearly redundant contacts bring close.
_TIES = (1e-8, 1e-10, 1e-12, 1e-9, 1e-7, 1e-11, 1e-13, 1e-8)
N_COVERS = len(_TIES)


@cache
def covering_vectors(n: int) -> Array:
    """(N_COVERS, n) entries uniform in (0.5, 1.5), the same in every run."""
    return np.random.default_rng(20130213).uniform(0.5, 1.5, (N_COVERS, max(n, 1)))


@inlined
def inverse_entry(D: Array, where: IntArray, row: int, j: int) -> float:
    """Entry (row, j) of the inverse basis: minus the dictionary's column of w_j, or of a unit matrix."""
    place = where[j]
    if place < 0:
        return 1.0 if row == -place - 1 else 0.0
    return -D[row, place]


@kernel
def leaving_row(
    D: Array, column: int, n_free: int, tie: float, basic: IntArray, others: IntArray, ints: IntArray
) -> int:
    """Row of the variable that blocks the entering one first, ties broken; -1 on a ray."""
    n = D.shape[0]
    largest, least = 0.0, 1e300
    for i in range(n_free, n):
        largest = max(largest, abs(D[i, column]))
    threshold = -1e-11 * max(1.0, largest)
    for i in range(n_free, n):
        if D[i, column] < threshold:
            least = min(least, max(D[i, n + 1], 0.0) / -D[i, column])
    if least == 1e300:
        return -1
    tied, count = ints[2], 0
    limit = least + tie * max(least, 1e-3)
    for i in range(n_free, n):
        if D[i, column] < threshold and max(D[i, n + 1], 0.0) / -D[i, column] <= limit:
            if basic[i] == 2 * n:
                return i  # the artificial variable leaves whenever it may
            tied[count] = i
            count += 1
    if count > 1:
        count = break_tie(D, column, basic, others, ints, count)
    return tied[0]


@kernel
def break_tie(D: Array, column: int, basic: IntArray, others: IntArray, ints: IntArray, count: int) -> int:
    """Keep the lexicographically smallest rows of the inverse basis over the pivots."""
    n = D.shape[0]
    tied, where = ints[2], ints[3]
    for i in range(n):
        if basic[i] < n:
            where[basic[i]] = -i - 1
    for j in range(n + 1):
        if others[j] < n:
            where[others[j]] = j
    for j in range(n):
        least = 1e300
        for t in range(count):
            least = min(least, inverse_entry(D, where, tied[t], j) / -D[tied[t], column])
        kept = 0
        for t in range(count):
            if inverse_entry(D, where, tied[t], j) / -D[tied[t], column] <= least + 1e-12 * max(abs(least), 1.0):
                tied[kept] = tied[t]
                kept += 1
        count = kept
        if count == 1:
            break
    return count


@kernel
def begin_again(A: Array, b: Array, n_free: int, cover: Array, D: Array, ints: IntArray) -> bool:
    """The dictionary of the present basis anew, free of what rounding has gathered; False if the basis is singular.

    What is to be basic is exchanged for what is not, the largest pivot first.
    """
    n = b.size
    basic, others, wanted = ints[0], ints[1], ints[3]
    for i in range(n):
        wanted[i] = basic[i]
    begin(A, b, n_free, cover, D, basic, others)
    while True:
        row, column, best = -1, -1, 1e-11
        for i in range(n_free, n):
            if has(wanted, n, basic[i]):
                continue
            for j in range(n + 1):
                if abs(D[i, j]) > best and has(wanted, n, others[j]):
                    row, column, best = i, j, abs(D[i, j])
        if row < 0:
            break
        exchange(D, row, column)
        swap_names(basic, others, row, column)
    missing = 0
    for i in range(n):
        missing += 0 if has(wanted, n, basic[i]) else 1
    return missing == 0


@kernel
def has(names: IntArray, count: int, name: int) -> bool:
    for k in range(count):  # noqa: SIM110 (a generator does not compile without allocation)
        if names[k] == name:
            return True
    return False


@kernel
def lemke_pivots(
    A: Array, b: Array, n_free: int, cover: Array, tie: float, limit: int, D: Array, ints: IntArray, active: IntArray
) -> tuple[int, int]:
    """Pivot to a complementary basis; marks it in `active`. Returns a code and the number of pivots.

    `ints` has rows of n + 1 integers: 0 names of basic variables, 1 of the others, 2 and 3 scratch; w_i is named i, z_i
    n + i, the artificial variable 2 n.
    """
    n, fresh = b.size, 0
    basic, others = ints[0], ints[1]
    begin(A, b, n_free, cover, D, basic, others)
    worst, row = 0.0, -1
    for i in range(n_free, n):
        if D[i, n + 1] / cover[i] < worst:
            worst, row = D[i, n + 1] / cover[i], i
    code, pivots, column = _SOLVED, 0, n
    while row >= 0:
        exchange(D, row, column)
        swap_names(basic, others, row, column)
        left = others[column]
        pivots += 1
        if left == 2 * n:
            break
        if pivots > limit:
            code = _LIMIT
            break
        wanted = complement_of(left, n)
        row = leaving_row(D, column_of(others, wanted), n_free, tie, basic, others, ints)
        if (row < 0 and pivots > fresh) or pivots - fresh > 5 * n + 50:  # rounding gathers; a ray may be its work
            fresh = pivots
            if begin_again(A, b, n_free, cover, D, ints):
                row = leaving_row(D, column_of(others, wanted), n_free, tie, basic, others, ints)
            if row < 0:
                code = _RAY
        column = column_of(others, wanted)
    for i in range(n):
        active[i] = 0
    for i in range(n):
        if n <= basic[i] < 2 * n:
            active[basic[i] - n] = 1
    return code, pivots


@inlined
def guess_basis(A: Array, n_free: int, z: Array, w: Array, active: IntArray) -> None:
    """Active where z, in the units of w, exceeds w."""
    scale = 0.0
    for i in range(z.size):
        for j in range(z.size):
            scale = max(scale, abs(A[i, j]))
    for i in range(z.size):
        active[i] = 1 if i < n_free or scale * z[i] > w[i] else 0


@kernel
def lemke_kernel(
    A: Array,
    b: Array,
    n_free: int,
    covers: Array,
    limit: int,
    tolerance: float,
    D: Array,
    ints: IntArray,
    vectors: Array,
    active: IntArray,
    z: Array,
    w: Array,
) -> tuple[int, int, float]:
    """Lemke with one covering vector after another until the residual holds; returns code, pivots, residual.

    D is (n, n + 2), `ints` (6, n + 1), `vectors` (3, n). On return `active` is the basis of z.
    """
    n, pivots, code, best = b.size, 0, _INACCURATE, 1e300
    for attempt in range(covers.shape[0]):
        found, count = lemke_pivots(A, b, n_free, covers[attempt], _TIES[attempt], limit, D, ints, active)
        pivots += count
        code = found if attempt == 0 or found == _SOLVED else code
        trial = vectors[2]
        dictionary_point(D, b, ints[0], n_free, trial)
        rough = residual_kernel(A, b, n_free, trial, w)
        if rough < best:
            best = rough
            for i in range(n):
                z[i] = trial[i]
        if found != _SOLVED or rough > tolerance:  # rounding led astray: take the nearest basis and correct it
            guess_basis(A, n_free, trial, w, active)
        fine = correct_basis(A, b, n_free, active, 6, tolerance, trial, w, D, ints[4:6], vectors)
        if fine < best:
            best = fine
            for i in range(n):
                z[i] = trial[i]
        if best <= tolerance:
            code = _SOLVED
            break
        if code == _SOLVED:
            code = _INACCURATE
        if pivots > 2 * limit:
            break
    residual_kernel(A, b, n_free, z, w)
    return code, pivots, best


@dataclass(frozen=True)
class Lemke:
    """Lemke's complementary pivoting.

    Provably ends with a solution for positive definite, P-, and copositive-plus matrices of feasible problems (contact
    problems with friction are copositive with a bounded solution set), and for positive semidefinite ones.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_pivots : int, optional
        Default 10 n + 100 for each covering vector.
    """

    tolerance: float = 1e-9
    max_pivots: int | None = None

    handles: ClassVar[Handles] = Handles(proved=("P", "positive semidefinite", "copositive-plus"))

    def solve(self, problem: MixedLCP, warm_start: Any = None) -> LCPSolution:
        """Solve; `warm_start` (n,) is an earlier z (or a guess) whose active set is tried and corrected first."""
        problem = problem.dense()
        n = problem.size
        z, w, active = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
        D, ints, vectors = np.empty((n, n + 2)), np.zeros((6, n + 1), dtype=np.int64), np.empty((3, n))
        if n == 0:
            return LCPSolution(z, w, Status.SOLVED, 0, 0.0, "lemke")
        if warm_start is not None:
            z[:] = warm_start
            A, b, f = problem.A, problem.b, problem.n_free
            residual = warm_basis(A, b, f, active, self.tolerance, z, w, D, ints[4:6], vectors)
            if residual <= self.tolerance:
                return LCPSolution(z, w, Status.SOLVED, 0, residual, "lemke (warm)")
        limit = 10 * n + 100 if self.max_pivots is None else int(self.max_pivots)
        if n >= SMALLEST and problem.n_free == 0:
            found = lemke_by_active_block(problem, covering_vectors(n)[0], min(limit, 2 * n), self.tolerance)
            if found is not None:
                z, residual, pivots = found
                return LCPSolution(z, problem.A @ z + problem.b, Status.SOLVED, pivots, residual, "lemke")
        code, pivots, residual = lemke_kernel(
            problem.A,
            problem.b,
            problem.n_free,
            covering_vectors(n),
            limit,
            self.tolerance,
            D,
            ints,
            vectors,
            active,
            z,
            w,
        )
        return LCPSolution(z, problem.A @ z + problem.b, Status(code), pivots, residual, "lemke")
