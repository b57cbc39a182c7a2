"""Manifolds: where faces turned towards each other overlap, as a few well-spread points.

Seen along the normal, the face of one shape is clipped by the edges of the other's (I. E.
Sutherland, G. W. Hodgman, *Reentrant polygon clipping*, 1974), always A's by B's where both are
faces: names of the points (a corner of A on B's face, a crossing of two edges, a corner of B on A's
face) then do not depend on which face is the more upright one. A corner is outside only by more
than a small tolerance, so that faces of equal outline keep their corners.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, minus, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col

STEEP = 0.05  # cosine: a face that stands more upright against the normal bears no manifold
EVEN = 5e-5  # of the size: gaps that differ by less do not decide which points are kept
CLOSE = 1e-7  # the same where faces lean
TIE = 0.01  # points whose merits differ by less, relatively, are told apart by their names


class Outline(NamedTuple):
    """Points of a polygon, and the names that go with them."""

    points: Array
    names: IntArray


@inlined
def face_normal(rows: Array, count: int) -> Vec3:
    """Unit normal of a polygon (Newell)."""
    total, first = (0.0, 0.0, 0.0), vec3(rows, 0, 0)
    for i in range(1, count - 1):
        total = plus_scaled(
            total, 1.0, cross(minus(vec3(rows, i, 0), first), minus(vec3(rows, i + 1, 0), first))
        )
    return scaled(1.0 / math.sqrt(dot(total, total)), total)


@kernel
def clip(
    subject: Array,
    names: IntArray,
    count: int,
    other: Array,
    other_names: IntArray,
    sides: int,
    n: Vec3,
    tolerance: float,
    spare: Array,
    spare_names: IntArray,
) -> int:
    """Clip a polygon or segment, in place, by the edges of a polygon, seen along n.

    Columns of `names`: the features of the subject and of the other at a point, and the edge that
    begins there, of the subject (>= 0) or of the other (-1 - its place). Returns the count that is
    left.
    """
    turning = dot(face_normal(other, sides), n)
    for s in range(sides):
        p, q = vec3(other, s, 0), vec3(other, s + 1 if s + 1 < sides else 0, 0)
        inward = cross(n, minus(q, p))
        length = math.sqrt(dot(inward, inward))
        if length < 1e-12:
            continue
        inward = scaled(math.copysign(1.0 / length, turning), inward)
        outline, room = Outline(subject, names), Outline(spare, spare_names)
        count = clip_by(outline, count, p, inward, s, other_names, sides, tolerance, room)
        if count == 0:
            return 0
    return count


@kernel
def clip_by(
    outline: Outline,
    count: int,
    p: Vec3,
    inward: Vec3,
    side: int,
    other_names: IntArray,
    sides: int,
    tolerance: float,
    room: Outline,
) -> int:
    """Clip by one edge: what lies inside stays, with the points where the outline crosses it."""
    subject, names = outline
    if is_inside(subject, count, p, inward, tolerance):
        return count
    spare, spare_names = room
    kept, closed = 0, count > 2
    for i in range(count):
        after = i + 1 if i + 1 < count else 0
        a, b = vec3(subject, i, 0), vec3(subject, after, 0)
        da, db = dot(minus(a, p), inward), dot(minus(b, p), inward)
        stays = da >= -tolerance
        if stays:
            put3(spare, kept, 0, a)
            for j in range(3):
                spare_names[kept, j] = names[i, j]
            kept += 1
        crosses = (closed or after > i) and stays != (db >= -tolerance)
        if closed and crosses and max(da, db) <= 0.0:
            # An end that is out, but stays, is where it crosses, and would be there twice.
            if stays:
                spare_names[kept - 1, 2] = -1 - side
            crosses = False
        if crosses and kept < spare.shape[0]:
            crossing = min(max(da / (da - db), 0.0), 1.0)
            put3(spare, kept, 0, plus_scaled(a, crossing, minus(b, a)))
            edge = names[i, 2]
            if edge >= 0:  # an edge of the subject crosses one of the other
                spare_names[kept, 0], spare_names[kept, 1] = edge, other_names[side, 1]
            else:  # two edges of the other meet at its corner
                corner = side if (-1 - edge + 1) % sides == side else (side + 1) % sides
                spare_names[kept, 0], spare_names[kept, 1] = col.FACE, other_names[corner, 0]
            spare_names[kept, 2] = -1 - side if stays else edge
            kept += 1
        if kept == spare.shape[0]:
            break
    for i in range(kept):
        put3(subject, i, 0, vec3(spare, i, 0))
        for j in range(3):
            names[i, j] = spare_names[i, j]
    return kept


@inlined
def is_inside(points: Array, count: int, p: Vec3, inward: Vec3, tolerance: float) -> bool:
    """Whether all of these points are on the inner side of an edge through p."""
    inside = True
    for i in range(count):
        inside = inside and dot(minus(vec3(points, i, 0), p), inward) + tolerance >= 0.0
    return inside


@kernel
def face_points(
    subject: Array,
    names: IntArray,
    count: int,
    other: Array,
    sides: int,
    n: Vec3,
    flip: bool,
    origin: Vec3,
    found: Array,
    found_names: IntArray,
) -> int:
    """Contacts at the points of a clipped subject over the other's plane; `flip`: it is B's."""
    plane, room = face_normal(other, sides), found.shape[0]
    slope, base = dot(plane, n), vec3(other, 0, 0)
    if abs(slope) < STEEP:
        return 0
    for i in range(min(count, room)):
        point = vec3(subject, i, 0)
        height = dot(minus(point, base), plane) / slope  # above the plane, along n
        gap = -height if flip else height
        put3(found, i, col.AT_POINT, plus_scaled(plus_scaled(point, -0.5 * height, n), 1.0, origin))
        put3(found, i, col.AT_NORMAL, n)
        found[i, col.AT_GAP] = gap
        found_names[i, 0], found_names[i, 1] = names[i, 0], names[i, 1]
        if flip:
            found_names[i, 0], found_names[i, 1] = names[i, 1], names[i, 0]
    return min(count, room)


@kernel
def edge_points(
    a: Array,
    names_a: IntArray,
    b: Array,
    names_b: IntArray,
    n: Vec3,
    origin: Vec3,
    found: Array,
    found_names: IntArray,
) -> int:
    """Contacts of two segments side by side: the ends of what they share, seen along n.

    None where they cross.
    """
    p, q = vec3(a, 0, 0), vec3(b, 0, 0)
    u, w = minus(vec3(a, 1, 0), p), minus(vec3(b, 1, 0), q)
    u_flat, w_flat = plus_scaled(u, -dot(u, n), n), plus_scaled(w, -dot(w, n), n)
    length, width = math.sqrt(dot(u_flat, u_flat)), math.sqrt(dot(w_flat, w_flat))
    turn = cross(u_flat, w_flat)
    if length < 1e-12 or width < 1e-12 or math.sqrt(dot(turn, turn)) > 0.02 * length * width:
        return 0
    along = scaled(1.0 / (length * length), u_flat)
    s, t = dot(minus(q, p), along), dot(minus(plus_scaled(q, 1.0, w), p), along)
    low, high = max(0.0, min(s, t)), min(1.0, max(s, t))
    if high - low < 1e-3 * min(1.0, width / length):
        return 0
    for i in range(2):
        x = low if i == 0 else high
        on_a = plus_scaled(p, x, u)
        y = min(max((x - s) / (t - s), 0.0), 1.0)
        on_b = plus_scaled(q, y, w)
        gap = dot(minus(on_a, on_b), n)
        put3(
            found,
            i,
            col.AT_POINT,
            plus_scaled(plus_scaled(scaled(0.5, on_a), 0.5, on_b), 1.0, origin),
        )
        put3(found, i, col.AT_NORMAL, n)
        found[i, col.AT_GAP] = gap
        mine = x == 0.0 or x == 1.0
        found_names[i, 0] = names_a[0 if x == 0.0 else 1, 0] if mine else names_a[0, 1]
        found_names[i, 1] = names_b[0, 1] if mine else names_b[0 if (x == s) else 1, 0]
    return 2


@kernel
def spread(found: Array, names: IntArray, count: int, size: float, limit: int) -> int:
    """Keep four of many points: the outermost of the deepest, and those farthest from it.

    The second is the farthest from the first, the others the farthest on either side of their line.
    Of points that do almost equally well the one with the smallest name is taken: rounding does not
    change which ones are kept.
    """
    if count <= limit:
        return count
    lowest = col.INFINITE
    highest = -col.INFINITE
    middle = (0.0, 0.0, 0.0)
    for i in range(count):
        lowest, highest = min(lowest, found[i, col.AT_GAP]), max(highest, found[i, col.AT_GAP])
        middle = plus_scaled(middle, 1.0 / count, vec3(found, i, col.AT_POINT))
    even = (
        EVEN * size if highest - lowest < 4.0 * EVEN * size else CLOSE * size
    )  # faces that lie flat, or lean
    for i in range(count):
        apart = minus(vec3(found, i, col.AT_POINT), middle)
        found[i, col.AT_MERIT] = (
            dot(apart, apart) if found[i, col.AT_GAP] <= lowest + even else -1.0
        )
    swap(found, names, 0, best_of(found, names, 0, count))
    first, n = vec3(found, 0, col.AT_POINT), vec3(found, 0, col.AT_NORMAL)
    for i in range(1, count):
        line = minus(vec3(found, i, col.AT_POINT), first)
        found[i, col.AT_MERIT] = dot(line, line)
    swap(found, names, 1, best_of(found, names, 1, count))
    across, kept = cross(n, minus(vec3(found, 1, col.AT_POINT), first)), 2
    least = 1e-6 * size * math.sqrt(dot(across, across))
    for side in range(2):
        for i in range(kept, count):
            reach = dot(minus(vec3(found, i, col.AT_POINT), first), across)
            found[i, col.AT_MERIT] = reach if side == 0 else -reach
        best = best_of(found, names, kept, count)
        if best >= 0 and found[best, col.AT_MERIT] > least:
            swap(found, names, kept, best)
            kept += 1
    return kept


@inlined
def best_of(found: Array, names: IntArray, start: int, count: int) -> int:
    """The point from `start` on of nearly the largest merit with the smallest name; -1: none."""
    most, best = -col.INFINITE, -1
    for i in range(start, count):
        most = max(most, found[i, col.AT_MERIT])
    for i in range(start, count):
        if found[i, col.AT_MERIT] < most - TIE * abs(most):
            continue
        smaller = best < 0 or names[i, 0] < names[best, 0]
        if smaller or (names[i, 0] == names[best, 0] and names[i, 1] < names[best, 1]):
            best = i
    return best


@inlined
def swap(found: Array, names: IntArray, i: int, j: int) -> None:
    if i != j:
        for k in range(found.shape[1]):
            found[i, k], found[j, k] = found[j, k], found[i, k]
        for k in range(2):
            names[i, k], names[j, k] = names[j, k], names[i, k]
