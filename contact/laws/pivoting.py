"""Principal pivoting for normals only, p >= 0, w = u + L L^T p >= 0, p w = 0, without L L^T.

[D] algorithm 1 and [Z] algorithm 2 pivot on active rows A that are independent, at most as many as
there are degrees of freedom, and see the others through x = L_A^T p alone: O(nv^2) a pivot by
updates of the factor L_A = R^T Q, O(n nv) for the velocities. Their exchange of two rows at once
can cycle. Here the row of the largest violation is driven to zero, and active rows that would pull
on the way leave (Cottle's principal pivoting method I with its blocking rule): |x|^2 / 2, the
energy to reach the rows met so far, grows with every row that is met, so no active set comes back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.solve import solve
from spatialops.dynamics.loops.elimination import product

_DEPENDENT = 1e-10  # remainder of a row, relative to its length, below which active rows imply it
_BEGIN = 1e-9  # the same for the rows to begin with, which are only a guess
MET = 1e-13  # violation, relative to the velocities, that counts as none
MOST = 20  # pivots for each row and column
# the same for a row that active rows imply, so that no push can move it: it has their rounding
_ROUNDING = 1e-10
_HUGE = 1e100  # impulses, as velocities, that no factor has digits for
_PULLS = 1e-9  # impulse below zero, relative to the largest, that is not rounding
_BLOCKS = 1e-14  # rate, relative to the largest, of an impulse that can block
_ANSWERED = 0
_FAILED = 1


class Pivoted(NamedTuple):
    """Impulses (n,), the active rows, pivots, and whether the ladder of LCP solvers had to help."""

    p: Array
    active: IntArray
    iterations: int
    fell_back: bool


def pivot(
    L: Array,
    u: Array,
    active: Sequence[int] | IntArray = (),
    *,
    lengths: Array | None = None,
    scale: float | None = None,
) -> Pivoted:
    """Solve p >= 0, w = u + L L^T p >= 0, p w = 0.

    Parameters
    ----------
    L : (n, nv) array
        Rows of the normals.
    u : (n,) array
        Their velocities without impulses.
    active : sequence of int, optional
        Rows to begin with: those that pushed in a similar problem, which keeps loads where they
        were ([Z] 4.6).
    lengths : (n,) array, optional
        Sizes against which a row of L counts as zero: those before other rows were eliminated.
        Default: its own.
    scale : float, optional
        Size against which a velocity counts as zero. Default: the largest of u.

    Returns
    -------
    Pivoted
        At most nv rows push. Where rounding or a problem without a solution stops the pivots, the
        answer is that of the ladder of `contact.solve` on the whole L L^T: to be verified by its
        residual.
    """
    found = pivot_alone(L, u, active, lengths=lengths, scale=scale)
    if found.fell_back:
        L = np.asarray(L, dtype=np.float64)
        answer = solve(MixedLCP(L @ L.T, np.asarray(u, dtype=np.float64)))
        pivots = found.iterations + answer.iterations
        return Pivoted(answer.z, np.flatnonzero(answer.z > 0.0), pivots, True)
    return found


def pivot_alone(
    L: Array,
    u: Array,
    active: Sequence[int] | IntArray = (),
    *,
    lengths: Array | None = None,
    scale: float | None = None,
    met: float = MET,
    most: int = MOST,
) -> Pivoted:
    """As `pivot`, but `fell_back` says that there is no answer: nothing else is tried.

    `met` is the violation, relative to the velocities, that counts as none, `most` the number of
    pivots allowed for each row and column.
    """
    L, u = np.ascontiguousarray(L, dtype=np.float64), np.ascontiguousarray(u, dtype=np.float64)
    n, nv = L.shape
    lengths = np.sqrt(np.einsum("ij,ij->i", L, L)) if lengths is None else lengths
    scale = float(np.abs(u).max(initial=0.0)) if scale is None else scale
    begin = np.asarray(active, dtype=np.int64).reshape(-1)
    p = np.zeros(n)
    room = np.zeros((2 * nv + 5, nv))
    rows = np.zeros(nv, dtype=np.int64)
    limit = most * (n + nv) + 100
    sizes = lengths, scale, met
    status, count, pivots = pivot_kernel(L, u, sizes, begin, limit, p, room, rows)
    if status != _ANSWERED and begin.size:  # a bad guess may leave rows that are nearly dependent
        first = pivots
        status, count, pivots = pivot_kernel(L, u, sizes, begin[:0], limit, p, room, rows)
        pivots += first
    if status != _ANSWERED:
        return Pivoted(p, begin[:0], pivots, True)
    pushing = np.sort(rows[:count])
    return Pivoted(p, pushing[p[pushing] > 0.0], pivots, False)


@kernel
def pivot_kernel(
    L: Array,
    u: Array,
    sizes: tuple[Array, float, float],
    begin: IntArray,
    limit: int,
    p: Array,
    room: Array,
    rows: IntArray,
) -> tuple[int, int, int]:
    """Status, number of active rows (in `rows`) and pivots; impulses in p, which is zero at first.

    `sizes` are `lengths`, `scale` and `met`. `room` (2 nv + 5, nv) holds Q, R and vectors: impulses
    of the active rows, parts of a row along Q, what is left of it, x = L_A^T p, and how fast active
    impulses fall while a row is pushed.
    """
    nv = L.shape[1]
    lengths = sizes[0]
    scale = sizes[1]
    Q = room[:nv]
    R = room[nv : 2 * nv]
    active = room[2 * nv]
    d = room[2 * nv + 1]
    x = room[2 * nv + 3]
    k, pivots = start_from(L, u, lengths, begin, room, rows), 0
    while True:
        size = put_reach(L, rows, k, active, x)
        if not size < _HUGE:  # rows that hardly move and must: no factor has digits for that
            return _FAILED, k, pivots
        i, w = worst_row(L, u, sizes, size, rows, k, room)
        if i < 0:
            break
        k, steps = drive(L, i, w, _DEPENDENT * lengths[i], room, rows, k)
        pivots += abs(steps)
        if steps == -1 and w > -_ROUNDING * (scale + lengths[i] * size):
            break  # nothing has been pushed; violations of other rows are smaller still
        if steps <= 0 or pivots > limit:
            return _FAILED, k, pivots
        # What rounding has left of the many steps would look like violations.
        hold(L, u, rows, k, Q, R, active, d, x)
    hold(L, u, rows, k, Q, R, active, d, x)
    largest = 0.0
    for j in range(k):
        largest = max(largest, active[j])
    for j in range(k):
        if active[j] < -_PULLS * largest:
            return _FAILED, k, pivots
        p[rows[j]] = max(active[j], 0.0)
    return _ANSWERED, k, pivots


@inlined
def start_from(
    L: Array, u: Array, lengths: Array, begin: IntArray, room: Array, rows: IntArray
) -> int:
    """Make those of the rows `begin` active that are independent and push; returns how many."""
    nv, k = L.shape[1], 0
    Q = room[:nv]
    R = room[nv : 2 * nv]
    active = room[2 * nv]
    d = room[2 * nv + 1]
    x = room[2 * nv + 3]
    for i in begin:
        if k < nv and remainder(L, i, room, k) > (_BEGIN * lengths[i]) ** 2:
            k = add_row(i, 0.0, room, rows, k)
    hold(L, u, rows, k, Q, R, active, d, x)
    while k > 0:
        lowest = 0
        for j in range(k):
            lowest = j if active[j] < active[lowest] else lowest
        if active[lowest] >= 0.0:
            break
        k = drop_row(lowest, room, rows, k)
        hold(L, u, rows, k, Q, R, active, d, x)
    return k


@inlined
def worst_row(
    L: Array,
    u: Array,
    sizes: tuple[Array, float, float],
    size: float,
    rows: IntArray,
    k: int,
    room: Array,
) -> tuple[int, float]:
    """The row of the largest violation beyond rounding, -1 where there is none; its velocity."""
    lengths = sizes[0]
    scale = sizes[1]
    met = sizes[2]
    x = 2 * L.shape[1] + 3
    worst = 0.0
    found = -1
    velocity = 0.0
    for i in range(u.size):
        w = u[i] + product(L, i, room, x)
        short = w + met * (scale + lengths[i] * size)
        if short < worst:
            taken = False
            for j in range(k):
                taken = taken or rows[j] == i
            if not taken:
                worst = short
                found = i
                velocity = w
    return found, velocity


@inlined
def drive(
    L: Array, i: int, w: float, dependent: float, room: Array, rows: IntArray, k: int
) -> tuple[int, int]:
    """Push on row i until its velocity w < 0 is zero; active rows that would pull leave.

    Returns the number of active rows and the pivots, these not above zero if nothing stops the row.
    """
    nv = L.shape[1]
    R = room[nv : 2 * nv]
    active = room[2 * nv]
    d = room[2 * nv + 1]
    falls = room[2 * nv + 4]
    pushed, pivots = 0.0, 0
    while True:
        gain = remainder(L, i, room, k)
        for a in range(k):
            falls[a] = d[a]
        solve_upper(R, k, falls)  # of active impulses for each unit of push on row i
        most, block = blocking(active, falls, k)
        reach = -w / gain if gain > dependent * dependent and k < nv else math.inf
        step = min(most, reach)
        if step == math.inf:
            return k, -pivots - 1
        pivots += 1
        pushed += step
        for a in range(k):
            active[a] -= step * falls[a]
        if reach <= most:
            return add_row(i, pushed, room, rows, k), pivots
        w += step * gain
        k = drop_row(block, room, rows, k)


@inlined
def blocking(active: Array, falls: Array, k: int) -> tuple[float, int]:
    """How far a push can go until the first active impulse is zero, and which."""
    largest = 0.0
    most = math.inf
    block = -1
    for a in range(k):
        largest = max(largest, abs(falls[a]))
    for a in range(k):
        if falls[a] > _BLOCKS * largest and active[a] / falls[a] < most:
            most, block = active[a] / falls[a], a
    return max(most, 0.0), block


@inlined
def put_reach(L: Array, rows: IntArray, k: int, active: Array, x: Array) -> float:
    """x = L_A^T p, and its length."""
    for c in range(x.size):
        x[c] = 0.0
    for a in range(k):
        for c in range(x.size):
            x[c] += active[a] * L[rows[a], c]
    total = 0.0
    for c in range(x.size):
        total += x[c] * x[c]
    return math.sqrt(total)


@inlined
def hold(
    L: Array,
    u: Array,
    rows: IntArray,
    k: int,
    Q: Array,
    R: Array,
    active: Array,
    d: Array,
    x: Array,
) -> None:
    """Impulses that bring the active rows to zero, with one step of refinement."""
    for a in range(k):
        active[a] = 0.0
    for _ in range(2):
        put_reach(L, rows, k, active, x)
        for a in range(k):
            d[a] = u[rows[a]]
            for c in range(x.size):
                d[a] += L[rows[a], c] * x[c]
        for a in range(k):  # R^T R is the compliance of the active rows
            for b in range(a):
                d[a] -= R[b, a] * d[b]
            d[a] /= R[a, a]
        solve_upper(R, k, d)
        for a in range(k):
            active[a] -= d[a]


@inlined
def solve_upper(R: Array, k: int, b: Array) -> None:
    """R y = b in place."""
    for a in range(k - 1, -1, -1):
        for c in range(a + 1, k):
            b[a] -= R[a, c] * b[c]
        b[a] /= R[a, a]


@inlined
def remainder(L: Array, i: int, room: Array, k: int) -> float:
    """Parts of row i along Q into their vector, what is left of it into another; its square.

    Classical Gram-Schmidt, done twice: Q stays orthonormal to rounding.
    """
    nv = L.shape[1]
    d = room[2 * nv + 1]
    left = room[2 * nv + 2]
    total = 0.0
    for c in range(nv):
        left[c] = L[i, c]
        d[c] = 0.0
    for _ in range(2):
        for a in range(k):
            part = product(room, 2 * nv + 2, room, a)
            d[a] += part
            for c in range(nv):
                left[c] -= part * room[a, c]
    for c in range(nv):
        total += left[c] * left[c]
    return total


@inlined
def add_row(i: int, p: float, room: Array, rows: IntArray, k: int) -> int:
    """Make row i active, whose `remainder` was taken last, with the impulse p; the new count."""
    nv = rows.size
    R = room[nv : 2 * nv]
    d = room[2 * nv + 1]
    left = room[2 * nv + 2]
    total = 0.0
    for c in range(nv):
        total += left[c] * left[c]
    norm = math.sqrt(total)
    for c in range(nv):
        room[k, c] = left[c] / norm
    for a in range(k):
        R[a, k] = d[a]
    R[k, k] = norm
    rows[k] = i
    room[2 * nv, k] = p
    return k + 1


@inlined
def drop_row(j: int, room: Array, rows: IntArray, k: int) -> int:
    """Let the j-th active row go; plane rotations make R triangular again. The new count."""
    nv = rows.size
    R, active = room[nv : 2 * nv], room[2 * nv]
    for c in range(j, k - 1):
        rows[c], active[c] = rows[c + 1], active[c + 1]
        for a in range(c + 2):
            R[a, c] = R[a, c + 1]
    for a in range(j, k - 1):
        size = math.hypot(R[a, a], R[a + 1, a])
        cosine, sine = R[a, a] / size, R[a + 1, a] / size
        for c in range(a, k - 1):
            above, below = R[a, c], R[a + 1, c]
            R[a, c], R[a + 1, c] = cosine * above + sine * below, cosine * below - sine * above
        for c in range(nv):
            above, below = room[a, c], room[a + 1, c]
            room[a, c], room[a + 1, c] = (
                cosine * above + sine * below,
                cosine * below - sine * above,
            )
    return k - 1
