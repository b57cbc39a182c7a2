"""The program of many forces of which few are at the edge of their cones, compiled.

    min x.H x / 2 + c.x   over   low <= K f_p <= high for each force f_p, three entries of x

The dual active-set method of Goldfarb and Idnani (Mathematical Programming 27, 1983), as in
`algebra.dual_active_set`, which turns an inverse factor at every step. Here H is factored once,
H = U^T U, and normals are solved with it one by one, W = N U^-1: what is active is a small system
W W^T, and a program whose free minimum is within all cones takes one factorization.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.memory import matrix

NO_POINT = -1

_TIGHT = 1e-10  # what a bound may be violated by, of 1 and the bound
_DEPENDENT = 1e-13  # of the square of a normal: what is left of one that depends on others
_STEPS = 20  # for each unknown

_NONE = -1


class Room(NamedTuple):
    """What the method works in, for n unknowns."""

    W: Array  # (n, n) rows of active normals
    S: Array  # (n, n) W W^T
    R: Array  # (n, n) its factor
    y: Array  # (n,) U x
    w: Array  # (n,) new normal
    z: Array  # (n,) primal step
    r: Array  # (n,) dual step
    u: Array  # (n + 1,) multipliers
    which: IntArray  # (n,) rows of cones
    on: IntArray  # (rows of all cones,) whether one is active


@merged
def floats_of(n: int) -> int:
    """Numbers that the method works in, for n unknowns."""
    return 3 * n * n + 5 * n + 1


@merged
def ints_of(n: int, rows: int) -> int:
    """Integers, for cones of so many rows each."""
    return n + rows * (n // 3)


@inlined
def room_in(floats: Array, ints: IntArray, n: int, rows: int) -> Room:
    """Name the parts of two buffers."""
    at = 3 * n * n
    return Room(
        matrix(floats, 0, n, n),
        matrix(floats, n * n, n, n),
        matrix(floats, 2 * n * n, n, n),
        floats[at : at + n],
        floats[at + n : at + 2 * n],
        floats[at + 2 * n : at + 3 * n],
        floats[at + 3 * n : at + 4 * n],
        floats[at + 4 * n : at + 5 * n + 1],
        ints[:n],
        ints[n : ints_of(n, rows)],
    )


@inlined
def factor(A: Array, n: int) -> bool:
    """A = U^T U, the upper triangle in place; whether A is positive definite.

    Four rows are taken from those below, two by two, so that entries are read once for all: 108
    unknowns take half of the time that one by one take, as LAPACK does.
    """
    for k in range(0, n, 4):
        end = min(k + 4, n)
        for i in range(k, end):
            for a in range(k, i):
                size = A[a, i]
                for j in range(i, n):
                    A[i, j] -= size * A[a, j]
            if not A[i, i] > 0.0:
                return False
            pivot = math.sqrt(A[i, i])
            A[i, i] = pivot
            share = 1.0 / pivot
            for j in range(i + 1, n):
                A[i, j] *= share
        for i in range(end, n - 1, 2):
            take_four(A, k, i, n)
        if end < n and (n - end) % 2 == 1:
            A[n - 1, n - 1] -= square_of_four(A, k, n - 1)
    return True


@inlined
def square_of_four(A: Array, k: int, i: int) -> float:
    """Sum of squares of column i in four rows from k on."""
    first, second = A[k, i], A[k + 1, i]
    third, fourth = A[k + 2, i], A[k + 3, i]
    return first * first + second * second + (third * third + fourth * fourth)


@inlined
def take_four(A: Array, k: int, i: int, n: int) -> None:
    """Take four rows from k on from rows i and i + 1, right of the diagonal."""
    first, second = A[k, i], A[k + 1, i]
    third, fourth = A[k + 2, i], A[k + 3, i]
    other_first, other_second = A[k, i + 1], A[k + 1, i + 1]
    other_third, other_fourth = A[k + 2, i + 1], A[k + 3, i + 1]
    A[i, i] -= square_of_four(A, k, i)
    for j in range(i + 1, n):
        w, x = A[k, j], A[k + 1, j]
        y, z = A[k + 2, j], A[k + 3, j]
        A[i, j] -= first * w + second * x + (third * y + fourth * z)
        A[i + 1, j] -= other_first * w + other_second * x + (other_third * y + other_fourth * z)


@inlined
def solve_left(U: Array, n: int, x: Array, first: int) -> None:
    """U^-T x in place; entries before `first` are zero."""
    for k in range(first, n):
        x[k] /= U[k, k]
        size = x[k]
        if size == 0.0:
            continue
        for j in range(k + 1, n):
            x[j] -= size * U[k, j]


@inlined
def solve_right(U: Array, n: int, x: Array) -> None:
    """U^-1 x in place."""
    for k in range(n - 1, -1, -1):
        a = 0.0
        b = 0.0
        j = k + 1
        while j + 2 <= n:
            a += U[k, j] * x[j]
            b += U[k, j + 1] * x[j + 1]
            j += 2
        if j < n:
            a += U[k, j] * x[j]
        x[k] = (x[k] - (a + b)) / U[k, k]


@inlined
def most_violated(K: Array, bounds: Array, x: Array, on: IntArray) -> tuple[int, float, float]:
    """Row of all cones that is not active, its side, and by how much it is violated."""
    found = _NONE
    side = 1.0
    worst = 0.0
    rows = K.shape[0]
    for i in range(on.size):
        if on[i] != 0:
            continue
        k = i % rows
        at = 3 * (i // rows)
        value = K[k, 0] * x[at] + K[k, 1] * x[at + 1] + K[k, 2] * x[at + 2]
        low = bounds[0, k] - value
        high = value - bounds[1, k]
        if low > worst and low > _TIGHT * (1.0 + abs(bounds[0, k])):
            found = i
            side = 1.0
            worst = low
        if high > worst and high > _TIGHT * (1.0 + abs(bounds[1, k])):
            found = i
            side = -1.0
            worst = high
    return found, side, worst


@inlined
def put_step(room: Room, q: int) -> tuple[float, float]:
    """Primal and dual steps for the normal w; |z|^2 and |w|^2."""
    n = room.w.size
    whole = 0.0
    for c in range(n):
        whole += room.w[c] * room.w[c]
        room.z[c] = room.w[c]
    for i in range(q):
        total = 0.0
        for c in range(n):
            total += room.W[i, c] * room.w[c]
        room.r[i] = total
        room.S[i, q] = total
        for j in range(i, q):
            room.R[i, j] = room.S[i, j]
    room.S[q, q] = whole
    if not factor(room.R, q):
        return 0.0, whole
    solve_left(room.R, q, room.r, 0)
    solve_right(room.R, q, room.r)
    for i in range(q):
        for c in range(n):
            room.z[c] -= room.r[i] * room.W[i, c]
    free = 0.0
    for c in range(n):
        free += room.z[c] * room.z[c]
    return free, whole


@inlined
def let_go(room: Room, q: int, at: int) -> None:
    """Number `at` of q active rows is none any more."""
    room.on[room.which[at]] = 0
    for k in range(at, q - 1):
        room.which[k] = room.which[k + 1]
        room.u[k] = room.u[k + 1]
        for c in range(room.w.size):
            room.W[k, c] = room.W[k + 1, c]
        for i in range(k + 1):
            room.S[i, k] = room.S[i if i < at else i + 1, k + 1]
    room.u[q - 1] = room.u[q]


@kernel
def force_horizon(H: Array, c: Array, K: Array, bounds: Array, x: Array, room: Room) -> int:
    """Solve the program into x (n,); steps, or `NO_POINT`. The upper triangle of H (n, n) is lost.

    K (k, 3) are rows of each cone, `bounds` (2, k) low and high ones.
    """
    n = c.size
    if not factor(H, n):
        return NO_POINT
    for k in range(n):
        room.y[k] = -c[k]
    solve_left(H, n, room.y, 0)
    room.on[:] = 0
    q = 0
    steps = 0
    most = _STEPS * n
    while steps < most:
        for k in range(n):
            x[k] = room.y[k]
        solve_right(H, n, x)
        i, side, missed = most_violated(K, bounds, x, room.on)
        if i == _NONE:
            return steps
        at = 3 * (i // K.shape[0])
        room.w[:] = 0.0
        for a in range(3):
            room.w[at + a] = side * K[i % K.shape[0], a]
        solve_left(H, n, room.w, at)
        room.u[q] = 0.0
        while steps < most:
            steps += 1
            free, whole = put_step(room, q)
            goes = _NONE
            dual = math.inf
            for k in range(q):
                if room.r[k] > 0.0 and room.u[k] < dual * room.r[k]:
                    dual = room.u[k] / room.r[k]
                    goes = k
            primal = missed / free if free > _DEPENDENT * whole and q < n else math.inf
            step = min(primal, dual)
            if not step < math.inf:
                return NO_POINT
            for k in range(q):
                room.u[k] -= step * room.r[k]
            room.u[q] += step
            if primal < math.inf:
                for k in range(n):
                    room.y[k] += step * room.z[k]
                missed -= step * free
            if primal <= dual:
                for k in range(n):
                    room.W[q, k] = room.w[k]
                room.which[q] = i
                room.on[i] = 1
                q += 1
                break
            let_go(room, q, goes)
            q -= 1
    return NO_POINT
