"""Null space, pseudoinverse and internal multipliers of constraint rows, compiled.

With reflections and the longest column as the next, A^T P = Q R; with those of R^T = U S besides,
A^+ = Q_1 S^-1 U_1^T P^T (a complete orthogonal decomposition; Golub and Van Loan, section 5.5).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.column_reflections import (
    Reflections,
    make_triangular,
    put_free,
    reflect_back,
    whole_eights,
)
from spatialops.algebra.memory import matrix

_MET = 1e-8  # of the largest right-hand side: what equations may miss


class Projected(NamedTuple):
    """What is found of rows A (m, n), with room to whole eights of columns."""

    basis: Array  # (n, n - rank) columns that A maps to zero
    pinv: Array  # (n, m) A^+
    internal: Array  # (m, m - rank) columns that A^T maps to zero


class Factoring(NamedTuple):
    """What it is found in."""

    first: Reflections  # of A^T
    second: Reflections  # of R^T
    X: Array  # (n, m in eights)
    Y: Array  # (m, n in eights)
    Z: Array  # (m, m in eights)


@lru_cache
def numbers_of(m: int, n: int) -> int:
    """Numbers of `projected_of` and `factoring_of` together."""
    wide, high = int(whole_eights(n)), int(whole_eights(m))
    return n * (wide + high) + m * high + n * n + m * m + high + wide + n * high + m * (wide + high)


@lru_cache
def ints_of(m: int, n: int) -> int:
    """Integers that they take."""
    return int(whole_eights(n)) + int(whole_eights(m))


@merged
def projected_of(m: int, n: int, floats: Array) -> Projected:
    """Name results."""
    wide = whole_eights(n)
    high = whole_eights(m)
    at = n * wide
    return Projected(
        matrix(floats, 0, n, wide),
        matrix(floats, at, n, high),
        matrix(floats, at + n * high, m, high),
    )


@inlined
def factoring_of(m: int, n: int, floats: Array, ints: IntArray) -> Factoring:
    """Name what comes after results."""
    wide = whole_eights(n)
    high = whole_eights(m)
    at = n * (wide + high) + m * high
    V = matrix(floats, at, n, n)
    at += n * n
    U = matrix(floats, at, m, m)
    at += m * m
    squares = floats[at : at + high]
    at += high
    others = floats[at : at + wide]
    at += wide
    X = matrix(floats, at, n, high)
    at += n * high
    Y = matrix(floats, at, m, wide)
    at += m * wide
    return Factoring(
        Reflections(V, squares, ints[:high]),
        Reflections(U, others, ints[high : high + wide]),
        X,
        Y,
        matrix(floats, at, m, high),
    )


@inlined
def longest_of(A: Array) -> float:
    """Length of the longest row."""
    longest = 0.0
    for i in range(A.shape[0]):
        square = 0.0
        for c in range(A.shape[1]):
            square += A[i, c] * A[i, c]
        longest = max(longest, square)
    return math.sqrt(longest)


@inlined
def invert_turned(Y: Array, rank: int, X: Array) -> None:
    """S^-T of the upper triangle S in Y into the lower half of X."""
    for a in range(rank):
        for i in range(a):
            X[i, a] = 0.0
        X[a, a] = 1.0 / Y[a, a]
        for i in range(a + 1, rank):
            total = 0.0
            for c in range(a, i):
                total += Y[c, i] * X[c, a]
            X[i, a] = -total / Y[i, i]


@kernel
def project(A: Array, share: float, found: Projected, factors: Factoring) -> int:
    """Factor A; its rank.

    Rows of which others leave no more than this share of the longest count as implied.
    """
    m, n = A.shape
    X = factors.X
    Y = factors.Y
    first = factors.first
    second = factors.second
    for j in range(X.shape[1]):
        for c in range(n):
            X[c, j] = A[j, c] if j < m else 0.0
    rank = make_triangular(X, m, 0, share * longest_of(A), first)
    put_free(first.V, rank, rank, found.basis)
    for j in range(m):
        for a in range(Y.shape[1]):
            Y[j, a] = X[a, j] if a < min(rank, j + 1) else 0.0
    make_triangular(Y, rank, 0, 0.0, second)
    put_free(second.V, rank, rank, factors.Z)
    for j in range(m):
        for c in range(factors.Z.shape[1]):
            found.internal[first.order[j], c] = factors.Z[j, c]
    put_inverse(rank, found.pinv, factors)
    return rank


@inlined
def put_inverse(rank: int, pinv: Array, factors: Factoring) -> None:
    """A^+ from both triangles; what they are in is lost."""
    X = factors.X
    Y = factors.Y
    invert_turned(Y, rank, X)
    for j in range(Y.shape[0]):
        for a in range(Y.shape[1]):
            Y[j, a] = X[j, a] if a <= j < rank else 0.0
    reflect_back(factors.second.V, rank, Y)  # U_1 S^-T
    for c in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[c, j] = 0.0
    for a in range(rank):
        for j in range(Y.shape[0]):
            X[factors.second.order[a], j] = Y[j, a]
    reflect_back(factors.first.V, rank, X)
    for j in range(Y.shape[0]):
        for c in range(X.shape[0]):
            pinv[c, factors.first.order[j]] = X[c, j]


@kernel
def projection_kernel(A: Array, share: float, floats: Array, ints: IntArray) -> int:
    """`project` with its memory; results are the first parts of `floats`."""
    m, n = A.shape
    found = projected_of(m, n, floats)
    return project(A, share, found, factoring_of(m, n, floats, ints))


@kernel
def least_kernel(
    A: Array, a: Array, share: float, limits: Array, x: Array, floats: Array, ints: IntArray
) -> bool:
    """The least x with A x = a, in the least-squares sense where there is none; whether it is met.

    Its first entries are cut off at these limits.
    """
    m, n = A.shape
    found = projected_of(m, n, floats)
    project(A, share, found, factoring_of(m, n, floats, ints))
    for i in range(n):
        x[i] = 0.0
        for j in range(m):
            x[i] += found.pinv[i, j] * a[j]
    for i in range(limits.size):
        x[i] = max(min(x[i], limits[i]), -limits[i])
    missed, size = 0.0, 0.0
    for j in range(m):
        left = -a[j]
        for i in range(n):
            left += A[j, i] * x[i]
        if not abs(left) <= missed:
            missed = abs(left)
        size = max(size, abs(a[j]))
    return missed <= _MET * (1.0 + size)
