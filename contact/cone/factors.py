"""W = L R^T of small rank: contacts of one body see each other through its few freedoms.

With k columns a Newton step costs n k^2 (Woodbury) instead of n^3, and a sweep n k instead of n^2. The factors only
guide: residuals come from W itself.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.contact.cone.linear import factor, substitute
from spatialops.contact.cone.local import solve_contact

_DROPPED = 1e-13


@kernel
def factor_kernel(W: Array, L: Array, R: Array, rest: Array) -> int:
    """L and R (n, n), of which the returned number of columns counts: elimination with the largest diagonal as pivot.

    Exact for semidefinite W; a slight asymmetry is kept in what has been eliminated.
    """
    n, largest = W.shape[0], 0.0
    for i in range(n):
        rest[i] = W[i, i]
        largest = max(largest, rest[i])
    for k in range(n):
        p = 0
        for i in range(n):
            if rest[i] > rest[p]:
                p = i
        if not rest[p] > _DROPPED * largest:
            return k
        root = math.sqrt(rest[p])
        for i in range(n):
            column, row = W[i, p], W[p, i]
            for t in range(k):
                column -= L[i, t] * R[p, t]
                row -= L[p, t] * R[i, t]
            L[i, k], R[i, k] = column / root, row / root
        for i in range(n):
            rest[i] -= L[i, k] * R[i, k]
        rest[p] = 0.0
    return n


@kernel
def sweep_factored(
    W: Array, rank: int, L: Array, R: Array, b: Array, mu: Array, starts: IntArray, limit: int, enough: float, r: Array,
    g: Array, block: Array, work: Array,
) -> int:  # fmt: skip
    """Gauss-Seidel sweeps, forwards and backwards in turns, until r changes by less than `enough` of it; their number.

    g = R^T r is carried along; `block` is (dim, dim), `work` (16, 6).
    """
    m, dim = mu.shape[0], starts[starts.size - 1]
    q, old = work[13], work[14]
    for t in range(rank):
        g[t] = 0.0
        for i in range(r.size):
            g[t] += R[i, t] * r[i]
    for sweep in range(limit):
        change, size = 0.0, 0.0
        for step in range(m):
            c = step if sweep % 2 == 0 else m - 1 - step
            at = c * dim
            for i in range(dim):
                total = b[at + i]
                for t in range(rank):
                    total += L[at + i, t] * g[t]
                for j in range(dim):
                    block[i, j] = W[at + i, at + j]
                    total -= block[i, j] * r[at + j]
                q[i], old[i] = total, r[at + i]
            solve_contact(block, q, 0.0, mu, c, starts, r, at, work)
            for i in range(dim):
                d = r[at + i] - old[i]
                change, size = max(change, abs(d)), max(size, abs(r[at + i]))
                if d != 0.0:
                    for t in range(rank):
                        g[t] += d * R[at + i, t]
        if (sweep % 2 == 1 and change <= enough * size) or not size < 1e8:
            return sweep + 1
    return limit


@kernel
def invert_block(D: Array, d: int, X: Array) -> bool:
    """X = D^-1 of size d by Gauss-Jordan with row pivoting; D is destroyed."""
    for i in range(d):
        for j in range(d):
            X[i, j] = 1.0 if i == j else 0.0
    for p in range(d):
        best = p
        for i in range(p + 1, d):
            if abs(D[i, p]) > abs(D[best, p]):
                best = i
        if not abs(D[best, p]) > 0.0:
            return False
        for j in range(d):
            D[p, j], D[best, j] = D[best, j], D[p, j]
            X[p, j], X[best, j] = X[best, j], X[p, j]
        inverse = 1.0 / D[p, p]
        for j in range(d):
            D[p, j] *= inverse
            X[p, j] *= inverse
        for i in range(d):
            f = D[i, p]
            if i != p and f != 0.0:
                for j in range(d):
                    D[i, j] -= f * D[p, j]
                    X[i, j] -= f * X[p, j]
    return True


@kernel
def factored_step(
    rank: int, L: Array, R: Array, shift: float, starts: IntArray, F: Array, P: Array, Q: Array, Y: Array, S: Array,
    order: IntArray, right: Array, z: Array, step: Array, work: Array,
) -> bool:  # fmt: skip
    """Solve (D + Q L R^T) step = -F, D = 1 - P + shift Q by blocks; False where a block or the rest is singular.

    With Y = D^-1 Q L and y = -D^-1 F: step = y - Y (1 + R^T Y)^-1 R^T y. Y and S are (n, n), `work` (16, 6).
    """
    n, dim = F.size, starts[starts.size - 1]
    D, X = work[0:6], work[6:12]
    for c in range(n // dim):
        at = c * dim
        for i in range(dim):
            for j in range(dim):
                D[i, j] = (1.0 if i == j else 0.0) - P[c, i, j] + shift * Q[c, i, j]
        if not invert_block(D, dim, X):
            return False
        for i in range(dim):
            step[at + i] = 0.0
            for j in range(dim):
                step[at + i] -= X[i, j] * F[at + j]
                D[i, j] = 0.0
                for k in range(dim):
                    D[i, j] += X[i, k] * Q[c, k, j]
        for i in range(dim):
            for t in range(rank):
                Y[at + i, t] = 0.0
            for j in range(dim):
                f = D[i, j]
                if f != 0.0:
                    for t in range(rank):
                        Y[at + i, t] += f * L[at + j, t]
    for t in range(rank):
        right[t] = 0.0
        for s in range(rank):
            S[t, s] = 1.0 if t == s else 0.0
    for i in range(n):
        if P[i // dim, 0, 0] == 0.0:  # open: this row of Y is zero, but not of y
            for t in range(rank):
                right[t] += R[i, t] * step[i]
            continue
        for t in range(rank):
            f = R[i, t]
            right[t] += f * step[i]
            for s in range(rank):
                S[t, s] += f * Y[i, s]
    if not factor(S, rank, order):
        return False
    substitute(S, rank, order, right, z)
    for i in range(n):
        for t in range(rank):
            step[i] -= Y[i, t] * z[t]
    return True
