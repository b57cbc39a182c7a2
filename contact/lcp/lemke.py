"""Lemke's method on a condensed dictionary, with a lexicographic rule against cycling.

The dictionary expresses the basic variables by the others: x_i = D[i, n+1] + sum_j D[i, j] x_j,
where column n started as the artificial variable's. Free rows are pivoted out first and never come
back. Symmetric contacts make many exact ties, which rounding breaks at random; a covering vector of
random entries keeps them apart (measured: 0 failures against 35-60 of 432 for a vector of ones),
and what ties remain are broken lexicographically, which cannot cycle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, scalar
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.lcp.basis import CORRECTIONS, correct_basis, warm_basis
from spatialops.contact.lcp.dictionary import (
    begin,
    column_of,
    complement_of,
    dictionary_point,
    exchange,
    mark_basic,
    swap_names,
)
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, residual_kernel
from spatialops.contact.lcp.revised import SMALLEST, lemke_by_active_block
from spatialops.contact.lcp.scratch import LemkeScratch, new_lemke_scratch
from spatialops.contact.lcp.solver import Handles, checked_start, dense_problem
from spatialops.contact.lcp.status import Status

_SOLVED = 0
_RAY = 1
_LIMIT = 2
_INACCURATE = 3
# Relative widths within which two ratios count as tied, one after the other: a wide one keeps exact
# ties together that rounding pulls apart, a narrow one keeps apart what nearly redundant contacts
# bring close.
_TIES = (1e-8, 1e-10, 1e-12, 1e-9, 1e-7, 1e-11, 1e-13, 1e-8)
N_COVERS = len(_TIES)
_PIVOT = 1e-11  # entries of a column, relative to its largest, that are no pivots but rounding
_SMALL_RATIO = 1e-3  # ratios below this, of max |b| = 1, are tied by their difference
_LEXICOGRAPHIC = 1e-12  # relative difference of entries of the inverse basis that counts as none


@cache
def covering_vectors(n: int) -> Array:
    """(N_COVERS, n) entries uniform in (0.5, 1.5), the same in every run."""
    return np.random.default_rng(20130213).uniform(0.5, 1.5, (N_COVERS, max(n, 1)))


@inlined
def inverse_entry(D: Array, where: IntArray, row: int, j: int) -> float:
    """Entry (row, j) of the inverse basis: minus the column of w_j, or of a unit matrix."""
    place = where[j]
    if place < 0:
        return 1.0 if row == -place - 1 else 0.0
    return -D[row, place]


@kernel
def leaving_row(column: int, n_free: int, tie: float, scratch: LemkeScratch) -> int:
    """Row of the variable that blocks the entering one first, ties broken; -1 on a ray."""
    D = scratch.D
    basic, tied = scratch.basic, scratch.tied
    n = D.shape[0]
    largest, least = 0.0, math.inf
    for i in range(n_free, n):
        largest = max(largest, abs(D[i, column]))
    threshold = -_PIVOT * max(1.0, largest)
    for i in range(n_free, n):
        if D[i, column] < threshold:
            least = min(least, max(D[i, n + 1], 0.0) / -D[i, column])
    if least == math.inf:
        return -1
    count = 0
    limit = least + tie * max(least, _SMALL_RATIO)
    for i in range(n_free, n):
        if D[i, column] < threshold and max(D[i, n + 1], 0.0) / -D[i, column] <= limit:
            if basic[i] == 2 * n:
                return i  # the artificial variable leaves whenever it may
            tied[count] = i
            count += 1
    if count > 1:
        count = break_tie(column, count, scratch)
    return tied[0]


@kernel
def break_tie(column: int, count: int, scratch: LemkeScratch) -> int:
    """Keep the lexicographically smallest rows of the inverse basis over the pivots."""
    D = scratch.D
    n = D.shape[0]
    tied, where = scratch.tied, scratch.where
    for i in range(n):
        if scratch.basic[i] < n:
            where[scratch.basic[i]] = -i - 1
    for j in range(n + 1):
        if scratch.others[j] < n:
            where[scratch.others[j]] = j
    for j in range(n):
        least = math.inf
        for t in range(count):
            least = min(least, inverse_entry(D, where, tied[t], j) / -D[tied[t], column])
        limit = least + _LEXICOGRAPHIC * max(abs(least), 1.0)
        kept = 0
        for t in range(count):
            if inverse_entry(D, where, tied[t], j) / -D[tied[t], column] <= limit:
                tied[kept] = tied[t]
                kept += 1
        count = kept
        if count == 1:
            break
    return count


@kernel
def begin_again(A: Array, b: Array, n_free: int, cover: Array, scratch: LemkeScratch) -> bool:
    """The dictionary of the present basis anew, free of what rounding has gathered.

    What is to be basic is exchanged for what is not, the largest pivot first. False if the basis is
    singular.
    """
    n = b.size
    D = scratch.D
    basic, others = scratch.basic, scratch.others
    wanted = scratch.where
    for i in range(n):
        wanted[i] = basic[i]
    begin(A, b, n_free, cover, D, basic, others)
    while True:
        row = -1
        column = -1
        best = _PIVOT
        for i in range(n_free, n):
            if has(wanted, n, basic[i]):
                continue
            for j in range(n + 1):
                if abs(D[i, j]) > best and has(wanted, n, others[j]):
                    row = i
                    column = j
                    best = abs(D[i, j])
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
    A: Array,
    b: Array,
    n_free: int,
    cover: Array,
    tie: float,
    limit: int,
    active: IntArray,
    scratch: LemkeScratch,
) -> tuple[int, int]:
    """Pivot to a complementary basis, marked in `active`; returns a code and the pivots."""
    n, fresh = b.size, 0
    D = scratch.D
    basic, others = scratch.basic, scratch.others
    begin(A, b, n_free, cover, D, basic, others)
    worst, row = 0.0, -1
    for i in range(n_free, n):
        if D[i, n + 1] / cover[i] < worst:
            worst, row = D[i, n + 1] / cover[i], i
    code = _SOLVED
    pivots = 0
    column = n
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
        row = leaving_row(column_of(others, wanted), n_free, tie, scratch)
        doubtful = row < 0 and pivots > fresh  # a ray may be the work of rounding, which gathers
        if doubtful or pivots - fresh > 5 * n + 50:
            fresh = pivots
            if begin_again(A, b, n_free, cover, scratch):
                row = leaving_row(column_of(others, wanted), n_free, tie, scratch)
            if row < 0:
                code = _RAY
        column = column_of(others, wanted)
    mark_basic(basic, n, active)
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
    active: IntArray,
    z: Array,
    w: Array,
    scratch: LemkeScratch,
) -> tuple[int, int, float]:
    """Lemke with one covering vector after another until the residual holds.

    Returns code, pivots, residual. On return `active` is the basis of z.
    """
    n = b.size
    pivots = 0
    code = _INACCURATE
    best = math.inf
    trial = scratch.trial
    for attempt in range(covers.shape[0]):
        found, count = lemke_pivots(
            A, b, n_free, covers[attempt], _TIES[attempt], limit, active, scratch
        )
        pivots += count
        code = found if attempt == 0 or found == _SOLVED else code
        dictionary_point(scratch.D, b, scratch.basic, n_free, trial)
        residual = residual_kernel(A, b, n_free, trial, w)
        if residual < best:
            best = residual
            for i in range(n):
                z[i] = trial[i]
        if found != _SOLVED or residual > tolerance:  # rounding led astray: the nearest basis
            guess_basis(A, n_free, trial, w, active)
        residual = correct_basis(
            A, b, n_free, active, CORRECTIONS, tolerance, trial, w, scratch.basis
        )
        if residual < best:
            best = residual
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

    Provably ends with a solution for positive definite, P-, and copositive-plus matrices of
    feasible problems (contact problems with friction are copositive with a bounded solution set),
    and for positive semidefinite ones.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_pivots : int, optional
        Default 10 n + 100 for each covering vector.

    References
    ----------
    C. Lemke, Bimatrix equilibrium points and mathematical programming, Management Sci. 11 (1965).

    Examples
    --------
    >>> from spatialops.contact import Lemke, MixedLCP, solve
    >>> solve(MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]), Lemke(max_pivots=50)).solver
    'lemke'
    """

    tolerance: float = 1e-9
    max_pivots: int | None = None

    handles: ClassVar[Handles] = Handles(proved=("P", "positive semidefinite", "copositive-plus"))

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by pivoting, or from the basis of a warm start.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            An earlier z, or a guess, whose active set is tried and corrected first.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        problem = dense_problem(problem)
        n = problem.size
        z = np.zeros(n)
        w = np.zeros(n)
        active = np.zeros(n, dtype=np.int64)
        if n == 0:
            return LCPSolution(z, w, Status.SOLVED, 0, 0.0, "lemke")
        scratch = new_lemke_scratch(n)
        start = checked_start(problem, warm_start)
        if start is not None:
            z[:] = start
            residual = warm_basis(
                problem.A, problem.b, problem.n_free, active, self.tolerance, z, w, scratch.basis
            )
            if residual <= self.tolerance:
                return LCPSolution(z, w, Status.SOLVED, 0, residual, "lemke (warm)")
        limit = 10 * n + 100 if self.max_pivots is None else int(self.max_pivots)
        if n >= SMALLEST and problem.n_free == 0:
            found = lemke_by_active_block(
                problem, covering_vectors(n)[0], min(limit, 2 * n), self.tolerance
            )
            if found is not None:
                z, residual, pivots = found
                return LCPSolution(
                    z, problem.A @ z + problem.b, Status.SOLVED, pivots, residual, "lemke"
                )
        code, pivots, residual = lemke_kernel(
            problem.A,
            problem.b,
            problem.n_free,
            covering_vectors(n),
            limit,
            self.tolerance,
            active,
            z,
            w,
            scratch,
        )
        return LCPSolution(z, problem.A @ z + problem.b, Status(code), pivots, residual, "lemke")
