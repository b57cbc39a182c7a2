"""Islands, parts of a problem that no entry of A connects, are solved one by one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops._compile.jit import kernel
from spatialops.contact.lcp.basis import warm_basis
from spatialops.contact.lcp.lemke import N_COVERS, covering_vectors, lemke_kernel
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.scratch import INT_ROWS, VECTOR_ROWS, basis_scratch, lemke_scratch

SMALLEST = 12  # rows below which it does not pay to look


@kernel
def root_of(parent: IntArray, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def find_islands(A: Array, labels: IntArray, parent: IntArray) -> int:
    """Number the connected parts of the pattern of A by their first rows; returns the count."""
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


class IslandScratch(NamedTuple):
    """Flat buffers that every island cuts to its own size m of n rows."""

    square: Array  # (n^2,) its A
    D: Array  # (n (n + 2),) its dictionary, or block of the active set
    rows: IntArray  # (n,) its rows in the problem
    active: IntArray  # (n,)
    ints: IntArray  # (6 (n + 1),) see `lemke_scratch`
    vectors: Array  # (3 n,)
    right: Array  # (n,) its b
    z: Array  # (n,)
    w: Array  # (n,)
    covers: Array  # (covers n,)


@kernel
def solve_islands_kernel(
    A: Array,
    b: Array,
    n_free: int,
    covers: Array,
    tolerance: float,
    warm: bool,
    labels: IntArray,
    z: Array,
    codes: IntArray,
    scratch: IslandScratch,
) -> int:
    """Solve each island from z (if `warm`), else by Lemke; returns all pivots.

    `codes`, one an island, says how each ended.
    """
    n, pivots = b.size, 0
    rows, n_covers = scratch.rows, covers.shape[0]
    for island in range(codes.size):
        m, f = 0, 0
        for i in range(n):
            if labels[i] == island:
                rows[m] = i
                m += 1
                f += 1 if i < n_free else 0
        sub = scratch.square[: m * m].reshape(m, m)
        D = scratch.D[: m * (m + 2)].reshape(m, m + 2)
        M = scratch.D[: m * m].reshape(m, m)
        ints = scratch.ints[: INT_ROWS * (m + 1)].reshape(INT_ROWS, m + 1)
        vectors = scratch.vectors[: VECTOR_ROWS * m].reshape(VECTOR_ROWS, m)
        active = scratch.active[:m]
        right = scratch.right[:m]
        x = scratch.z[:m]
        y = scratch.w[:m]
        directions = scratch.covers[: n_covers * m].reshape(n_covers, m)
        for i in range(m):
            right[i], x[i] = b[rows[i]], z[rows[i]]
            for j in range(m):
                sub[i, j] = A[rows[i], rows[j]]
            for k in range(n_covers):
                directions[k, i] = covers[k, i]
        residual, code = math.inf, 0
        if warm:
            bases = basis_scratch(M, ints[4:6], vectors)
            residual = warm_basis(sub, right, f, active, tolerance, x, y, bases)
        if not residual <= tolerance:
            own = lemke_scratch(D, ints, vectors)
            code, some, residual = lemke_kernel(
                sub, right, f, directions, 10 * m + 100, tolerance, active, x, y, own
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
    problem: MixedLCP,
    labels: IntArray,
    count: int,
    tolerance: float,
    warm_start: ArrayLike | None = None,
) -> tuple[Array, int, IntArray]:
    """z, pivots and a code for each island."""
    n = problem.size
    z, codes = np.zeros(n), np.zeros(count, dtype=np.int64)
    if warm_start is not None:
        z[:] = np.asarray(warm_start, dtype=np.float64)
    scratch = IslandScratch(
        square=np.empty(n * n),
        D=np.empty(n * (n + 2)),
        rows=np.empty(n, dtype=np.int64),
        active=np.empty(n, dtype=np.int64),
        ints=np.empty(INT_ROWS * (n + 1), dtype=np.int64),
        vectors=np.empty(VECTOR_ROWS * n),
        right=np.empty(n),
        z=np.empty(n),
        w=np.empty(n),
        covers=np.empty(N_COVERS * n),
    )
    pivots = solve_islands_kernel(
        problem.A,
        problem.b,
        problem.n_free,
        covering_vectors(n),
        tolerance,
        warm_start is not None,
        labels,
        z,
        codes,
        scratch,
    )
    return z, int(pivots), codes
