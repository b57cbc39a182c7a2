"""How the sides of one contact move as A moves against B: one twist of A after the other.

What is clipped lies on a line or a face of the subject, seen along the normal at a side of the
other's outline. With i across such a side and across the normal, unit, and p on the side,

    (x - p) . i = const.,    (dx - dp) . i + (x - p) . di = 0,

and the height h over the other's face, m . (x - p) = h m . N, changes by

    dh m . N = m . (dx - dx of the face there) - h (m . dN + N . (w x m)).
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.contact_motion.normals import lean_of, nearest_motion
from spatialops.collision.contact_motion.sites import flat_part, motion_at, spin_of
from spatialops.collision.geom_tables import GeomTables

Twist = tuple[Vec3, Vec3, Vec3]  # place, turn, motion of the place


@inlined
def unit_of(j: int) -> Vec3:
    return 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0


@inlined
def carried(x: Vec3, twist: Twist) -> Vec3:
    return motion_at(x, twist[0], twist[1], twist[2])


@kernel
def put_moves(geoms: GeomTables, places: Array, a: int, b: int, rows: Array, i: int) -> None:
    """How both sides of contact i move, and its normal and gap, with each of A's six."""
    n = vec3(rows, i, by.NORMAL)
    place_a, place_b = vec3(places, a, col.PLACE), vec3(places, b, col.PLACE)
    for c in range(6):
        unit = unit_of(c % 3)
        w, u = (unit, ZERO3) if c < 3 else (ZERO3, unit)
        moved = motion_at(vec3(rows, i, by.NEAREST), place_a, w, u)
        dN = lean_of(rows, i, w, moved)
        # The directions that the shapes show something along, each in its own shape.
        seen_a, seen_b = minus(cross(w, n), dN), dN
        spin_a = spin_of(geoms, places, a, scaled(-1.0, n), seen_a)
        spin_b = spin_of(geoms, places, b, n, seen_b)
        of_a = place_a, plus(w, spin_a), plus_scaled(u, geoms.floats[a, col.GEOM_RADIUS], seen_a)
        of_b = place_b, spin_b, scaled(geoms.floats[b, col.GEOM_RADIUS], seen_b)
        at = by.MOVES + by.MOVE_COLUMNS * c
        put3(rows, i, at + by.TURNS, dN)
        put_sides(rows, i, at, (w, moved, dN), of_a, of_b)
        if rows[i, by.DEEPEST] == 1.0:
            widen(rows, i, at, dN, dot(n, moved))
    put_ends(rows, i)


@inlined
def widen(rows: Array, i: int, at: int, dN: Vec3, widens: float) -> None:
    """The gap of contact i widens so, about the middle that it has."""
    n, gap = vec3(rows, i, by.NORMAL), rows[i, by.GAP]
    middle = scaled(0.5, plus(vec3(rows, i, at + by.MOVES_A), vec3(rows, i, at + by.MOVES_B)))
    half = plus_scaled(scaled(0.5 * widens, n), 0.5 * gap, dN)
    put3(rows, i, at + by.MOVES_A, plus(middle, half))
    put3(rows, i, at + by.MOVES_B, minus(middle, half))
    rows[i, at + by.WIDENS] = widens


@kernel
def put_sides(
    rows: Array, i: int, at: int, near: tuple[Vec3, Vec3, Vec3], of_a: Twist, of_b: Twist
) -> None:
    """How the sides of contact i move, and its gap; `near`: how A turns and moves, and N leans."""
    n, site = vec3(rows, i, by.NORMAL), rows[i, by.SITE]
    w, moved, dN = near
    if site == by.OWN or site == by.MIDDLE:
        widens, gap = dot(n, moved), rows[i, by.GAP]
        if site == by.MIDDLE:
            on_a = nearest_motion(rows, i, w, moved, dN)
        else:
            bend = mat3(rows, i, by.FEATURE_A + by.BEND)
            on_a = plus(moved, rotate(bend, minus(cross(w, n), dN)))
        on_b = plus_scaled(plus_scaled(on_a, -widens, n), -gap, dN)
    elif site == by.END_OF_A:
        on_a, on_b = beside(rows, i, dN, of_a, of_b)
        apart = minus(segment_side(rows, i, False), segment_side(rows, i, True))
        widens = -dot(minus(on_b, on_a), n) - dot(apart, dN)
    elif site == by.END_OF_B:
        on_b, on_a = beside(rows, i, dN, of_b, of_a)
        apart = minus(segment_side(rows, i, False), segment_side(rows, i, True))
        widens = dot(minus(on_a, on_b), n) + dot(apart, dN)
    elif rows[i, by.SUBJECT] == 0.0:
        on_a, widens = over(rows, i, dN, of_a, of_b)
        on_b = plus_scaled(plus_scaled(on_a, -widens, n), -rows[i, by.HEIGHT], dN)
    else:
        on_b, height = over(rows, i, dN, of_b, of_a)
        on_a = plus_scaled(plus_scaled(on_b, -height, n), -rows[i, by.HEIGHT], dN)
        widens = -height
    put3(rows, i, at + by.MOVES_A, on_a)
    put3(rows, i, at + by.MOVES_B, on_b)
    rows[i, at + by.WIDENS] = widens


@kernel
def over(rows: Array, i: int, dN: Vec3, subject: Twist, other: Twist) -> tuple[Vec3, float]:
    """How a point of the subject moves, and its height over the other's face."""
    n, x = vec3(rows, i, by.NORMAL), vec3(rows, i, by.PLACE)
    site = rows[i, by.SITE]
    face, height = vec3(rows, i, by.OTHER_FACE), rows[i, by.HEIGHT]
    dx = carried(x, subject)
    if site == by.CROSSING:
        line = vec3(rows, i, by.LINE)
        across, told = held_by_side(rows, i, by.FIRST_POINT, x, dN, other)
        dx = plus_scaled(dx, (told - dot(across, dx)) / dot(across, line), line)
    elif site == by.UNDER:
        own = vec3(rows, i, by.FACE)
        first, one = held_by_side(rows, i, by.FIRST_POINT, x, dN, other)
        second, two = held_by_side(rows, i, by.SECOND_POINT, x, dN, other)
        three = dot(own, dx)
        whole = dot(first, cross(second, own))
        dx = scaled(one / whole, cross(second, own))
        dx = plus_scaled(dx, two / whole, cross(own, first))
        dx = plus_scaled(dx, three / whole, cross(first, second))
    leans = dot(face, dN) + dot(n, cross(other[1], face))
    widens = dot(face, minus(dx, carried(x, other))) - height * leans
    return dx, widens / dot(n, face)


@inlined
def held_by_side(
    rows: Array, i: int, at: int, x: Vec3, dN: Vec3, other: Twist
) -> tuple[Vec3, float]:
    """Across a side of the outline, seen along the normal, and how far x moves along that."""
    n, p = vec3(rows, i, by.NORMAL), vec3(rows, i, at)
    side = vec3(rows, i, at + 3)
    across = cross(n, side)
    length = math.sqrt(dot(across, across))
    across = scaled(1.0 / length, across)
    turned = plus(cross(dN, side), cross(n, cross(other[1], side)))
    turned = scaled(1.0 / length, plus_scaled(turned, -dot(across, turned), across))
    return across, dot(across, carried(p, other)) - dot(minus(x, p), turned)


@inlined
def segment_side(rows: Array, i: int, of_end: bool) -> Vec3:
    """Of two segments side by side the end, or the point of the other beside it.

    They are where the line of A, seen along the normal, has both.
    """
    end = vec3(rows, i, by.PLACE)
    if of_end:
        return end
    n, p = vec3(rows, i, by.NORMAL), vec3(rows, i, by.FIRST_POINT)
    line = other_line(rows, i)
    seen = flat_part(vec3(rows, i, by.LINE), n)
    return plus_scaled(p, dot(minus(end, p), seen) / dot(line, seen), line)


@inlined
def other_line(rows: Array, i: int) -> Vec3:
    """The line of the segment that the end is beside."""
    own = rows[i, by.SITE] == by.END_OF_A
    return vec3(rows, i, by.FIRST_SIDE if own else by.LINE)


@kernel
def beside(rows: Array, i: int, dN: Vec3, mine: Twist, other: Twist) -> tuple[Vec3, Vec3]:
    """How an end of a segment moves, and the point of the other one beside it."""
    n, site = vec3(rows, i, by.NORMAL), rows[i, by.SITE]
    end, foot = segment_side(rows, i, True), segment_side(rows, i, False)
    first, line = vec3(rows, i, by.LINE), other_line(rows, i)
    turn = mine[1] if site == by.END_OF_A else other[1]
    seen, turned = flat_part(first, n), cross(turn, first)
    turned = flat_part(turned, n)
    turned = plus_scaled(turned, -dot(first, dN), n)
    turned = plus_scaled(turned, -dot(first, n), dN)
    moves = carried(end, mine)
    near = carried(foot, other)
    way = dot(minus(moves, near), seen) + dot(minus(end, foot), turned)
    return moves, plus_scaled(near, way / dot(line, seen), line)


@kernel
def put_ends(rows: Array, i: int) -> None:
    """Where the sides of contact i are."""
    n, point = vec3(rows, i, by.NORMAL), vec3(rows, i, by.POINT)
    site = rows[i, by.SITE]
    x = vec3(rows, i, by.PLACE)
    if site == by.OWN or site == by.MIDDLE:
        x = vec3(rows, i, by.NEAREST)
        along = dot(minus(x, point), n)
        on_a = plus_scaled(point, along, n)
        on_b = plus_scaled(on_a, -rows[i, by.GAP], n)
    elif site == by.END_OF_A or site == by.END_OF_B:
        foot = segment_side(rows, i, False)
        on_a, on_b = (x, foot) if site == by.END_OF_A else (foot, x)
    else:
        over_it = plus_scaled(x, -rows[i, by.HEIGHT], n)
        on_a, on_b = (x, over_it) if rows[i, by.SUBJECT] == 0.0 else (over_it, x)
    if rows[i, by.DEEPEST] == 1.0:
        middle = scaled(0.5, plus(on_a, on_b))
        on_a = plus_scaled(middle, 0.5 * rows[i, by.GAP], n)
        on_b = plus_scaled(middle, -0.5 * rows[i, by.GAP], n)
    put3(rows, i, by.ON_A, on_a)
    put3(rows, i, by.ON_B, on_b)
