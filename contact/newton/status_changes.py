"""Which status changes first along a path, and on which side of it the path goes on.

Impulses p go along CHANGE, velocities AHEAD along ANSWER. What holds on the piece of a status ends
where one of its inequalities is an equality: then the next piece begins, in which another rises
from zero.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.ray import until
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.newton.statuses import (
    limit_of,
    polygon_status,
    put_limit,
    side_normal,
)

NONE = -1  # contact that changes its status, where none does
Change = tuple[float, int, int, int, int]  # length to it; contact, normal, tangent and side then


@kernel
def next_change(
    rows: ContactRows, sign: float, farthest: float, p: Array, scratch: NewtonScratch
) -> Change:
    """The first change of a status within the length, of sign times the direction."""
    first = (farthest, NONE, 0, 0, 0)
    v, w = scratch.vectors[at.AHEAD], scratch.vectors[at.ANSWER]
    d = scratch.vectors[at.CHANGE]
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        tangent = scratch.status[i, at.TANGENT]
        if parts & at.HAS_NORMAL and scratch.status[i, at.NORMAL] == at.OPEN:
            t = until(v[j], -sign * w[j])
            if t < first[0]:
                tangent, side = closing(rows, scratch, i)
                first = (t, i, at.PRESSES, tangent, side)
            continue
        if parts & at.HAS_NORMAL:
            first = sooner(first, (until(p[j], -sign * d[j]), i, at.OPEN, at.FREE, 0))
        if tangent == at.STICKS:
            first = sliding_change(rows, scratch, i, sign, p, first)
        elif tangent == at.AT_SIDE:
            first = side_change(rows, scratch, i, sign, p, first)
        elif tangent == at.AT_CORNER:
            first = corner_change(rows, scratch, i, sign, first)
    return first


@inlined
def sooner(first: Change, other: Change) -> Change:
    """Whichever comes first."""
    return other if other[0] < first[0] else first


@inlined
def is_line(rows: ContactRows, scratch: NewtonScratch, i: int) -> bool:
    """Whether friction of contact i has one direction, and the other way."""
    return not scratch.status[i, at.PARTS] & at.HAS_SECOND


@inlined
def closing(rows: ContactRows, scratch: NewtonScratch, i: int) -> tuple[int, int]:
    """Tangential status, and side, of contact i where it begins to press."""
    v, j = scratch.vectors[at.AHEAD], 3 * i
    if not scratch.status[i, at.PARTS] & at.HAS_FIRST:
        return at.FREE, 0
    line = is_line(rows, scratch, i)
    return polygon_status(rows.corners, line, -v[j + 1], -v[j + 2], 0.0)


@inlined
def sliding_change(
    rows: ContactRows, scratch: NewtonScratch, i: int, sign: float, p: Array, first: Change
) -> Change:
    """Where friction that sticks is at its limit."""
    d, j = scratch.vectors[at.CHANGE], 3 * i
    normal = scratch.status[i, at.NORMAL]
    limit, grows = limit_of(rows, i, p[j]), rows.friction[i] * d[j]
    sides = rows.corners.shape[0]
    if is_line(rows, scratch, i):
        ahead = until(limit - p[j + 1], sign * (d[j + 1] - grows))
        back = until(limit + p[j + 1], sign * (-d[j + 1] - grows))
        first = sooner(first, (ahead, i, normal, at.AT_CORNER, 0))
        return sooner(first, (back, i, normal, at.AT_CORNER, sides // 2))
    for k in range(sides):
        x, y, inner = side_normal(rows.corners, k)
        left = inner * limit - x * p[j + 1] - y * p[j + 2]
        t = until(left, sign * (x * d[j + 1] + y * d[j + 2] - inner * grows))
        first = sooner(first, (t, i, normal, at.AT_SIDE, k))
    return first


@inlined
def side_change(
    rows: ContactRows, scratch: NewtonScratch, i: int, sign: float, p: Array, first: Change
) -> Change:
    """Where friction on a side is at one of its corners, or sliding along its normal ends."""
    v, w = scratch.vectors[at.AHEAD], scratch.vectors[at.ANSWER]
    d, j = scratch.vectors[at.CHANGE], 3 * i
    normal, k = scratch.status[i, at.NORMAL], scratch.status[i, at.SIDE]
    x, y, inner = side_normal(rows.corners, k)
    half = max(1.0 - inner * inner, 0.0) ** 0.5
    limit, grows = half * limit_of(rows, i, p[j]), half * rows.friction[i] * d[j]
    place, rate = x * p[j + 2] - y * p[j + 1], x * d[j + 2] - y * d[j + 1]
    after = (k + 1) % rows.corners.shape[0]
    slows = until(-x * v[j + 1] - y * v[j + 2], sign * (x * w[j + 1] + y * w[j + 2]))
    first = sooner(first, (slows, i, normal, at.STICKS, 0))
    first = sooner(
        first, (until(limit - place, sign * (rate - grows)), i, normal, at.AT_CORNER, after)
    )
    return sooner(first, (until(limit + place, sign * (-rate - grows)), i, normal, at.AT_CORNER, k))


@inlined
def corner_change(
    rows: ContactRows, scratch: NewtonScratch, i: int, sign: float, first: Change
) -> Change:
    """Where sliding against a corner turns to the normal of one of its sides, or ends on a line."""
    v, w = scratch.vectors[at.AHEAD], scratch.vectors[at.ANSWER]
    j, normal = 3 * i, scratch.status[i, at.NORMAL]
    k = scratch.status[i, at.SIDE]
    if is_line(rows, scratch, i):
        x = rows.corners[k, 0]
        t = until(-x * v[j + 1], sign * x * w[j + 1])
        return sooner(first, (t, i, normal, at.STICKS, 0))
    before = (k - 1) % rows.corners.shape[0]
    a_x, a_y, _ = side_normal(rows.corners, k)
    b_x, b_y, _ = side_normal(rows.corners, before)
    to_own = until(a_x * v[j + 2] - a_y * v[j + 1], sign * (a_y * w[j + 1] - a_x * w[j + 2]))
    to_other = until(b_y * v[j + 1] - b_x * v[j + 2], sign * (b_x * w[j + 2] - b_y * w[j + 1]))
    first = sooner(first, (to_own, i, normal, at.AT_SIDE, k))
    return sooner(first, (to_other, i, normal, at.AT_SIDE, before))


@kernel
def take_change(rows: ContactRows, change: Change, scratch: NewtonScratch) -> tuple[int, int, int]:
    """Take the change up; the statuses before it."""
    _, i, normal, tangent, side = change
    status = scratch.status
    old = status[i, at.NORMAL], status[i, at.TANGENT], status[i, at.SIDE]
    status[i, at.NORMAL], status[i, at.TANGENT] = normal, tangent
    status[i, at.SIDE] = side
    put_limit(rows, scratch, i, tangent, side)
    return old


@kernel
def goes_inward(
    rows: ContactRows, change: Change, old: tuple[int, int, int], scratch: NewtonScratch
) -> bool:
    """Whether the direction leads into the piece of the status that has changed."""
    _, i, normal, tangent, side = change
    w, d = scratch.vectors[at.ANSWER], scratch.vectors[at.CHANGE]
    j = 3 * i
    if normal != old[0]:
        return d[j] > 0.0 if normal == at.PRESSES else w[j] > 0.0
    grows = rows.friction[i] * d[j]
    k = old[2] if tangent == at.STICKS or old[1] == at.AT_SIDE else side
    if is_line(rows, scratch, i):
        x, y = rows.corners[k, 0], 0.0
        inner = 1.0
    else:
        x, y, inner = side_normal(rows.corners, k)
    if tangent == at.STICKS:
        return inner * grows - x * d[j + 1] - y * d[j + 2] > 0.0
    if old[1] == at.STICKS:
        return x * w[j + 1] + y * w[j + 2] < 0.0
    if tangent == at.AT_CORNER:  # of side k, the corner that begins it or the other
        turns = x * w[j + 2] - y * w[j + 1]
        return turns > 0.0 if side == k else turns < 0.0
    half = max(1.0 - inner * inner, 0.0) ** 0.5
    along = x * d[j + 2] - y * d[j + 1]
    return half * grows + (along if old[2] == k else -along) > 0.0
