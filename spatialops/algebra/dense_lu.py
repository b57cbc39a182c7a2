"""LU factors of a small square matrix with pivoting, and solutions either way.

P A Q = L U with the largest entry that is left as the next pivot, so that the factors tell the
rank: what is left below `tolerance` of the first pivot is zero (Golub and Van Loan, section 3.4).
Unknowns without a pivot are zero in solutions. With a tolerance of zero the rank is known to be
full, and rows alone are exchanged. Pivots are kept as their inverses. Rows are worked on eight
numbers at a time; in matrices with seven columns more than are meant all of them are.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, store

ROW = 0  # rows of the table of exchanges
COLUMN = 1
EXCHANGES = 2


@inlined
def exchange_rows(X: Array, i: int, j: int, columns: int) -> None:
    if i != j:
        for c in range(columns):
            X[i, c], X[j, c] = X[j, c], X[i, c]


@inlined
def subtract_row(
    X: Array, i: int, factor: float, Y: Array, j: int, first: int, columns: int
) -> None:
    """X[i] -= factor Y[j] in columns from `first` on; what is behind them in whole eights too."""
    room = min(X.shape[1], Y.shape[1]) - WIDTH
    c = first
    while c < columns and c <= room:
        store(X, i, c, load(X, i, c) - factor * load(Y, j, c))
        c += WIDTH
    for d in range(c, columns):
        X[i, d] -= factor * Y[j, d]


@inlined
def put_pivot(A: Array, k: int, n: int, columns: int, exchanges: IntArray) -> float:
    """Bring the largest entry of so many columns from row k on to A[k, k]; its size."""
    row = column = k
    largest = 0.0
    for i in range(k, n):
        for j in range(k, k + columns):
            if abs(A[i, j]) > largest:
                largest = abs(A[i, j])
                row = i
                column = j
    exchanges[ROW, k] = row
    exchanges[COLUMN, k] = column
    exchange_rows(A, k, row, n)
    if column != k:
        for i in range(n):
            A[i, k], A[i, column] = A[i, column], A[i, k]
    return largest


@kernel
def factor_lu(A: Array, n: int, tolerance: float, exchanges: IntArray) -> int:
    """Factor the leading n rows and columns of A in place; returns the rank."""
    least = 0.0
    for k in range(n):
        largest = put_pivot(A, k, n, n - k if tolerance > 0.0 else 1, exchanges)
        if k == 0:
            least = tolerance * largest
        if not largest > least:
            return k
        inverse = 1.0 / A[k, k]
        A[k, k] = inverse
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            A[i, k] = factor
            subtract_row(A, i, factor, A, k, k + 1, n)
    return n


@kernel
def solve_lu(A: Array, n: int, rank: int, exchanges: IntArray, X: Array, columns: int) -> None:
    """X <- A^-1 X of n rows, for so many columns at once."""
    for k in range(rank):
        exchange_rows(X, k, exchanges[ROW, k], columns)
    for k in range(rank):
        for i in range(k + 1, n):
            subtract_row(X, i, A[i, k], X, k, 0, columns)
    for k in range(rank, n):
        for c in range(columns):
            X[k, c] = 0.0
    for k in range(rank - 1, -1, -1):
        for j in range(k + 1, rank):
            subtract_row(X, k, A[k, j], X, j, 0, columns)
        for c in range(columns):
            X[k, c] *= A[k, k]
    for k in range(rank - 1, -1, -1):
        exchange_rows(X, k, exchanges[COLUMN, k], columns)


@kernel
def solve_transposed_lu(A: Array, n: int, rank: int, exchanges: IntArray, x: Array) -> None:
    """X <- A^-T x of one vector: Q U* L* P."""
    for k in range(rank):
        j = exchanges[COLUMN, k]
        x[k], x[j] = x[j], x[k]
    for k in range(rank):
        x[k] *= A[k, k]
        for j in range(k + 1, rank):
            x[j] -= A[k, j] * x[k]
    for k in range(rank, n):
        x[k] = 0.0
    for k in range(rank - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, rank):
            total -= A[i, k] * x[i]
        x[k] = total
    for k in range(rank - 1, -1, -1):
        i = exchanges[ROW, k]
        x[k], x[i] = x[i], x[k]
