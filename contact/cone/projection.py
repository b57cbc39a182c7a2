"""The cone of one contact and the maps whose zeros are solutions, with their derivatives.

A contact has rows (normal, friction of the first kind, of the second, ...), kind k at rows
starts[k] .. starts[k+1]. K = {|r_k| <= mu_k r_n for every k}; with one kind it is Coulomb's cone.
All kernels take contact c of flat vectors.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel

# maps whose zeros are solutions
DE_SAXCE = 0
ALART_CURNIER = 1
CONVEX = 2


@inlined
def length(x: Array, first: int, last: int) -> float:
    """Euclidean length of x[first:last]."""
    total = 0.0
    for i in range(first, last):
        total += x[i] * x[i]
    return math.sqrt(total)


@kernel
def project_cone(x: Array, mu: Array, c: int, starts: IntArray, out: Array) -> float:
    """P_K(x) of contact c into `out`; returns its normal part s.

    s is the zero of s - x_n - sum_k mu_k max(|x_k| - mu_k s, 0), increasing and concave with one
    kink a kind: Newton's method ends after a few steps. Where the zero is not positive, x lies in
    the polar cone and P_K(x) = 0.
    """
    kinds, at = starts.size - 1, c * starts[starts.size - 1]
    s = x[at]
    for _ in range(2 * kinds + 2):
        top, bottom = x[at], 1.0
        for k in range(kinds):
            size = length(x, at + starts[k], at + starts[k + 1])
            if size > mu[c, k] * s:
                top += mu[c, k] * size
                bottom += mu[c, k] * mu[c, k]
        new = top / bottom
        if new == s:
            break
        s = new
    s = max(s, 0.0)
    out[at] = s
    for k in range(kinds):
        size, limit = length(x, at + starts[k], at + starts[k + 1]), mu[c, k] * s
        factor = limit / size if size > limit else 1.0
        for i in range(at + starts[k], at + starts[k + 1]):
            out[i] = factor * x[i]
    return s


@kernel
def project_all(r: Array, mu: Array, starts: IntArray, spare: Array) -> None:
    """Every contact's r into its cone, in place: Newton leaves it outside by rounding."""
    for c in range(mu.shape[0]):
        project_cone(r, mu, c, starts, spare)
    for i in range(r.size):
        r[i] = spare[i]


@inlined
def put_left(
    r: Array,
    r_n: float,
    lower: int,
    upper: int,
    rho: float,
    u: Array,
    mu: float,
    normal: float,
    x: Array,
    F: Array,
) -> None:
    """Rows lower:upper of r - P(r - rho u) for a kind cut back to mu s; r_n - s is `normal`.

    With a = |r_k - d_k|, the factor 1 - mu s / a is ((a - |r_k|) - (mu r_n - |r_k|) + mu (r_n - s))
    / a: written so, it keeps its digits where r is much larger than d = rho u.
    """
    size, a = length(r, lower, upper), length(x, lower, upper)
    cut = (longer(r, lower, upper, rho, u, size, a) - (mu * r_n - size) + mu * normal) / a
    for i in range(lower, upper):
        F[i] = cut * r[i] + (1.0 - cut) * rho * u[i]


@inlined
def longer(r: Array, lower: int, upper: int, rho: float, u: Array, size: float, a: float) -> float:
    """|r_k - d_k| - |r_k| without the difference, d = rho u; `a` and `size` are the two lengths."""
    total = 0.0
    for i in range(lower, upper):
        total += rho * u[i] * (rho * u[i] - 2.0 * r[i])
    return total / (a + size) if a + size > 0.0 else 0.0


@kernel
def natural_contact(
    lift: float,
    rho: float,
    r: Array,
    u: Array,
    mu: Array,
    c: int,
    starts: IntArray,
    x: Array,
    F: Array,
) -> None:
    """F = r - P_K(r - rho (u + lift sum_k mu_k |u_k| n)) of contact c; the projected point in `x`.

    Never by subtraction: a large r would swallow u, and no impulse however large may pass for a
    solution.
    """
    kinds, at = starts.size - 1, c * starts[starts.size - 1]
    d = rho * u[at]
    for k in range(kinds):
        d += rho * lift * mu[c, k] * length(u, at + starts[k], at + starts[k + 1])
    x[at] = r[at] - d
    for i in range(at + 1, at + starts[kinds]):
        x[i] = r[i] - rho * u[i]
    s = project_cone(x, mu, c, starts, F)
    if not s > 0.0:
        for i in range(at, at + starts[kinds]):
            F[i] = r[i]
        return
    top, bottom = d, 1.0
    for k in range(kinds):
        lower, upper = at + starts[k], at + starts[k + 1]
        size, a = length(r, lower, upper), length(x, lower, upper)
        if a > mu[c, k] * s:
            top += mu[c, k] * (mu[c, k] * r[at] - size - longer(r, lower, upper, rho, u, size, a))
            bottom += mu[c, k] * mu[c, k]
    F[at] = top / bottom
    for k in range(kinds):
        lower, upper = at + starts[k], at + starts[k + 1]
        if length(x, lower, upper) > mu[c, k] * s:
            put_left(r, r[at], lower, upper, rho, u, mu[c, k], F[at], x, F)
        else:
            for i in range(lower, upper):
                F[i] = rho * u[i]


@kernel
def natural_map(
    lift: float, r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array
) -> float:
    """F = r - P_K(r - u - lift sum_k mu_k |u_k| n); returns |F|^2, and the projected points in `x`.

    Zero at solutions: of the exact problem for lift = 1 (De Saxce), of its convex relaxation for
    lift = 0.
    """
    total = 0.0
    for c in range(mu.shape[0]):
        natural_contact(lift, 1.0, r, u, mu, c, starts, x, F)
    for i in range(r.size):
        total += F[i] * F[i]
    return total


@kernel
def disc_map(r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array) -> float:
    """F = r - P(r - u) with P on half-line and discs (Alart and Curnier 1991); returns |F|^2.

    Zero at solutions. P takes the normal part to s = max(r_n - u_n, 0), and each kind of friction
    to its disc of radius mu_k s.
    """
    dim, total = starts[starts.size - 1], 0.0
    for c in range(mu.shape[0]):
        at = c * dim
        for i in range(at, at + dim):
            x[i] = r[i] - u[i]
            F[i] = r[i]
        s = x[at]
        if not s > 0.0:
            continue
        F[at] = u[at]
        for k in range(starts.size - 1):
            lower, upper = at + starts[k], at + starts[k + 1]
            if length(x, lower, upper) > mu[c, k] * s:
                put_left(r, r[at], lower, upper, 1.0, u, mu[c, k], u[at], x, F)
            else:
                for i in range(lower, upper):
                    F[i] = u[i]
    for i in range(r.size):
        total += F[i] * F[i]
    return total


@kernel
def contact_map(
    which: int, r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array
) -> float:
    """The map called `DE_SAXCE`, `ALART_CURNIER` or `CONVEX`."""
    if which == ALART_CURNIER:
        return disc_map(r, u, mu, starts, x, F)
    return natural_map(1.0 if which == DE_SAXCE else 0.0, r, u, mu, starts, x, F)


@kernel
def map_slopes(
    which: int,
    r: Array,
    u: Array,
    mu: Array,
    starts: IntArray,
    x: Array,
    F: Array,
    P: Array,
    Q: Array,
) -> None:
    """Blocks (m, dim, dim) of a generalised derivative, dF = dr - P dr + Q du.

    At the x and F that the map left. P is the derivative of the projection; Q = P E with E = 1 + n
    (sum_k mu_k u_k / |u_k|)^T for the natural map, and Q = P for the others. Along a kind that
    slides, with e = x_k / |x_k| and t = mu_k s / |x_k|: dr_k = mu_k e ds + t (1 - e e^T) dx_k.
    """
    kinds, dim = starts.size - 1, starts[starts.size - 1]
    for c in range(mu.shape[0]):
        at = c * dim
        s = r[at] - F[at]  # normal part of the projection
        for i in range(dim):
            for j in range(dim):
                P[c, i, j] = 0.0
                Q[c, i, j] = 0.0
        if not s > 0.0:
            continue
        P[c, 0, 0] = 1.0
        bottom = 1.0
        for k in range(kinds):
            a, e = starts[k], starts[k + 1]
            size, limit = length(x, at + a, at + e), mu[c, k] * s
            if size <= limit:
                for i in range(a, e):
                    P[c, i, i] = 1.0
                continue
            t, inverse = limit / size, 1.0 / size
            for i in range(a, e):
                for j in range(a, e):
                    P[c, i, j] = -t * inverse * inverse * x[at + i] * x[at + j]
                P[c, i, i] += t
            if which != ALART_CURNIER:
                bottom += mu[c, k] * mu[c, k]
                for i in range(a, e):
                    P[c, 0, i] = mu[c, k] * inverse * x[at + i]
        for j in range(dim):
            P[c, 0, j] /= bottom
        for k in range(kinds):
            a, e = starts[k], starts[k + 1]
            size = length(x, at + a, at + e)
            if size > mu[c, k] * s:
                for i in range(a, e):
                    for j in range(dim):
                        P[c, i, j] += mu[c, k] / size * x[at + i] * P[c, 0, j]
        for i in range(dim):
            for j in range(dim):
                Q[c, i, j] = P[c, i, j]
        if which == DE_SAXCE:
            for k in range(kinds):
                a, e = starts[k], starts[k + 1]
                slip = length(u, at + a, at + e)
                if slip > 0.0:
                    for i in range(dim):
                        for j in range(a, e):
                            Q[c, i, j] += P[c, i, 0] * mu[c, k] / slip * u[at + j]
