"""What a formulation is, and what those of the literature share: polyhedra of friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from spatialops.contact.formulations.polyhedron import with_idle, without_idle
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution


class Formulation(Protocol):
    """What a formulation is: options as fields, and two methods."""

    @property
    def n_f(self) -> int:
        """Friction directions a contact."""

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """The complementarity problem of a contact problem.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.

        Returns
        -------
        MixedLCP
            For `contact.solve`; `recover` reads its solution.

        Examples
        --------
        >>> import spatialops as so
        >>> from spatialops.compare.problems import pendulum_case
        >>> problem = pendulum_case(6).problem  # or that of a simulator: sim.problem(state)
        >>> formulation = so.contact.OperationalSpace(n_f=4)
        >>> lcp = formulation.assemble(problem)
        >>> lcp.size, lcp.n_free
        (24, 0)
        >>> answer = formulation.recover(problem, so.contact.solve(lcp))
        >>> answer.velocity.shape, answer.impulses.shape
        ((6,), (4, 3))
        """

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Velocities and impulses of a solution.

        Parameters
        ----------
        problem : ContactProblem
            The same that was assembled.
        solution : LCPSolution
            Of the assembled problem.

        Returns
        -------
        ContactSolution
            Joint velocities and impulses.
        """


@dataclass(frozen=True)
class PolyhedralFormulation(ABC):
    """A mixed LCP whose last rows are those of all contacts, n_f + 2 each.

    A subclass states it (`_state`) and reads velocities and impulses off its solution (`_read`),
    with rows for all contacts; rows of stops and dry friction that do nothing are left out between.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.
    """

    n_f: int = 4

    def __post_init__(self) -> None:
        directions(self.n_f)

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """See `Formulation.assemble`."""
        return without_idle(problem, self._state(problem), self.n_f)

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """See `Formulation.recover`."""
        return self._read(problem, with_idle(problem, solution, self.n_f))

    @abstractmethod
    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP, with rows for all contacts."""

    @abstractmethod
    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Velocities and impulses, of a solution with rows for all contacts."""
