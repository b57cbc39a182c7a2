"""The minimal-coordinates (MC) formulation, [J] 36: joint velocities and all impulses.

    [ M    -G_b*  -G_u* D   0 ]      [ v+    ]   [ -M v          ]
    [ G_b    0       0      0 ]  z = [ p_b   ]   [ -targets      ]
    [ D* G_u 0       0      E ]      [ beta  ]   [ D* bias       ]
    [ 0      0   [mu, -E*]  0 ]      [ sigma ]   [ mu prior      ]

v are the velocities without impulses, so that M v = M v- + (T - C) dt as in [J] 36. Impulses are
divided by the mass of the mechanism, to be velocities too; so are the rows of M.
"""

from __future__ import annotations

import numpy as np

from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.formulations.polyhedron import put_cones, spread
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses
from spatialops.dynamics.composite_body import mass_matrix


class MinimalCoordinates(PolyhedralFormulation):
    """Minimal coordinates: unknowns are joint velocities and all impulses.

    N + n_b + m (n_f + 2) rows, the first N + n_b free.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 36.
    """

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 36."""
        N = problem.model.nv
        n_b = problem.n_loop_rows
        m = problem.n_contacts
        n_f = self.n_f
        M = mass_matrix(problem.model, problem.q) / problem.model.mass
        rows = problem.jacobian
        rows = np.concatenate([rows[:n_b], spread(rows[n_b:], n_f)])
        free, last = N + n_b, N + len(rows)
        A, b = np.zeros((last + m, last + m)), np.zeros(last + m)
        A[:N, :N] = M
        A[:N, N:last] = -rows.T
        A[N:last, :N] = rows
        put_cones(A, problem.friction, n_f, free)
        b[:N] = -M @ problem.velocity
        b[N:free] = -problem.loop_targets
        b[free:last] = spread(problem.bias.ravel(), n_f)
        b[last:] = (
            problem.friction * problem.prior_normal_impulse + problem.dry
        ) / problem.model.mass
        return MixedLCP.of_checked(A, b, free)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Velocities and impulses, which are part of the solution."""
        N = problem.model.nv
        n_b = problem.n_loop_rows
        mass = problem.model.mass
        velocity, m = solution.z[:N], problem.n_contacts
        impulses = polyhedral_impulses(solution, N + n_b, m, directions(self.n_f), mass)
        loops = solution.z[N : N + n_b] * mass
        return ContactSolution(velocity.copy(), impulses, loops, problem.slip(velocity))
