"""The cone of one contact and the maps whose zeros are solutions, with their derivatives.

A contact has rows (normal, friction of the first kind, of the second, ...), kind k at rows starts[k] .. starts[k+1].
K = {|r_k| <= mu_k r_n for every k}; with one kind it is Coulomb's cone. All kernels take contact c of flat vectors.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._jit import inlined, kernel

NATURAL, DISCS, CONVEX = 0, 1, 2  # maps whose zeros are solutions


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

    s is the zero of s - x_n - sum_k mu_k max(|x_k| - mu_k s, 0), increasing and concave with one kink a kind: Newton's
    method ends after a few steps. Where the zero is not positive, x lies in the polar cone and P_K(x) = 0.
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
def project_discs(x: Array, mu: Array, c: int, starts: IntArray, out: Array) -> float:
    """Normal part max(x_n, 0), and each kind of friction on its disc of radius mu_k max(x_n, 0)."""
    at = c * starts[starts.size - 1]
    s = max(x[at], 0.0)
    out[at] = s
    for k in range(starts.size - 1):
        size, limit = length(x, at + starts[k], at + starts[k + 1]), mu[c, k] * s
        factor = limit / size if size > limit else 1.0
        for i in range(at + starts[k], at + starts[k + 1]):
            out[i] = factor * x[i]
    return s


@kernel
def natural_map(lift: float, r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array) -> float:
    """F = r - P_K(r - u - lift sum_k mu_k |u_k| n); returns |F|^2, and the projected points in `x`.

    Zero at solutions: of the exact problem for lift = 1 (De Saxce), of its convex relaxation for lift = 0.
    """
    dim, total = starts[starts.size - 1], 0.0
    for c in range(mu.shape[0]):
        at = c * dim
        for i in range(at, at + dim):
            x[i] = r[i] - u[i]
        for k in range(starts.size - 1):
            x[at] -= lift * mu[c, k] * length(u, at + starts[k], at + starts[k + 1])
        project_cone(x, mu, c, starts, F)
        for i in range(at, at + dim):
            F[i] = r[i] - F[i]
            total += F[i] * F[i]
    return total


@kernel
def disc_map(r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array) -> float:
    """F = r - P(r - u) with P on half-line and discs (Alart and Curnier 1991): zero at solutions; returns |F|^2."""
    dim, total = starts[starts.size - 1], 0.0
    for c in range(mu.shape[0]):
        at = c * dim
        for i in range(at, at + dim):
            x[i] = r[i] - u[i]
        project_discs(x, mu, c, starts, F)
        for i in range(at, at + dim):
            F[i] = r[i] - F[i]
            total += F[i] * F[i]
    return total


@kernel
def contact_map(which: int, r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array) -> float:
    """The map called `NATURAL`, `DISCS` or `CONVEX`."""
    if which == DISCS:
        return disc_map(r, u, mu, starts, x, F)
    return natural_map(1.0 if which == NATURAL else 0.0, r, u, mu, starts, x, F)


@kernel
def map_slopes(
    which: int, r: Array, u: Array, mu: Array, starts: IntArray, x: Array, F: Array, P: Array, Q: Array
) -> None:
    """Blocks (m, dim, dim) of a generalised derivative: dF = dr - P dr + Q du, at the x and F that the map left.

    P is the derivative of the projection; Q = P E with E = 1 + n (sum_k mu_k u_k / |u_k|)^T for the natural map, and
    Q = P for the others. Along a kind that slides, with e = x_k / |x_k| and t = mu_k s / |x_k|:
    dr_k = mu_k e ds + t (1 - e e^T) dx_k.
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
            if which != DISCS:
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
        if which == NATURAL:
            for k in range(kinds):
                a, e = starts[k], starts[k + 1]
                slip = length(u, at + a, at + e)
                if slip > 0.0:
                    for i in range(dim):
                        for j in range(a, e):
                            Q[c, i, j] += P[c, i, 0] * mu[c, k] / slip * u[at + j]
