"""The non-minimal-coordinates (NMC) formulation, [J] 27: free bodies, hinges as equalities.

The same equations as those of MC ([J] 36), in the bodies' velocities V: M is block diagonal, G_b
holds the hinges' rows before those of the closures, and everything is sparse. Impulses are divided
by the mechanism's mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops.contact.formulations.polyhedron import (
    combinations,
    cone_triplets,
    spread,
    with_idle,
    without_idle,
)
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses

if TYPE_CHECKING:
    from scipy import sparse


def spread_sparse(n_bilateral: int, m: int, n_f: int) -> sparse.csr_array:
    """I for bilateral rows, and D^T, which combines the three rows of each contact."""
    from scipy import sparse

    table = combinations(n_f)
    columns = n_bilateral + 3 * np.arange(m)[:, None, None] + np.tile(np.arange(3), (n_f + 1, 1))
    entries = np.concatenate([np.ones(n_bilateral), np.tile(table.ravel(), m)])
    indices = np.concatenate([np.arange(n_bilateral), columns.ravel()])
    starts = np.concatenate(
        [np.arange(n_bilateral), n_bilateral + 3 * np.arange(m * (n_f + 1) + 1)]
    )
    return sparse.csr_array(
        (entries, indices, starts), shape=(n_bilateral + m * (n_f + 1), n_bilateral + 3 * m)
    )


@dataclass(frozen=True)
class NonMinimalCoordinates:
    """Non-minimal coordinates: velocities of free bodies, and impulses of all hinges.

    6 n + n_b + m (n_f + 2) rows, n_b with 6 - d for every joint of d degrees of freedom; all but
    those of contacts are free, and the matrix is sparse.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 27.
    """

    n_f: int = 4

    def __post_init__(self) -> None:
        directions(self.n_f)

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 27, in O(n).

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

        system = problem.maximal
        m = problem.n_contacts
        n_f = self.n_f
        unit = problem.model.mass
        n_v, n_bilateral = system.velocity.size, system.n_hinges + problem.n_loop_rows
        rows = (spread_sparse(n_bilateral, m, n_f) @ system.rows).tocoo()
        mass = (system.mass / unit).tocoo()
        free, last = n_v + n_bilateral, n_v + rows.shape[0]
        i, j = rows.coords
        cone_rows, cone_columns, cones = cone_triplets(problem.friction, n_f, free)
        A = sparse.csc_array(
            (
                np.concatenate([mass.data, rows.data, -rows.data, cones]),
                (
                    np.concatenate([mass.coords[0], n_v + i, j, cone_rows]),
                    np.concatenate([mass.coords[1], j, n_v + i, cone_columns]),
                ),
            ),
            shape=(last + m, last + m),
        )
        b = np.zeros(last + m)
        b[:n_v] = -np.asarray(mass @ system.velocity)
        b[n_v + system.n_hinges : free] = -problem.loop_targets
        b[free:last] = spread(problem.bias.ravel(), n_f)
        b[last:] = (problem.friction * problem.prior_normal_impulse + problem.dry) / unit
        return without_idle(problem, MixedLCP(A, b, free), n_f)

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Impulses, and joint velocities from the bodies'.

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
        unit = problem.model.mass
        n_v, n_b = system.velocity.size, problem.n_loop_rows
        free = n_v + system.n_hinges + n_b
        solution = with_idle(problem, solution, self.n_f)
        bodies = solution.z[:n_v]
        u = (system.rows[system.n_hinges + n_b :] @ bodies).reshape(-1, 3)
        impulses = polyhedral_impulses(solution, free, m, directions(self.n_f), unit)
        loops = solution.z[free - n_b : free] * unit
        return ContactSolution(
            system.tree_velocity(bodies), impulses, loops, np.hypot(u[:, 1], u[:, 2])
        )
