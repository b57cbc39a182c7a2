"""Contact with viscous friction only ([D] section IV): 0 <= p_n _|_ u_n >= 0, and a drag against every slip.

    M v+ = M v + G_b^T p_b + N^T p_n - T^T K T v+,        K = diag(coefficient x duration)

[D] states it for accelerations, where the drag -T^T mu_v T v is a known force and goes into f* (29); so does
`EventDriven`. Over a step the drag is taken at the velocity after it, so that no coefficient is too large: in the
coordinates y of L (G M^-1 G^T = L L^T) the mass becomes H = 1 + T^T K T, and what is left is the LCP (41) of m
normals with the matrix N H^-1 N^T = N' N'^T, positive semidefinite as [D] shows: `pivot` solves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from spatialops._arrays import Array, scalar
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.no_slip import normals_and_dry, with_dry_friction
from spatialops.contact.laws.pivoting import pivot
from spatialops.contact.laws.solution import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    finite_friction,
    judged,
    normal_errors,
    of_joints_too,
    unit_compliance,
    without_moments,
)
from spatialops.contact.problem import ContactProblem
from spatialops.contact.rows import CONTACT, DRY


@dataclass(frozen=True, kw_only=True)
class Viscous:
    """No dry friction between bodies: a drag proportional to the slip, whether the contact presses or not.

    Parameters
    ----------
    coefficient : float, optional
        Force over slip, N s/m, of every contact. Default: a pair's own coefficient of friction, read in these units.
    impact : float
        Impulse over slip in impacts, N s per m/s. A finite drag has no impulse in no time: 0. [D] takes one number for
        both.
    film : float
        Gap, m, up to which a contact is wet.
    tolerance : float
        Largest accepted residual.

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models (2015), sections IV and V.
    """

    coefficient: float | None = None
    impact: float = 0.0
    film: float = 1e-4
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        if self.coefficient is not None:
            scalar(self.coefficient, "coefficient", low=0.0)
        scalar(self.impact, "impact", low=0.0)
        scalar(self.film, "film", low=0.0)

    def drag(self, friction: Array) -> Array:
        """Coefficients (m,), N s/m, of contacts with coefficients of friction (m,)."""
        return friction if self.coefficient is None else np.full(len(friction), float(self.coefficient))

    def solve(self, problem: ContactProblem, warm_start: Any = None) -> LawSolution:
        """Solve; contacts that push in `warm_start` (m, 3) are tried first."""
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        n_b, L, u = problem.n_loop_rows, problem.response.L, problem.velocities
        per_slip = self.impulse_per_slip(problem)
        held = Elimination(L[:n_b], u[:n_b])
        rows, u = held.reduce(L[n_b:], u[n_b:])
        chosen = normals_and_dry(problem)
        N, u_n = rows[chosen], u[chosen]
        T, u_t = rows.reshape(-1, 3, rows.shape[1])[:, 1:].reshape(-1, rows.shape[1]), u.reshape(-1, 3)[:, 1:].ravel()
        K = np.repeat(per_slip, 2)
        H = np.eye(rows.shape[1]) + T.T @ (K[:, None] * T)
        factor = np.linalg.cholesky(H)
        dragged = -scipy.linalg.cho_solve((factor, True), T.T @ (K * u_t))
        active = () if start is None else np.flatnonzero(start[:, 0] > 0.0)
        lengths, scale = np.sqrt(np.einsum("ij,ij->i", N, N)), float(np.abs(u).max(initial=0.0))
        N_dragged = scipy.linalg.solve_triangular(factor, N.T, lower=True).T
        along = np.zeros(problem.n_contacts)
        if (problem.kinds == DRY).any():
            found, along = with_dry_friction(problem, N_dragged, u_n + N @ dragged)
        else:
            found = pivot(N_dragged, u_n + N @ dragged, active, lengths=lengths, scale=scale)
        y = dragged + scipy.linalg.cho_solve((factor, True), rows[::3].T @ found.p + rows[1::3].T @ along)
        impulses = np.column_stack([found.p, (-K * (u_t + T @ y)).reshape(-1, 2)])
        impulses[:, 1] += along
        loops = held.impulses(L[n_b:].T @ impulses.ravel())
        s = unit_compliance(problem)

        def conditions(p: Array, u: Array) -> Array:
            # As a velocity where the drag is weak, as an impulse times s where it is strong.
            misses = np.hypot(*(p[:, 1:] + per_slip[:, None] * u[:, 1:]).T) * s / (1.0 + s * per_slip)
            return of_joints_too(problem, s, p, u, np.maximum(normal_errors(s, p, u), misses))

        return judged(problem, impulses, loops, conditions, found.iterations, tolerance=self.tolerance)

    def impulse_per_slip(self, problem: ContactProblem) -> Array:
        """Impulse over slip (m,), N s per m/s: of contacts that are wet, over the step or in an impact."""
        of_bodies = problem.kinds == CONTACT
        if problem.phase != "contact":
            return np.where(of_bodies, float(self.impact), 0.0)
        return np.where(of_bodies & (problem.gaps <= self.film), self.drag(problem.friction) * problem.duration, 0.0)
