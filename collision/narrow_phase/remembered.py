"""What was found of two convex shapes, for as long as they hardly move against each other.

Of links that hang together, or stick, the place of one in the other's axes stays for thousands of
steps, and what overlaps there as a robot's file has it stays so. With m a bound of how far points
of B have moved in A's axes since, no h(d), the support function of A - B, has changed by more: what
was apart by c is apart by c - m, and the side of A - B that was the nearest one still is while
others were farther by more than that. It is measured anew where the two are now.

Pairs have rows in a table, a few to choose from by the numbers of their geoms: what finds none free
takes that of another pair.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    column_of,
    cross,
    dot,
    mat3,
    minus,
    plus,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision._layout import (
    CAPSULE,
    GEOM_BOUND,
    GEOM_SHAPE,
    HALF_SPACE,
    INFINITE,
    MESH,
    PLACE,
    TURN,
)
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.epa import SLIVER, nearest_of_side
from spatialops.collision.narrow_phase.gjk import ON_A, W, put_support
from spatialops.collision.pair_runs import pairs_within

# Columns of the table.
_PAIR = 0  # 2: geoms, counted from one; 0: nothing is remembered
_SHIFT = 2  # 3: place of B in A's axes
_TURNED = 5  # 3 x 3: its turn there, by columns
_APART = 14  # m, by which cores are apart at least; -INFINITE: a side is remembered
_OTHERS = 15  # m, offset of the next side of another plane
_OF_A = 16  # 3 x 3: points of A that the corners of the side come from, in its axes
_OF_B = 25  # 3 x 3: those of B in its axes
COLUMNS = 34

MOST = 4096  # rows of a table
_TRIES = 4  # rows that a pair may have
# What the number of A, and that of the pair, are taken times, and the last bits that are left out:
# multiplicative hashing (D. Knuth, *The Art of Computer Programming* 3, 6.4).
_OF_PAIR, _SPREAD = 73, 40503
_LEFT_OUT = 7
_OUT = 0.1  # of the error allowed, by which the origin's foot may lie out of a side


def new_table(geom_ints: IntArray, runs: IntArray) -> Array:
    """A table for the pairs of geoms that need one: a power of two of rows, or none."""
    kinds = geom_ints[:, GEOM_SHAPE]
    turned, capsule = (kinds > HALF_SPACE) & (kinds < MESH), kinds == CAPSULE
    both = int(pairs_within(runs, turned) - pairs_within(runs, capsule))
    count = min(both, MOST)
    return np.zeros((1 << (count - 1).bit_length() if count > 0 else 0, COLUMNS))


@inlined
def may_remember(geom_ints: IntArray, places: Array, a: int, b: int) -> bool:
    """Whether two shapes have turns to be measured in: spheres have none.

    Nor does the last row of places count, which is no geom, but the triangle that is looked at.
    """
    if geom_ints[a, GEOM_SHAPE] <= HALF_SPACE or geom_ints[b, GEOM_SHAPE] <= HALF_SPACE:
        return False
    return b < places.shape[0] - 1


@inlined
def row_of(table: Array, a: int, b: int) -> int:
    """The row of a pair, or one that it may take; -1 where the table has none."""
    rows = table.shape[0]
    if rows == 0:
        return -1
    first = ((_OF_PAIR * a + b) * _SPREAD >> _LEFT_OUT) & (rows - 1)
    free = -1
    for i in range(_TRIES):
        row = (first + i) & (rows - 1)
        if is_of(table, row, a, b):
            return row
        if free < 0 and table[row, _PAIR] == 0.0:
            free = row
    return free if free >= 0 else first


@inlined
def is_of(table: Array, row: int, a: int, b: int) -> bool:
    """Whether a row is that of a pair."""
    return table[row, _PAIR] == a + 1 and table[row, _PAIR + 1] == b + 1


@inlined
def shift_of(places: Array, a: int, b: int) -> Vec3:
    """Place of B in A's axes."""
    line = minus(vec3(places, b, PLACE), vec3(places, a, PLACE))
    return rotate_back(mat3(places, a, TURN), line)


@inlined
def turned_axis(places: Array, a: int, b: int, j: int) -> Vec3:
    """Axis j of B in A's axes."""
    return rotate_back(mat3(places, a, TURN), column_of(places, b, TURN, j))


@kernel
def moved_since(table: Array, row: int, geoms: GeomTables, places: Array, a: int, b: int) -> float:
    """A bound of how far points of B have moved in A's axes; INFINITE where nothing is known."""
    if not is_of(table, row, a, b):
        return INFINITE
    step = minus(shift_of(places, a, b), vec3(table, row, _SHIFT))
    turned = 0.0
    for j in range(3):
        change = minus(turned_axis(places, a, b, j), vec3(table, row, _TURNED + 3 * j))
        turned += dot(change, change)
    return math.sqrt(dot(step, step)) + math.sqrt(turned) * geoms.floats[b, GEOM_BOUND]


@inlined
def apart_by(table: Array, row: int, moved: float) -> float:
    """Distance of the cores at least; -INFINITE where a side is remembered, or nothing."""
    return table[row, _APART] - moved if moved < INFINITE else -INFINITE


@inlined
def put_pair(table: Array, row: int, places: Array, a: int, b: int) -> None:
    """A pair where it stands now."""
    table[row, _PAIR], table[row, _PAIR + 1] = a + 1, b + 1
    put3(table, row, _SHIFT, shift_of(places, a, b))
    for j in range(3):
        put3(table, row, _TURNED + 3 * j, turned_axis(places, a, b, j))


@kernel
def keep_apart(table: Array, row: int, places: Array, a: int, b: int, distance: float) -> None:
    """Keep that cores are apart by a distance, or by more."""
    put_pair(table, row, places, a, b)
    table[row, _APART] = distance


@kernel
def keep_side(
    table: Array, row: int, places: Array, a: int, b: int, others: float, rows: Array
) -> None:
    """Keep the nearest side, whose corners are the first three points, and offsets of others."""
    put_pair(table, row, places, a, b)
    table[row, _APART], table[row, _OTHERS] = -INFINITE, others
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    for i in range(3):
        on_a = vec3(rows, i, ON_A)
        on_b = minus(on_a, vec3(rows, i, W))
        put3(table, row, _OF_A + 3 * i, rotate_back(turn_a, minus(on_a, line)))
        put3(table, row, _OF_B + 3 * i, rotate_back(turn_b, on_b))


@kernel
def forget_all(table: Array) -> None:
    """Remember nothing."""
    for row in range(table.shape[0]):
        forget(table, row)


@inlined
def forget(table: Array, row: int) -> None:
    """Remember nothing of the pair of a row."""
    table[row, _PAIR] = 0.0


@kernel
def depth_of_side(
    table: Array,
    row: int,
    moved: float,
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    enough: float,
    rows: Array,
) -> float:
    """Depth of the remembered side where the two are now; -INFINITE where it may be another's.

    Row 4 is left with the normal from A into B (W) and a point of A (ON_A), as by `epa`.
    """
    if not (moved < INFINITE and table[row, _APART] == -INFINITE):
        return -INFINITE
    put_corners(table, row, places, a, b, rows)
    p = vec3(rows, 0, W)
    q = vec3(rows, 1, W)
    r = vec3(rows, 2, W)
    across = cross(minus(q, p), minus(r, p))
    length = math.sqrt(dot(across, across))
    if not length > SLIVER:
        return -INFINITE
    normal = scaled(1.0 / length, across)
    offset = dot(normal, p)
    depth = dot(normal, put_support(geoms, places, a, b, normal, rows, 3))
    foot = scaled(offset, normal)
    miss, on_a = nearest_of_side(rows, (0, 1, 2), foot)
    if depth - offset > enough or miss > (_OUT * enough) ** 2:
        return -INFINITE
    if 2.0 * moved > enough:
        within = inner_square(minus(p, foot), minus(q, foot), minus(r, foot))
        if not stays_nearest(depth, moved, table[row, _OTHERS] + enough, within):
            return -INFINITE
    put3(rows, 4, W, normal)
    put3(rows, 4, ON_A, on_a)
    return depth


@inlined
def put_corners(table: Array, row: int, places: Array, a: int, b: int, rows: Array) -> None:
    """The corners of the remembered side as the first three points."""
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    for i in range(3):
        on_a = plus(line, rotate(turn_a, vec3(table, row, _OF_A + 3 * i)))
        put3(rows, i, W, minus(on_a, rotate(turn_b, vec3(table, row, _OF_B + 3 * i))))
        put3(rows, i, ON_A, on_a)


@inlined
def stays_nearest(depth: float, moved: float, others: float, within: float) -> bool:
    """Whether no side can have come nearer than this one, at a depth.

    A ray from the origin, along d, left the polytope that was inside A - B through the side, or
    through one with an offset of `others` at least: so far h(d) went, and it may be less by
    `moved`. Through the side rays leave it still, but for those along its edges, which went farther
    by what the squared distance of the foot from these, `within`, adds.
    """
    if not depth > 0.0 or others - moved < depth:
        return False
    return within > 4.0 * moved * (depth + moved)


@inlined
def inner_square(p: Vec3, q: Vec3, r: Vec3) -> float:
    """Squared distance of the origin from the nearest line along the edges of a triangle."""
    return min(line_square(p, q), line_square(q, r), line_square(r, p))


@inlined
def line_square(p: Vec3, q: Vec3) -> float:
    """Squared distance of the origin from the line through two points."""
    across, along = cross(p, q), minus(q, p)
    return dot(across, across) / max(dot(along, along), SLIVER)
