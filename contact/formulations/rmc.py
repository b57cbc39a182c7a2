"""The reduced minimal-coordinates (RMC) formulation, [J] 41: no closures, no velocities.

    Y = M^-1 - M^-1 G_b* (G_b M^-1 G_b*)^+ G_b M^-1,
    X = v - M^-1 G_b* (G_b M^-1 G_b*)^+ (G_b v - targets),
    w = [D* G_u Y G_u* D, E; [mu, -E*], 0] z + [D* (G_u X + bias); mu prior],
    z = [beta; sigma]

and v+ = X + Y G_u* D beta ([J] 38-40), in O(N^3). Impulses are scaled by s = max diag G_u Y G_u*,
as in OS.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.formulations.operational_space import assemble_kernel, compliance_scale
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution, polyhedral_impulses
from spatialops.dynamics.composite_body import mass_matrix

# Relative size of an eigenvalue of G_b M^-1 G_b* below which its direction is redundant.
_RANK = 1e-12


class _Reduced(NamedTuple):
    """Y G_u* (N, 3 m), G_u Y G_u*, X (N,); M^-1 G_b* and (G_b M^-1 G_b*)^+ for the closures."""

    YG: Array
    W: Array
    X: Array
    MG_b: Array
    inverse: Array


class ReducedMinimalCoordinates(PolyhedralFormulation):
    """Reduced minimal coordinates: closures and velocities are eliminated.

    The LCP has m (n_f + 2) rows, none of them free.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 37-41.
    """

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The LCP of [J] 41."""
        n_b = problem.n_loop_rows
        reduced = problem.once(_reduce)
        size = problem.n_contacts * (self.n_f + 2)
        A, b = np.empty((size, size)), np.empty(size)
        u = problem.jacobian[n_b:] @ reduced.X + problem.bias.ravel()
        facets, prior = directions(self.n_f), problem.prior_normal_impulse
        s = assemble_kernel(reduced.W, u, problem.friction, prior, facets, A, b)
        b[size - problem.n_contacts :] += s * problem.dry
        return MixedLCP.of_checked(A, b, 0)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """New velocities by [J] 38, impulses of the closures by [J] 37b."""
        n_b, reduced = problem.n_loop_rows, problem.once(_reduce)
        s = compliance_scale(reduced.W, 0)
        impulses = polyhedral_impulses(
            solution, 0, problem.n_contacts, directions(self.n_f), 1.0 / s
        )
        velocity = reduced.X + reduced.YG @ impulses.ravel()
        pushed = problem.jacobian[:n_b] @ problem.velocity - problem.loop_targets
        pushed += reduced.MG_b.T @ problem.jacobian[n_b:].T @ impulses.ravel()
        return ContactSolution(
            velocity, impulses, -reduced.inverse @ pushed, problem.slip(velocity)
        )


def pseudo_inverse(W: Array) -> Array:
    """Moore-Penrose inverse of a symmetric positive semidefinite matrix, which may be empty."""
    if not W.size:
        return W.copy()
    return np.asarray(np.linalg.pinv(W, rcond=_RANK, hermitian=True), dtype=np.float64)


def _reduce(problem: ContactProblem) -> _Reduced:
    """[J] 39, with a pseudo-inverse where closures are redundant."""
    from scipy.linalg.lapack import dposv

    n_b, G = problem.n_loop_rows, problem.jacobian
    _, MG, failed = dposv(mass_matrix(problem.model, problem.q), G.T)
    if failed:
        raise np.linalg.LinAlgError("the mass matrix is not positive definite here")
    MG_b, MG_u = MG[:, :n_b], MG[:, n_b:]
    inverse = pseudo_inverse(G[:n_b] @ MG_b)
    gains = MG_b @ inverse
    X = problem.velocity - gains @ (G[:n_b] @ problem.velocity - problem.loop_targets)
    YG = MG_u - gains @ (G[:n_b] @ MG_u)
    W = G[n_b:] @ YG
    # What the closures hold does not move, but for rounding: no impulse could make up for a
    # velocity there.
    held = W.diagonal() <= _RANK * np.einsum("ij,ji->i", G[n_b:], MG_u)
    YG[:, held] = W[held] = W[:, held] = 0.0
    return _Reduced(YG, W, X, MG_b, inverse)
