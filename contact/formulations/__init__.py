"""Formulations of the contact problem: `assemble(problem)` makes a MixedLCP, `recover(problem, solution)` reads it off.

The progression of [J]: maximal coordinates (NMC), minimal ones (MC), reduced (RMC), operational space (OS); beside it
OS on maximal coordinates (NMC/OS) and Trinkle's hybrid.
"""

from __future__ import annotations

from typing import Any, Protocol

from spatialops.contact.formulations.mc import MinimalCoordinates
from spatialops.contact.formulations.nmc import NonMinimalCoordinates
from spatialops.contact.formulations.nmc_os import NonMinimalOperationalSpace
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.formulations.rmc import ReducedMinimalCoordinates
from spatialops.contact.formulations.trinkle import Trinkle
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.errors import ArgumentError


class Formulation(Protocol):
    """What a formulation is: options as fields, and two methods."""

    @property
    def n_f(self) -> int:
        """Friction directions a contact."""

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """The complementarity problem of a contact problem."""

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Velocities and impulses of a solution."""


FORMULATIONS: dict[str, Any] = {
    "nmc": NonMinimalCoordinates,
    "mc": MinimalCoordinates,
    "rmc": ReducedMinimalCoordinates,
    "os": OperationalSpace,
    "nmc/os": NonMinimalOperationalSpace,
    "trinkle": Trinkle,
}


def check_formulation(formulation: Any, n_f: int = 4) -> Formulation:
    """The formulation that a name stands for, with `n_f` directions, or the object itself.

    Raises
    ------
    ArgumentError
        For anything else, a formulation's class included.
    """
    if isinstance(formulation, str) and formulation.lower() in FORMULATIONS:
        named: Formulation = FORMULATIONS[formulation.lower()](n_f)
        return named
    if isinstance(formulation, (str, type)) or not (
        hasattr(formulation, "assemble") and hasattr(formulation, "recover")
    ):
        names = ", ".join(repr(name) for name in FORMULATIONS)
        raise ArgumentError(
            f"formulation: expected one of {names} or an object such as OperationalSpace(), got {formulation!r}"
        )
    given: Formulation = formulation
    return given
