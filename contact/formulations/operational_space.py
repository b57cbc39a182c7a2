"""The operational-space (OS) formulation, [J] 53: unknowns are contact impulses and slip speeds only.

    w = [D* W D, E; [mu, -E*], 0] z + [D* v; mu theta],   z = [beta; sigma]

with W = Q Lambda Q* the compliance of the contacts along their frames, D = [n, d_1 .. d_nf], and v the velocities that
the contacts would have without their impulses. Impulses are measured by the velocity that they cause: beta in the LCP
is impulse times s, s = max diag W, so that all unknowns are speeds and one residual speaks for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops._jit import kernel
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP

if TYPE_CHECKING:
    from spatialops.contact.problem import ContactProblem


@kernel
def compliance_scale(W: Array, size: int) -> float:
    """Largest diagonal entry of W, or 1 where nothing moves."""
    scale = 0.0
    for i in range(size):
        scale = max(scale, W[i, i])
    return scale if scale > 0.0 else 1.0


@kernel
def assemble_kernel(
    W: Array, velocities: Array, friction: Array, offset: Array, facets: Array, A: Array, b: Array
) -> float:
    """A and b of m contacts: velocities (m, 3), friction and offset (m,), facets (n_f, 2); returns the scale s.

    Order of z: for each contact F_n, beta_1 .. beta_nf; then all sigma. `offset` is an impulse mu theta that already
    presses ([J] leaves it out of 57; without it friction would not answer the impulse of decompression).
    """
    m, nf = friction.size, facets.shape[0]
    width, sigma = nf + 1, m * (nf + 1)
    s = compliance_scale(W, 3 * m)
    inverse = 1.0 / s
    for i in range(m):
        for a in range(width):
            n_a, x_a, y_a = (1.0, 0.0, 0.0) if a == 0 else (0.0, facets[a - 1, 0], facets[a - 1, 1])
            row = width * i + a
            b[row] = n_a * velocities[i, 0] + x_a * velocities[i, 1] + y_a * velocities[i, 2]
            for j in range(m):
                r, c = 3 * i, 3 * j
                w_n = inverse * (n_a * W[r, c] + x_a * W[r + 1, c] + y_a * W[r + 2, c])
                w_x = inverse * (n_a * W[r, c + 1] + x_a * W[r + 1, c + 1] + y_a * W[r + 2, c + 1])
                w_y = inverse * (n_a * W[r, c + 2] + x_a * W[r + 1, c + 2] + y_a * W[r + 2, c + 2])
                A[row, width * j] = w_n
                for e in range(nf):
                    A[row, width * j + 1 + e] = facets[e, 0] * w_x + facets[e, 1] * w_y
            for j in range(m):
                A[row, sigma + j] = 1.0 if (j == i and a > 0) else 0.0
        row = sigma + i
        for j in range(sigma + m):
            A[row, j] = 0.0
        A[row, width * i] = friction[i]
        for a in range(1, width):
            A[row, width * i + a] = -1.0
        b[row] = s * friction[i] * offset[i]
    return s


@kernel
def recover_kernel(z: Array, facets: Array, scale: float, impulses: Array) -> None:
    """Impulses (3 m,) along the frames from z."""
    nf = facets.shape[0]
    inverse = 1.0 / scale
    for i in range(impulses.size // 3):
        x, y, start = 0.0, 0.0, (nf + 1) * i
        for e in range(nf):
            x += facets[e, 0] * z[start + 1 + e]
            y += facets[e, 1] * z[start + 1 + e]
        impulses[3 * i], impulses[3 * i + 1], impulses[3 * i + 2] = inverse * z[start], inverse * x, inverse * y


@dataclass(frozen=True)
class OperationalSpace:
    """OS formulation with `n_f` friction directions a contact; the LCP has m (n_f + 2) rows."""

    n_f: int = 4

    def __post_init__(self) -> None:
        directions(self.n_f)

    def assemble(self, problem: ContactProblem) -> MixedLCP:
        """The LCP of [J] 53 for one contact problem."""
        m = len(problem.friction)
        n = m * (self.n_f + 2)
        A, b = np.empty((n, n)), np.empty(n)
        assemble_kernel(
            problem.compliance, problem.velocities, problem.friction, problem.offset, directions(self.n_f), A, b
        )
        return MixedLCP(A, b)

    def recover(self, problem: ContactProblem, solution: LCPSolution) -> Array:
        """Impulses (m, 3) along the contact frames, N s."""
        impulses = np.empty(3 * len(problem.friction))
        scale = compliance_scale(problem.compliance, impulses.size)
        recover_kernel(solution.z, directions(self.n_f), scale, impulses)
        return impulses.reshape(-1, 3)
