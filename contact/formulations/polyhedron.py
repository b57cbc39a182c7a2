"""What all formulations share: rows of the friction polyhedron, and the blocks E and mu of [J] 13."""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.friction import directions


def combinations(n_f: int) -> Array:
    """(n_f + 1, 3): one contact's D^T, the normal and the friction directions along its frame ([J] 7)."""
    table = np.zeros((n_f + 1, 3))
    table[0, 0] = 1.0
    table[1:, 1:] = directions(n_f)
    return table


def spread(rows: Array, n_f: int) -> Array:
    """D^T rows: combinations of each contact's three rows (3 m, k), as (m (n_f + 1), k)."""
    m, tail = len(rows) // 3, rows.shape[1:]
    result = combinations(n_f) @ rows.reshape(m, 3, math.prod(tail))
    return result.reshape(m * (n_f + 1), *tail)


def cone_triplets(friction: Array, n_f: int, start: int) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns and entries of E and [mu, -E^T] for contacts whose unknowns begin at `start` ([J] 12-15)."""
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
