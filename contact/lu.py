"""Dense LU in row echelon form, for the Newton steps of cone problems and the bases of LCPs.

Partial pivoting. What counts as singular is the caller's affair: a basis drops columns that depend
on others to rounding; a Newton step follows pivots of 1e-14 beside 1 (contacts that someone has
regularised), since residuals verify what comes of it.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel


@inlined
def largest_entry(M: Array, n: int) -> float:
    """Largest magnitude in M[:n, :n]."""
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(M[i, j]))
    return largest


@kernel
def factor_lu(M: Array, n: int, least: float, rows: IntArray, columns: IntArray) -> int:
    """Row echelon form P M = L U of M[:n, :n] in place, row order in `rows`; returns the rank.

    A column without a pivot above `least` depends on those before it and is dropped: its entry of
    `columns`, which is not negative at first, i say, becomes -1 - i.
    """
    rank = 0
    for i in range(n):
        rows[i] = i
    for c in range(n):
        best, pivot = rank, 0.0
        for i in range(rank, n):
            if abs(M[i, c]) > pivot:
                best, pivot = i, abs(M[i, c])
        if not pivot > least:
            columns[c] = -1 - columns[c]
            continue
        if best != rank:
            for j in range(n):
                M[rank, j], M[best, j] = M[best, j], M[rank, j]
            rows[rank], rows[best] = rows[best], rows[rank]
        inverse = 1.0 / M[rank, c]
        for i in range(rank + 1, n):
            f = M[i, c] * inverse
            M[i, c] = f
            if f != 0.0:
                for j in range(c + 1, n):
                    M[i, j] -= f * M[rank, j]
        rank += 1
    return rank


@kernel
def substitute_lu(
    M: Array, n: int, rank: int, rows: IntArray, columns: IntArray, right: Array, out: Array
) -> None:
    """Solve with the factors of `factor_lu`, zero where a column was dropped; `right` is lost."""
    for i in range(rank):
        total = right[rows[i]]
        row = 0
        for c in range(n):
            if row == i:
                break
            if columns[c] >= 0:
                total -= M[i, c] * out[row]
                row += 1
        out[i] = total
    for c in range(n):
        right[c] = 0.0
    row = rank
    for c in range(n - 1, -1, -1):
        if columns[c] < 0:
            continue
        row -= 1
        total = out[row]
        for j in range(c + 1, n):
            total -= M[row, j] * right[j]
        right[c] = total / M[row, c]
    for i in range(n):
        out[i] = right[i]
