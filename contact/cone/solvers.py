"""The methods of the ladder one by one, for comparison, and for problems that are known to be easy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.judge import judged
from spatialops.contact.cone.newton import newton
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.projection import DISCS, NATURAL
from spatialops.contact.cone.system import System
from spatialops.errors import ArgumentError


@dataclass(frozen=True)
class ConeGaussSeidel:
    """Block Gauss-Seidel alone: robust to a few digits, slow where contacts are redundant.

    Parameters
    ----------
    max_sweeps : int
    tolerance : float
        Change of r in a sweep, relative to r, at which to stop.
    """

    max_sweeps: int = 1000
    tolerance: float = 1e-12

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConeSolution:
        """Solve from `warm_start` (n,), or from zero."""
        system, taken = System.of(problem), 0
        r = np.zeros(problem.size) if warm_start is None else system.inward(warm_start)
        with np.errstate(all="ignore"):
            while taken < self.max_sweeps:
                taken += 10
                if not sweep(system, r, 10) > self.tolerance * np.abs(r).max():
                    break
        return judged(problem, system.outward(r), taken, "gauss-seidel")


@dataclass(frozen=True)
class ConeNewton:
    """Some sweeps and semismooth Newton alone: fast, and may stall on redundant contacts.

    Parameters
    ----------
    map : {"natural", "discs"}
        De Saxce's natural map, or Alart and Curnier's.
    sweeps, max_steps : int
    """

    map: str = "natural"
    sweeps: int = 30
    max_steps: int = 50

    def __post_init__(self) -> None:
        if self.map not in ("natural", "discs"):
            raise ArgumentError(f"map: expected 'natural' or 'discs', got {self.map!r}")

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConeSolution:
        """Solve from `warm_start` (n,), or from zero and the sweeps."""
        system = System.of(problem)
        r = np.zeros(problem.size) if warm_start is None else system.inward(warm_start)
        with np.errstate(all="ignore"):
            if warm_start is None:
                sweep(system, r, self.sweeps)
            taken, _ = newton(system, r, NATURAL if self.map == "natural" else DISCS, self.max_steps, 1e-14)
        return judged(problem, system.outward(r), taken, "newton")


@dataclass(frozen=True)
class ConeInteriorPoint:
    """Interior point on the exact problem and a few Newton steps: for one kind of friction.

    Parameters
    ----------
    max_steps : int
    """

    max_steps: int = 60

    def solve(self, problem: ConeProblem, warm_start: Any = None) -> ConeSolution:
        """Solve; `warm_start` is not used."""
        system = System.of(problem)
        if system.mu.shape[1] > 1:
            raise ArgumentError("ConeInteriorPoint: takes one kind of friction at a contact; try solver='auto'")
        r, taken = interior(system, self.max_steps)
        with np.errstate(all="ignore"):
            steps, _ = newton(system, r, DISCS, 40, 1e-14)
        return judged(problem, system.outward(r), taken + steps, "interior point")
