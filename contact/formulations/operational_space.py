"""The operational-space (OS) formulation, [J] 53: unknowns are impulses and slip speeds only.

    w = [Q_b; D* Q_u] Lambda [Q_b*, Q_u* D] | E  z + [closures' velocities - targets; D* v; mu
    theta]
        ------------------------------------+---
        0, [mu, -E*]                        | 0
    z = [p_b; beta; sigma], the first n_b rows equalities

Q Lambda Q* is the compliance W of closures and contacts along their rows, D = [n, d_1 .. d_nf], and
v the velocities that the contacts would have without impulses. Impulses are measured by the
velocity that they cause: those in the LCP are impulses times s, s = max diag of W over the
contacts, so that all unknowns are speeds and one residual speaks for all rows.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, instance
from spatialops._compile.jit import kernel
from spatialops.contact.formulations.formulation import PolyhedralFormulation
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem, ContactSolution


@kernel
def compliance_scale(W: Array, n_b: int) -> float:
    """Largest diagonal entry of W over the contacts' rows, from n_b on; 1 where nothing moves."""
    scale = 0.0
    for i in range(n_b, W.shape[0]):
        scale = max(scale, W[i, i])
    return scale if scale > 0.0 else 1.0


@kernel
def assemble_kernel(
    W: Array, u: Array, friction: Array, prior: Array, facets: Array, A: Array, b: Array
) -> float:
    """A and b from W and velocities u of closures and contacts; returns the scale s.

    `facets` are (n_f, 2). Order of z: p_b; for each contact F_n, beta_1 .. beta_nf; then all sigma.
    `prior` is an impulse theta that already presses ([J] leaves it out of 57; without it friction
    would not answer the impulse of decompression).
    """
    m, nf = friction.size, facets.shape[0]
    n_b, width = u.size - 3 * m, nf + 1
    sigma, s = n_b + m * width, compliance_scale(W, n_b)
    inverse = 1.0 / s
    if n_b > 0:
        assemble_closures(W, u, facets, inverse, m, A, b)
    for i in range(m):
        r = n_b + 3 * i
        for a in range(width):
            n_a, x_a, y_a = (1.0, 0.0, 0.0) if a == 0 else (0.0, facets[a - 1, 0], facets[a - 1, 1])
            row = n_b + width * i + a
            b[row] = n_a * u[r] + x_a * u[r + 1] + y_a * u[r + 2]
            for j in range(n_b):
                A[row, j] = inverse * (n_a * W[r, j] + x_a * W[r + 1, j] + y_a * W[r + 2, j])
            for j in range(m):
                c, start = n_b + 3 * j, n_b + width * j
                w_n = inverse * (n_a * W[r, c] + x_a * W[r + 1, c] + y_a * W[r + 2, c])
                w_x = inverse * (n_a * W[r, c + 1] + x_a * W[r + 1, c + 1] + y_a * W[r + 2, c + 1])
                w_y = inverse * (n_a * W[r, c + 2] + x_a * W[r + 1, c + 2] + y_a * W[r + 2, c + 2])
                A[row, start] = w_n
                for e in range(nf):
                    A[row, start + 1 + e] = facets[e, 0] * w_x + facets[e, 1] * w_y
            for j in range(m):
                A[row, sigma + j] = 1.0 if (j == i and a > 0) else 0.0
        row = sigma + i
        for j in range(sigma + m):
            A[row, j] = 0.0
        A[row, n_b + width * i] = friction[i]
        for a in range(1, width):
            A[row, n_b + width * i + a] = -1.0
        b[row] = s * friction[i] * prior[i]
    return s


@kernel
def assemble_closures(
    W: Array, u: Array, facets: Array, inverse: float, m: int, A: Array, b: Array
) -> None:
    """The closures' rows: W as it is for closures, times D for contacts."""
    nf, n_b = facets.shape[0], u.size - 3 * m
    for i in range(n_b):
        b[i] = u[i]
        for j in range(n_b):
            A[i, j] = inverse * W[i, j]
        for j in range(m):
            c, start = n_b + 3 * j, n_b + (nf + 1) * j
            A[i, start] = inverse * W[i, c]
            for e in range(nf):
                A[i, start + 1 + e] = inverse * (
                    facets[e, 0] * W[i, c + 1] + facets[e, 1] * W[i, c + 2]
                )
        for j in range(n_b + m * (nf + 1), A.shape[1]):
            A[i, j] = 0.0


@kernel
def recover_kernel(z: Array, n_b: int, facets: Array, scale: float, impulses: Array) -> None:
    """Impulses (n_b + 3 m,) of closures, and of contacts along their frames, from z."""
    nf = facets.shape[0]
    inverse = 1.0 / scale
    for i in range(n_b):
        impulses[i] = inverse * z[i]
    for i in range((impulses.size - n_b) // 3):
        x = 0.0
        y = 0.0
        start = n_b + (nf + 1) * i
        r = n_b + 3 * i
        for e in range(nf):
            x += facets[e, 0] * z[start + 1 + e]
            y += facets[e, 1] * z[start + 1 + e]
        impulses[r] = inverse * z[start]
        impulses[r + 1] = inverse * x
        impulses[r + 2] = inverse * y


class OperationalSpace(PolyhedralFormulation):
    """Operational space: impulses and slip speeds only.

    n_b + m (n_f + 2) rows, the first n_b free.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction of a contact: even. Default: 4.

    References
    ----------
    [J] 53.
    """

    def _state(self, problem: ContactProblem) -> MixedLCP:
        """The mixed LCP of [J] 53, in O(N) + O(r^2) of r = n_b + 3 m rows.

        So it is where Q Lambda Q* is made of Lambda, which is cheaper for many rows on long
        branches. Of few rows, of closures and of joints it is L L*, in O(N r) + O(N r^2).
        """
        n_b = instance(problem, ContactProblem, "problem").n_loop_rows
        n = n_b + problem.n_contacts * (self.n_f + 2)
        A, b = np.empty((n, n)), np.empty(n)
        facets = directions(self.n_f)
        s = assemble_kernel(
            problem.compliance,
            problem.velocities,
            problem.friction,
            problem.prior_normal_impulse,
            facets,
            A,
            b,
        )
        b[n - problem.n_contacts :] += s * problem.dry
        return MixedLCP.of_checked(A, b, n_b)

    def _read(self, problem: ContactProblem, solution: LCPSolution) -> ContactSolution:
        """Impulses by [J] 35, and the new velocities by one O(N) sweep."""
        n_b = instance(problem, ContactProblem, "problem").n_loop_rows
        impulses = np.empty(n_b + 3 * problem.n_contacts)
        scale = compliance_scale(problem.compliance, n_b)
        recover_kernel(
            instance(solution, LCPSolution, "solution").z,
            n_b,
            directions(self.n_f),
            scale,
            impulses,
        )
        velocity = problem.after(impulses)
        slip = problem.slip(velocity)
        return ContactSolution(velocity, impulses[n_b:].reshape(-1, 3), impulses[:n_b], slip)
