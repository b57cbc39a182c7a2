"""Trinkle's hybrid of NMC and RMC (end of [J] section 5): hinges as complementary pairs.

Velocities are eliminated as in RMC, and so are the impulses of loop closures; each hinge row c = 0
becomes the pair c >= 0 and -c >= 0 with impulses of either sign:

    w = [ S W S*, E; [mu, -E*], 0 ] z + [ S u; mu prior ],   S = [C; -C; D* G_u],   W = S Y S*

with Y the inverse mass matrix of free bodies on the motions that the closures admit, and C the
hinges' rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.formulations.polyhedron import put_cones, spread
from spatialops.contact.formulations.rmc import pseudo_inverse
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses


class _Reduced(NamedTuple):
    """Compliance and velocities of hinges and contacts without closures, and how to get those."""

    W: Array
    u: Array
    to_loops: Array
    loops: Array


class Trinkle(PolyhedralFormulation):
    """Trinkle's hybrid: hinges as pairs of complementarity conditions, nothing is free.

    2 n_h + m (n_f + 2) rows, n_h those of the hinges.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    The end of [J] section 5.
    """

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The LCP, dense."""
        m = problem.n_contacts
        n_f = self.n_f
        h = problem.maximal.n_hinges
        reduced, s = problem.once(_reduce), problem.maximal.contact_scale
        signs = np.concatenate([np.eye(h), -np.eye(h)])
        rows = np.zeros((2 * h + m * (n_f + 1), h + 3 * m))
        rows[: 2 * h, :h] = signs
        rows[2 * h :, h:] = spread(np.eye(3 * m), n_f)
        last = len(rows)
        A, b = np.zeros((last + m, last + m)), np.empty(last + m)
        A[:last, :last] = rows @ reduced.W @ rows.T / s
        put_cones(A, problem.friction, n_f, 2 * h)
        b[:last] = rows @ reduced.u
        b[last:] = s * (problem.friction * problem.prior_normal_impulse + problem.dry)
        return MixedLCP(A, b)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """All impulses, velocities of the bodies by M^-1, and those of the joints from them."""
        system, m = problem.maximal, problem.n_contacts
        reduced = problem.once(_reduce)
        h = system.n_hinges
        s = system.contact_scale
        hinges = (solution.z[:h] - solution.z[h : 2 * h]) / s
        impulses = polyhedral_impulses(solution, 2 * h, m, directions(self.n_f), 1.0 / s)
        kept = np.concatenate([hinges, impulses.ravel()])
        loops = reduced.loops + reduced.to_loops @ kept
        every = np.concatenate([hinges, loops, impulses.ravel()])
        bodies = system.after(system.constraints, every)
        v, slip = system.tree_velocity(bodies), system.slip(bodies, problem.drift)
        return ContactSolution(v, impulses, loops, slip)


def _reduce(problem: ContactProblem) -> _Reduced:
    """Eliminate the closures' impulses by a pseudo-inverse, since closures may be redundant."""
    system = problem.maximal
    h = system.n_hinges
    n_b = problem.n_loop_rows
    W, u = system.compliance(system.constraints).dense(), system.velocities.copy()
    u[h : h + n_b] -= problem.loop_targets
    u[h + n_b :] += problem.bias.ravel()
    keep, loop = np.delete(np.arange(len(u)), np.s_[h : h + n_b]), np.arange(h, h + n_b)
    inverse = pseudo_inverse(W[np.ix_(loop, loop)])
    to_loops = -inverse @ W[np.ix_(loop, keep)]
    loops = -inverse @ u[loop]
    reduced = W[np.ix_(keep, keep)] + W[np.ix_(keep, loop)] @ to_loops
    return _Reduced(reduced, u[keep] + W[np.ix_(keep, loop)] @ loops, to_loops, loops)
