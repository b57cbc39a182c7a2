"""Residuals and times of solvers on the same problems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import process_time

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.engines.measure import why
from spatialops.bench.engines.problems.sets import Problem
from spatialops.bench.engines.problems.solver import LCPSolver

SOLVED = 1e-8  # residual up to which an answer counts
_RUNS = 3
_SHORT = 0.2  # s; what takes longer runs once


@dataclass(frozen=True)
class SolverRow:
    """One problem by one solver.

    Attributes
    ----------
    solver, family, problem : str
    size : int
    residual : float
        max |min(z, w)| over 1 + max |q|; NaN where nothing was claimed.
    time_us : float
        Microseconds of processor time, the least of a few runs.
    verdict : str
        "solved"; "failed": the solver said so; "no solution": it said so, and there is none;
        "wrong": it claims what is none.
    note : str
    """

    solver: str
    family: str
    problem: str
    size: int
    residual: float
    time_us: float
    verdict: str
    note: str = ""


def residual(problem: Problem, z: Array) -> float:
    """How far z is from solving a problem: max |min(z, w)| over 1 + max |q|."""
    w = problem.matrix @ z + problem.vector
    return float(np.abs(np.minimum(z, w)).max() / (1.0 + np.abs(problem.vector).max()))


def run(solvers: Mapping[str, LCPSolver], problems: Iterable[Problem]) -> Iterator[SolverRow]:
    """All rows, problem after problem."""
    warm = Problem("", "", np.eye(2), -np.ones(2))
    for solver in solvers.values():
        solver.solve(warm.matrix, warm.vector)
    for problem in problems:
        for name, solver in solvers.items():
            yield _row(name, solver, problem)


def _row(name: str, solver: LCPSolver, problem: Problem) -> SolverRow:
    best = math.inf
    z: Array | None = None
    note = ""
    try:
        for _ in range(_RUNS):
            begin = process_time()
            z = solver.solve(problem.matrix.copy(), problem.vector.copy())
            best = min(best, process_time() - begin)
            if best > _SHORT:
                break
    except Exception as error:  # of any library: a solver that raises has failed
        note = why(error)
    found = math.nan if z is None else residual(problem, z)
    return SolverRow(
        name, problem.family, problem.name, len(problem.vector), found,
        1e6 * best if math.isfinite(best) else math.nan, _verdict(problem, z, found), note,
    )  # fmt: skip


def _verdict(problem: Problem, z: Array | None, found: float) -> str:
    if z is None:
        return "failed" if problem.solvable else "no solution"
    return "solved" if found <= SOLVED else "wrong"
