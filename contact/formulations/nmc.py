"""The non-minimal-coordinates (NMC) formulation, [J] 27: free bodies, hinges as equalities.

The same equations as those of MC ([J] 36), in the bodies' velocities V: M is block diagonal, G_b
holds the hinges' rows before those of the closures, and everything is sparse. Impulses are divided
by the mechanism's mass.
"""

from __future__ import annotations

import numpy as np

from spatialops.contact.body_columns import descriptor_columns, with_cones
from spatialops.contact.body_rows import spread_rows
from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.formulations.polyhedron import spread
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, Matrix, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses


class NonMinimalCoordinates(PolyhedralFormulation):
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

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 27, in O(n)."""
        system = problem.maximal
        n_f = self.n_f
        unit = problem.model.mass
        n_v, n_bilateral = system.velocity.size, system.first_contact
        rows = spread_rows(system.constraints, n_bilateral, directions(n_f))
        free = n_v + n_bilateral
        A = with_cones(descriptor_columns(rows, system.blocks / unit), problem.friction, n_f)
        b = np.zeros(A.size)
        b[:n_v] = -system.momentum / unit
        b[n_v + system.n_hinges : free] = -problem.loop_targets
        b[free : n_v + rows.n_rows] = spread(problem.bias.ravel(), n_f)
        b[n_v + rows.n_rows :] = (
            problem.friction * problem.prior_normal_impulse + problem.dry
        ) / unit
        matrix = A.matrix()
        if system.armature is not None:
            matrix = _with_mass(matrix, system.armature / unit)
        return MixedLCP(matrix, b, free)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Impulses, and joint velocities from the bodies'."""
        system = problem.maximal
        unit = problem.model.mass
        n_v = system.velocity.size
        free = n_v + system.first_contact
        bodies = solution.z[:n_v]
        impulses = polyhedral_impulses(
            solution, free, problem.n_contacts, directions(self.n_f), unit
        )
        loops = solution.z[free - problem.n_loop_rows : free] * unit
        slip = system.slip(bodies, problem.drift)
        return ContactSolution(system.tree_velocity(bodies), impulses, loops, slip)


def _with_mass(A: Matrix, armature: Matrix) -> Matrix:
    """A matrix with the armature's part of M added to its first rows and columns."""
    from scipy import sparse

    part = armature.tocoo()
    added = sparse.csc_array((part.data, (part.row, part.col)), shape=A.shape)
    return A + (added.toarray() if isinstance(A, np.ndarray) else added)
