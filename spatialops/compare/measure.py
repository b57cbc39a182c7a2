"""What each formulation costs on one problem, stage by stage, and whether all say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Effort, Quartiles, Timing, take_turns
from spatialops.compare.plain import ALL_DENSE
from spatialops.compare.problems import Case
from spatialops.contact.formulations import FORMULATIONS, check_formulation
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.indeterminacy import indeterminacy
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve
from spatialops.errors import SpatialOpsError

GENERAL = "lemke"  # the general dense solver that all get in the paper's setting
REFERENCE = "os"


@dataclass(frozen=True)
class Row:
    """One formulation with one solver on one problem; times are medians in microseconds.

    `recover` is what recovery costs after assembly: the set-up that both need is in `assemble`.
    `difference` is that of the next velocity from the reference's, relative to the largest entry
    before or after. `rounds` are the totals of the single rounds.
    """

    case: str
    links: int
    formulation: str
    solver: str
    size: int = 0
    n_free: int = 0
    assemble: float = np.nan
    solve: float = np.nan
    recover: float = np.nan
    pivots: int = 0
    residual: float = np.nan
    difference: float = np.nan
    solved: bool = False
    message: str = ""
    rounds: tuple[float, ...] = ()

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
        own = replace(case.problem)  # what one formulation computes is not there for the next
        contestants[f"{name} assemble"] = partial(_assemble, formulation, own)
        for solver in solvers:
            if solver == GENERAL and lcp.size > ALL_DENSE:
                continue
            solution = solve(lcp, solver)
            difference = np.nan
            if solution.solved:
                answer = formulation.recover(case.problem, solution)
                difference = _difference(answer.velocity, reference, case.problem.velocity)
                contestants[f"{name} {solver}"] = partial(solve, lcp, solver)
                # After assembly, whose set-up `own` remembers.
                contestants[f"{name} recover"] = partial(formulation.recover, own, solution)
            found.append((name, solver, solution, difference))
    timing = take_turns(contestants, effort) if contestants else Timing({})
    return [
        _row(case, name, solver, what, difference, sizes, timing)
        for name, solver, what, difference in found
    ]


def _row(
    case: Case,
    name: str,
    solver: str,
    what: LCPSolution | SpatialOpsError,
    difference: float,
    sizes: Mapping[str, tuple[int, int]],
    timing: Timing,
) -> Row:
    if isinstance(what, SpatialOpsError):
        return Row(case.name, case.links, name, solver, message=str(what))
    row = Row(
        case.name,
        case.links,
        name,
        solver,
        *sizes[name],
        pivots=what.iterations,
        residual=what.residual,
        difference=difference,
        solved=what.solved,
        message="" if what.solved else what.status.message,
    )
    if not what.solved:
        return row
    seconds = timing.seconds
    parts = [seconds[f"{name} {part}"] for part in ("assemble", solver, "recover")]
    return replace(
        row,
        assemble=_microseconds(parts[0]),
        solve=_microseconds(parts[1]),
        recover=_microseconds(parts[2]),
        rounds=tuple(float(t) for t in 1e6 * np.sum(parts, axis=0)),
    )


def _microseconds(seconds: Array) -> float:
    return 1e6 * Quartiles.of(seconds).median


def _assemble(formulation: Formulation, problem: ContactProblem) -> MixedLCP:
    # From the data alone: a problem remembers what was computed from it.
    problem.forget()
    return formulation.assemble(problem)


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
    calls = {str(i): assembler(formulation, case.problem, n_f) for i, case in enumerate(cases)}
    timing = take_turns(calls, Effort(rounds=11, block=2e-3) if effort is None else effort)
    return [1e6 * timing.of(key).median for key in calls]


def assembler(formulation: str, problem: ContactProblem, n_f: int = 4) -> Callable[[], object]:
    """The call that assembles a formulation from a problem's data alone."""
    return partial(_assemble, check_formulation(formulation, n_f), problem)
