"""The operational-space formulation of free bodies (NMC/OS, [J] section 8), hinges as equalities.

[J] 53 with the bodies' own inertias for the mass matrix: Lambda = G M^-1 G* is sparse, since a row
touches two bodies. Impulses are scaled by s, the largest diagonal entry over the contacts' rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations.nmc import spread_sparse
from spatialops.contact.formulations.polyhedron import cone_triplets, with_idle, without_idle
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses

if TYPE_CHECKING:
    from scipy import sparse


def bodies_response(
    problem: ContactProblem,
) -> tuple[sparse.csr_array, sparse.csr_array, Array, float]:
    """M^-1 G* and G M^-1 G* of free bodies, velocities without impulses, and the scale s."""
    system = problem.maximal
    gains = system.solve_mass(system.rows)
    W, first = (system.rows @ gains).tocsr(), system.n_hinges + problem.n_loop_rows
    u = system.rows @ system.velocity
    u[system.n_hinges : first] -= problem.loop_targets
    u[first:] += problem.bias.ravel()
    scale = float(W.diagonal()[first:].max(initial=0.0))
    return gains, W, u, scale if scale > 0.0 else 1.0


@dataclass(frozen=True)
class NonMinimalOperationalSpace:
    """Operational space of free bodies: impulses of hinges, closures and contacts, no velocities.

    n_b + m (n_f + 2) rows, n_b with 6 - d for every joint of d degrees of freedom; those are free.
    A is sparse.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 53 and section 8.
    """

    n_f: int = 4

    def __post_init__(self) -> None:
        directions(self.n_f)

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 53 for free bodies, in O(n).

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.

        Returns
        -------
        MixedLCP
            For `contact.solve`; `recover` reads its solution.
        """
        from scipy import sparse

        m, n_f = problem.n_contacts, self.n_f
        _, W, u, s = bodies_response(problem)
        free = len(u) - 3 * m
        D = spread_sparse(free, m, n_f)
        block = ((D @ W @ D.T) / s).tocoo()
        rows, columns, cones = cone_triplets(problem.friction, n_f, free)
        last = free + m * (n_f + 1)
        entries = np.concatenate([block.data, cones])
        where = (
            np.concatenate([block.coords[0], rows]),
            np.concatenate([block.coords[1], columns]),
        )
        A = sparse.csc_array((entries, where), shape=(last + m, last + m))
        limits = s * (problem.friction * problem.prior_normal_impulse + problem.dry)
        return without_idle(problem, MixedLCP(A, np.concatenate([D @ u, limits]), free), n_f)

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Impulses, velocities of the bodies by M^-1, and those of the joints from them.

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
        system = problem.maximal
        m = problem.n_contacts
        n_b = problem.n_loop_rows
        gains, _, _, s = bodies_response(problem)
        free = system.n_hinges + n_b
        solution = with_idle(problem, solution, self.n_f)
        impulses = polyhedral_impulses(solution, free, m, directions(self.n_f), 1.0 / s)
        bilateral = solution.z[:free] / s
        velocity = system.velocity + gains @ np.concatenate([bilateral, impulses.ravel()])
        v = system.tree_velocity(velocity)
        return ContactSolution(v, impulses, bilateral[system.n_hinges :], problem.slip(v))
