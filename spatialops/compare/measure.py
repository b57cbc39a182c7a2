"""What each formulation costs on one problem, stage by stage, and whether all say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Effort, take_turns
from spatialops.compare.problems import Case
from spatialops.contact.formulations import FORMULATIONS, Formulation, check_formulation
from spatialops.contact.indeterminacy import indeterminacy
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve
from spatialops.errors import SpatialOpsError

GENERAL = "lemke"  # the general dense solver that all get in the paper's setting
ALL_DENSE = 400  # rows up to which that takes less than a second
REFERENCE = "os"


@dataclass(frozen=True)
class Row:
    """One formulation with one solver on one problem; times are medians in microseconds.

    `difference` is that of the next velocity from the reference's, relative to the largest entry
    before or after.
    """

    case: str
    links: int
    formulation: str
    solver: str
    size: int
    n_free: int
    assemble: float
    solve: float
    recover: float
    pivots: int
    residual: float
    difference: float
    solved: bool
    message: str = ""

    @property
    def total(self) -> float:
        """Assembly, solution and recovery, us."""
        return self.assemble + self.solve + self.recover


def compare(
    case: Case,
    formulations: Sequence[str] = tuple(FORMULATIONS),
    solvers: Sequence[str] = (GENERAL, "auto"),
    *,
    n_f: int = 4,
    effort: Effort | None = None,
) -> list[Row]:
    """Assemble, solve and recover with every formulation and solver, in turns.

    A formulation that cannot state the problem, and a solver that does not solve it, give a row
    that says why.

    Returns
    -------
    list of Row
        In the order of `formulations`, for each of them that of `solvers`.
    """
    effort = Effort(rounds=11, block=2e-3) if effort is None else effort
    chosen = {name: check_formulation(name, n_f) for name in formulations}
    reference = _next_velocity(check_formulation(REFERENCE, n_f), case.problem)
    contestants: dict[str, Callable[[], object]] = {}
    found: list[tuple[str, str, LCPSolution | SpatialOpsError, float]] = []
    sizes: dict[str, tuple[int, int]] = {}
    for name, formulation in chosen.items():
        try:
            lcp = formulation.assemble(case.problem)
        except SpatialOpsError as error:
            found.extend((name, solver, error, np.nan) for solver in solvers)
            continue
        sizes[name] = lcp.size, lcp.n_free
        contestants[f"{name} assemble"] = _assembler(formulation, case.problem)
        answer = None
        for solver in solvers:
            if solver == GENERAL and lcp.size > ALL_DENSE:
                continue
            solution = solve(lcp, solver)
            difference = np.nan
            if solution.solved:
                answer = formulation.recover(case.problem, solution)
                difference = _difference(answer.velocity, reference, case.problem.velocity)
                contestants[f"{name} {solver}"] = _solver(lcp, solver)
                contestants[f"{name} recover"] = _recoverer(formulation, case.problem, solution)
            found.append((name, solver, solution, difference))
    timing = take_turns(contestants, effort) if contestants else None
    times = {key: 1e6 * timing.of(key).median for key in contestants} if timing else {}
    return [
        _row(case, name, solver, what, difference, sizes, times)
        for name, solver, what, difference in found
    ]


def _row(
    case: Case,
    name: str,
    solver: str,
    what: LCPSolution | SpatialOpsError,
    difference: float,
    sizes: Mapping[str, tuple[int, int]],
    times: Mapping[str, float],
) -> Row:
    size, n_free = sizes.get(name, (0, 0))
    if isinstance(what, SpatialOpsError):
        return Row(
            case.name,
            case.links,
            name,
            solver,
            0,
            0,
            *(np.nan,) * 3,
            0,
            np.nan,
            np.nan,
            False,
            str(what),
        )
    return Row(
        case.name,
        case.links,
        name,
        solver,
        size,
        n_free,
        times[f"{name} assemble"],
        times.get(f"{name} {solver}", np.nan),
        times.get(f"{name} recover", np.nan),
        what.iterations,
        what.residual,
        difference,
        what.solved,
        "" if what.solved else what.status.message,
    )


def _assembler(formulation: Formulation, problem: ContactProblem) -> Callable[[], object]:
    # A fresh copy each time, at the same cost for all: a problem remembers what was computed.
    return lambda: formulation.assemble(replace(problem))


def _solver(lcp: MixedLCP, solver: str) -> Callable[[], object]:
    return lambda: solve(lcp, solver)


def _recoverer(
    formulation: Formulation, problem: ContactProblem, solution: LCPSolution
) -> Callable[[], object]:
    return lambda: formulation.recover(problem, solution)


def _next_velocity(formulation: Formulation, problem: ContactProblem) -> Array | None:
    solution = solve(formulation.assemble(problem))
    return formulation.recover(problem, solution).velocity if solution.solved else None


def _difference(velocity: Array, reference: Array | None, before: Array) -> float:
    """Relative to the largest velocity before or after: contacts may bring everything to rest."""
    if reference is None:
        return float("nan")
    scale = max(float(np.abs(values).max(initial=0.0)) for values in (reference, before))
    difference = float(np.abs(velocity - reference).max(initial=0.0))
    return difference / scale if scale > 0.0 else difference


def report(problem: ContactProblem) -> str:
    """What is determined: rank and null space of the compliance."""
    return str(indeterminacy(problem, warn=False))


@dataclass(frozen=True)
class Fit:
    """Least-squares polynomial of a time (us) in a count, and the relative error that it leaves."""

    coefficients: tuple[float, ...]
    unexplained: float

    @classmethod
    def of(cls, counts: Sequence[int], times: Sequence[float], degree: int) -> Fit:
        """Fit, each time weighted by its inverse: relative errors count."""
        x, t = np.asarray(counts, dtype=np.float64), np.asarray(times, dtype=np.float64)
        basis = np.vander(x, degree + 1, increasing=True) / t[:, None]
        coefficients, *_ = np.linalg.lstsq(basis, np.ones(len(t)), rcond=None)
        error = basis @ coefficients - 1.0
        return cls(tuple(float(c) for c in coefficients), float(np.sqrt(np.mean(error**2))))


def assembly_costs(
    cases: Sequence[Case],
    *,
    n_f: int = 4,
    effort: Effort | None = None,
    formulation: str = REFERENCE,
) -> list[float]:
    """Assembly times (us) of one formulation on several problems, in turns."""
    chosen = check_formulation(formulation, n_f)
    calls = {str(i): _assembler(chosen, case.problem) for i, case in enumerate(cases)}
    timing = take_turns(calls, Effort(rounds=11, block=2e-3) if effort is None else effort)
    return [1e6 * timing.of(key).median for key in calls]
