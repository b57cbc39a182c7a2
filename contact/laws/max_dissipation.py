"""Impulses that dissipate most, without normal complementarity ([Z] 29-33 and 69-79): a QP.

    min |v+|_M^2 / 2   over   f_n, beta >= 0,  mu (f_n + theta) >= sum beta,  N v+ >= -gap_bias

in f = D z, z = (f_n, beta_1 .. beta_nf) of every contact; closures are held (`Elimination`). A gap
that may still close counts as motion of the other side: velocities are measured with `gap_bias`,
so that nothing brakes before it touches. The optimality conditions are a monotone LCP in z and the
multipliers ([Z] 6.2.1), which the solvers of `contact.solve` take, and whose residual certifies the
answer.

Where the Hessian is singular many z are as good. One stage: a multiple of the identity is added
([Z] 6.1), which moves the velocity a little. Two stages ([Z] 6.2.4): among the z with the best
velocity the shortest one, which is a distance problem in the null space of the Hessian, solved by
`pivot`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from spatialops._arrays import NOTHING, Array, ArrayLike, BoolArray, scalar
from spatialops.contact.constraint_rows import DRY
from spatialops.contact.formulations.polyhedron import combinations, spread, used_rows
from spatialops.contact.friction import directions
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.law import (
    TOLERANCE,
    LawSolution,
    checked_problem,
    finite_friction,
    speed_scale,
    unit_compliance,
    verified,
    without_moments,
)
from spatialops.contact.laws.pivoting import pivot
from spatialops.contact.laws.quadratic import solve_program
from spatialops.contact.lcp.convex_qp import ConvexQP
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.solver import Solver
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import check_solver, solve

# Singular values, relative to the largest, below which impulses count as moving nothing.
_RANKS = (1e-9, 1e-12)


class _Program(NamedTuple):
    """min |F^T z|^2 / 2 + c . z over z >= 0, C z >= d: in velocities, impulses times s."""

    F: Array
    c: Array
    C: Array
    d: Array


def _program(
    problem: ContactProblem, rows: Array, u: Array, s: float, n_f: int
) -> tuple[_Program, BoolArray]:
    """The program, and which of z are used (m, n_f + 1): the others are idle at joints."""
    used, loads = used_rows(problem.kinds, n_f)
    F = spread(rows, n_f)[used.ravel()] / np.sqrt(s)
    presses = problem.kinds != DRY
    n = int(presses.sum())
    C = np.zeros((n + int(loads.sum()), len(F)))
    np.matmul(rows[::3][presses] / np.sqrt(s), F.T, out=C[:n])
    contact, force = np.nonzero(used)
    bound = np.flatnonzero(loads[contact])
    row = n + (np.cumsum(loads) - 1)[contact[bound]]
    C[row, bound] = np.where(force[bound] == 0, problem.friction[contact[bound]], -1.0)
    limits = s * (problem.friction * problem.prior_normal_impulse + problem.dry)
    d = np.concatenate([-u[::3][presses], -limits[loads]])
    return _Program(F, spread(u, n_f)[used.ravel()], C, d), used


def _impulses(z: Array, used: BoolArray) -> Array:
    """D z, (m, 3)."""
    every = np.zeros(used.shape)
    every[used] = z
    return every @ combinations(used.shape[1] - 1)


@dataclass(frozen=True, kw_only=True)
class MaxDissipation:
    """The impulses that leave the least kinetic energy, of those that friction and contact admit.

    Parameters
    ----------
    n_f : int, optional
        Directions of friction: even. Default: 4.
    regularization : float, optional
        One stage: added to the diagonal of the Hessian, relative to its largest entry; > 0.
        Default: two stages, the least of the impulses that do the same (`detail` says where
        rounding hides which those are).
    shortest : bool, optional
        Whether the second stage is run at all; without, impulses are those that the solver happens
        to meet.
    solver : str or Solver, optional
        Of the optimality conditions, as `contact.solve` takes; "qp", or a `ConvexQP`, solves the
        program itself.
    tolerance : float, optional
        Largest accepted residual, of the optimality conditions. Default: 1e-9.

    References
    ----------
    E. Drumwright, D. Shell, Modeling contact friction and joint friction using the principle of
    maximum dissipation (2010); S. Zapolsky, E. Drumwright, Inverse dynamics with rigid contact and
    friction, section 6.
    """

    n_f: int = 4
    regularization: float | None = None
    shortest: bool = True
    solver: str | Solver = "auto"
    tolerance: float = TOLERANCE

    rigid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        directions(self.n_f)
        check_solver(self.solver)
        if self.regularization is not None:
            scalar(self.regularization, "regularization", low=0.0, strict=True)

    def solve(self, problem: ContactProblem, warm_start: ArrayLike | None = None) -> LawSolution:
        """Impulses of the least kinetic energy, and of those the shortest.

        Parameters
        ----------
        problem : ContactProblem
            Of one step, an impact, or an instant.
        warm_start : (m, 3) array_like, optional
            Not used.

        Returns
        -------
        LawSolution
            `solved` where the residual in the original data is at most `tolerance`.

        Raises
        ------
        ArgumentError
            For a problem with torsional, rolling or viscous friction or mu = inf, or a warm start
            that does not fit.
        """
        without_moments(self, checked_problem(problem, warm_start), problem)
        finite_friction(self, problem)
        n_b, s = problem.n_loop_rows, unit_compliance(problem)
        L, u = problem.response.L, problem.velocities
        held = Elimination(L[:n_b], u[:n_b])
        program, used = _program(problem, *held.reduce(L[n_b:], u[n_b:]), s, self.n_f)
        conditions = _optimality(program, self.regularization)
        k = program.c.size
        by_qp = isinstance(self.solver, str) and self.solver == "qp"
        solver = ConvexQP() if by_qp else self.solver
        if isinstance(solver, ConvexQP) and k:
            found = solve_program(conditions, k, solver)
        else:
            found = solve(conditions, solver)
        z = np.maximum(found.z[:k], 0.0)
        iterations = found.iterations
        residual = conditions.residual(np.concatenate([z, found.z[k:]]))
        detail = found.status.message
        if self.regularization is None and self.shortest and found.solved:
            first = z, residual
            for rank in _RANKS:
                z, more = _shortest(program, first[0], rank)
                iterations += more
                residual = conditions.residual(np.concatenate([z, found.z[k:]]))
                if residual <= self.tolerance:
                    break
            else:
                z, residual = first
                detail = "rounding hides which impulses are the shortest: these are others"
        p = _impulses(z, used) / s
        loops = held.impulses(L[n_b:].T @ p.ravel())
        scale = speed_scale(problem)

        def optimality(_p: Array, _u: Array) -> Array:
            return np.array([residual * scale])

        answer = verified(
            problem, p, loops, optimality, iterations, tolerance=self.tolerance, detail=detail
        )
        told = found.solved and detail != found.status.message
        return replace(answer, detail=detail) if told else answer


def _optimality(program: _Program, regularization: float | None) -> MixedLCP:
    """0 <= z _|_ H z + c - C^T y >= 0, 0 <= y _|_ C z - d >= 0."""
    F, c, C, d = program
    k = c.size
    A = np.zeros((k + d.size, k + d.size))
    H = A[:k, :k]
    np.matmul(F, F.T, out=H)
    if regularization is not None:
        H += regularization * max(float(H.diagonal().max(initial=0.0)), 0.0) * np.eye(k)
    A[:k, k:] = -C.T
    A[k:, :k] = C
    return MixedLCP(A, np.concatenate([c, -d]))


def _shortest(program: _Program, z: Array, rank: float) -> tuple[Array, int]:
    """The shortest z' >= 0 with C z' >= d, F^T z' = F^T z and c . z' = c . z: as good as z.

    (With `gap_bias`, c is not in the range of F; [Z] have no gaps there.) z' = z_r + N y with N
    their null space and z_r = (I - N N^T) z: min |y|^2 / 2 over (I; C) (z_r + N y) >= (0; d), the
    dual of which `pivot` solves, with y = ((I; C) N)^T p. Rows that z itself just fails to meet are
    given what it has.
    """
    F, c, C, d = program
    if not len(z):
        return z, 0
    weight = np.sqrt(np.einsum("ij,ij->", F, F)) / max(float(np.sqrt(c @ c)), NOTHING)
    left, values, _ = np.linalg.svd(np.column_stack([F, weight * c]))
    null = left[:, int((values > rank * values[0]).sum()) :]
    if not null.shape[1]:
        return z, 0
    fixed = z - null @ (null.T @ z)
    rows = np.vstack([null, C @ null])
    speeds = np.concatenate([fixed, C @ fixed - d])
    slack = np.concatenate([z, C @ z - d])
    speeds = np.where(slack < 0.0, speeds - slack, speeds)
    lengths = np.concatenate([np.ones(len(z)), np.sqrt(np.einsum("ij,ij->i", C, C))])
    scale = max(float(np.abs(z).max(initial=0.0)), float(np.abs(d).max(initial=0.0)))
    found = pivot(rows, speeds, lengths=lengths, scale=scale)
    return np.maximum(fixed + null @ (rows.T @ found.p), 0.0), found.iterations
