"""An ablation: the formulations of [J] in plain dense NumPy, without compiled code.

Rows and inertias are given, those of the tree or those of free bodies; a formulation is what is
done with them. Two patterns serve both: impulses with velocities ([J] 27 and 36) and impulses alone
([J] 53), of which RMC ([J] 41) eliminates what is bilateral.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Effort, relative_difference, take_turns
from spatialops.compare.problems import Case
from spatialops.contact.formulations import check_formulation
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.problem import ContactProblem
from spatialops.contact.solve import solve
from spatialops.dynamics.composite_body import mass_matrix

_TREE = ("mc", "rmc", "os")
ALL_DENSE = 400  # rows up to which dense Lemke takes less than a second
PLAIN = ("nmc", *_TREE, "nmc/os")


@dataclass(frozen=True)
class PlainRow:
    """A formulation in plain NumPy, its rows and inertias given; medians in microseconds."""

    case: str
    links: int
    formulation: str
    assemble: float
    solve: float
    recover: float
    difference: float

    @property
    def total(self) -> float:
        """Assembly, solution and recovery, us."""
        return self.assemble + self.solve + self.recover


def ablation(case: Case, formulations: Sequence[str], n_f: int, effort: Effort) -> list[PlainRow]:
    """What formulations cost in plain NumPy with dense Lemke, in turns.

    `difference` is that of the next velocity from our own code's, as in `measure.Row`.
    """
    facets = directions(n_f)
    calls: dict[str, Callable[[], object]] = {}
    differences: dict[str, float] = {}
    for name in formulations:
        data = given(case.problem, name)
        lcp = assemble(name, data, facets)
        solution = solve(lcp, "lemke") if lcp.size <= ALL_DENSE else None
        if solution is None or not solution.solved:
            continue
        after = recover(name, data, solution.z, facets)
        expected = case.problem.after(_impulses(case.problem, n_f))
        if name not in _TREE:
            after = case.problem.maximal.tree_velocity(after)
        differences[name] = relative_difference(after, expected)
        calls[f"{name} assemble"] = partial(assemble, name, data, facets)
        calls[f"{name} solve"] = partial(solve, lcp, "lemke")
        calls[f"{name} recover"] = partial(recover, name, data, solution.z, facets)
    timing = take_turns(calls, effort)
    return [
        PlainRow(
            case.name,
            case.links,
            name,
            assemble=1e6 * timing.of(f"{name} assemble").median,
            solve=1e6 * timing.of(f"{name} solve").median,
            recover=1e6 * timing.of(f"{name} recover").median,
            difference=differences[name],
        )
        for name in differences
    ]


def _impulses(problem: ContactProblem, n_f: int) -> Array:
    formulation = check_formulation("os", n_f)
    answer = formulation.recover(problem, solve(formulation.assemble(problem)))
    return np.concatenate([answer.loop_impulses, answer.impulses.ravel()])


@dataclass(frozen=True, eq=False)
class Given:
    """A contact problem as dense matrices, of the tree or of free bodies.

    Attributes
    ----------
    M : (k, n, n) array
        Diagonal blocks of the mass matrix: one of the tree, one a body.
    G : (n_b + 3 m, k n) array
        Bilateral rows, then normal, tangent, tangent of each contact.
    n_b : int
        Number of bilateral rows.
    velocity : (k n,) array
        Without impulses.
    u : (n_b + 3 m,) array
        Velocities of the rows without impulses, less targets, with the contacts' bias.
    friction, limits : (m,) array
        mu; friction impulse that needs no normal one.
    """

    M: Array
    G: Array
    n_b: int
    velocity: Array
    u: Array
    friction: Array
    limits: Array

    def solve_mass(self, right: Array) -> Array:
        """M^-1 times a matrix, block by block."""
        k, n, _ = self.M.shape
        solved = np.linalg.solve(self.M, right.reshape(k, n, -1)).reshape(right.shape)
        return np.asarray(solved, dtype=np.float64)

    def dense_mass(self) -> Array:
        """M (k n, k n)."""
        k, n, _ = self.M.shape
        made = np.zeros((k, n, k, n))
        made[np.arange(k), :, np.arange(k)] = self.M
        return made.reshape(k * n, k * n)


def given(problem: ContactProblem, formulation: str) -> Given:
    """What a formulation begins from."""
    limits = problem.friction * problem.prior_normal_impulse + problem.dry
    if formulation in _TREE:
        M, G = mass_matrix(problem.model, problem.q)[None], problem.jacobian
        n_b = problem.n_loop_rows
        velocity = problem.velocity
        u = problem.velocities
        return Given(M, G, n_b, velocity, u, problem.friction, limits)
    system = problem.maximal
    M, G = system.blocks.reshape(-1, 6, 6), system.rows.toarray()
    n_b, u = system.first_contact, G @ system.velocity
    u[system.n_hinges : n_b] -= problem.loop_targets
    u[n_b:] += problem.bias.ravel()
    return Given(M, G, n_b, system.velocity, u, problem.friction, limits)


def assemble(formulation: str, data: Given, facets: Array) -> MixedLCP:
    """The formulation's complementarity problem, impulses and velocities in SI units."""
    if formulation in ("nmc", "mc"):
        return with_velocities(data, facets)
    u, n_b = data.u, data.n_b
    W: Array = data.G @ data.solve_mass(data.G.T)
    if formulation == "rmc":
        held = np.linalg.solve(W[:n_b, :n_b], np.column_stack([W[:n_b, n_b:], u[:n_b]]))
        u = np.asarray(u[n_b:] - W[n_b:, :n_b] @ held[:, -1], dtype=np.float64)
        W = np.asarray(W[n_b:, n_b:] - W[n_b:, :n_b] @ held[:, :-1], dtype=np.float64)
        n_b = 0
    return impulses_alone(W, u, n_b, data, facets)


def recover(formulation: str, data: Given, z: Array, facets: Array) -> Array:
    """The next velocity, of the tree or of all bodies."""
    if formulation in ("nmc", "mc"):
        return z[: data.velocity.size]
    n_b = data.n_b
    D = spread(n_b if formulation != "rmc" else 0, len(data.friction), facets)
    p = D.T @ z[: len(D)]
    if formulation == "rmc":  # [J] 37: what the closures answer
        W = data.G @ data.solve_mass(data.G.T)
        loops = -np.linalg.solve(W[:n_b, :n_b], data.u[:n_b] + W[:n_b, n_b:] @ p)
        p = np.concatenate([loops, p])
    return data.velocity + data.solve_mass((data.G.T @ p)[:, None])[:, 0]


def with_velocities(data: Given, facets: Array) -> MixedLCP:
    """[J] 27 and 36: velocities, bilateral impulses, beta and sigma."""
    M, D = data.dense_mass(), spread(data.n_b, len(data.friction), facets)
    rows = D @ data.G
    n = len(M)
    last = len(M) + len(rows)
    m = len(data.friction)
    A, b = np.zeros((last + m, last + m)), np.empty(last + m)
    A[:n, :n] = M
    A[:n, n:last] = -rows.T
    A[n:last, :n] = rows
    put_cones(A, data.friction, len(facets), n + data.n_b)
    b[:n] = -M @ data.velocity
    b[n:last] = D @ (data.u - data.G @ data.velocity)
    b[last:] = data.limits
    return MixedLCP(A, b, n + data.n_b)


def impulses_alone(W: Array, u: Array, n_b: int, data: Given, facets: Array) -> MixedLCP:
    """[J] 41 and 53: bilateral impulses if any, beta and sigma."""
    D = spread(n_b, len(data.friction), facets)
    last, m = len(D), len(data.friction)
    A, b = np.zeros((last + m, last + m)), np.empty(last + m)
    A[:last, :last] = D @ W @ D.T
    put_cones(A, data.friction, len(facets), n_b)
    b[:last] = D @ u
    b[last:] = data.limits
    return MixedLCP(A, b, n_b)


def spread(n_b: int, m: int, facets: Array) -> Array:
    """I of the bilateral rows and D^T of the contacts', dense."""
    width = len(facets) + 1
    D = np.zeros((n_b + m * width, n_b + 3 * m))
    D[:n_b, :n_b] = np.eye(n_b)
    for i in range(m):
        row, column = n_b + width * i, n_b + 3 * i
        D[row, column] = 1.0
        D[row + 1 : row + width, column + 1 : column + 3] = facets
    return D


def put_cones(A: Array, friction: Array, n_f: int, start: int) -> None:
    """E and [mu, -E*] of [J] 12-15, for unknowns from `start` on."""
    m, width = len(friction), n_f + 1
    for i in range(m):
        normal, sigma = start + width * i, start + width * m + i
        A[normal + 1 : normal + width, sigma] = 1.0
        A[sigma, normal] = friction[i]
        A[sigma, normal + 1 : normal + width] = -1.0
