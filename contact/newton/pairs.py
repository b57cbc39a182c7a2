"""The pairs of the interior-point method: where they begin, what they miss, and how they move.

Of contact i pair 0 is that of the normal, 1 that of the fastest sliding, 2 + k that of corner k; a
pair whose value is zero is none.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, presser_of
from spatialops.contact.newton.statuses import limit_of

_BEGIN = 1.0  # least of both sides at first, relative to the scale


@kernel
def begin_pairs(
    rows: ContactRows, scale: float, unit: float, p: Array, scratch: NewtonScratch
) -> int:
    """Pairs about p, whose velocities are known; how many there are."""
    v = scratch.vectors[at.VELOCITY]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    sides = rows.corners.shape[0]
    count = 0
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        for k in range(sides + 2):
            x[i, k] = 0.0
            w[i, k] = 1.0
        if parts & at.HAS_NORMAL:
            x[i, 0] = max(p[j] / unit, 0.0) + _BEGIN
            w[i, 0] = max(v[j] / scale, 0.0) + _BEGIN
            count += 1
        if not parts & at.HAS_FIRST:
            continue
        limit = limit_of(rows, i, unit * x[presser_of(rows, i), 0]) / unit
        count += begin_friction(rows, scratch, i, limit, scale)
    return count


@inlined
def begin_friction(
    rows: ContactRows, scratch: NewtonScratch, i: int, limit: float, scale: float
) -> int:
    """The pairs of friction of contact i: inside, all corners alike; how many."""
    v = scratch.vectors[at.VELOCITY]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    sides = rows.corners.shape[0]
    sigma = 0.0
    count = 0
    for k in range(sides):
        if is_side(scratch, i, k, sides):
            sigma = max(sigma, -slip(rows, v, i, k) / scale)
            count += 1
    x[i, 1] = sigma + _BEGIN
    for k in range(sides):
        if is_side(scratch, i, k, sides):
            x[i, 2 + k] = _BEGIN * (limit / count + _BEGIN)
            w[i, 2 + k] = slip(rows, v, i, k) / scale + x[i, 1]
    w[i, 1] = max(limit - count * _BEGIN * (limit / count + _BEGIN), 0.0) + _BEGIN
    return count + 1


@inlined
def is_side(scratch: NewtonScratch, i: int, k: int, sides: int) -> bool:
    """Whether corner k is one of contact i: of a line there are two."""
    if scratch.status[i, at.PARTS] & at.HAS_SECOND:
        return True
    return k == 0 or 2 * k == sides


@inlined
def slip(rows: ContactRows, v: Array, i: int, k: int) -> float:
    """Velocity of contact i along corner k."""
    return rows.corners[k, 0] * v[3 * i + 1] + rows.corners[k, 1] * v[3 * i + 2]


@kernel
def put_impulses(rows: ContactRows, unit: float, p: Array, scratch: NewtonScratch) -> None:
    """The impulses of the pairs' values."""
    x = scratch.pairs[at.VALUE]
    for i in range(rows.friction.size):
        p[3 * i] = unit * x[i, 0]
        p[3 * i + 1] = p[3 * i + 2] = 0.0
        for k in range(rows.corners.shape[0]):
            p[3 * i + 1] += unit * x[i, 2 + k] * rows.corners[k, 0]
            p[3 * i + 2] += unit * x[i, 2 + k] * rows.corners[k, 1]


@kernel
def find_misses(rows: ContactRows, scale: float, unit: float, scratch: NewtonScratch) -> None:
    """What the second side of each pair misses of its equation, at the present velocities."""
    v = scratch.vectors[at.VELOCITY]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    miss = scratch.pairs[at.MISS]
    for i in range(rows.friction.size):
        miss[i, 0] = v[3 * i] / scale - w[i, 0] if x[i, 0] > 0.0 else 0.0
        total = 0.0
        for k in range(rows.corners.shape[0]):
            miss[i, 2 + k] = 0.0
            if x[i, 2 + k] > 0.0:
                miss[i, 2 + k] = slip(rows, v, i, k) / scale + x[i, 1] - w[i, 2 + k]
                total += x[i, 2 + k]
        limit = limit_of(rows, i, unit * x[presser_of(rows, i), 0]) / unit
        miss[i, 1] = limit - total - w[i, 1] if x[i, 1] > 0.0 else 0.0


@kernel
def sum_of_products(length: float, scratch: NewtonScratch) -> float:
    """Sum of x w over all pairs, so much of the step ahead."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            if x[i, k] > 0.0 and length == 0.0:
                total += x[i, k] * w[i, k]
            elif x[i, k] > 0.0:
                total += (x[i, k] + length * d_x[i, k]) * (w[i, k] + length * d_w[i, k])
    return total


@kernel
def put_targets(product: float, corrected: bool, scratch: NewtonScratch) -> None:
    """What is to become of x w beside what it is, less the product of the changes before."""
    target = scratch.pairs[at.TARGET]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            target[i, k] = 0.0
            if x[i, k] > 0.0:
                change = d_x[i, k] * d_w[i, k] if corrected else 0.0
                target[i, k] = product - x[i, k] * w[i, k] - change


@kernel
def move_pairs(length: float, scratch: NewtonScratch) -> None:
    """Take so much of the step."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            if x[i, k] > 0.0:
                x[i, k] += length * scratch.pairs[at.VALUE_STEP, i, k]
                w[i, k] += length * scratch.pairs[at.SLACK_STEP, i, k]
