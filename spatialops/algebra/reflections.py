"""Least squares and null spaces of small dense matrices, compiled: reflections (Householder 1958).

A reflection 1 - 2 v v^T / |v|^2 brings a row to a multiple of a unit vector. Matrices are given by
rows, so that all that is reflected lies in one piece.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel


@inlined
def reflector(x: Array, first: int, size: float) -> float:
    """Turn x[first:] of length `size` > 0 into v; the entry at `first` that is left of it."""
    value = -size if x[first] > 0.0 else size
    share = math.sqrt(size * (size + abs(x[first])))  # |v|^2 = 2 after it
    x[first] -= value
    for i in range(first, x.size):
        x[i] /= share
    return value


@inlined
def reflect(v: Array, first: int, y: Array) -> None:
    """y[first:] <- (1 - v v^T) y, v of length sqrt(2)."""
    part = 0.0
    for i in range(first, v.size):
        part += v[i] * y[i]
    for i in range(first, v.size):
        y[i] -= part * v[i]


@inlined
def length_from(x: Array, first: int) -> float:
    """Length of x[first:]."""
    square = 0.0
    for i in range(first, x.size):
        square += x[i] * x[i]
    return math.sqrt(square)


@kernel
def triangular_kernel(A: Array, columns: int) -> None:
    """Make A^T = Q R triangular: A (>= columns, rows) becomes R^T in its first `columns` rows.

    Rows of A are columns of the matrix, at least as long as there are `columns`. Further ones are
    reflected too: b becomes Q^T b, whose first entries are those of the least squares R x = Q^T b.
    """
    for c in range(columns):
        size = length_from(A[c], c)
        if size == 0.0:
            continue
        value = reflector(A[c], c, size)
        for j in range(c + 1, A.shape[0]):
            reflect(A[c], c, A[j])
        A[c, c] = value
        for i in range(c + 1, A.shape[1]):
            A[c, i] = 0.0


@kernel
def null_space_kernel(X: Array, share: float, null: Array) -> int:
    """Orthonormal rows (columns - rank, columns) that X maps to zero; how many. X is lost.

    The row of the longest remainder is next; where that is no more than `share` of the longest row,
    it counts as zero.
    """
    rows, columns = X.shape
    rank = 0
    least = 0.0
    while rank < min(rows, columns):
        longest = rank
        size = 0.0
        for i in range(rank, rows):
            found = length_from(X[i], rank)
            if found > size:
                size = found
                longest = i
        if rank == 0:
            least = share * size
        if not size > least:
            break
        for c in range(columns):
            X[rank, c], X[longest, c] = X[longest, c], X[rank, c]
        reflector(X[rank], rank, size)
        for i in range(rank + 1, rows):
            reflect(X[rank], rank, X[i])
        rank += 1
    free = columns - rank
    for a in range(free):
        for c in range(columns):
            null[a, c] = 0.0
        null[a, rank + a] = 1.0
        for c in range(rank - 1, -1, -1):
            reflect(X[c], c, null[a])
    return free
