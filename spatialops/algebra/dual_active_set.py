"""Small strictly convex quadratic programs by a dual active-set method, compiled.

    min |L^T y|^2 / 2 + c.y   over   low <= G y <= high

Goldfarb and Idnani (Mathematical Programming 27, 1983): from the free minimum on the constraint
that is violated most is made active, and what it presses against its will is let go on the way;
every step raises the dual cost, so that it ends. Rows of J are those of L^-1, turned by rotations
so that the first of them span what is active.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, store, zeros

POINT = 0
INFEASIBLE = 1
STALLED = 2

_TIGHT = 1e-10  # of 1 and a bound: what a constraint may be violated by
_DEPENDENT = 1e-13  # of the square of a normal: what is left of one that depends on others
_STEPS = 20  # for each unknown and constraint

NONE = -1


class Active(NamedTuple):
    """What the method works in, for n unknowns and m constraints."""

    R: Array  # (n, n) upper triangular: J N of the active normals N
    d: Array  # (n,) J g of the new one
    z: Array  # (n,) primal step
    r: Array  # (n,) dual step
    u: Array  # (n + 1,) multipliers
    g: Array  # (n,) normal
    values: Array  # (1, m in whole eights) G y
    which: IntArray  # (n,) constraints
    signs: IntArray  # (n,) 1 at a lower bound, -1 at an upper one
    on: IntArray  # (m,) whether a constraint is active


@inlined
def dot_row(X: Array, i: int, y: Array) -> float:
    """Row i times y, in four sums."""
    n = y.size
    a, b = 0.0, 0.0
    c, d = 0.0, 0.0
    k = 0
    while k + 4 <= n:
        a += X[i, k] * y[k]
        b += X[i, k + 1] * y[k + 1]
        c += X[i, k + 2] * y[k + 2]
        d += X[i, k + 3] * y[k + 3]
        k += 4
    while k < n:
        a += X[i, k] * y[k]
        k += 1
    return (a + b) + (c + d)


@inlined
def put_values(G: Array, y: Array, values: Array) -> None:
    """G^T y of a table (n, m in whole eights)."""
    for c in range(0, values.shape[1], WIDTH):
        total = zeros()
        for k in range(y.size):
            total += y[k] * load(G, k, c)
        store(values, 0, c, total)


@inlined
def most_violated(values: Array, bounds: Array, on: IntArray) -> tuple[int, int, float]:
    """Constraint that is not active, its side, and by how much it is violated."""
    found = NONE
    side = 1
    worst = 0.0
    for i in range(on.size):
        if on[i] != 0:
            continue
        low = bounds[0, i]
        high = bounds[1, i]
        value = values[0, i]
        if low - value > worst and low - value > _TIGHT * (1.0 + abs(low)):
            found = i
            side = 1
            worst = low - value
        if value - high > worst and value - high > _TIGHT * (1.0 + abs(high)):
            found = i
            side = -1
            worst = value - high
    return found, side, worst


@inlined
def rotate_rows(X: Array, i: int, j: int, cosine: float, sine: float) -> None:
    """(x_i, x_j) <- (c x_i + s x_j, c x_j - s x_i)."""
    for k in range(X.shape[1]):
        a = X[i, k]
        b = X[j, k]
        X[i, k] = cosine * a + sine * b
        X[j, k] = cosine * b - sine * a


@inlined
def activate(J: Array, active: Active, q: int, i: int, side: int) -> None:
    """Constraint i becomes number q of the active ones."""
    d = active.d
    for k in range(d.size - 1, q, -1):
        size = math.hypot(d[k - 1], d[k])
        if d[k] == 0.0:
            continue
        rotate_rows(J, k - 1, k, d[k - 1] / size, d[k] / size)
        d[k - 1] = size
        d[k] = 0.0
    for k in range(q + 1):
        active.R[k, q] = d[k]
    active.which[q] = i
    active.signs[q] = side
    active.on[i] = 1


@inlined
def let_go(J: Array, active: Active, q: int, at: int) -> None:
    """Number `at` of q active constraints is none any more; R stays triangular."""
    R = active.R
    active.on[active.which[at]] = 0
    for k in range(at, q - 1):
        active.which[k] = active.which[k + 1]
        active.signs[k] = active.signs[k + 1]
        active.u[k] = active.u[k + 1]
        for j in range(k + 2):
            R[j, k] = R[j, k + 1]
        size = math.hypot(R[k, k], R[k + 1, k])
        if size == 0.0:
            continue
        cosine = R[k, k] / size
        sine = R[k + 1, k] / size
        R[k, k] = size
        R[k + 1, k] = 0.0
        rotate_rows(J, k, k + 1, cosine, sine)
        for c in range(k + 2, q):
            a = R[k, c]
            b = R[k + 1, c]
            R[k, c] = cosine * a + sine * b
            R[k + 1, c] = cosine * b - sine * a
    active.u[q - 1] = active.u[q]


@inlined
def put_step(J: Array, active: Active, q: int) -> tuple[float, float]:
    """Primal and dual steps for the normal g; g.z, and |J g|^2."""
    d = active.d
    r = active.r
    z = active.z
    n = d.size
    whole = 0.0
    free = 0.0
    for k in range(n):
        d[k] = dot_row(J, k, active.g)
        whole += d[k] * d[k]
        z[k] = 0.0
    for k in range(q, n):
        free += d[k] * d[k]
        for c in range(n):
            z[c] += d[k] * J[k, c]
    for k in range(q - 1, -1, -1):
        total = d[k]
        for c in range(k + 1, q):
            total -= active.R[k, c] * r[c]
        r[k] = total / active.R[k, k]
    return free, whole


@inlined
def first_to_go(active: Active, q: int) -> tuple[int, float]:
    """Active constraint whose multiplier a dual step brings to zero first, and that step."""
    found = NONE
    least = math.inf
    for k in range(q):
        if active.r[k] > 0.0 and active.u[k] < least * active.r[k]:
            least = active.u[k] / active.r[k]
            found = k
    return found, least


@kernel
def dual_active_set(
    J: Array, c: Array, G: Array, bounds: Array, y: Array, active: Active
) -> tuple[int, int]:
    """Solve the program; status and steps.

    J (n, n) are the rows of L^-1, and lost. G (n, m in whole eights) has constraints as columns,
    `bounds` (2, m) low and high ones.
    """
    n = c.size
    u = active.u
    on = active.on
    for k in range(n):
        y[k] = 0.0
    for k in range(n):
        along = dot_row(J, k, c)
        for j in range(n):
            y[j] -= along * J[k, j]
    for i in range(on.size):
        on[i] = 0
    q = 0
    most = _STEPS * (n + on.size)
    steps = 0
    while steps < most:
        put_values(G, y, active.values)
        i, side, missed = most_violated(active.values, bounds, on)
        if i == NONE:
            return POINT, steps
        for k in range(n):
            active.g[k] = side * G[k, i]
        u[q] = 0.0
        while steps < most:
            steps += 1
            free, whole = put_step(J, active, q)
            at, dual = first_to_go(active, q)
            primal = missed / free if free > _DEPENDENT * whole and q < n else math.inf
            step = min(primal, dual)
            if not step < math.inf:
                return INFEASIBLE if step == math.inf else STALLED, steps
            for k in range(q):
                u[k] -= step * active.r[k]
            u[q] += step
            if primal < math.inf:
                for k in range(n):
                    y[k] += step * active.z[k]
                missed -= step * free
            if primal <= dual:
                activate(J, active, q, i, side)
                q += 1
                break
            let_go(J, active, q, at)
            q -= 1
    return STALLED, steps
