"""What formulations share: rows of the friction polyhedron, and the blocks E and mu of [J] 13."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray, instance
from spatialops._compile.jit import kernel
from spatialops.contact.constraint_rows import DRY, STOP
from spatialops.contact.friction import directions
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.problem import ContactProblem


def combinations(n_f: int) -> Array:
    """(n_f + 1, 3): one contact's D^T, normal and friction directions along its frame ([J] 7)."""
    table = np.zeros((n_f + 1, 3))
    table[0, 0] = 1.0
    table[1:, 1:] = directions(n_f)
    return table


def spread(rows: Array, n_f: int) -> Array:
    """D^T rows: combinations of each contact's three rows (3 m, k), as (m (n_f + 1), k)."""
    m, tail = len(rows) // 3, rows.shape[1:]
    result = combinations(n_f) @ rows.reshape(m, 3, math.prod(tail))
    return result.reshape(m * (n_f + 1), *tail)


@kernel
def put_spread(u: Array, first: int, facets: Array, b: Array) -> None:
    """D^T of the contacts' velocities, from row `first` on; those before it as they are."""
    width = facets.shape[0] + 1
    for row in range(first):
        b[row] = u[row]
    for i in range((u.size - first) // 3):
        r, at = first + 3 * i, first + width * i
        b[at] = u[r]
        for f in range(facets.shape[0]):
            b[at + 1 + f] = facets[f, 0] * u[r + 1] + facets[f, 1] * u[r + 2]


def cone_triplets(friction: Array, n_f: int, start: int) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns, entries of E and [mu, -E^T] for unknowns from `start` on ([J] 12-15)."""
    m, width = len(friction), n_f + 1
    normal = start + width * np.arange(m)
    sides = normal[:, None] + 1 + np.arange(n_f)
    sigma = start + width * m + np.arange(m)
    each = np.repeat(sigma, n_f)
    rows = np.concatenate([sides.ravel(), sigma, each])
    columns = np.concatenate([each, normal, sides.ravel()])
    ones = np.ones(m * n_f)
    return rows, columns, np.concatenate([ones, friction, -ones])


def put_cones(A: Array, friction: Array, n_f: int, start: int) -> None:
    """The same into a dense matrix."""
    rows, columns, entries = cone_triplets(friction, n_f, start)
    A[rows, columns] = entries


def used_rows(kinds: IntArray, n_f: int) -> tuple[BoolArray, BoolArray]:
    """Which rows F_n, beta_1 .. beta_nf (m, n_f + 1), and which sigma (m,), do something.

    Of a stop the normal alone; of dry friction the two directions along the joint, and its rate.
    """
    forces = np.ones((len(kinds), n_f + 1), dtype=bool)
    forces[kinds == STOP, 1:] = False
    forces[kinds == DRY] = False
    forces[kinds == DRY, 1] = forces[kinds == DRY, 1 + n_f // 2] = True
    return forces, kinds != STOP


def without_idle(problem: ContactProblem, lcp: MixedLCP, n_f: int) -> MixedLCP:
    """An LCP that ends with the rows of all contacts, without those that do nothing."""
    if not instance(problem, ContactProblem, "problem").has_joints:
        return lcp
    kept = _kept(problem, lcp.size - problem.n_contacts * (n_f + 2), n_f)
    return MixedLCP(lcp.A[kept][:, kept], lcp.b[kept], lcp.n_free)


def with_idle(problem: ContactProblem, solution: LCPSolution, n_f: int) -> LCPSolution:
    """Its solution with zeros in the places of those rows."""
    if not instance(problem, ContactProblem, "problem").has_joints:
        return solution
    forces, rates = used_rows(problem.kinds, n_f)
    start = solution.z.size - int(forces.sum() + rates.sum())
    kept = _kept(problem, start, n_f)
    z, w = np.zeros((2, start + problem.n_contacts * (n_f + 2)))
    z[kept], w[kept] = solution.z, solution.w
    return replace(solution, z=z, w=w)


def _kept(problem: ContactProblem, start: int, n_f: int) -> IntArray:
    forces, rates = used_rows(problem.kinds, n_f)
    return np.flatnonzero(np.concatenate([np.ones(start, dtype=bool), forces.ravel(), rates]))
