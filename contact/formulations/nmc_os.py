"""The operational-space formulation of free bodies (NMC/OS, [J] section 8), hinges as equalities.

[J] 53 with the bodies' own inertias for the mass matrix: Lambda = G M^-1 G* is sparse, since a row
touches two bodies. Impulses are scaled by s, the largest diagonal entry over the contacts' rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops.contact.body_columns import with_cones
from spatialops.contact.body_rows import spread_rows
from spatialops.contact.formulations.polyhedron import put_spread, with_idle, without_idle
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses


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
        n_f = self.n_f
        system = problem.maximal
        s, free = system.contact_scale, system.first_contact
        facets = directions(n_f)
        rows = spread_rows(system.constraints, free, facets)
        W = system.compliance(rows)
        A = with_cones(W._replace(entries=W.entries / s), problem.friction, n_f)
        b, u = np.empty(A.size), system.velocities.copy()
        u[system.n_hinges : free] -= problem.loop_targets
        u[free:] += problem.bias.ravel()
        put_spread(u, free, facets, b)
        b[rows.n_rows :] = s * (problem.friction * problem.prior_normal_impulse + problem.dry)
        return without_idle(problem, MixedLCP(A.matrix(), b, free), n_f)

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
        s, free = system.contact_scale, system.first_contact
        solution = with_idle(problem, solution, self.n_f)
        impulses = polyhedral_impulses(
            solution, free, problem.n_contacts, directions(self.n_f), 1.0 / s
        )
        bilateral = solution.z[:free] / s
        bodies = system.after(system.constraints, np.concatenate([bilateral, impulses.ravel()]))
        v, slip = system.tree_velocity(bodies), system.slip(bodies, problem.drift)
        return ContactSolution(v, impulses, bilateral[system.n_hinges :], slip)
