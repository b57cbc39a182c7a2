"""Contacts of two shapes that move: of one pair, with the common planes that its points stand on.

The turns of A are about its place. B stands; motions in the world are those of B's axes and these.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.apart import TABLE, late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, plus, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.contact_motion.moves import put_moves
from spatialops.collision.contact_motion.normals import put_nearest
from spatialops.collision.contact_motion.sites import is_point, put_site
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.common_plane import ONE, ONE_PLACE, SLACK
from spatialops.collision.narrow_phase.mesh_contacts import NAME_STEP
from spatialops.collision.narrow_phase.prism import put_prism
from spatialops.collision.narrow_phase.scratch import PAIR, Scratch

_EVEN = 1e-12  # of the size: heights that differ by less are equal
# Geoms, places, two geoms; contacts; scratch; names.
_KINDS = (*PAIR[:4], PAIR[1], PAIR[5], TABLE)


@late(*_KINDS)
def pair_motions(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    rows: Array,
    scratch: Scratch,
    names: IntArray,
) -> int:
    """How all contacts of a pair move with A: gaps, points, normals must be in `rows`; a status.

    Columns are in `_layout`. Names of their features are in rows of two.
    """
    worst = by.KNOWN
    for i in range(rows.shape[0]):
        other, told = b, (names[i, 0], names[i, 1])
        if geoms.ints[b, col.GEOM_SHAPE] in (col.MESH, col.HEIGHT_FIELD):
            # The triangle is in the name.
            f = told[1] // NAME_STEP - 1
            told = told[0], told[1] - NAME_STEP * (f + 1)
            other = geoms.ints.shape[0] - 1
            put3(places, other, col.PLACE, vec3(places, b, col.PLACE))
            if not put_prism(geoms, places, a, b, f, col.INFINITE):
                return by.UNKNOWN
        status = put_nearest(geoms, places, a, other, rows, i)
        worst = max(worst, status)
        if put_site(geoms, places, a, other, told, rows, i, scratch) != by.KNOWN:
            return by.UNKNOWN
        if rows[i, by.DEEPEST] == 1.0 and not is_point(rows, i):
            worst = by.KINK
        put_moves(geoms, places, a, other, rows, i)
    for i in range(rows.shape[0]):
        put_point(rows, i, geoms.floats[a, col.GEOM_BOUND])
    return worst


@inlined
def in_patch(rows: Array, i: int, j: int) -> bool:
    return dot(vec3(rows, i, by.NORMAL), vec3(rows, j, by.NORMAL)) >= ONE


@inlined
def middle_of(rows: Array, i: int) -> Vec3:
    return scaled(0.5, plus(vec3(rows, i, by.ON_A), vec3(rows, i, by.ON_B)))


@inlined
def is_one_place(rows: Array, i: int, apart: float) -> bool:
    """Whether all points of the patch of contact i are nearly where it is."""
    one, point = True, middle_of(rows, i)
    for j in range(rows.shape[0]):
        way = minus(middle_of(rows, j), point)
        one = one and not (in_patch(rows, i, j) and dot(way, way) > apart * apart)
    return one


@kernel
def put_point(rows: Array, i: int, size: float) -> None:
    """How the point of contact i moves, on the common plane of its patch if that has an extent."""
    n = vec3(rows, i, by.NORMAL)
    middle = middle_of(rows, i)
    side, low, high = flat_side(rows, i, size)
    first, last = vec3(rows, low, side), vec3(rows, high, side)
    shift = 0.5 * dot(plus(minus(first, middle), minus(last, middle)), n)
    reach = 0.5 * abs(rows[i, by.GAP]) + SLACK * size
    for c in range(6):
        at = by.MOVES + by.MOVE_COLUMNS * c
        dN = vec3(rows, i, at + by.TURNS)
        moves = scaled(0.5, plus(vec3(rows, i, at + by.MOVES_A), vec3(rows, i, at + by.MOVES_B)))
        if not is_one_place(rows, i, ONE_PLACE * size):
            moves_side = by.MOVES_A if side == by.ON_A else by.MOVES_B
            both = plus(vec3(rows, low, at + moves_side), vec3(rows, high, at + moves_side))
            change = 0.5 * dot(minus(both, scaled(2.0, moves)), n)
            change += 0.5 * dot(plus(minus(first, middle), minus(last, middle)), dN)
            if abs(shift) > reach:
                change = 0.5 * math.copysign(1.0, shift * rows[i, by.GAP]) * rows[i, at + by.WIDENS]
            moves = plus_scaled(plus_scaled(moves, change, n), min(max(shift, -reach), reach), dN)
        put3(rows, i, at + by.MOVES_POINT, moves)


@kernel
def flat_side(rows: Array, i: int, size: float) -> tuple[int, int, int]:
    """The flatter side of a patch, B's if they are the same; its lowest and highest point."""
    n = vec3(rows, i, by.NORMAL)
    best, low = by.ON_B, i
    high = i
    least = col.INFINITE
    for side in (by.ON_B, by.ON_A):
        lowest = highest = i
        for j in range(rows.shape[0]):
            if not in_patch(rows, i, j):
                continue
            height = dot(vec3(rows, j, side), n)
            if height < dot(vec3(rows, lowest, side), n):
                lowest = j
            if height > dot(vec3(rows, highest, side), n):
                highest = j
        spread = dot(minus(vec3(rows, highest, side), vec3(rows, lowest, side)), n)
        if spread < least - _EVEN * size:
            best, least = side, spread
            low, high = lowest, highest
    return best, low, high
