"""Dense LU for the Newton steps: partial pivoting, and no opinion on what is nearly singular."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel


@kernel
def factor(M: Array, n: int, order: IntArray) -> bool:
    """LU of M[:n, :n] in place, row order in `order`; False only where a pivot vanishes or is no number.

    The LCP's `factor_lu` turns away what is singular to rounding. Here residuals judge, and a compliance of 1e-14
    beside one of 1 (contacts that someone regularised) must still be followed.
    """
    for i in range(n):
        order[i] = i
    for c in range(n):
        best, pivot = c, abs(M[c, c])
        for i in range(c + 1, n):
            if abs(M[i, c]) > pivot:
                best, pivot = i, abs(M[i, c])
        if not pivot > 1e-300:
            return False
        if best != c:
            for j in range(n):
                M[c, j], M[best, j] = M[best, j], M[c, j]
            order[c], order[best] = order[best], order[c]
        inverse = 1.0 / M[c, c]
        for i in range(c + 1, n):
            f = M[i, c] * inverse
            M[i, c] = f
            if f != 0.0:
                for j in range(c + 1, n):
                    M[i, j] -= f * M[c, j]
    return True


@kernel
def substitute(M: Array, n: int, order: IntArray, right: Array, out: Array) -> None:
    """Solve with the factors of `factor`: out = M^-1 right."""
    for i in range(n):
        total = right[order[i]]
        for j in range(i):
            total -= M[i, j] * out[j]
        out[i] = total
    for i in range(n - 1, -1, -1):
        total = out[i]
        for j in range(i + 1, n):
            total -= M[i, j] * out[j]
        out[i] = total / M[i, i]
