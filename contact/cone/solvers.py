"""The methods of the ladder one by one, for comparison and for problems known to be easy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from spatialops._arrays import ArrayLike, is_one_of
from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.interior import interior
from spatialops.contact.cone.newton import TARGET, newton
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.projection import ALART_CURNIER, DE_SAXCE
from spatialops.contact.cone.scaled_problem import ScaledProblem
from spatialops.contact.cone.verify import verified
from spatialops.errors import ArgumentError

Map: TypeAlias = Literal["natural", "discs"]


@dataclass(frozen=True)
class ConeGaussSeidel:
    """Block Gauss-Seidel alone: robust to a few digits, slow where contacts are redundant.

    Parameters
    ----------
    max_sweeps : int
        Over all contacts; they come in tens.
    tolerance : float
        Change of r in a sweep, relative to r, at which to stop.
    """

    max_sweeps: int = 1000
    tolerance: float = 1e-12

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConeSolution:
        """Solve by sweeps over the contacts.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            Where to start; default: zero.

        Returns
        -------
        ConeSolution
            `status` is SOLVED only if both residuals in the original data hold.
        """
        system, taken = ScaledProblem.of(problem), 0
        r = np.zeros(problem.size) if warm_start is None else system.inward(warm_start)
        with np.errstate(all="ignore"):
            while taken < self.max_sweeps:
                taken += 10
                if not sweep(system, r, 10) > self.tolerance * np.abs(r).max():
                    break
        return verified(problem, system.outward(r), taken, "gauss-seidel")


@dataclass(frozen=True)
class ConeNewton:
    """Some sweeps and semismooth Newton alone: fast, and may stall on redundant contacts.

    Parameters
    ----------
    map : {"natural", "discs"}
        De Saxce's natural map, or Alart and Curnier's.
    sweeps : int
        Of Gauss-Seidel at first, where there is no warm start.
    max_steps : int
        Newton steps.
    """

    map: Map = "natural"
    sweeps: int = 30
    max_steps: int = 50

    def __post_init__(self) -> None:
        if not is_one_of(self.map, get_args(Map)):
            raise ArgumentError(f"map: expected 'natural' or 'discs', got {self.map!r}")

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConeSolution:
        """Solve by Newton steps.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            Where to start; default: zero, and the sweeps.

        Returns
        -------
        ConeSolution
            `status` is SOLVED only if both residuals in the original data hold.
        """
        system = ScaledProblem.of(problem)
        r = np.zeros(problem.size) if warm_start is None else system.inward(warm_start)
        with np.errstate(all="ignore"):
            if warm_start is None:
                sweep(system, r, self.sweeps)
            which = DE_SAXCE if self.map == "natural" else ALART_CURNIER
            taken, _ = newton(system, r, which, self.max_steps, TARGET)
        return verified(problem, system.outward(r), taken, "newton")


@dataclass(frozen=True)
class ConeInteriorPoint:
    """Interior point on the exact problem and a few Newton steps: for one kind of friction.

    Parameters
    ----------
    max_steps : int
        Of the interior point.
    """

    max_steps: int = 60

    def solve(self, problem: ConeProblem, warm_start: ArrayLike | None = None) -> ConeSolution:
        """Solve by an interior point, and Newton steps from where it ends.

        Parameters
        ----------
        problem : ConeProblem
            Contacts with their frames and coefficients.
        warm_start : (n,) array_like, optional
            Not used.

        Returns
        -------
        ConeSolution
            `status` is SOLVED only if both residuals in the original data hold.

        Raises
        ------
        ArgumentError
            For torsional or rolling friction beside sliding.
        """
        system = ScaledProblem.of(problem)
        if system.mu.shape[1] > 1:
            raise ArgumentError(
                "ConeInteriorPoint: takes one kind of friction at a contact; try solver='auto'"
            )
        r, taken = interior(system, self.max_steps)
        with np.errstate(all="ignore"):
            steps, _ = newton(system, r, ALART_CURNIER, 40, TARGET)
        return verified(problem, system.outward(r), taken + steps, "interior-point")
