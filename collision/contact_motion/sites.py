"""What a contact's point hangs on: a corner, two edges that cross, a corner under a face, ...

It is told by the names of the two features, and by the faces that the shapes show to each other, as
the narrow phase has clipped them (`narrow_phase/manifold.py`). Where circles stand for their
polygons these turn about the shape's axis as it leans.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.convex import is_round
from spatialops.collision.narrow_phase.manifold import face_normal
from spatialops.collision.narrow_phase.scratch import (
    SHOWN_A,
    SHOWN_B,
    SPARE,
    Scratch,
    name_at,
    row_at,
)
from spatialops.collision.narrow_phase.supports import TILT, put_feature

_KINDS = 3  # of features in one number
_HERE = 1e-6  # of the size: a corner that is nearer, seen along the normal, is the contact's
_RAISED = 1e-11  # of the size: by so much the gap is that of the nearest points, not its own


@inlined
def flat_part(a: Vec3, n: Vec3) -> Vec3:
    return plus_scaled(a, -dot(a, n), n)


@inlined
def row_of(names: IntArray, count: int, column: int, name: int) -> int:
    """Row of a shown feature by its name; -1: it is not there."""
    for i in range(count):
        if names[i, column] == name:
            return i
    return -1


@kernel
def put_site(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    names: tuple[int, int],
    rows: Array,
    i: int,
    scratch: Scratch,
) -> int:
    """What the point of contact i hangs on, given the names of its features; a status."""
    rows[i, by.DEEPEST] = 0.0
    rows[i, by.SUBJECT] = 0.0
    n, origin = vec3(rows, i, by.NORMAL), vec3(places, b, col.PLACE)
    on_plane = geoms.ints[b, col.GEOM_SHAPE] == col.HALF_SPACE
    if is_round(geoms.ints[a, col.GEOM_SHAPE]) and names[1] == col.FACE:
        rows[i, by.SITE] = by.OWN
        return by.KNOWN
    if names[0] == 0 and names[1] == 0:
        rows[i, by.SITE] = by.MIDDLE
        return by.KNOWN if is_point(rows, i) else by.UNKNOWN
    face_a = scratch.rows[row_at(scratch.rows, SHOWN_A) : row_at(scratch.rows, SHOWN_B)]
    names_a = scratch.ints[name_at(scratch.ints, SHOWN_A) : name_at(scratch.ints, SHOWN_B)]
    face_b = scratch.rows[row_at(scratch.rows, SHOWN_B) : row_at(scratch.rows, SPARE)]
    names_b = scratch.ints[name_at(scratch.ints, SHOWN_B) : name_at(scratch.ints, SPARE)]
    n_a = put_feature(geoms, places, a, scaled(-1.0, n), origin, face_a, names_a)
    n_b = 3
    if not on_plane:
        n_b = put_feature(geoms, places, b, n, origin, face_b, names_b)
    size = geoms.floats[a, col.GEOM_BOUND]
    if n_b > 2:
        status = put_on_subject(face_a, names_a, n_a, face_b, names_b, n_b, names, rows, i, size)
        put_plane(face_b, n_b, on_plane, origin, rows, i)
    elif n_a > 2:
        rows[i, by.SUBJECT] = 1.0
        back = names[1], names[0]
        status = put_on_subject(face_b, names_b, n_b, face_a, names_a, n_a, back, rows, i, size)
        put_plane(face_a, n_a, False, origin, rows, i)
    else:
        status = put_segments(face_a, names_a, face_b, names_b, names, rows, i)
    put_in_place(rows, i, origin)
    if status == by.KNOWN:
        status = put_height(rows, i, size)
    deepest = names[0] == 0 and names[1] == col.FACE  # of a triangle: no name is left for it
    if status != by.KNOWN and deepest and rows[i, by.FEATURE_A + by.KIND] == by.POINTED:
        rows[i, by.SITE] = by.OWN
        status = by.KNOWN
    return status


@inlined
def is_point(rows: Array, i: int) -> bool:
    """Whether the shapes are nearest in one point each."""
    kind_a, kind_b = rows[i, by.FEATURE_A + by.KIND], rows[i, by.FEATURE_B + by.KIND]
    crossed = rows[i, by.ALONG] == by.CROSSED
    return kind_a == by.POINTED or kind_b == by.POINTED or crossed


@kernel
def put_on_subject(
    subject: Array,
    names: IntArray,
    count: int,
    other: Array,
    other_names: IntArray,
    sides: int,
    told: tuple[int, int],
    rows: Array,
    i: int,
    size: float,
) -> int:
    """A corner of the subject, one of the other under its face, or where two edges cross.

    Points are from the origin of what is shown.
    """
    put3(rows, i, by.LINE, ZERO3)
    put3(rows, i, by.FACE, face_normal(subject, count) if count > 2 else ZERO3)
    k = row_of(names, count, 0, told[0])
    if told[1] == col.FACE:
        rows[i, by.SITE] = by.CORNER
        if k >= 0:
            put3(rows, i, by.PLACE, vec3(subject, k, 0))
            return by.KNOWN
        return by.UNKNOWN
    if told[0] == col.FACE and count > 2:
        rows[i, by.SITE] = by.UNDER
        s = row_of(other_names, sides, 0, told[1])
        if s < 0:
            return by.UNKNOWN
        put_side(other, sides, s, rows, i, by.FIRST_POINT)
        put_side(other, sides, (s + sides - 1) % sides, rows, i, by.SECOND_POINT)
        put3(rows, i, by.PLACE, vec3(subject, 0, 0))
        return by.KNOWN
    rows[i, by.SITE] = by.CROSSING
    e, s = row_of(names, count, 1, told[0]), row_of(other_names, sides, 1, told[1])
    if e < 0 or s < 0:
        return by.UNKNOWN
    put_side(other, sides, s, rows, i, by.FIRST_POINT)
    begin, end = vec3(subject, e, 0), vec3(subject, (e + 1) % count, 0)
    put3(rows, i, by.PLACE, begin)
    put3(rows, i, by.LINE, minus(end, begin))
    return by.KNOWN


@inlined
def put_side(outline: Array, sides: int, s: int, rows: Array, i: int, at: int) -> None:
    """A point of a side of an outline, and its direction behind it."""
    begin, end = vec3(outline, s, 0), vec3(outline, (s + 1) % sides, 0)
    put3(rows, i, at, begin)
    put3(rows, i, at + 3, minus(end, begin))


@inlined
def put_plane(
    outline: Array, sides: int, on_plane: bool, origin: Vec3, rows: Array, i: int
) -> None:
    """The plane that heights are over: its normal, and a point of it, for now in ON_B."""
    if on_plane:
        put3(rows, i, by.OTHER_FACE, vec3(rows, i, by.NORMAL))
        put3(rows, i, by.ON_B, ZERO3)
    else:
        put3(rows, i, by.OTHER_FACE, face_normal(outline, sides))
        put3(rows, i, by.ON_B, vec3(outline, 0, 0))


@inlined
def put_segments(
    a: Array,
    names_a: IntArray,
    b: Array,
    names_b: IntArray,
    told: tuple[int, int],
    rows: Array,
    i: int,
) -> int:
    """An end of one of two segments side by side, and the line of the other."""
    on_a = row_of(names_a, 2, 0, told[0])
    on_b = row_of(names_b, 2, 0, told[1])
    mine = told[0] % _KINDS == col.VERTEX
    if (on_a if mine else on_b) < 0:
        return by.UNKNOWN
    rows[i, by.SITE] = by.END_OF_A if mine else by.END_OF_B
    put3(rows, i, by.PLACE, vec3(a, on_a, 0) if mine else vec3(b, on_b, 0))
    put3(rows, i, by.LINE, minus(vec3(a, 1, 0), vec3(a, 0, 0)))
    put3(rows, i, by.FIRST_POINT, vec3(b, 0, 0) if mine else vec3(a, 0, 0))
    put3(rows, i, by.FIRST_SIDE, minus(vec3(b, 1, 0), vec3(b, 0, 0)))
    return by.KNOWN


@inlined
def put_in_place(rows: Array, i: int, origin: Vec3) -> None:
    """Points from the origin of what is shown into the world."""
    for at in (by.PLACE, by.FIRST_POINT, by.SECOND_POINT, by.ON_B):
        put3(rows, i, at, plus(vec3(rows, i, at), origin))


@kernel
def put_height(rows: Array, i: int, size: float) -> int:
    """Where the point is on the subject, and how high over the other; a status."""
    n, point = vec3(rows, i, by.NORMAL), vec3(rows, i, by.POINT)
    site = rows[i, by.SITE]
    if site == by.END_OF_A or site == by.END_OF_B:
        return by.KNOWN
    place, line = vec3(rows, i, by.PLACE), vec3(rows, i, by.LINE)
    if site == by.CROSSING:
        seen = flat_part(line, n)
        place = plus_scaled(place, dot(minus(point, place), seen) / dot(seen, seen), line)
    elif site == by.UNDER:
        face = vec3(rows, i, by.FACE)
        place = plus_scaled(point, dot(minus(place, point), face) / dot(n, face), n)
    off = flat_part(minus(place, point), n)
    if dot(off, off) > _HERE * _HERE * size * size:
        return by.UNKNOWN
    put3(rows, i, by.PLACE, place)
    face = vec3(rows, i, by.OTHER_FACE)
    height = dot(minus(place, vec3(rows, i, by.ON_B)), face) / dot(n, face)
    rows[i, by.HEIGHT] = height
    own = height if rows[i, by.SUBJECT] == 0.0 else -height
    rows[i, by.DEEPEST] = 1.0 if abs(rows[i, by.GAP] - own) > _RAISED * size else 0.0
    return by.KNOWN


@kernel
def spin_of(geoms: GeomTables, places: Array, g: int, d: Vec3, dd: Vec3) -> Vec3:
    """How what a shape shows along d turns about its axis, in the shape, as d changes by dd."""
    shape = geoms.ints[g, col.GEOM_SHAPE]
    if shape != col.CYLINDER and shape != col.CONE:
        return ZERO3
    local = rotate_back(mat3(places, g, col.TURN), d)
    change = rotate_back(mat3(places, g, col.TURN), dd)
    across = math.hypot(local[0], local[1])
    if not across > TILT * abs(local[2]):
        return ZERO3
    angle = (local[0] * change[1] - local[1] * change[0]) / (across * across)
    return scaled(angle, column_of(places, g, col.TURN, 2))


@inlined
def motion_at(x: Vec3, place: Vec3, w: Vec3, u: Vec3) -> Vec3:
    """Of a point of what turns by w and moves by u at its place."""
    return plus(u, cross(w, minus(x, place)))
