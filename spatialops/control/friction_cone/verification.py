"""Multipliers of a force program's answer, and whether they prove it, compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_point,
    whole_eights,
)
from spatialops.algebra.memory import matrix
from spatialops.control.friction_cone.barrier_function import Program
from spatialops.control.friction_cone.optimality import (
    CONDITIONS,
    Multipliers,
    Rows,
    conditions_of,
)
from spatialops.control.friction_cone.reduced_program import Reduced, dot_columns

# What comes back in `report`.
RESIDUAL = 0
VIOLATION = 1
STEPS = 2
START_STEPS = 3
CENTERED = 4  # whether there is a centre
SEARCHED = 5  # whether there was anything to search
REPORT = 6

LIMIT = 1e-6  # of residuals
_REFINE = 0.01  # of LIMIT, above which multipliers are refined
_REFINED_RANK = 1e-12  # rows, relative, that count as zero there


class Found(NamedTuple):
    """An answer."""

    x: Array  # (n,)
    center: Array  # (n,)
    equality: Array  # (r,)
    linear: Array  # (m,)
    cones: Array  # (c, 3)
    report: Array  # (REPORT,)


@kernel
def judge(rows: Rows, z: Reduced, found: Found, scratch: Array) -> float:
    """Multipliers of the equalities for those of the others, and the residual."""
    n = rows.g.size
    rest = scratch[:n]
    V = z.decided.reflections.V
    order = z.decided.reflections.order
    for a in range(n):
        rest[a] = rows.g[a]
        for b in range(n):
            rest[a] += rows.H[a, b] * found.x[b]
        for j in range(rows.d.size):
            rest[a] -= rows.D[j, a] * found.linear[j]
        for j in range(rows.k.size):
            rest[a] -= rows.K[j, a] * found.cones[j // 3, j % 3]
        rest[a] /= z.scale[a]
    for c in range(z.rank):
        part = 0.0
        for a in range(c, n):
            part += V[c, a] * rest[a]
        for a in range(c, n):
            rest[a] -= part * V[c, a]
    for j in range(rows.e.size):
        found.equality[j] = 0.0
    for j in range(z.rank - 1, -1, -1):
        total = rest[j]
        for i in range(j + 1, z.rank):
            total -= z.X[j, i] * rest[i]
        rest[j] = total / z.X[j, j]
        found.equality[order[j]] = rest[j] * z.weights[order[j]]
    margins = scratch[n : n + rows.scales.size]
    missed = scratch[n + rows.scales.size : n + rows.scales.size + CONDITIONS]
    y = Multipliers(found.equality, found.linear, found.cones)
    conditions_of(rows, found.x, y, margins, missed)
    worst = 0.0
    for i in range(CONDITIONS):
        if not missed[i] <= worst:
            worst = missed[i]
    return worst


@kernel
def refine(rows: Rows, z: Reduced, p: Program, found: Found, floats: Array, ints: IntArray) -> None:
    """Multipliers that balance the cost: least change by their sizes, so that small stay small."""
    m = rows.d.size
    count = m + rows.k.size
    f = p.g.size
    wide = whole_eights(f)
    V = matrix(floats, 0, count, count)
    at = count * count
    X = matrix(floats, at, count, wide)
    at += count * wide
    vectors = matrix(floats, at, 3, count)
    at += 3 * count
    squares = floats[at : at + wide]
    at += wide
    right = floats[at : at + wide]
    at += wide
    sizes = vectors[0]
    for a in range(f):
        right[a] = 0.0
        for i in range(rows.g.size):
            slope = rows.g[i]
            for b in range(rows.g.size):
                slope += rows.H[i, b] * found.x[b]
            right[a] += z.Z[i, a] * slope
    for j in range(count):
        by = rows.scales[j] if j < m else rows.scales[m + (j - m) // 3]
        i = (j - m) // 3
        c = (j - m) % 3
        if j < m:
            sizes[j] = found.linear[j]
        else:
            square = found.cones[i, 0] ** 2 + found.cones[i, 1] ** 2 + found.cones[i, 2] ** 2
            sizes[j] = math.sqrt(square)
        for a in range(wide):
            X[j, a] = 0.0
        for a in range(f):
            row = by * (p.D[j, a] if j < m else p.K[j - m, a])
            right[a] -= row * (found.linear[j] if j < m else found.cones[i, c])
            X[j, a] = sizes[j] * row
    longest = 0.0
    for a in range(f):
        longest = max(longest, dot_columns(X, a, X, a))
    decided = Decided(Reflections(V, squares, ints), vectors[1])
    rank, _ = decide(X, right, f, 0, _REFINED_RANK * math.sqrt(longest), decided)
    put_point(decided, rank, vectors[2])
    for j in range(count):
        change = sizes[j] * vectors[2, j]
        if j < m:
            found.linear[j] = max(found.linear[j] + change, 0.0)
        else:
            found.cones[(j - m) // 3, (j - m) % 3] += change


@kernel
def verify(rows: Rows, z: Reduced, p: Program, found: Found, floats: Array, ints: IntArray) -> bool:
    """The point with its multipliers, verified in the program as it was given."""
    m = rows.d.size
    count = m + rows.k.size
    n = rows.g.size
    kept = floats[:count]
    scratch = floats[count : count + n + rows.scales.size + CONDITIONS]
    residual = judge(rows, z, found, scratch)
    if not residual <= _REFINE * LIMIT:
        for j in range(count):
            kept[j] = found.linear[j] if j < m else found.cones[(j - m) // 3, (j - m) % 3]
        refine(rows, z, p, found, floats[count + n + rows.scales.size + CONDITIONS :], ints)
        refined = judge(rows, z, found, scratch)
        if refined < residual:
            residual = refined
        else:
            for j in range(m):
                found.linear[j] = kept[j]
            for j in range(rows.k.size):
                found.cones[j // 3, j % 3] = kept[m + j]
            residual = judge(rows, z, found, scratch)
    found.report[RESIDUAL] = residual
    return residual < LIMIT
