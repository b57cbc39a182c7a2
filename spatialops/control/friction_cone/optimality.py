"""How well a point and its multipliers satisfy the conditions of a force program, compiled.

With the multipliers y of equalities, l >= 0 of linear inequalities and z of cones, z_n >= mu |z_t|,

    H x + g = E^T y + D^T l + K^T z,    E x = e,    l . (D x + d) + z . (K x + k) = 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import NOTHING, Array
from spatialops._compile.jit import inlined, kernel
from spatialops.control.friction_cone.barrier_function import value_of

STATIONARITY = 0
EQUALITY = 1
VIOLATION = 2
DUAL = 3
GAP = 4
CONDITIONS = 5

_LEAST = 1e-3  # of the largest cost: the scale of gradients and multipliers that vanish


class Rows(NamedTuple):
    """A force program's arrays; see `ForceProgram`."""

    H: Array
    g: Array
    E: Array
    e: Array
    D: Array
    d: Array
    K: Array
    k: Array
    mu: Array
    scales: Array


class Multipliers(NamedTuple):
    """Of equalities (r,), linear inequalities (m,) and cones (c, 3)."""

    equality: Array
    linear: Array
    cones: Array


Arrays = tuple[Array, ...]  # a plain tuple is faster on its way in


@inlined
def larger(largest: float, value: float) -> float:
    """The larger magnitude; NaN wins."""
    size = abs(value)
    return largest if size <= largest else size


@kernel
def are_finite(program: Arrays) -> bool:
    """Whether all but friction and scales hold neither NaN nor infinity."""
    p = Rows(*program)
    total = 0.0
    for rows in (p.H, p.E, p.D, p.K):
        for j in range(rows.shape[0]):
            for a in range(rows.shape[1]):
                total += rows[j, a] - rows[j, a]
    for values in (p.g, p.e, p.d, p.k):
        for j in range(values.size):
            total += values[j] - values[j]
    return total == 0.0


@kernel
def least_margin(program: Arrays, x: Array, margins: Array) -> float:
    """All margins (m + c,), D x + d and mu n - |t|; returns the least, in scales, of them and 0."""
    return margins_of(Rows(*program), x, margins)


@inlined
def margins_of(p: Rows, x: Array, margins: Array) -> float:
    """`least_margin` of named rows."""
    m = p.d.size
    least = 0.0
    for j in range(m):
        margins[j] = value_of(p.D, p.d, j, x)
    for i in range(p.mu.size):
        across = math.hypot(value_of(p.K, p.k, 3 * i + 1, x), value_of(p.K, p.k, 3 * i + 2, x))
        margins[m + i] = p.mu[i] * value_of(p.K, p.k, 3 * i, x) - across
    for j in range(margins.size):
        least = min(least, margins[j] / p.scales[j])
    return least


@kernel
def conditions(
    program: Arrays, x: Array, multipliers: Arrays, margins: Array, found: Array
) -> None:
    """What is missed of each condition into `found` (5,), relative to its own scale."""
    conditions_of(Rows(*program), x, Multipliers(*multipliers), margins, found)


@inlined
def conditions_of(p: Rows, x: Array, y: Multipliers, margins: Array, found: Array) -> None:
    """`conditions` of named rows."""
    m = p.d.size
    least = 0.0
    size = 0.0
    for a in range(x.size):
        least = larger(least, p.H[a, a])
        size = larger(size, x[a])
    least = _LEAST * least + NOTHING
    energy, missed = 0.0, 0.0
    steepest, pulled = 0.0, 0.0
    for a in range(x.size):
        slope = 0.0
        for b in range(x.size):
            slope += p.H[a, b] * x[b]
        energy += x[a] * slope
        slope += p.g[a]
        pull = 0.0
        for j in range(p.e.size):
            pull += p.E[j, a] * y.equality[j]
        for j in range(m):
            pull += p.D[j, a] * y.linear[j]
        for j in range(p.k.size):
            pull += p.K[j, a] * y.cones[j // 3, j % 3]
        missed = larger(missed, slope - pull)
        steepest, pulled = larger(steepest, slope), larger(pulled, pull)
    found[STATIONARITY] = missed / larger(larger(least, steepest), pulled)
    found[EQUALITY] = 0.0
    for j in range(p.e.size):
        left = -p.e[j]
        scale = 0.0
        for a in range(x.size):
            left += p.E[j, a] * x[a]
            scale += abs(p.E[j, a])
        scale = scale * (1.0 + size) + abs(p.e[j]) + NOTHING
        found[EQUALITY] = larger(found[EQUALITY], left / scale)
    found[VIOLATION] = -margins_of(p, x, margins)
    gap = 0.0
    lowest, weight = 0.0, 0.0
    for j in range(m):
        gap += y.linear[j] * margins[j]
        lowest = min(lowest, y.linear[j])
        weight = larger(weight, y.linear[j])
    for i in range(p.mu.size):
        across = math.hypot(y.cones[i, 1], y.cones[i, 2])
        lowest = min(lowest, y.cones[i, 0] - p.mu[i] * across)
        for c in range(3):
            gap += y.cones[i, c] * value_of(p.K, p.k, 3 * i + c, x)
            weight = larger(weight, y.cones[i, c])
    found[DUAL] = -lowest / larger(least, weight)
    found[GAP] = abs(gap) / max(0.5 * energy, _LEAST * least)
