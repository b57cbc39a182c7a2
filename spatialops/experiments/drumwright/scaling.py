"""Time against the number of contacts, on the boxes of the grasp, and Lemke against pivoting.

What is measured starts from a `ContactProblem` and ends with impulses. "pivoting" and "Lemke" are
the solutions of the complementarity problems alone: of m normals while the tangents are held, p >=
0, u + L L^T p >= 0 with L as it is, and of the 6 m rows of Stewart and Trinkle's problem as it is
assembled. "no slip" and "Coulomb" are the laws as a whole: rows of L from the mechanism,
elimination or assembly, solution, and the judgement of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import BenchError, Effort, Timing, take_turns
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.laws.no_slip import NoSlip, reduced_normals
from spatialops.contact.laws.pivoting import pivot
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.problem import ContactProblem
from spatialops.models.grasp import grasp
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator

COUNTS = (4, 8, 16, 36, 64, 144, 256, 576, 1024, 2048, 4000)
FIT_FROM = 16
BAR_FROM = 1024  # below, what every call costs hides how the time grows, and no bar could fail
EXPONENT_BAR, SPEED_BAR = 1.1, 10.0
_MOST = {"Lemke": 100, "Coulomb": 100}  # contacts beyond which a method takes too long


@dataclass(frozen=True, eq=False)
class Scaling:
    """Median seconds of each method at each number of contacts; NaN where not measured."""

    counts: tuple[int, ...]
    seconds: dict[str, Array]

    def exponent(self, name: str, start: int = FIT_FROM) -> float:
        """Slope of log time over log contacts from `start` contacts on, by least squares."""
        counts, times = np.array(self.counts, dtype=np.float64), self.seconds[name]
        used = np.isfinite(times) & (counts >= start)
        if used.sum() < 2:
            return math.nan
        return float(np.polyfit(np.log(counts[used]), np.log(times[used]), 1)[0])

    @property
    def passed(self) -> bool:
        """Whether principal pivoting's exponent for many contacts is within its bar."""
        return self.exponent("pivoting", BAR_FROM) <= EXPONENT_BAR

    def to_data(self) -> PlainData:
        """Plain figures: microseconds, None where nothing was measured."""
        times = {
            name: [None if math.isnan(t) else 1e6 * float(t) for t in values]
            for name, values in self.seconds.items()
        }
        exponents = {name: self.exponent(name) for name in self.seconds}
        return {
            "contacts": list(self.counts),
            "microseconds": times,
            "exponents": exponents,
            "pivoting_exponent_for_many": self.exponent("pivoting", BAR_FROM),
            "passed": self.passed,
        }


def contestants(problem: ContactProblem) -> dict[str, Callable[[], object]]:
    """What is timed on one problem; every answer is checked first.

    Raises
    ------
    BenchError
        If a method does not solve the problem.
    """
    m = problem.n_contacts
    law = NoSlip()
    coulomb = OperationalSpace(n_f=4)
    lemke = Lemke()
    normals = reduced_normals(problem, problem.friction > 0.0)
    if not law.solve(problem).solved:
        raise BenchError(f"no slip: {m} contacts were not solved; nothing was timed")
    calls: dict[str, Callable[[], object]] = {
        "pivoting": lambda: pivot(
            normals.rows, normals.speeds, lengths=normals.lengths, scale=normals.scale
        ),
        "no slip": lambda: law.solve(replace(problem)),
    }
    if m <= _MOST["Lemke"]:
        lcp = coulomb.assemble(problem)
        if not lemke.solve(lcp).solved:
            raise BenchError(f"Lemke: {m} contacts were not solved; nothing was timed")
        calls["Lemke"] = lambda: lemke.solve(lcp)

    def whole() -> object:
        fresh = replace(problem)
        return coulomb.recover(fresh, lemke.solve(coulomb.assemble(fresh)))

    if m <= _MOST["Coulomb"]:
        calls["Coulomb"] = whole
    return calls


def measure_scaling(
    counts: tuple[int, ...] = COUNTS,
    effort: Effort | None = None,
    tick: Callable[[int], object] = lambda count: None,
) -> Scaling:
    """Medians of all methods on the grasp's first step with these numbers of contacts."""
    boxes = grasp()
    names = ("pivoting", "no slip", "Lemke", "Coulomb")
    seconds = {name: np.full(len(counts), math.nan) for name in names}
    for k, count in enumerate(counts):
        timing = take_turns(contestants(boxes.problem(count)), effort or Effort(rounds=11))
        for name in timing.seconds:
            seconds[name][k] = timing.of(name).median
        tick(1)
    return Scaling(tuple(counts), seconds)


def duel(effort: Effort | None = None) -> tuple[Timing, int]:
    """Times on the contact problem of the grasp's first step, and its number of contacts."""
    boxes = grasp()
    problem = Simulator(boxes.scene(), dt=0.01).problem(boxes.state, boxes.tau)
    assert problem is not None
    return take_turns(contestants(problem), effort or Effort(rounds=11)), problem.n_contacts
