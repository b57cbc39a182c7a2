"""Coulomb's law with a friction polyhedron, by any formulation and solver of its LCP.

Torsional, rolling and viscous friction, and contacts with mu = inf, go beyond the formulations:
`Polyhedron` is the operational-space problem ([J] 53) of `Reduced` rows, with a slack sigma for
each kind k of friction,

    0 <= beta_k   _|_  D_k^T u_k + sigma_k e,
    0 <= sigma_k  _|_  mu_k (p_n + theta) - e^T beta_k >= 0

Torsion has two directions, with which its limit is exact. Rolling has n_f directions, the first
along the rolling that would be without impulses: its limit is within a factor cos(pi / n_f) of the
round one, as that of sliding.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike, BoolArray, scalar
from spatialops.contact.formulations import check_formulation
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.friction import directions
from spatialops.contact.laws.formulated import solve_formulated
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    speed_scale,
    unit_compliance,
    verified,
)
from spatialops.contact.laws.reduction import Held, Reduced, settle
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver, solve
from spatialops.errors import ArgumentError

_MOVES = 1e-9  # m/s below which there is no direction of motion


class Polyhedron:
    """The LCP of `Reduced` rows with `n_f` directions: unknowns of each contact, then all sigmas.

    Of sliding they begin along `slips` (m, 2), unit vectors along the tangents; default: the first
    tangent.
    """

    def __init__(self, reduced: Reduced, s: float, n_f: int, slips: Array | None = None) -> None:
        problem = reduced.problem
        dim = reduced.dim
        kinds = reduced.kinds
        m = problem.n_contacts
        widths = [n_f, 2, n_f][: len(kinds)]
        width, u = 1 + sum(widths), reduced.u.reshape(m, dim)
        D, E = np.zeros((m, dim, width)), np.zeros((m, width, len(kinds)))
        first = 1
        D[:, 0, 0] = 1.0
        for k, (columns, _) in enumerate(kinds):
            own = slice(first, first + widths[k])
            along = u[:, columns] if k > 0 else slips
            D[:, columns, own] = _directions(m, widths[k], along)
            E[:, own, k] = 1.0
            first += widths[k]
        n, sigmas = m * width, m * len(kinds)
        wide = np.zeros((m, dim, n))
        for i in range(m):
            wide[i, :, i * width : (i + 1) * width] = D[i]
        self.D, self.s = wide.reshape(-1, n), s
        A, b = np.zeros((n + sigmas, n + sigmas)), np.zeros(n + sigmas)
        A[:n, :n], b[:n] = self.D.T @ (reduced.W / s) @ self.D, self.D.T @ reduced.u
        for i in range(m):
            own = slice(i * width, (i + 1) * width)
            slack = slice(n + i * len(kinds), n + (i + 1) * len(kinds))
            A[own, slack], A[slack, own] = E[i], -E[i].T
            A[slack, i * width] = [values[i] for _, values in kinds]
            b[slack] = [s * values[i] * problem.prior_normal_impulse[i] for _, values in kinds]
            b[slack.start] += s * problem.dry[i]
        self.lcp = MixedLCP(A, b)

    def impulses(self, z: Array) -> Array:
        """Impulses of all rows, (m dim,)."""
        return np.asarray(self.D @ z[: self.D.shape[1]]) / self.s


def _directions(m: int, count: int, along: Array | None) -> Array:
    """(m, columns, count) directions, the first along `along` (m, columns) where that moves."""
    if along is not None and along.shape[1] == 1:
        return np.tile(np.array([[1.0, -1.0]]), (m, 1, 1))
    along = np.zeros((m, 2)) if along is None else along
    angle = np.where(
        np.linalg.norm(along, axis=1) > _MOVES, np.arctan2(along[:, 1], along[:, 0]), 0.0
    )
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1).reshape(
        -1, 2, 2
    )
    return np.asarray(turn @ directions(count).T)


@dataclass(frozen=True, kw_only=True)
class Coulomb:
    """Coulomb friction with a polyhedron of `n_f` directions in place of the cone.

    Parameters
    ----------
    formulation : str or Formulation, optional
        "os", "nmc", "mc", "rmc", "nmc/os", "trinkle", or an object, whose own `n_f` counts.
        Problems with torsional or rolling friction, or mu = inf, need "os".
    solver : str or Solver, optional
        As `contact.solve` takes. Default: "auto", the central answer (`contact.newton`): sticking
        where it is possible, impulses spread as a slightly compliant body would spread them; the
        ladder of `contact.solve` where there is none.
    n_f : int, optional
        Directions of friction of a formulation that is given by name: even. Default: 4.
    tolerance : float, optional
        Largest accepted residual of problems with torsional or rolling friction, or mu = inf.

    Raises
    ------
    ArgumentError
        For an unknown formulation or solver, or an odd `n_f`.

    References
    ----------
    [J] 6-13, 53; M. Anitescu, F. Potra, Formulating dynamic multi-rigid-body contact problems with
    friction as solvable linear complementarity problems (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from spatialops.contact import ContactProblem, Coulomb
    >>> from spatialops.models import pendulum
    >>> q, tip, frame = [np.pi / 2.0], [[1.0, 0.0, 0.0]], [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    >>> problem = ContactProblem(pendulum(1).model, q, [1.0], [[0, -1]], tip, frame, [0.5])
    >>> Coulomb(n_f=8).solve(problem).solved
    True
    """

    formulation: str | Formulation = "os"
    solver: str | Solver = "auto"
    n_f: int = 4
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        check_formulation(self.formulation, self.n_f)
        check_solver(self.solver)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses in the polyhedra.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Where several answers are possible the nearest to these is taken; default: the shortest.
            Not used with torsional, rolling or viscous friction, mu = inf, or a `solver`.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.

        Raises
        ------
        ArgumentError
            For torsional, rolling or viscous friction or mu = inf with a formulation other than
            "os".
        """
        start = checked_problem(problem, warm_start)
        formulation = check_formulation(self.formulation, self.n_f)
        if problem.has_moments or problem.viscous.any() or np.isinf(problem.friction).any():
            return self._solve_extended(problem, formulation)
        start = None if start is None else start[:, :3]
        found = solve_formulated(problem, formulation, self.solver, start)
        answer = formulation.recover(problem, found)
        own = {item.name: getattr(answer, item.name) for item in fields(answer)}
        detail = "" if found.solved else found.status.message
        return LawSolution(
            **own,
            solved=found.solved,
            residual=found.residual,
            iterations=found.iterations,
            detail=detail,
        )

    def _solve_extended(self, problem: ContactProblem, formulation: Formulation) -> LawSolution:
        if not isinstance(formulation, OperationalSpace):
            raise ArgumentError(
                "formulation: torsional, rolling and viscous friction and mu = inf need 'os'"
            )
        s, endless = unit_compliance(problem), np.isinf(problem.friction)
        residuals, details = [0.0], [""]

        def attempt(held: BoolArray, _last: Held | None, /, *, rank: float) -> Held:
            reduced = Reduced(problem, held, rank)
            polyhedron = Polyhedron(reduced, s, formulation.n_f)
            found = solve(polyhedron.lcp, self.solver)
            residuals[0], details[0] = found.residual, found.status.message
            return reduced.impulses(
                polyhedron.impulses(found.z).reshape(-1, reduced.dim), found.iterations
            )

        scale = speed_scale(problem)

        def conditions(p: Array, u: Array) -> Array:
            load = np.maximum(
                s * (p[:, 0] + problem.prior_normal_impulse), s * np.hypot(p[:, 1], p[:, 2])
            )
            sticking = np.where(endless, np.minimum(load, np.hypot(u[:, 1], u[:, 2])), 0.0)
            return np.maximum(sticking, residuals[0] * scale)

        def verify(answer: Held) -> LawSolution:
            return verified(
                problem,
                answer.impulses,
                answer.loop_impulses,
                conditions,
                answer.iterations,
                tolerance=self.tolerance,
                detail=details[0],
                moments=answer.moments,
            )

        return settle(problem, endless, attempt, verify)
