"""Rows held at zero velocity, closures and tangents that must not slip, taken out of a problem.

With W = L L^T, holding rows B means working in the null space of L_B: L_B = Z Q for independent
rows, Z lower triangular and Q orthonormal; others see L (I - Q^T Q). Z Z^T is the Cholesky
factorisation of B M^-1 B^T, which [Z] algorithm 1 (FIND-INDICES) grows row by row and asks for
singularity; here the row of the longest remainder is next, so that the pivots are not squared and
the order of the contacts does not decide which rows are called dependent. O(nv^2) a row.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.dynamics.loops.elimination import product, subtract

_RANK = 1e-9  # remainder of a row of length one below which others imply it
LOCKED = 1e-12  # velocity of a locked row, relative to the largest, that rounding leaves


class Elimination:
    """Rows (k, nv) whose velocities (k,) are brought to zero by impulses on independent ones.

    Rows of which others leave less than `rank` of their length count as dependent.

    Attributes
    ----------
    chosen : (r,) int array
        The independent rows.
    """

    def __init__(self, rows: Array, velocities: Array, rank: float = 0.0) -> None:
        self.size, nv = rows.shape
        most = min(self.size, nv)
        left, lengths = np.empty((self.size, nv)), np.empty((2, self.size))
        self._Q = np.empty((most, nv))
        self._Z = np.zeros((most, most))
        chosen = np.empty(most, dtype=np.int64)
        count = choose_rows(rows, left, lengths, self._Q, self._Z, chosen)
        if rank > 0.0:  # the remainders fall from row to row
            count = int((np.diag(self._Z)[:count] > rank).sum())
        self._Q = self._Q[:count]
        self._Z = self._Z[:count, :count].copy()
        self.chosen = chosen[:count]
        self._lengths = lengths[0, self.chosen]
        self._rows = rows[self.chosen] / self._lengths[:, None]
        self._u = velocities[self.chosen] / self._lengths
        self._y = self._u.copy()
        forward(self._Z, self._y)

    def reduce(self, L: Array, velocities: Array) -> tuple[Array, Array]:
        """Rows L (n, nv) and velocities (n,) as they are while the eliminated ones are held.

        Rows that cannot move any more are zero to the last bit: what rounding leaves of them is no
        direction to push.
        """
        rows, u = np.array(L), np.array(velocities)
        size = max(
            np.abs(velocities).max(initial=0.0),
            np.abs(self._y).max(initial=0.0) * np.abs(L).max(initial=0.0),
        )
        reduce_rows(self._Q, self._y, LOCKED * float(size), rows, u)
        return rows, u

    def impulses(self, x: Array) -> Array:
        """Impulses (k,) on these rows, 0 on dependent ones, if others make x = L^T p (nv,)."""
        p, room = np.zeros(self.size), np.empty((3, self._Q.shape[1]))
        holding_impulses(
            self._Q, self._Z, self._rows, self._u, self._y, self._lengths, x, self.chosen, room, p
        )
        return p


@kernel
def choose_rows(
    rows: Array, left: Array, lengths: Array, Q: Array, Z: Array, chosen: IntArray
) -> int:
    """Rank of the rows, scaled to length one; the rows chosen, their factors, what Q leaves of all.

    `lengths` (2, k) gets the rows' lengths (1 for those of nothing) and squares of what is left of
    them.
    """
    nv, rank = rows.shape[1], 0
    for i in range(rows.shape[0]):
        length = math.sqrt(product(rows, i, rows, i))
        lengths[0, i] = length if length > 0.0 else 1.0
        lengths[1, i] = 1.0 if length > 0.0 else 0.0
        for c in range(nv):
            left[i, c] = rows[i, c] / lengths[0, i]
    while rank < Q.shape[0]:
        best = 0
        for i in range(rows.shape[0]):
            best = i if lengths[1, i] > lengths[1, best] else best
        if not lengths[1, best] > _RANK * _RANK:
            break
        take(rows, best, lengths[0, best], Q, Z, rank)
        chosen[rank] = best
        for i in range(rows.shape[0]):
            if lengths[1, i] > 0.0:
                subtract(left, i, product(left, i, Q, rank), Q, rank)
                lengths[1, i] = product(left, i, left, i)
        lengths[1, best] = 0.0
        rank += 1
    return rank


@inlined
def take(rows: Array, i: int, length: float, Q: Array, Z: Array, r: int) -> None:
    """Row i, of length one, made orthogonal as row r of Q, and its parts as row r of Z."""
    for c in range(rows.shape[1]):
        Q[r, c] = rows[i, c] / length
    for _ in range(2):
        for a in range(r):
            part = product(Q, r, Q, a)
            Z[r, a] += part
            subtract(Q, r, part, Q, a)
    Z[r, r] = math.sqrt(product(Q, r, Q, r))
    for c in range(rows.shape[1]):
        Q[r, c] /= Z[r, r]


@kernel
def forward(Z: Array, y: Array) -> None:
    """Z y' = y in place."""
    for a in range(y.size):
        for b in range(a):
            y[a] -= Z[a, b] * y[b]
        y[a] /= Z[a, a]


@inlined
def backward(Z: Array, y: Array, rank: int) -> None:
    """Z^T y' = y in place."""
    for a in range(rank - 1, -1, -1):
        for b in range(a + 1, rank):
            y[a] -= Z[b, a] * y[b]
        y[a] /= Z[a, a]


@kernel
def reduce_rows(Q: Array, y: Array, nothing: float, rows: Array, u: Array) -> None:
    """rows (I - Q^T Q) and u - rows Q^T y in place; locked rows below `nothing` are at rest."""
    for i in range(rows.shape[0]):
        whole = product(rows, i, rows, i)
        for turn in range(2):
            for a in range(y.size):
                part = product(rows, i, Q, a)
                u[i] -= part * y[a] if turn == 0 else 0.0
                subtract(rows, i, part, Q, a)
        if product(rows, i, rows, i) <= _RANK * _RANK * whole:
            for c in range(rows.shape[1]):
                rows[i, c] = 0.0
            u[i] = 0.0 if abs(u[i]) <= nothing else u[i]


@kernel
def holding_impulses(
    Q: Array,
    Z: Array,
    rows: Array,
    u: Array,
    y: Array,
    lengths: Array,
    x: Array,
    chosen: IntArray,
    room: Array,
    p: Array,
) -> None:
    """p on the chosen rows with Z Z^T p' = -(u + rows x), p' = lengths p, refined once.

    The step is for rows that are nearly dependent. `room` holds x + rows^T p', p' and the step.
    """
    rank = y.size
    reach = room[0]
    first = room[1]
    step = room[2]
    for c in range(x.size):
        reach[c] = x[c]
    for a in range(rank):
        first[a] = -y[a]
        for c in range(x.size):
            first[a] -= Q[a, c] * x[c]
    backward(Z, first, rank)
    for a in range(rank):
        for c in range(x.size):
            reach[c] += first[a] * rows[a, c]
    for a in range(rank):
        step[a] = u[a]
        for c in range(x.size):
            step[a] += rows[a, c] * reach[c]
    forward(Z, step[:rank])
    backward(Z, step, rank)
    for a in range(rank):
        p[chosen[a]] = (first[a] - step[a]) / lengths[a]
