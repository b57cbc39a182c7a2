"""The log-barrier of a program with friction cones, its derivatives, and steps along it, compiled.

    l = D x + d > 0,   c_i = mu_i^2 n_i^2 - |t_i|^2 > 0,   n_i > 0

with (n, t) the three rows of K_i x + k_i. The barrier -log c_i of a cone is self-concordant with
parameter 2, -log l_j with parameter 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array
from spatialops._compile.jit import kernel

# Rows of `Newton.vectors`.
GRADIENT = 0
SIGMA = 1
STEP = 2
PREDICTED = 3
VECTORS = 4

EPS = 1.2e-16
NEVER = 1e30  # steps after which a constraint is met that is never met


class Program(NamedTuple):
    """Minimise x.H x / 2 + g.x inside D x + d > 0 and the cones of K x + k; see `ForceProgram`."""

    H: Array
    g: Array
    D: Array
    d: Array
    K: Array
    k: Array
    mu: Array


class Point(NamedTuple):
    """A strictly feasible point, and what the barrier needs to know of it."""

    x: Array  # (n,)
    l: Array  # (m,) linear slacks
    f: Array  # (3 k,) contact forces [normal, tangent, tangent]
    c: Array  # (k,) mu^2 n^2 - |t|^2
    errors: Array  # (k, 3) how far rounding has moved mu n - |t|, and c


class Changes(NamedTuple):
    """What one step changes: slacks, forces, and each c as 2 b alpha + a alpha^2."""

    dl: Array  # (m,)
    df: Array  # (3 k,)
    bends: Array  # (k, 2): b, a


class Newton(NamedTuple):
    """The lower half of the Hessian, then of its factor; and the rows of a Newton step."""

    B: Array  # (n, n)
    vectors: Array  # (VECTORS, n)


@kernel
def cone_value(mu: float, n: float, s: float, t: float) -> float:
    """c = mu^2 n^2 - |t|^2 as a product, which keeps its digits near the cone."""
    length = math.sqrt(s * s + t * t)
    return (mu * n - length) * (mu * n + length)


@kernel
def slacks(program: Program, at: Point) -> None:
    """Slacks, contact forces, and the cones' c at x; and how far rounding has moved f and c."""
    D, K = program.D, program.K
    mu = program.mu
    x, f = at.x, at.f
    errors = at.errors
    for j in range(program.d.size):
        total = program.d[j]
        for a in range(x.size):
            total += D[j, a] * x[a]
        at.l[j] = total
    for j in range(program.k.size):
        total, size = program.k[j], abs(program.k[j])
        for a in range(x.size):
            total += K[j, a] * x[a]
            size += abs(K[j, a] * x[a])
        f[j] = total
        errors[j // 3, j % 3] = size * EPS
    for i in range(mu.size):
        errors[i, 0] = mu[i] * errors[i, 0] + errors[i, 1] + errors[i, 2]
        p = f[3 * i]
        s = f[3 * i + 1]
        t = f[3 * i + 2]
        at.c[i] = cone_value(mu[i], p, s, t)
        errors[i, 1] = 2.0 * errors[i, 0] * (mu[i] * p + math.sqrt(s * s + t * t))


@kernel
def value_of(rows: Array, offsets: Array, j: int, x: Array) -> float:
    """Entry j of rows x + offsets."""
    total = offsets[j]
    for a in range(x.size):
        total += rows[j, a] * x[a]
    return total


@kernel
def inside(at: Point) -> bool:
    """Whether slacks are strictly feasible."""
    good = True
    for j in range(at.l.size):
        good = good and at.l[j] > 0.0
    for i in range(at.c.size):
        good = good and at.c[i] > 0.0 and at.f[3 * i] > 0.0
    return good


@kernel
def assemble(program: Program, at: Point, eta: float, newton: Newton) -> None:
    """Gradient H x + g, sigma = sum grad log, and the lower half of H + eta (-sum hess log)."""
    H, D = program.H, program.D
    x, l = at.x, at.l
    B, rows = newton.B, newton.vectors
    n = x.size
    for a in range(n):
        total = program.g[a]
        for b in range(n):
            total += H[a, b] * x[b]
        rows[GRADIENT, a] = total
        rows[SIGMA, a] = 0.0
        for b in range(a + 1):
            B[a, b] = H[a, b]
    for j in range(l.size):
        w = 1.0 / l[j]
        e = eta * w * w
        for a in range(n):
            r = D[j, a]
            if r != 0.0:
                rows[SIGMA, a] += w * r
                r *= e
                for b in range(a + 1):
                    B[a, b] += r * D[j, b]
    add_cones(program, at, eta, newton)


@kernel
def add_cones(program: Program, at: Point, eta: float, newton: Newton) -> None:
    """Add what the cones contribute to sigma and to the Hessian.

    log c = log(z - r) + log(z + r) with z = mu n and r = |t|: three positive terms of -hess log c,
    along z - r, z + r and across; their usual form, grad grad^T / c^2 - hess c / c, loses
    definiteness near the cone.
    """
    K, mu = program.K, program.mu
    f = at.f
    B, rows = newton.B, newton.vectors
    n = at.x.size
    for i in range(mu.size):
        s, t = f[3 * i + 1], f[3 * i + 2]
        r = math.sqrt(s * s + t * t)
        s, t = (s / r, t / r) if r > 0.0 else (1.0, 0.0)
        far = 1.0 / (mu[i] * f[3 * i] + r)
        near = 1.0 / (at.c[i] * far)
        e0 = eta * near * near
        e1 = eta * far * far
        e2 = 2.0 * eta * near * far
        for a in range(n):
            z, along = mu[i] * K[3 * i, a], s * K[3 * i + 1, a] + t * K[3 * i + 2, a]
            rows[SIGMA, a] += near * (z - along) + far * (z + along)
            x0 = e0 * (z - along)
            x1 = e1 * (z + along)
            x2 = e2 * (s * K[3 * i + 2, a] - t * K[3 * i + 1, a])
            for b in range(a + 1):
                z, along = mu[i] * K[3 * i, b], s * K[3 * i + 1, b] + t * K[3 * i + 2, b]
                B[a, b] += (
                    x0 * (z - along)
                    + x1 * (z + along)
                    + x2 * (s * K[3 * i + 2, b] - t * K[3 * i + 1, b])
                )


@kernel
def longest(program: Program, at: Point, step: Array, changes: Changes) -> float:
    """Share of a step at which the first constraint is met, 1e30 if none is; fills `changes`."""
    D, K = program.D, program.K
    mu = program.mu
    f, df = at.f, changes.df
    bends = changes.bends
    n, best = step.size, NEVER
    for j in range(at.l.size):
        total = 0.0
        for a in range(n):
            total += D[j, a] * step[a]
        changes.dl[j] = total
        if total < 0.0:
            best = min(best, -at.l[j] / total)
    for j in range(f.size):
        total = 0.0
        for a in range(n):
            total += K[j, a] * step[a]
        df[j] = total
    for i in range(mu.size):
        m = mu[i] * mu[i]
        n0 = f[3 * i]
        s0 = f[3 * i + 1]
        t0 = f[3 * i + 2]
        n1 = df[3 * i]
        s1 = df[3 * i + 1]
        t1 = df[3 * i + 2]
        # c(alpha) = c0 + 2 b alpha + a alpha^2; its first positive root, or where n is zero.
        c0 = at.c[i]
        half = m * n0 * n1 - s0 * s1 - t0 * t1
        square = m * n1 * n1 - s1 * s1 - t1 * t1
        bends[i, 0], bends[i, 1] = half, square
        root = half * half - square * c0
        if n1 < 0.0:
            best = min(best, -n0 / n1)
        if root >= 0.0:
            root = math.sqrt(root)
            if half < 0.0:
                best = min(best, c0 / (root - half))
            elif square < 0.0:
                best = min(best, -(half + root) / square)
    return best


@kernel
def move(alpha: float, mu: Array, step: Array, changes: Changes, at: Point) -> None:
    """Take the share alpha of a step.

    Slacks are carried along, not computed anew: near a constraint the difference of large numbers
    would leave them few digits, and the multipliers eta / l none. A cone's c is computed from its
    force where that is the more accurate: at the apex.
    """
    f, df = at.f, changes.df
    c, errors = at.c, at.errors
    for a in range(at.x.size):
        at.x[a] += alpha * step[a]
    for j in range(at.l.size):
        at.l[j] += alpha * changes.dl[j]
    for j in range(f.size):
        f[j] += alpha * df[j]
    for i in range(c.size):
        path = alpha * (abs(mu[i] * df[3 * i]) + abs(df[3 * i + 1]) + abs(df[3 * i + 2]))
        p = f[3 * i]
        s = f[3 * i + 1]
        t = f[3 * i + 2]
        length = mu[i] * p + math.sqrt(s * s + t * t)
        errors[i, 0] += EPS * path
        errors[i, 1] += 2.0 * EPS * path * (length + path)
        c[i] += alpha * (2.0 * changes.bends[i, 0] + alpha * changes.bends[i, 1])
        if 2.0 * errors[i, 0] * length < errors[i, 1]:
            errors[i, 1] = 2.0 * errors[i, 0] * length
            c[i] = cone_value(mu[i], p, s, t)


@kernel
def slope(
    at: Point, changes: Changes, eta: float, linear: float, curved: float, alpha: float
) -> float:
    """Derivative of the barrier function along a step at share alpha.

    The objective's is linear + alpha curved.
    """
    l, dl = at.l, changes.dl
    total = 0.0
    for j in range(l.size):
        total += dl[j] / (l[j] + alpha * dl[j])
    for i in range(at.c.size):
        half, square = changes.bends[i, 0], changes.bends[i, 1]
        total += 2.0 * (half + alpha * square) / (at.c[i] + alpha * (2.0 * half + alpha * square))
    return linear + alpha * curved - eta * total
