"""Row spaces, pseudoinverses and inverse factors of small matrices, compiled, by orthogonal rows.

Gram-Schmidt with the largest row that is left as the next, each row made orthogonal twice (Giraud
and others 2005, "twice is enough"):

    A = T Q,  Q Q^T = 1,  T (rows, rank).

The same of T^T gives T = U^T S^T, and with both A^+ = Q^T S^-T U (a complete orthogonal
decomposition; Golub and Van Loan, section 5.5). Rank is what a singular value decomposition would
say where the gap between what counts and what does not is wide, at a tenth of its cost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel


class RowSpace(NamedTuple):
    """Where the factors of a matrix of so many rows go."""

    Q: Array  # (rank, columns) orthonormal rows
    T: Array  # (rows, rank)
    order: IntArray  # (rank,) row of the matrix that became each row of Q


@inlined
def part_along(X: Array, i: int, Q: Array, a: int, columns: int) -> float:
    """Take the part of row i along row a of Q off it; the part."""
    part = 0.0
    for c in range(columns):
        part += X[i, c] * Q[a, c]
    for c in range(columns):
        X[i, c] -= part * Q[a, c]
    return part


@inlined
def square_of_row(X: Array, i: int, columns: int) -> float:
    total = 0.0
    for c in range(columns):
        total += X[i, c] * X[i, c]
    return total


@inlined
def longest_row(X: Array, rows: int, columns: int) -> tuple[int, float]:
    """The longest row, and its length."""
    found = 0
    largest = 0.0
    for i in range(rows):
        square = square_of_row(X, i, columns)
        if square > largest:
            largest = square
            found = i
    return found, math.sqrt(largest)


@kernel
def row_space_kernel(
    X: Array, rows: int, columns: int, least: float, most: int, space: RowSpace
) -> int:
    """Factor X, of which only what is left stays; the rank: at most so many rows above `least`."""
    Q = space.Q
    T = space.T
    for i in range(rows):
        for a in range(min(rows, columns)):
            T[i, a] = 0.0
    rank = 0
    while rank < min(rows, columns, most):
        i, _ = longest_row(X, rows, columns)
        for a in range(rank):
            T[i, a] += part_along(X, i, Q, a, columns)
        size = math.sqrt(square_of_row(X, i, columns))
        if not size > least:
            break
        for c in range(columns):
            Q[rank, c] = X[i, c] / size
            X[i, c] = 0.0
        T[i, rank] = size
        space.order[rank] = i
        for j in range(rows):
            T[j, rank] += part_along(X, j, Q, rank, columns)
        rank += 1
    return rank


class Inverting(NamedTuple):
    """What a pseudoinverse of (m, n), of rank k, is made of; `pseudo_inverse_kernel` fills it."""

    first: RowSpace  # of the matrix: Q (k, n), T (m, k)
    second: RowSpace  # of T^T: U (k, m), S (k, k)
    turned: Array  # (k, m) T^T


def room_of_inverse(m: int, n: int) -> int:
    """Numbers that `inverting` takes."""
    k = min(m, n)
    return k * n + m * k + k * m + k * k + k * m


@inlined
def inverting(m: int, n: int, floats: Array, ints: IntArray) -> Inverting:
    """Name the parts of `room_of_inverse` numbers, and of 2 min(m, n) ints."""
    k = min(m, n)
    at = 0
    Q = floats[at : at + k * n].reshape((k, n))
    at += k * n
    T = floats[at : at + m * k].reshape((m, k))
    at += m * k
    U = floats[at : at + k * m].reshape((k, m))
    at += k * m
    S = floats[at : at + k * k].reshape((k, k))
    at += k * k
    turned = floats[at : at + k * m].reshape((k, m))
    return Inverting(RowSpace(Q, T, ints[:k]), RowSpace(U, S, ints[k : 2 * k]), turned)


@kernel
def pseudo_inverse_kernel(
    A: Array, m: int, n: int, least: float, most: int, inverse: Array, room: Inverting
) -> int:
    """A^+ (n, m) of A, which is lost; the rank.

    Rows of the second `Q` are an orthonormal basis of A's range.
    """
    rank = row_space_kernel(A, m, n, least, most, room.first)
    T = room.first.T
    turned = room.turned
    for a in range(rank):
        for i in range(m):
            turned[a, i] = T[i, a]
    got = row_space_kernel(turned, rank, m, 0.0, rank, room.second)
    U = room.second.Q
    S = room.second.T
    order = room.second.order
    for a in range(got - 1, -1, -1):  # turned <- S^-T U, rows in the order of `first`
        row = order[a]
        for i in range(m):
            total = U[a, i]
            for b in range(a + 1, got):
                total -= S[order[b], a] * turned[order[b], i]
            turned[row, i] = total / S[row, a]
    Q = room.first.Q
    for j in range(n):
        for i in range(m):
            total = 0.0
            for a in range(got):
                total += Q[a, j] * turned[a, i]
            inverse[j, i] = total
    return got


@kernel
def inverse_factor_kernel(A: Array, n: int, inverse: Array) -> bool:
    """C^-1 of the lower Cholesky factor C of the leading n rows of A, which C takes the place of.

    False where A is not positive definite.
    """
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for c in range(j):
                total -= A[i, c] * A[j, c]
            if i > j:
                A[i, j] = total / A[j, j]
            elif total > 0.0:
                A[i, i] = math.sqrt(total)
            else:
                return False
    for j in range(n):
        for i in range(n):
            inverse[i, j] = 0.0
        inverse[j, j] = 1.0 / A[j, j]
        for i in range(j + 1, n):
            total = 0.0
            for c in range(j, i):
                total += A[i, c] * inverse[c, j]
            inverse[i, j] = -total / A[i, i]
    return True
