"""W = L R^T of small rank: contacts of one body see each other through its few freedoms.

With k columns a Newton step costs n k^2 (Woodbury) instead of n^3, and a sweep n k instead of n^2.
The factors only guide: residuals come from W itself.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.contact.cone.one_contact import solve_contact
from spatialops.contact.cone.scratch import DenseSystem, NewtonScratch
from spatialops.contact.lu import factor_lu, substitute_lu

_DROPPED = 1e-13  # diagonal, relative to the largest, below which rounding is left of W
DIVERGED = 1e8  # impulses, for W and b of size one, of sweeps that do not converge
NO_PIVOT = 1e-300  # below which a pivot has vanished: anything larger is followed, and verified


@kernel
def factor_kernel(W: Array, L: Array, R: Array, remaining: Array) -> int:
    """L and R (n, n), of which the returned number of columns counts; `remaining` is (n,) scratch.

    Elimination with the largest diagonal as pivot: exact for semidefinite W; a slight asymmetry is
    kept in what has been eliminated.
    """
    n, largest = W.shape[0], 0.0
    for i in range(n):
        remaining[i] = W[i, i]
        largest = max(largest, remaining[i])
    for k in range(n):
        p = 0
        for i in range(n):
            if remaining[i] > remaining[p]:
                p = i
        if not remaining[p] > _DROPPED * largest:
            return k
        root = math.sqrt(remaining[p])
        for i in range(n):
            column, row = W[i, p], W[p, i]
            for t in range(k):
                column -= L[i, t] * R[p, t]
                row -= L[p, t] * R[i, t]
            L[i, k], R[i, k] = column / root, row / root
        for i in range(n):
            remaining[i] -= L[i, k] * R[i, k]
        remaining[p] = 0.0
    return n


@kernel
def sweep_factored(
    system: DenseSystem,
    rank: int,
    limit: int,
    enough: float,
    r: Array,
    g: Array,
    block: Array,
    work: Array,
) -> int:
    """Gauss-Seidel sweeps until r changes by less than `enough` of it; returns their number.

    Forwards and backwards in turns. g = R^T r is carried along; `block` is (dim, dim), `work` as
    `solve_contact` takes it.
    """
    W, b = system.W, system.b
    L, R = system.L, system.R
    mu, starts = system.mu, system.starts
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
        if (sweep % 2 == 1 and change <= enough * size) or not size < DIVERGED:
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
def factored_step(system: DenseSystem, rank: int, shift: float, scratch: NewtonScratch) -> bool:
    """Solve (D + Q L R^T) step = -F, D = 1 - P + shift Q by blocks.

    With Y = D^-1 Q L and y = -D^-1 F: step = y - Y (1 + R^T Y)^-1 R^T y. False where a block or the
    small matrix is singular.
    """
    L, R = system.L, system.R
    P, Q = scratch.P, scratch.Q
    F, Y = scratch.F, scratch.Y
    S, step = scratch.J, scratch.step
    right, columns = scratch.right, scratch.chosen
    n, dim = F.size, system.starts[system.starts.size - 1]
    D, X = scratch.contact[0:6], scratch.contact[6:12]
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
        columns[t] = t
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
    if factor_lu(S, rank, NO_PIVOT, scratch.order, columns) < rank:
        return False
    substitute_lu(S, rank, rank, scratch.order, columns, right, scratch.reduced)
    for i in range(n):
        for t in range(rank):
            step[i] -= Y[i, t] * scratch.reduced[t]
    return True
