"""Products of dense matrices, within kernels."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined


@inlined
def put_product(A: Array, B: Array, columns: int, result: Array) -> None:
    """A B of so many columns of B; entries of A that are zero cost nothing."""
    for i in range(A.shape[0]):
        for c in range(columns):
            result[i, c] = 0.0
        for k in range(A.shape[1]):
            factor = A[i, k]
            if factor != 0.0:
                for c in range(columns):
                    result[i, c] += factor * B[k, c]
