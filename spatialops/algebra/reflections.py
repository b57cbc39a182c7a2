"""Least squares of small dense matrices, compiled: reflections (Householder 1958)."""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import kernel


@kernel
def triangular_kernel(A: Array, columns: int) -> None:
    """Reflect A (rows, >= columns), rows >= columns, until its first columns are R, zero below.

    What stands in further columns is reflected too: b becomes Q^T b, whose first entries are those
    of the least squares R x = Q^T b.
    """
    rows = A.shape[0]
    for c in range(columns):
        square = 0.0
        for i in range(c, rows):
            square += A[i, c] * A[i, c]
        size = math.sqrt(square)
        if size == 0.0:
            continue
        first = A[c, c]
        diagonal = -size if first > 0.0 else size
        # v = column - diagonal e, of square 2 (square - diagonal first): 1 - 2 v v^T / |v|^2
        share = 1.0 / (square - diagonal * first)
        A[c, c] = first - diagonal
        for j in range(c + 1, A.shape[1]):
            part = 0.0
            for i in range(c, rows):
                part += A[i, c] * A[i, j]
            for i in range(c, rows):
                A[i, j] -= share * part * A[i, c]
        A[c, c] = diagonal
        for i in range(c + 1, rows):
            A[i, c] = 0.0
