"""Contact with viscous friction only ([D] section IV): normals, and a drag against every slip.

0 <= p_n _|_ u_n >= 0, and

    M v+ = M v + G_b^T p_b + N^T p_n - T^T K T v+,        K = diag(coefficient x duration)

[D] states it for accelerations, where the drag -T^T mu_v T v is a known force and goes into f*
(29); so does `EventDriven`. Over a step the drag is taken at the velocity after it, so that no
coefficient is too large: in the coordinates y of L (G M^-1 G^T = L L^T) the mass becomes H = 1 +
T^T K T, and what is left is the LCP (41) of m normals with the matrix N H^-1 N^T = N' N'^T,
positive semidefinite as [D] shows: `pivot` solves it, or another solver by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops.contact.constraint_rows import CONTACT, DRY
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    finite_friction,
    normal_errors,
    of_joints_too,
    unit_compliance,
    verified,
    without_moments,
)
from spatialops.contact.laws.no_slip import (
    by_solver,
    normals_and_dry,
    other_than_pivoting,
    pushing,
    with_dry_friction,
)
from spatialops.contact.laws.pivoting import pivot
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem


@dataclass(frozen=True, kw_only=True)
class Viscous:
    """No dry friction between bodies: a drag proportional to the slip, also where nothing presses.

    Parameters
    ----------
    coefficient : float, optional
        Force over slip, N s/m, of every contact. Default: a pair's own coefficient of friction,
        read in these units.
    impact : float, optional
        Impulse over slip in impacts, N s per m/s. A finite drag has no impulse in no time: 0. [D]
        takes one number for both.
    film : float, optional
        Gap, m, up to which a contact is wet. Default: 1e-4.
    solver : str or Solver, optional
        "pivoting" (`laws.pivoting`, the default), or what `contact.solve` takes for the
        complementarity problem of the m normals. With dry friction in joints the problem is that of
        normals and joints, whose solver is chosen by `contact.solve`.
    tolerance : float, optional
        Largest accepted residual. Default: 1e-9.

    Raises
    ------
    ArgumentError
        For a negative number or an unknown solver.

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models (2015),
    sections IV and V.

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ContactProblem, Viscous
    >>> from spatialops.models import pendulum
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(pendulum(1).model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> Viscous(coefficient=2.0).solve(problem).solved
    True
    """

    coefficient: float | None = None
    impact: float = 0.0
    film: float = 1e-4
    solver: str | Solver = "pivoting"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        if self.coefficient is not None:
            scalar(self.coefficient, "coefficient", low=0.0)
        scalar(self.impact, "impact", low=0.0)
        scalar(self.film, "film", low=0.0)
        other_than_pivoting(self.solver)

    def drag(self, friction: Array) -> Array:
        """Coefficients of viscous friction.

        Parameters
        ----------
        friction : (m,) array
            The contacts' coefficients of friction.

        Returns
        -------
        (m,) array
            Force over slip, N s/m.
        """
        if self.coefficient is None:
            return friction
        return np.full(len(friction), float(self.coefficient))

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses with the drag at the velocity after the step.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Impulses of an earlier problem; contacts that push in it are tried first.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.

        Raises
        ------
        ArgumentError
            For a problem with torsional or rolling friction or mu = inf, or a warm start that does
            not fit.
        """
        start = without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        n_b = problem.n_loop_rows
        L = problem.response.L
        u = problem.velocities
        per_slip = self.impulse_per_slip(problem)
        held = Elimination(L[:n_b], u[:n_b])
        rows, u = held.reduce(L[n_b:], u[n_b:])
        chosen = normals_and_dry(problem)
        N, u_n = rows[chosen], u[chosen]
        T = rows.reshape(-1, 3, rows.shape[1])[:, 1:].reshape(-1, rows.shape[1])
        u_t = u.reshape(-1, 3)[:, 1:].ravel()
        K = np.repeat(per_slip, 2)
        H = np.eye(rows.shape[1]) + T.T @ (K[:, None] * T)
        factor = np.linalg.cholesky(H)
        dragged = -scipy.linalg.cho_solve((factor, True), T.T @ (K * u_t))
        active, solver = pushing(start), other_than_pivoting(self.solver)
        lengths, scale = np.sqrt(np.einsum("ij,ij->i", N, N)), float(np.abs(u).max(initial=0.0))
        N_dragged = scipy.linalg.solve_triangular(factor, N.T, lower=True).T
        along = np.zeros(problem.n_contacts)
        if (problem.kinds == DRY).any():
            found, along = with_dry_friction(problem, N_dragged, u_n + N @ dragged)
        elif solver is not None:
            found = by_solver(N_dragged, u_n + N @ dragged, solver)
        else:
            found = pivot(N_dragged, u_n + N @ dragged, active, lengths=lengths, scale=scale)
        y = dragged + scipy.linalg.cho_solve(
            (factor, True), rows[::3].T @ found.p + rows[1::3].T @ along
        )
        impulses = np.column_stack([found.p, (-K * (u_t + T @ y)).reshape(-1, 2)])
        impulses[:, 1] += along
        loops = held.impulses(L[n_b:].T @ impulses.ravel())
        s = unit_compliance(problem)

        def conditions(p: Array, u: Array) -> Array:
            # As a velocity where the drag is weak, as an impulse times s where it is strong.
            misses = (
                np.hypot(*(p[:, 1:] + per_slip[:, None] * u[:, 1:]).T) * s / (1.0 + s * per_slip)
            )
            return of_joints_too(problem, s, p, u, np.maximum(normal_errors(s, p, u), misses))

        return verified(
            problem, impulses, loops, conditions, found.iterations, tolerance=self.tolerance
        )

    def impulse_per_slip(self, problem: ContactProblem) -> Array:
        """Impulse over slip of contacts that are wet, over the step or in an impact.

        Parameters
        ----------
        problem : ContactProblem
            Of either.

        Returns
        -------
        (m,) array
            N s per m/s.
        """
        of_bodies = problem.kinds == CONTACT
        if problem.phase != "contact":
            return np.where(of_bodies, float(self.impact), 0.0)
        return np.where(
            of_bodies & (problem.gaps <= self.film),
            self.drag(problem.friction) * problem.duration,
            0.0,
        )
