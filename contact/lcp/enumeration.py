"""All complementary bases of a small problem: every basic solution, or a proof that there is none.

A solution with support S solves A_SS z_S = -b_S with z_S >= 0 and w >= 0. Where A_SS is regular
that is one point. Where it is singular but consistent, a linear program looks for a point among all
of them, so that nothing is missed. (Murty, Linear Complementarity, Linear and Nonlinear
Programming, 1988, section 2.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, BoolArray, scalar
from spatialops.contact.lcp.basis import corrected, polish
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.solver import Handles, checked_start, dense_problem, not_applicable
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

_CHUNK = 2**16  # entries of all matrices that are factored together
_SINGULAR = 1e-14  # singular values below this part of the largest count as zero
# A basis that violates by less than this may be a solution spoilt by rounding: nothing is proved.
_DOUBT = 1e-6
_NEARLY = 0.1  # of the doubt: an error of a point from which on rounding may have made violations
_LIKELY = 10.0  # times that error: violations that it may have made
_EXACT = 1e-12  # violation of the point of a singular basis that needs no better point of its face
_CONSISTENT = 1e-9  # part of b outside the range of a singular basis that counts as none
_SAME = 1e-9  # distance of two solutions, relative to their size, that counts as none
_SHARP = 1e-3  # of the tolerance: residual from which on a listed solution is not polished


@dataclass(frozen=True)
class Enumeration:
    """Enumeration of all 2^m complementary bases, m = n - n_free.

    Proved for every matrix: SOLVED or NO_SOLUTION, but where rounding leaves a doubt (INACCURATE).

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    max_pairs : int
        Largest m; at 13 it takes some 0.3 s, twice as long for every pair more.
    """

    tolerance: float = 1e-9
    max_pairs: int = 16

    handles: ClassVar[Handles] = Handles(proved=("all",), warm_start=True, shows_no_solution=True)

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        if not 0 <= scalar(self.max_pairs, "max_pairs") <= 24:
            raise ArgumentError(
                f"max_pairs: expected a number from 0 to 24, got {self.max_pairs!r}"
            )

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """The first solution in the order of the bases.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            An earlier z, whose active set is tried first.

        Returns
        -------
        LCPSolution
            SOLVED, NO_SOLUTION, or INACCURATE where rounding leaves a doubt.
        """
        problem = dense_problem(problem)
        if reason := self._too_large(problem):
            return not_applicable(problem, "enumeration", reason)
        start = checked_start(problem, warm_start)
        if start is not None:
            z, residual = corrected(problem, start > 0.0, self.tolerance, 1)
            if residual <= self.tolerance:
                return point(problem, z, Status.SOLVED, 0, "enumeration (warm)", self.tolerance)
        best = np.zeros(problem.size)
        smallest = np.inf
        count = 0
        nearest = np.inf
        for z, violation in self._candidates(problem):
            count += 1
            nearest = min(nearest, violation)
            if violation > _DOUBT:
                continue
            z, residual = polish(problem, z, self.tolerance, 1)
            if residual < smallest:
                best, smallest = z, residual
            if smallest <= self.tolerance:
                break
        status = Status.NO_SOLUTION if nearest > _DOUBT else Status.INACCURATE
        return point(problem, best, status, count, "enumeration", self.tolerance)

    def all_solutions(self, problem: MixedLCP) -> list[Array]:
        """Every basic solution z (n,), each once; an empty list proves that there is none.

        Where solutions with a singular basis form an edge or a face, one of its points is listed
        besides the basic ones if no basic one lies on it.

        Parameters
        ----------
        problem : MixedLCP
            At most `max_pairs` rows that are not free.

        Returns
        -------
        list of (n,) array
            In the order of the bases.

        Raises
        ------
        ArgumentError
            If the problem has more than `max_pairs` pairs, or rounding leaves a doubt whether it
            has a solution.

        Examples
        --------
        >>> from spatialops.contact import Enumeration, MixedLCP
        >>> [z.tolist() for z in Enumeration().all_solutions(MixedLCP([[-1.0]], [1.0]))]
        [[0.0], [1.0]]
        """
        problem = dense_problem(problem)
        if reason := self._too_large(problem):
            raise ArgumentError(f"problem: {reason}")
        found: list[Array] = []
        doubtful = False
        for z, violation in self._candidates(problem):
            if violation > _DOUBT:
                continue
            residual = problem.residual(z)
            if residual > _SHARP * self.tolerance:
                z, residual = polish(problem, z, _SHARP * self.tolerance, 1)
            doubtful |= residual > self.tolerance
            reach = _SAME * max(1.0, np.abs(z).max(initial=0.0))
            known = any(np.abs(z - other).max(initial=0.0) <= reach for other in found)
            if residual <= self.tolerance and not known:
                found.append(z)
        if doubtful and not found:
            raise ArgumentError(
                "problem: rounding leaves a doubt whether it has a solution; rescale it"
            )
        return found

    def _too_large(self, problem: MixedLCP) -> str:
        pairs = problem.size - problem.n_free
        return (
            f"{pairs} pairs are more than max_pairs = {self.max_pairs}"
            if pairs > self.max_pairs
            else ""
        )

    def _candidates(self, problem: MixedLCP) -> Iterator[tuple[Array, float]]:
        """A z (n,) for each complementary basis that has one, and by how much it violates."""
        easier, scales = equilibrated(problem, two_sided=True)
        n, n_free = easier.size, easier.n_free
        if n == 0:
            yield np.zeros(0), 0.0
            return
        pairs = n - n_free
        chunk = max(1, _CHUNK // (n * n))
        for start in range(0, 2**pairs, chunk):
            numbers = np.arange(start, min(start + chunk, 2**pairs))
            active = np.ones((numbers.size, n), dtype=bool)
            active[:, n_free:] = (numbers[:, None] >> np.arange(pairs)) & 1
            for z, violation in _solve_bases(easier, active):
                yield scales.back(z), violation


def _solve_bases(problem: MixedLCP, active: BoolArray) -> Iterator[tuple[Array, float]]:
    """The point of each basis of `active` (k, n): C x = b with columns -A_j (active) or e_j."""
    A = problem.A
    b = problem.b
    n_free = problem.n_free
    C = np.where(active[:, None, :], -A, np.eye(b.size))
    U, s, Vh = np.linalg.svd(C)
    small = np.asarray(s <= _SINGULAR * s[:, :1])
    trust = _SINGULAR * s[:, 0] / np.where(small, np.inf, s).min(axis=1)  # relative error of x
    y = np.einsum("kji,j->ki", U, b)
    lost = np.where(small, np.abs(y), 0.0).max(axis=1)
    x = np.einsum("kji,kj->ki", Vh, np.where(small, 0.0, y / np.where(small, 1.0, s)))
    low = np.maximum(-x[:, n_free:], 0.0).max(axis=1, initial=0.0)
    size = np.maximum(1.0, np.abs(x).max(axis=1))
    singular = np.asarray(small.any(axis=1))
    for i in range(len(active)):
        if singular[i] and lost[i] > _DOUBT:
            continue  # A_SS z_S = -b_S has no solution
        violation = max(float(low[i] / size[i]), float(lost[i]))
        if trust[i] > _NEARLY * _DOUBT and violation <= _LIKELY * trust[i]:
            violation = min(violation, _DOUBT)  # rounding may have made it
        if singular[i] and violation > _EXACT and lost[i] <= _CONSISTENT:
            yield from _point_of_face(problem, active[i])
        else:
            yield np.where(active[i], x[i], 0.0), violation


def _point_of_face(problem: MixedLCP, active: BoolArray) -> Iterator[tuple[Array, float]]:
    """The z with w = 0 on the active set, z = 0 off it, of least t in z >= -t, w >= -t."""
    n, n_free = problem.size, problem.n_free
    S, N = np.flatnonzero(active), np.flatnonzero(~active)
    signs = -np.eye(S.size)[n_free:]
    rows = np.vstack([-problem.A[np.ix_(N, S)], signs])
    rows = np.column_stack([rows, -np.ones(len(rows))])
    right = np.append(problem.b[N], np.zeros(len(signs)))
    equal = np.column_stack([problem.A[np.ix_(S, S)], np.zeros(S.size)])
    cost = np.append(np.zeros(S.size), 1.0)
    bounds = [(None, None)] * S.size + [(0.0, None)]
    answer = scipy.optimize.linprog(cost, rows, right, equal, -problem.b[S], bounds)
    z = np.zeros(n)
    if answer.x is None:  # cannot be, but for rounding: leave a doubt
        yield z, _DOUBT
        return
    z[S] = answer.x[:-1]
    yield z, float(answer.x[-1])
