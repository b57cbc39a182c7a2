"""One contact, solved exactly: open, stick, or slide with one unknown, lambda = |u_t| / |r_t|."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel

_BISECTIONS = 200
_ENOUGH = 1e-10  # of the radius: Newton does the last digits
_DOUBLINGS = 1000  # more than double precision has; ends where something is no number
_ROUNDS = 8  # over several kinds of friction


@kernel
def slide_point(S: Array, g: Array, d: int, shift: float, x: Array, work: Array) -> bool:
    """x = -(S + shift 1)^-1 g of size d <= 5 by elimination; False where it is singular."""
    if d == 1:
        pivot = S[0, 0] + shift
        if pivot == 0.0:
            return False
        x[0] = -g[0] / pivot
        return True
    if d == 2:
        a, c = S[0, 0] + shift, S[1, 1] + shift
        determinant = a * c - S[0, 1] * S[1, 0]
        if determinant == 0.0:
            return False
        x[0] = (S[0, 1] * g[1] - c * g[0]) / determinant
        x[1] = (S[1, 0] * g[0] - a * g[1]) / determinant
        return True
    for i in range(d):
        for j in range(d):
            work[i, j] = S[i, j]
        work[i, i] += shift
        x[i] = -g[i]
    for p in range(d):  # positive semidefinite but for rounding: its diagonal serves as pivots
        if work[p, p] == 0.0:
            return False
        for i in range(p + 1, d):
            f = work[i, p] / work[p, p]
            for j in range(p, d):
                work[i, j] -= f * work[p, j]
            x[i] -= f * x[p]
    for i in range(d - 1, -1, -1):
        for j in range(i + 1, d):
            x[i] -= work[i, j] * x[j]
        x[i] /= work[i, i]
    return True


@inlined
def excess(
    S: Array, g: Array, slope: Array, limit: float, d: int, shift: float, x: Array, work: Array
) -> float:
    """|x| - max(limit + slope.x, 0) at the point x of `shift`: how far it lies outside its disc."""
    if not slide_point(S, g, d, shift, x, work):
        return math.inf
    size, radius = 0.0, limit
    for i in range(d):
        size += x[i] * x[i]
        radius += slope[i] * x[i]
    return math.sqrt(size) - max(radius, 0.0)


@kernel
def solve_disc(
    S: Array, g: Array, slope: Array, limit: float, d: int, x: Array, work: Array
) -> None:
    """x with |x| <= radius = limit + slope.x and S x + g = -lambda x, lambda >= 0.

    lambda is zero within the disc; else it is bracketed by doubling and found by Illinois' regula
    falsi with bisection; limit > 0 makes the far end negative, since x vanishes there.
    """
    if limit <= 0.0:
        for i in range(d):
            x[i] = 0.0
        return
    f_low = excess(S, g, slope, limit, d, 0.0, x, work)
    if f_low <= 0.0:
        return
    low = 0.0
    high = 0.0
    scale = 0.0
    for i in range(d):
        scale = max(scale, abs(S[i, i]))
    high = scale if scale > 0.0 else 1.0
    f_high = excess(S, g, slope, limit, d, high, x, work)
    for _ in range(_DOUBLINGS):
        if not f_high > 0.0:
            break
        low, f_low = high, f_high
        high *= 4.0
        f_high = excess(S, g, slope, limit, d, high, x, work)
    for step in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if step % 4 != 3 and f_low < math.inf:
            middle = (low * f_high - high * f_low) / (f_high - f_low)
            if not low < middle < high:
                middle = 0.5 * (low + high)
        f = excess(S, g, slope, limit, d, middle, x, work)
        if abs(f) <= _ENOUGH * limit or middle in (low, high):
            break
        if f > 0.0:
            low, f_low = middle, f
            f_high *= 0.5
        else:
            high, f_high = middle, f
            f_low *= 0.5 if f_low < math.inf else 1.0


@kernel
def solve_contact(
    block: Array,
    q: Array,
    eps: float,
    mu: Array,
    c: int,
    starts: IntArray,
    r: Array,
    at: int,
    work: Array,
) -> None:
    """Impulses r[at : at + dim] of contact c for velocities (block + eps 1) r + q.

    `work` is (CONTACT_ROWS, MOST_DIM): S, spare, g, slope, x, and two rows of the caller's. With
    one kind of friction this is exact. With several, each kind is solved in turn with the normal
    impulse tied to the first, the others held: a few rounds, to be repeated by the sweeps anyway.
    """
    kinds, dim = starts.size - 1, starts[starts.size - 1]
    S = work[0:5]
    spare = work[5:10]
    g = work[10]
    slope = work[11]
    x = work[12]
    pivot = block[0, 0] + eps
    rounds = 1 if kinds == 1 else _ROUNDS
    for _ in range(rounds):
        q_n = q[0]
        for j in range(starts[1], dim):
            q_n += block[0, j] * r[at + j]
        if not pivot > 0.0 or (q_n >= 0.0 and kinds == 1):
            for i in range(dim):
                r[at + i] = 0.0
            return
        d = starts[1] - 1
        for i in range(d):  # the first kind, with u_n = 0 eliminated
            g[i] = q[1 + i] - block[1 + i, 0] * q_n / pivot
            for j in range(starts[1], dim):
                g[i] += block[1 + i, j] * r[at + j]
            slope[i] = -mu[c, 0] * block[0, 1 + i] / pivot
            for j in range(d):
                S[i, j] = block[1 + i, 1 + j] - block[1 + i, 0] * block[0, 1 + j] / pivot
            S[i, i] += eps
        solve_disc(S, g, slope, -mu[c, 0] * q_n / pivot, d, x, spare)
        normal = -q_n / pivot
        for i in range(d):
            r[at + 1 + i] = x[i]
            normal -= block[0, 1 + i] * x[i] / pivot
        r[at] = max(normal, 0.0)
        for k in range(1, kinds):
            a, d = starts[k], starts[k + 1] - starts[k]
            for i in range(d):
                g[i], slope[i] = q[a + i], 0.0
                for j in range(dim):
                    if j < a or j >= a + d:
                        g[i] += block[a + i, j] * r[at + j]
                for j in range(d):
                    S[i, j] = block[a + i, a + j]
                S[i, i] += eps
            solve_disc(S, g, slope, mu[c, k] * r[at], d, x, spare)
            for i in range(d):
                r[at + a + i] = x[i]
