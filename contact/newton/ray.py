"""How far impulses can go on along a direction before a status changes.

Proximal steps from a fixed centre creep along directions that W does not see (impulses that hold
one another) by as little as the proximal term lets them. Going on along the whole ray, to where the
next status changes or to where velocities are least, takes one step in place of hundreds.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import (
    ContactRows,
    NewtonScratch,
    is_moment,
    is_round,
    presser_of,
)
from spatialops.contact.newton.statuses import limit_of, side_normal

FAR = 1e9  # of a step: a ray along which nothing ever changes its status


@kernel
def ray_length(rows: ContactRows, p: Array, scratch: NewtonScratch) -> float:
    """Length, in units of CHANGE, of the ray until a status changes; FAR where none does."""
    t = FAR
    v, w = scratch.vectors[at.VELOCITY], scratch.vectors[at.ANSWER]
    d = scratch.vectors[at.CHANGE]
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        bounded = rows.law <= at.CONE or is_moment(rows, i)
        tangent = scratch.status[i, at.TANGENT] if bounded else at.FREE
        if parts & at.HAS_NORMAL:
            if scratch.status[i, at.NORMAL] == at.OPEN:
                t = min(t, until(v[j], -w[j]))
            else:
                t = min(t, until(p[j], -d[j]))
        if tangent == at.STICKS:
            t = min(t, until_it_slides(rows, i, p, d, not parts & at.HAS_SECOND))
        elif tangent != at.FREE and not (is_round(rows, i) and parts & at.HAS_SECOND):
            t = min(t, until_it_turns(rows, scratch, i, p))
    return t


@inlined
def until(left: float, falls: float) -> float:
    """When what is left, falling at a rate, is used up."""
    return max(left, 0.0) / falls if falls > 0.0 else FAR


@inlined
def until_it_slides(rows: ContactRows, i: int, p: Array, d: Array, line: bool) -> float:
    """When friction p + t d leaves its polygon, which grows with the normal impulse."""
    t = FAR
    j = 3 * i
    normal = 3 * presser_of(rows, i)
    limit, grows = limit_of(rows, i, p[normal]), rows.friction[i] * d[normal]
    if is_round(rows, i) and not line:
        return until_outside((p[j + 1], p[j + 2]), (d[j + 1], d[j + 2]), limit, grows)
    for k in range(2 if line else rows.corners.shape[0]):
        x, y, inner = (1.0 - 2.0 * k, 0.0, 1.0) if line else side_normal(rows.corners, k)
        left = inner * limit - x * p[j + 1] - y * p[j + 2]
        t = min(t, until(left, x * d[j + 1] + y * d[j + 2] - inner * grows))
    return t


@inlined
def until_outside(
    p: tuple[float, float], d: tuple[float, float], limit: float, grows: float
) -> float:
    """When p + t d leaves a circle that grows: |p + t d|^2 = (limit + t grows)^2."""
    a = d[0] * d[0] + d[1] * d[1] - grows * grows
    b = p[0] * d[0] + p[1] * d[1] - limit * grows
    c = min(p[0] * p[0] + p[1] * p[1] - limit * limit, 0.0)
    root = b * b - a * c
    if root < 0.0:
        return FAR
    # Of the two forms of the root the one without a difference of like numbers.
    ahead = math.sqrt(root)
    if b > 0.0:
        return -c / (b + ahead)
    return (ahead - b) / a if a > 0.0 else FAR


@inlined
def until_it_turns(rows: ContactRows, scratch: NewtonScratch, i: int, p: Array) -> float:
    """When friction on a side reaches a corner, or sliding leaves what goes with its corner."""
    j = 3 * i
    k = scratch.status[i, at.SIDE]
    t = FAR
    v, w = scratch.vectors[at.VELOCITY], scratch.vectors[at.ANSWER]
    d, corners = scratch.vectors[at.CHANGE], rows.corners
    x, y = corners[k, 0], corners[k, 1]
    if scratch.status[i, at.TANGENT] == at.AT_CORNER:
        # Sliding against corner k, within the cone that the normals of its two sides span.
        before = (k - 1) % corners.shape[0]
        if corners.shape[0] == 2:
            return until(-x * v[j + 1], x * w[j + 1])
        a_x, a_y, _ = side_normal(corners, k)
        b_x, b_y, _ = side_normal(corners, before)
        t = until(a_x * v[j + 2] - a_y * v[j + 1], a_y * w[j + 1] - a_x * w[j + 2])
        return min(t, until(b_y * v[j + 1] - b_x * v[j + 2], b_x * w[j + 2] - b_y * w[j + 1]))
    x, y, inner = side_normal(corners, k)
    half = max(1.0 - inner * inner, 0.0) ** 0.5
    normal = 3 * presser_of(rows, i)
    limit = half * limit_of(rows, i, p[normal])
    place, rate = x * p[j + 2] - y * p[j + 1], x * d[j + 2] - y * d[j + 1]
    grows = half * rows.friction[i] * d[normal]
    return min(until(limit - place, rate - grows), until(limit + place, -rate - grows))
