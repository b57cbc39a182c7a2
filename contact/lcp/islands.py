"""Islands: parts of a problem that no entry of A connects are solved one by one, each at its own size's cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.lcp.basis import warm_basis
from spatialops.contact.lcp.lemke import N_COVERS, covering_vectors, lemke_kernel
from spatialops.contact.lcp.problem import MixedLCP

SMALLEST = 12  # rows below which it does not pay to look


@kernel
def root_of(parent: IntArray, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def find_islands(A: Array, labels: IntArray, parent: IntArray) -> int:
    """Number the connected components of the pattern of A by their first rows; returns how many there are."""
    n = parent.size
    for i in range(n):
        parent[i] = i
    for i in range(n):
        mine = root_of(parent, i)
        for j in range(n):
            if A[i, j] != 0.0 and parent[j] != mine:
                other = root_of(parent, j)
                low, high = min(mine, other), max(mine, other)
                parent[high] = low
                mine = low
    count = 0
    for i in range(n):
        if parent[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[root_of(parent, i)]
    return count


@kernel
def solve_islands_kernel(
    A: Array,
    b: Array,
    n_free: int,
    covers: Array,
    tolerance: float,
    warm: bool,
    labels: IntArray,
    count: int,
    tables: Array,
    ints: IntArray,
    vectors: Array,
    z: Array,
    codes: IntArray,
) -> int:
    """Solve each island from z (if `warm`), else by Lemke; `codes` says how each ended. Returns all pivots.

    Flat scratch: `tables` 2 n (n + 2), `ints` 8 (n + 1), `vectors` (6 + covers) n.
    """
    n, pivots = b.size, 0
    for island in range(count):
        m, f = 0, 0
        rows = ints[:n]
        for i in range(n):
            if labels[i] == island:
                rows[m] = i
                m += 1
                f += 1 if i < n_free else 0
        sub, D = tables[: m * m].reshape(m, m), tables[n * n : n * n + m * (m + 2)].reshape(m, m + 2)
        M = tables[n * n : n * n + m * m].reshape(m, m)
        names = ints[2 * n : 2 * n + 6 * (m + 1)].reshape(6, m + 1)
        set_, scratch = ints[n : n + m], vectors[: 3 * m].reshape(3, m)
        right, x, y = vectors[3 * n : 3 * n + m], vectors[4 * n : 4 * n + m], vectors[5 * n : 5 * n + m]
        directions = vectors[6 * n : 6 * n + covers.shape[0] * m].reshape(covers.shape[0], m)
        for i in range(m):
            right[i], x[i] = b[rows[i]], z[rows[i]]
            for j in range(m):
                sub[i, j] = A[rows[i], rows[j]]
            for k in range(covers.shape[0]):
                directions[k, i] = covers[k, i]
        residual, code = 1e300, 0
        if warm:
            residual = warm_basis(sub, right, f, set_, tolerance, x, y, M, names[4:6], scratch)
        if not residual <= tolerance:
            code, some, residual = lemke_kernel(
                sub, right, f, directions, 10 * m + 100, tolerance, D, names, scratch, set_, x, y
            )
            pivots += some
        codes[island] = code
        for i in range(m):
            z[rows[i]] = x[i]
    return pivots


def islands_of(problem: MixedLCP) -> tuple[IntArray, int]:
    """(n,) number of the island of each row of a dense problem, and how many there are."""
    labels, parent = np.empty((2, problem.size), dtype=np.int64)
    return labels, find_islands(problem.A, labels, parent)


def solve_islands(
    problem: MixedLCP, labels: IntArray, count: int, tolerance: float, warm_start: Any = None
) -> tuple[Array, int, IntArray]:
    """z, pivots and a code for each island."""
    n = problem.size
    z, codes = np.zeros(n), np.zeros(count, dtype=np.int64)
    if warm_start is not None:
        z[:] = warm_start
    tables, vectors = np.empty(2 * n * (n + 2)), np.empty((6 + N_COVERS) * n)
    ints = np.empty(2 * n + 6 * (n + 1), dtype=np.int64)
    pivots = solve_islands_kernel(
        problem.A,
        problem.b,
        problem.n_free,
        covering_vectors(n),
        tolerance,
        warm_start is not None,
        labels,
        count,
        tables,
        ints,
        vectors,
        z,
        codes,
    )
    return z, int(pivots), codes
