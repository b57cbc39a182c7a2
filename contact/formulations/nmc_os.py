"""The operational-space formulation of free bodies (NMC/OS, [J] section 8), hinges as equalities.

[J] 53 with the bodies' own inertias for the mass matrix: Lambda = G M^-1 G* is sparse, since a row
touches two bodies. Impulses are scaled by s, the largest diagonal entry over the contacts' rows.
"""

from __future__ import annotations

import numpy as np

from spatialops.contact.body_columns import SPARSE_ROWS, with_cones
from spatialops.contact.body_rows import spread_rows
from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.formulations.operational_space import assemble_kernel, compliance_scale
from spatialops.contact.formulations.polyhedron import put_spread
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.maximal import MaximalProblem
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses


class NonMinimalOperationalSpace(PolyhedralFormulation):
    """Operational space of free bodies: impulses of hinges, closures and contacts, no velocities.

    n_b + m (n_f + 2) rows, n_b with 6 - d for every joint of d degrees of freedom; those are free.
    A is sparse, but for few rows.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 53 and section 8.
    """

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 53 for free bodies, in O(n)."""
        n_f = self.n_f
        system = problem.maximal
        s, free = _scale(system, n_f), system.first_contact
        facets = directions(n_f)
        u = system.velocities.copy()
        u[system.n_hinges : free] -= problem.loop_targets
        u[free:] += problem.bias.ravel()
        if _is_small(system, n_f):
            n = _size(system, n_f)
            A, b = np.empty((n, n)), np.empty(n)
            W, prior = system.dense_compliance, problem.prior_normal_impulse
            assemble_kernel(W, u, problem.friction, prior, facets, A, b)
            b[n - problem.n_contacts :] += s * problem.dry
            return MixedLCP.of_checked(A, b, free)
        rows = spread_rows(system.constraints, free, facets)
        columns = system.compliance(rows)
        sparse = with_cones(columns._replace(entries=columns.entries / s), problem.friction, n_f)
        b = np.empty(sparse.size)
        put_spread(u, free, facets, b)
        b[rows.n_rows :] = s * (problem.friction * problem.prior_normal_impulse + problem.dry)
        return MixedLCP(sparse.matrix(), b, free)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Impulses, velocities of the bodies by M^-1, and those of the joints from them."""
        system = problem.maximal
        s, free = _scale(system, self.n_f), system.first_contact
        impulses = polyhedral_impulses(
            solution, free, problem.n_contacts, directions(self.n_f), 1.0 / s
        )
        bilateral = solution.z[:free] / s
        bodies = system.after(system.constraints, np.concatenate([bilateral, impulses.ravel()]))
        v, slip = system.tree_velocity(bodies), system.slip(bodies, problem.drift)
        return ContactSolution(v, impulses, bilateral[system.n_hinges :], slip)


def _size(system: MaximalProblem, n_f: int) -> int:
    """Rows of the complementarity problem."""
    free = system.first_contact
    return free + (n_f + 2) * ((system.constraints.n_rows - free) // 3)


def _is_small(system: MaximalProblem, n_f: int) -> bool:
    """Whether G M^-1 G* is made as a dense matrix."""
    return system.armature is None and _size(system, n_f) < SPARSE_ROWS


def _scale(system: MaximalProblem, n_f: int) -> float:
    """What impulses are multiplied with."""
    if _is_small(system, n_f):
        return float(compliance_scale(system.dense_compliance, system.first_contact))
    return system.contact_scale
