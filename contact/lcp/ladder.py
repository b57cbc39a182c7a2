"""`solver="auto"`: a ladder of methods, each tried where the one before did not reach the residual.

Free rows are eliminated, islands are solved apart, then: Lemke's method as given, on the
equilibrated problem, a certificate that there is no solution, an interior point, Lemke from
advanced starts, Newton's method, Lemke in exact arithmetic, enumeration. Most problems end with the
first. A method counts only by the residual in the original data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, IntArray, instance, scalar
from spatialops.contact.lcp.basis import corrected, polish
from spatialops.contact.lcp.elimination import eliminate
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.contact.lcp.exact import ExactLemke
from spatialops.contact.lcp.infeasibility import infeasible
from spatialops.contact.lcp.interior_point import InteriorPoint
from spatialops.contact.lcp.islands import SMALLEST, islands_of, solve_islands
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.newton import Newton
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import balanced_residual, equilibrated, row_scales
from spatialops.contact.lcp.solver import Handles, Work, checked_start
from spatialops.contact.lcp.status import Status

_FREE_ROWS = 16  # from here on free rows are eliminated at once instead of one by one
_LIFTS = (1e-16, 1e-15)  # of the largest entry
_BALANCED = 1e-6  # residual that the scaled problem must show too, or the next method is tried
_SHARP = 1e-2  # of the tolerance: what steps on a scaled problem aim at, for the way back
_SHARPER = 1e-3  # the same of Lemke's method, which has digits to spare
_LUCK = 0.01  # part of the bound of rounding down to which errors may cancel
_BLOCK = 1e-12  # residual at which the basis of an exchanged problem needs no more corrections
_SINGULAR = 1e10  # entries of an inverse block from which on it counts as singular
_FAST_NEWTON = 100  # rows up to which Newton's method gets more steps and more starts
_ENUMERATED = 64  # rows up to which bases are factored at all
_MAX_DENSE = 4000  # rows beyond which a sparse problem is not made dense
_SMALL_AGAIN = (
    100  # rows up to which a vain elimination of free rows is followed by a try with them
)
_PAIRS = 13  # 2^13 bases: a third of a second

# Multiplications of a factorization that take as long as one pivot's, which waits for memory.
_IN_CACHE = 10.0

Method = Callable[["Auto", MixedLCP, Work], LCPSolution]


@dataclass(frozen=True)
class Auto:
    """The ladder of fallbacks, one method after the other until the residual holds.

    Proved for what its methods are: Lemke's classes and positive semidefinite problems of any size,
    every problem of up to 13 pairs. All budgets are iterations and work, not time, so that the
    answer is the same on every machine.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    thorough : bool
        Whether methods follow that take seconds where there is no solution: from an interior point
        on. Without them only Lemke's classes are proved. Default: True.
    max_work : float
        Entries of matrices that all methods together may pass over: n^2 a pivot, n^3 / 30 a
        factorization. With that spent the best point so far is the answer, and its residual says
        how good. Default: 3e10, a minute or so, which problems of up to 700 rows do not reach.
    """

    tolerance: float = 1e-9
    thorough: bool = True
    max_work: float = 3e10

    handles: ClassVar[Handles] = Handles(
        proved=("P", "positive semidefinite", "copositive-plus", "all of up to 13 pairs"),
        shows_no_solution=True,
    )

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by the first method whose answer holds.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            An earlier z, whose active set is tried, and corrected a few times.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        instance(problem, MixedLCP, "problem")
        warm_start = checked_start(problem, warm_start)
        if problem.is_sparse or problem.n_free >= _FREE_ROWS:
            solution = self._without_free_rows(problem, warm_start)
            if solution is not None:
                return solution
        problem, work = problem.dense(), Work(self.max_work)
        first = self._first(problem, warm_start, work)
        if first.solved and self._is_balanced(problem, first):
            return first
        return self._climb(problem, first, work)

    def _without_free_rows(
        self, problem: MixedLCP, warm_start: ArrayLike | None
    ) -> LCPSolution | None:
        """Solve without the free rows; None where their block is singular, or the way back bad."""
        elimination = eliminate(problem)
        if elimination is None:
            return None
        guess = None if warm_start is None else np.asarray(warm_start)[problem.n_free :]
        inner = self.solve(elimination.reduced, guess)
        z, residual = elimination.back(inner.z)
        if residual > self.tolerance and inner.status != Status.NO_SOLUTION:
            # Lost on the way back, or cheap enough to try as it was.
            again = inner.solved or problem.size <= _SMALL_AGAIN
            if again and problem.size <= _MAX_DENSE:
                return None
        label = f"{inner.solver}, free rows eliminated"
        return point(
            problem, z, inner.status, inner.iterations, label, self.tolerance, inner.detail
        )

    def _first(self, problem: MixedLCP, warm_start: ArrayLike | None, work: Work) -> LCPSolution:
        """Lemke's method, island by island; one that it fails on climbs the ladder by itself."""
        if problem.size >= SMALLEST:
            labels, count = islands_of(problem)
            if count > 1:
                return self._by_islands(problem, (labels, count), warm_start, work)
        return _pivoted(problem, self.tolerance, work, warm_start)

    def _by_islands(
        self,
        problem: MixedLCP,
        islands: tuple[IntArray, int],
        warm_start: ArrayLike | None,
        work: Work,
    ) -> LCPSolution:
        labels, count = islands
        z, pivots, codes = solve_islands(problem, labels, count, self.tolerance, warm_start)
        work.spend(float(np.bincount(labels).max()) ** 2, pivots)
        name = "lemke, islands" if pivots or warm_start is None else "lemke (warm), islands"
        worst = Status.SOLVED
        if codes.any() and problem.residual(z) > self.tolerance:
            for island in np.flatnonzero(codes):
                rows = np.flatnonzero(labels == island)
                part = MixedLCP(
                    problem.A[np.ix_(rows, rows)],
                    problem.b[rows],
                    int((rows < problem.n_free).sum()),
                )
                before = point(part, z[rows], Status(codes[island]), 0, name, self.tolerance)
                found = self._climb(part, before, work)
                z[rows], name = found.z, found.solver + ", islands"
                worst = found.status if worst != Status.NO_SOLUTION and not found.solved else worst
        return point(problem, z, worst, pivots, name, self.tolerance)

    def _is_balanced(self, problem: MixedLCP, solution: LCPSolution) -> bool:
        return _balance(problem, solution) <= _BALANCED

    def _climb(self, problem: MixedLCP, first: LCPSolution, work: Work) -> LCPSolution:
        """The other methods, until one holds in original and scaled data, or refutes."""
        best = first
        figure = self._figure(problem, first)
        total = first.iterations
        if first.status == Status.NO_SOLUTION:
            return first
        for method in _METHODS if self.thorough else _QUICK:
            spent = work.left <= 0.0
            if figure <= 1.0 or spent or self._rounding(problem, best, _LUCK):
                break
            found = method(self, problem, work)
            total += found.iterations
            if found.status == Status.NO_SOLUTION:
                best = found
                break
            if (value := self._figure(problem, found)) < figure:
                best, figure = found, value
        if best.status not in (Status.SOLVED, Status.NO_SOLUTION):
            best = self._said(problem, best, first.status, work)
        return replace(best, iterations=total)

    def _said(
        self, problem: MixedLCP, best: LCPSolution, status: Status, work: Work
    ) -> LCPSolution:
        """The best point, which is no solution, and why there is no better one."""
        if detail := self._rounding(problem, best, 1.0):
            return replace(best, status=Status.INACCURATE, detail=detail)
        if work.left > 0.0:
            return replace(best, status=status, detail="")
        detail = f"max_work = {self.max_work:.3g}"
        return replace(best, status=Status.WORK_LIMIT, detail=detail)

    def _rounding(self, problem: MixedLCP, solution: LCPSolution, luck: float) -> str:
        """What to say where the residual is what rounding of A z leaves, above the tolerance.

        Errors may cancel by luck, down to this part of their bound: below it going on is vain.
        """
        unit = np.abs(problem.b).max(initial=0.0)
        if (
            solution.residual <= self.tolerance
            or unit == 0.0
            or _balance(problem, solution) > _BALANCED
        ):
            return ""
        floor = (
            np.finfo(np.float64).eps * float((np.abs(problem.A) @ np.abs(solution.z)).max()) / unit
        )
        vain = solution.residual <= floor and luck * floor > self.tolerance
        return f"rounding of A z alone is {floor:.1e} of max |b|" if vain else ""

    def _figure(self, problem: MixedLCP, solution: LCPSolution) -> float:
        """At most 1 where both residuals hold."""
        figure = max(solution.residual / self.tolerance, _balance(problem, solution) / _BALANCED)
        return figure if np.isfinite(figure) else np.inf

    def _back(self, problem: MixedLCP, z: Array, like: LCPSolution, name: str) -> LCPSolution:
        """A solution of the scaled problem, polished in the original one."""
        better, residual = polish(problem, z, _SHARP * self.tolerance)
        z = better if residual <= self.tolerance else z
        return point(problem, z, like.status, like.iterations, name, self.tolerance, like.detail)

    def _equilibrated(self, problem: MixedLCP, work: Work) -> LCPSolution:
        best = None
        for two_sided in (False, True):
            easier, scales = equilibrated(problem, two_sided=two_sided)
            found = _pivoted(easier, _SHARPER * self.tolerance, work)
            answer = self._back(problem, scales.back(found.z), found, "lemke, equilibrated")
            best = (
                answer
                if best is None or self._figure(problem, answer) < self._figure(problem, best)
                else best
            )
            if self._figure(problem, best) <= 1.0 or (scales.rows == scales.columns).all():
                break
        assert best is not None
        return best

    def _certificate(self, problem: MixedLCP, work: Work) -> LCPSolution:
        z = np.zeros(problem.size)
        if infeasible(problem) is None:
            return point(problem, z, Status.INACCURATE, 0, "certificate", self.tolerance)
        w, residual = problem.evaluate(z)
        detail = "no z makes all w >= 0, by Farkas' multipliers"
        return LCPSolution(z, w, Status.NO_SOLUTION, 0, residual, "certificate", detail)

    def _interior_point(self, problem: MixedLCP, work: Work) -> LCPSolution:
        steps = work.steps(_factored(problem), InteriorPoint.max_iterations)
        found = InteriorPoint(self.tolerance, max_iterations=steps).solve(problem)
        work.spend(_factored(problem), found.iterations)
        return found

    def _newton(self, problem: MixedLCP, work: Work) -> LCPSolution:
        easier, scales = equilibrated(problem, two_sided=True)
        best = None
        for start in _starts(easier):
            most = 100 if easier.size <= _FAST_NEWTON else 30
            steps = work.steps(_factored(easier), most)
            found = Newton(_SHARP * self.tolerance, max_iterations=steps).solve(easier, start)
            work.spend(_factored(easier), found.iterations)
            answer = self._back(problem, scales.back(found.z), found, "newton, equilibrated")
            best = answer if best is None or answer.residual < best.residual else best
            if best.solved or work.left <= 0.0:
                break
        assert best is not None
        return best

    def _exact(self, problem: MixedLCP, work: Work) -> LCPSolution:
        elimination = eliminate(problem) if problem.n_free else None
        if elimination is None:
            return self._exact_or_lifted(problem)
        inner = self._exact_or_lifted(elimination.reduced)
        z, _ = elimination.back(inner.z)
        return point(
            problem,
            z,
            inner.status,
            inner.iterations,
            "exact, free rows eliminated",
            self.tolerance,
        )

    def _exact_or_lifted(self, problem: MixedLCP) -> LCPSolution:
        """In exact arithmetic; on a ray again, with the diagonal lifted by the rounding of A.

        A semidefinite matrix has negative eigenvalues of the size of its rounding, and taken at its
        word no solution. The point found is then polished on the matrix as given, and counts by its
        residual there.
        """
        method = ExactLemke(self.tolerance)
        first = method.solve(problem)
        if first.solved or problem.size == 0:
            return first
        best, A = first, problem.dense().A
        for lift in _LIFTS:
            lifted = MixedLCP(
                A + lift * np.abs(A).max() * np.eye(problem.size), problem.b, problem.n_free
            )
            start = method.solve(lifted)
            if not start.solved:
                continue
            z, residual = polish(problem.dense(), start.z, self.tolerance)
            found = point(
                problem, z, start.status, start.iterations, "exact, lifted", self.tolerance
            )
            if residual < best.residual:
                best = found
            if best.solved:
                break
        return best

    def _advanced_starts(self, problem: MixedLCP, work: Work) -> LCPSolution:
        """Lemke after a principal block has been exchanged: other paths, and other rays.

        The blocks are random ones, and pairs of rows: Lemke and Howson's way into games, whose
        diagonal is zero.
        """
        easier, scales = equilibrated(problem, two_sided=True)
        elimination = eliminate(easier) if easier.n_free else None
        core = easier if elimination is None else elimination.reduced
        total, best = 0, np.zeros(problem.size)
        smallest = problem.residual(best)
        draw = np.random.default_rng(20130214)
        for attempt in range(0 if core.n_free else max(3, min(40, 2000 // max(core.size, 1)))):
            block = (
                _random_pair(core.A, draw)
                if attempt % 2
                else draw.random(core.size) < draw.uniform(0.1, 0.9)
            )
            other = _exchanged(core, block)
            if other is None or work.left <= 0.0:
                continue
            found = _pivoted(other, self.tolerance, work, most=5 * core.size + 50)
            total += found.iterations
            active = np.append(
                np.ones(easier.n_free, dtype=bool), np.where(block, found.z <= 0.0, found.z > 0.0)
            )
            start = scales.back(corrected(easier, active, _BLOCK)[0])
            z, residual = polish(problem, start, self.tolerance)
            if residual < smallest:
                best, smallest = z, residual
            if smallest <= self.tolerance:
                break
        return point(problem, best, Status.RAY, total, "lemke, advanced start", self.tolerance)

    def _enumeration(self, problem: MixedLCP, work: Work) -> LCPSolution:
        if problem.size > _ENUMERATED:
            zero, status = np.zeros(problem.size), Status.NOT_APPLICABLE
            return point(problem, zero, status, 0, "enumeration", self.tolerance)
        return Enumeration(self.tolerance, max_pairs=_PAIRS).solve(problem)


_QUICK: tuple[Method, ...] = (Auto._equilibrated, Auto._certificate)
_METHODS: tuple[Method, ...] = (
    *_QUICK,
    Auto._interior_point,
    Auto._advanced_starts,
    Auto._newton,
    Auto._exact,
    Auto._enumeration,
)


def _pivoted(
    problem: MixedLCP,
    tolerance: float,
    work: Work,
    warm_start: ArrayLike | None = None,
    most: int | None = None,
) -> LCPSolution:
    """Lemke's method, with as many pivots as work is left for."""
    n = problem.size
    each = float(n * n)
    pivots = work.steps(each, 10 * n + 100 if most is None else most)
    found = Lemke(tolerance, max_pivots=pivots).solve(problem, warm_start)
    work.spend(each, found.iterations)
    return found


def _factored(problem: MixedLCP) -> float:
    """Work of a factorization."""
    return float(problem.size) ** 3 / (3.0 * _IN_CACHE)


def _balance(problem: MixedLCP, solution: LCPSolution) -> float:
    scale = np.empty(problem.size)
    row_scales(problem.A, scale)
    return float(balanced_residual(problem.b, problem.n_free, solution.z, solution.w, scale))


def _starts(problem: MixedLCP) -> Iterator[Array]:
    """Starting points of Newton's method: zero, ones, and a few random ones."""
    draw = np.random.default_rng(20130215)
    yield np.zeros(problem.size)
    yield np.ones(problem.size)
    for _ in range(3 if problem.size <= _FAST_NEWTON else 0):
        yield 10.0 ** draw.uniform(-2.0, 1.0, problem.size)


def _random_pair(A: Array, draw: np.random.Generator) -> BoolArray:
    """A random row and the one that makes the largest 2 x 2 block with it."""
    i = int(draw.integers(len(A)))
    block = np.zeros(len(A), dtype=bool)
    block[[i, int(np.argmax(np.abs(A[i] * A[:, i])))]] = True
    return block


def _exchanged(problem: MixedLCP, block: BoolArray) -> MixedLCP | None:
    """The problem with z and w of `block` exchanged; None if it is singular."""
    S, N = np.flatnonzero(block), np.flatnonzero(~block)
    A, b = problem.A, problem.b
    try:
        solved = np.linalg.solve(
            A[np.ix_(S, S)], np.column_stack([np.eye(S.size), A[np.ix_(S, N)], b[S]])
        )
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(solved).all() or np.abs(solved).max(initial=0.0) > _SINGULAR:
        return None
    inverse = solved[:, : S.size]
    across = solved[:, S.size : -1]
    right = solved[:, -1]
    new, q = np.empty_like(A), np.empty_like(b)
    new[np.ix_(S, S)], new[np.ix_(S, N)] = inverse, -across
    new[np.ix_(N, S)] = A[np.ix_(N, S)] @ inverse
    new[np.ix_(N, N)] = A[np.ix_(N, N)] - A[np.ix_(N, S)] @ across
    q[S], q[N] = -right, b[N] - A[np.ix_(N, S)] @ right
    return MixedLCP(new, q)
