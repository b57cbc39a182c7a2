"""A force program without its equalities, compiled: x = x0 + Z w.

Columns of Z are orthonormal once every unknown is scaled to a unit cost. What is left is small: the
internal forces of a quadruped on four feet are six numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_free,
    put_point,
    whole_eights,
)
from spatialops.algebra.memory import matrix
from spatialops.control.friction_cone.barrier_function import Program, value_of
from spatialops.control.friction_cone.optimality import Rows

_RANK = 1e-10  # what others leave of an equality, relative to the largest, that counts as zero
_EQUAL = 1e-9  # of its scale: equalities that are missed by more contradict each other
_LEAST_ROW = 1e-12  # scale of an equality of zeros
# Of the search for a start: costs too small to decide anything, of unknowns and of s.
_BOUND = 1e-10
_BOUND_S = 1e-12


class Reduced(NamedTuple):
    """A program without its equalities."""

    decided: Decided
    X: Array  # (n, r in eights) equalities along Q
    weights: Array  # (r,) one over their lengths
    scale: Array  # (n,) of unknowns
    x0: Array  # (n,)
    Z: Array  # (n, n in eights)
    fixed: Array  # (1,) cost of x0, without the slope
    rank: int


@inlined
def dot_columns(A: Array, a: int, B: Array, b: int) -> float:
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i, a] * B[i, b]
    return total


@inlined
def reduced_of(rows: Rows, floats: Array, ints: IntArray) -> tuple[Reduced, int]:
    """Name its parts; where they end. Its rank is not known yet."""
    n = rows.g.size
    r = rows.e.size
    group = whole_eights(r)
    wide = whole_eights(n)
    V = matrix(floats, 0, n, n)
    at = n * n
    vectors = matrix(floats, at, 4, n)
    at += 4 * n
    squares = floats[at : at + group]
    at += group
    X = matrix(floats, at, n, group)
    at += n * group
    weights = floats[at : at + r]
    at += r
    Z = matrix(floats, at, n, wide)
    at += n * wide
    fixed = floats[at : at + 1]
    decided = Decided(Reflections(V, squares, ints[:group]), vectors[0])
    return Reduced(decided, X, weights, vectors[1], vectors[2], Z, fixed, 0), at + 1


@inlined
def eliminate(rows: Rows, into: Reduced, right: Array) -> tuple[int, bool]:
    """The rank of the equalities, and whether they can be met; x0 and Z."""
    n = rows.g.size
    X = into.X
    longest = 0.0
    for a in range(n):
        diagonal = rows.H[a, a]
        into.scale[a] = math.sqrt(diagonal) if diagonal > 0.0 else 1.0
        for j in range(rows.e.size, X.shape[1]):
            X[a, j] = 0.0
    for j in range(rows.e.size):
        square = 0.0
        for a in range(n):
            X[a, j] = rows.E[j, a] / into.scale[a]
            square += X[a, j] * X[a, j]
        weight = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        into.weights[j] = weight
        right[j] = weight * rows.e[j]
        for a in range(n):
            X[a, j] *= weight
        longest = max(longest, weight * math.sqrt(square))
    rank, _ = decide(X, right, rows.e.size, 0, _RANK * longest, into.decided)
    put_point(into.decided, rank, into.x0)
    put_free(into.decided.reflections.V, rank, rank, into.Z)
    square = 0.0
    for a in range(n):
        square += into.x0[a] * into.x0[a]
        into.x0[a] /= into.scale[a]
        for b in range(n - rank):
            into.Z[a, b] /= into.scale[a]
    fits = True
    for j in range(rows.e.size):
        left = -rows.e[j]
        for a in range(n):
            left += rows.E[j, a] * into.x0[a]
        size = math.sqrt(square) / into.weights[j] + abs(rows.e[j]) + _LEAST_ROW
        fits = fits and abs(left) <= _EQUAL * size
    return rank, fits


@inlined
def program_of(f: int, m: int, c: int, mu: Array, floats: Array) -> tuple[Program, int]:
    """Name a program of f unknowns; where it ends."""
    H = matrix(floats, 0, f, f)
    at = f * f
    g = floats[at : at + f]
    at += f
    D = matrix(floats, at, m, f)
    at += m * f
    d = floats[at : at + m]
    at += m
    K = matrix(floats, at, 3 * c, f)
    at += 3 * c * f
    k = floats[at : at + 3 * c]
    return Program(H, g, D, d, K, k, mu), at + 3 * c


@inlined
def put_scaled(A: Array, a: Array, i: int, by: float, z: Reduced, B: Array, b: Array) -> None:
    """Row i of A x + a, in w, over its scale."""
    f = B.shape[1]
    b[i] = a[i]
    for w in range(f):
        B[i, w] = 0.0
    for c in range(A.shape[1]):
        factor = A[i, c]
        if factor != 0.0:
            b[i] += factor * z.x0[c]
            for w in range(f):
                B[i, w] += factor * z.Z[c, w]
    b[i] *= by
    for w in range(f):
        B[i, w] *= by


@kernel
def reduce(rows: Rows, z: Reduced, program: Program, HZ: Array) -> None:
    """The cost and the inequalities, each over its scale, in w; `HZ` (n, f) is scratch."""
    n, f = HZ.shape
    m = rows.d.size
    z.fixed[0] = 0.0
    for a in range(f):
        program.g[a] = 0.0
        for b in range(f):
            program.H[a, b] = 0.0
    for i in range(n):
        at = 0.0
        for a in range(f):
            HZ[i, a] = 0.0
        for c in range(n):
            factor = rows.H[i, c]
            if factor != 0.0:
                at += factor * z.x0[c]
                for a in range(f):
                    HZ[i, a] += factor * z.Z[c, a]
        z.fixed[0] += 0.5 * z.x0[i] * at
        for a in range(f):
            factor = z.Z[i, a]
            program.g[a] += factor * (rows.g[i] + at)
            for b in range(f):
                program.H[a, b] += factor * HZ[i, b]
    for i in range(m):
        put_scaled(rows.D, rows.d, i, 1.0 / rows.scales[i], z, program.D, program.d)
    for i in range(rows.k.size):
        put_scaled(rows.K, rows.k, i, 1.0 / rows.scales[m + i // 3], z, program.K, program.k)


@inlined
def slack_of(p: Program, w: Array) -> float:
    """The smallest scaled margin."""
    least = math.inf
    for j in range(p.d.size):
        least = min(least, value_of(p.D, p.d, j, w))
    for i in range(p.mu.size):
        across = math.hypot(value_of(p.K, p.k, 3 * i + 1, w), value_of(p.K, p.k, 3 * i + 2, w))
        least = min(least, p.mu[i] * value_of(p.K, p.k, 3 * i, w) - across)
    return least


@inlined
def widen(p: Program, wider: Program) -> None:
    """Least s with every inequality given s, in (w, s).

    A cost that bounds what the inequalities leave free is too small to decide anything.
    """
    f = p.g.size
    size = 0.0
    for j in range(p.d.size):
        wider.d[j] = p.d[j]
        wider.D[j, f] = 1.0
        size = max(size, 1.0)
        for a in range(f):
            wider.D[j, a] = p.D[j, a]
            size = max(size, abs(p.D[j, a]))
    for j in range(p.k.size):
        wider.k[j] = p.k[j]
        wider.K[j, f] = 1.0 / p.mu[j // 3] if j % 3 == 0 else 0.0
        size = max(size, wider.K[j, f])
        for a in range(f):
            wider.K[j, a] = p.K[j, a]
            size = max(size, abs(p.K[j, a]))
    for a in range(f + 1):
        wider.g[a] = 0.0
        for b in range(f + 1):
            wider.H[a, b] = 0.0
        wider.H[a, a] = _BOUND * size * size
    wider.H[f, f] = _BOUND_S
    wider.g[f] = 1.0


@inlined
def lift(z: Reduced, w: Array, x: Array) -> None:
    """The unknowns of the program."""
    for a in range(x.size):
        x[a] = z.x0[a]
        for b in range(w.size):
            x[a] += z.Z[a, b] * w[b]
