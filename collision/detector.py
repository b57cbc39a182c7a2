"""Contacts of all pairs of geoms that are near."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops._layout import OMEGA, ORIGIN, ROTATION
from spatialops.algebra.vectors import (
    ZERO3,
    copy_into,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    rotate_back,
    scaled,
    times,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import FULL, bound_gap, near_pairs
from spatialops.collision.contact_set import ContactTables
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.known_contacts import KnownContacts, first_of_pair, stand_still
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import FOUND, GATHERED, Scratch, name_at, row_at
from spatialops.collision.pair_coefficients import PairClasses, class_of
from spatialops.dynamics.kinematics import shift_velocity


class Search(NamedTuple):
    """What contacts are looked for.

    Attributes
    ----------
    margin : float
        Largest gap, m, beside what geoms bring.
    horizon : float
        s, within which a gap may close to it at the present velocities.
    known : KnownContacts
        Those of an earlier look.
    """

    margin: float
    horizon: float
    known: KnownContacts


@kernel
def place_geoms(geom_ints: IntArray, geoms: Array, work: Array, places: Array) -> None:
    """World positions of all geoms, and rotations of those that have any; poses are in `work`."""
    for g in range(geom_ints.shape[0] - 1):  # the last row is no geom
        place_geom(geom_ints, geoms, work, places, g)


@inlined
def place_geom(geom_ints: IntArray, geoms: Array, work: Array, places: Array, g: int) -> None:
    """The same of one geom."""
    k, offset = geom_ints[g, col.GEOM_LINK], vec3(geoms, g, col.GEOM_OFFSET)
    if k >= 0:
        offset = plus(vec3(work, k, ORIGIN), rotate(mat3(work, k, ROTATION), offset))
    put3(places, g, col.PLACE, offset)
    if geom_ints[g, col.GEOM_SHAPE] > col.HALF_SPACE:
        turn = mat3(geoms, g, col.GEOM_TURN)
        put_mat3(places, g, col.TURN, times(mat3(work, k, ROTATION), turn) if k >= 0 else turn)


@inlined
def is_simple(geom_ints: IntArray, a: int, b: int) -> bool:
    """Whether the bound is all there is: two spheres, or a sphere and a half-space."""
    return (
        geom_ints[a, col.GEOM_SHAPE] == col.SPHERE
        and geom_ints[b, col.GEOM_SHAPE] <= col.HALF_SPACE
    )


@kernel
def pair_gap(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    rows: Array,
    ints: IntArray,
) -> float:
    """Distance between the surfaces of two geoms (m), negative where they overlap.

    A lower bound where they are far apart.
    """
    if is_simple(geom_ints, a, b):
        return bound_gap(geom_ints, geoms, places, a, b)
    tables = GeomTables(geom_ints, geoms, solids, lists)
    return nearest(tables, places, a, b, Scratch(rows, ints, rows[:0]))[0]


@kernel
def nearest(
    tables: GeomTables, places: Array, a: int, b: int, scratch: Scratch
) -> tuple[float, Vec3, Vec3]:
    """Gap (m) of two geoms that are no spheres, and where it is: its point, and its normal.

    Of what is far apart a lower bound, and no normal.
    """
    bound = bound_gap(tables.ints, tables.floats, places, a, b)
    limit = max(bound, 0.0) + tables.floats[a, col.GEOM_BOUND]
    count = pair_points(tables, places, a, b, limit, scratch)
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    lowest, at = limit, -1
    for i in range(count):
        if found[i, col.AT_GAP] < lowest:
            lowest, at = found[i, col.AT_GAP], i
    if at < 0:
        return lowest, ZERO3, ZERO3
    return lowest, vec3(found, at, col.AT_POINT), vec3(found, at, col.AT_NORMAL)


@kernel
def find_contacts(
    geoms: GeomTables,
    classes: PairClasses,
    places: Array,
    near: IntArray,
    work: Array,
    search: Search,
    scratch: Scratch,
    contacts: ContactTables,
) -> int:
    """Contacts of near pairs with a gap below the margin, now or within the horizon.

    Present velocities must be in `work`. Point, normal, gap, pair data and normal velocity are
    written. Returns how many, FULL if there are too many.
    """
    ints, floats = contacts
    horizon, known = search.horizon, search.known
    count = 0
    for i in range(near_pairs(near)):
        p = near[i, col.NEAR_PAIR]
        a, b = near[i, col.NEAR_A], near[i, col.NEAR_B]
        link_a, link_b = geoms.ints[a, col.GEOM_LINK], geoms.ints[b, col.GEOM_LINK]
        margins = max(geoms.floats[a, col.GEOM_MARGIN], geoms.floats[b, col.GEOM_MARGIN])
        reach = search.margin + margins
        gap = bound_gap(geoms.ints, geoms.floats, places, a, b)
        if is_simple(geoms.ints, a, b):
            if gap > geoms.floats[a, col.GEOM_RADIUS] and gap > reach:
                continue  # spheres do not move by a radius within a step
            if count == ints.shape[0]:
                return FULL
            normal = sphere_normal(geoms.ints, geoms.floats, places, a, b)
            point = plus_scaled(
                vec3(places, a, col.PLACE), -geoms.floats[a, col.GEOM_RADIUS] - 0.5 * gap, normal
            )
            approach = dot(normal, relative_velocity(work, link_a, link_b, point))
            if gap > reach and gap + horizon * approach > reach:
                continue
            of = class_of(classes, geoms.ints, p, a, b)
            put_contact(classes, of, floats, count, gap, approach, point, normal)
            put_identity(ints, count, p, link_a, link_b, 0, 0)
            count += 1
            continue
        way = 0.0
        if horizon > 0.0:
            way = horizon * closing_speed(geoms.floats, places, work, a, b, link_a, link_b)
        if gap > reach + way:
            continue
        if stand_still(known, geoms.floats, places, a, b, way):
            of = class_of(classes, geoms.ints, p, a, b)
            count = take_known(known, p, classes, of, work, contacts, count)
            if count == FULL:
                return FULL
            continue
        points = pair_points(geoms, places, a, b, reach + way, scratch)
        found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
        names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
        for j in range(points):
            gap = found[j, col.AT_GAP]
            point = vec3(found, j, col.AT_POINT)
            normal = vec3(found, j, col.AT_NORMAL)
            approach = dot(normal, relative_velocity(work, link_a, link_b, point))
            if gap > reach and gap + horizon * approach > reach:
                continue
            if count == ints.shape[0]:
                return FULL
            of = class_of(classes, geoms.ints, p, a, b)
            put_contact(classes, of, floats, count, gap, approach, point, normal)
            put_identity(ints, count, p, link_a, link_b, names[j, 0], names[j, 1])
            count += 1
    return count


@kernel
def take_known(
    known: KnownContacts,
    p: int,
    classes: PairClasses,
    of: int,
    work: Array,
    contacts: ContactTables,
    count: int,
) -> int:
    """Add the known contacts of pair p at the present velocities; how many there are then."""
    ints, floats = contacts
    size = known.ints.shape[0]
    for j in range(first_of_pair(known.ints, size, p, count), size):
        if known.ints[j, col.CONTACT_PAIR] != p:
            break
        if count == ints.shape[0]:
            return FULL
        link_a, link_b = known.ints[j, col.CONTACT_A], known.ints[j, col.CONTACT_B]
        point = vec3(known.floats, j, col.KNOWN_POINT)
        normal = vec3(known.floats, j, col.KNOWN_NORMAL)
        approach = dot(normal, relative_velocity(work, link_a, link_b, point))
        gap = known.floats[j, col.KNOWN_GAP]
        put_contact(classes, of, floats, count, gap, approach, point, normal)
        copy_into(ints[count], known.ints[j])
        count += 1
    return count


@inlined
def put_contact(
    classes: PairClasses,
    of: int,
    floats: Array,
    row: int,
    gap: float,
    approach: float,
    point: Vec3,
    normal: Vec3,
) -> None:
    """Geometry of a contact and the coefficients of its pair's class."""
    floats[row, col.GAP], floats[row, col.APPROACH] = gap, approach
    put3(floats, row, col.POINT, point)
    put3(floats, row, col.NORMAL, normal)
    floats[row, col.MU] = classes.values[of, col.PAIR_FRICTION]
    floats[row, col.RESTITUTION] = classes.values[of, col.PAIR_RESTITUTION]


@inlined
def put_identity(
    ints: IntArray, row: int, p: int, link_a: int, link_b: int, feature_a: int, feature_b: int
) -> None:
    """Pair and links of a contact, and what names it within its pair."""
    ints[row, col.CONTACT_PAIR] = p
    ints[row, col.CONTACT_A], ints[row, col.CONTACT_B] = link_a, link_b
    ints[row, col.CONTACT_FEATURE_A], ints[row, col.CONTACT_FEATURE_B] = feature_a, feature_b


@inlined
def sphere_normal(geom_ints: IntArray, geoms: Array, places: Array, a: int, b: int) -> Vec3:
    """Unit normal from b to a; up where two centres coincide."""
    if geom_ints[b, col.GEOM_SHAPE] == col.HALF_SPACE:
        return vec3(geoms, b, col.GEOM_NORMAL)
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    length = math.sqrt(dot(line, line))
    if length < col.COINCIDE:
        return 0.0, 0.0, 1.0
    return scaled(1.0 / length, line)


@kernel
def closing_speed(
    geoms: Array, places: Array, work: Array, a: int, b: int, link_a: int, link_b: int
) -> float:
    """A bound of the speed at which points of two geoms approach each other."""
    total, turning = ZERO3, 0.0
    if link_a >= 0:
        total = shift_velocity(
            work, link_a, minus(vec3(places, a, col.PLACE), vec3(work, link_a, ORIGIN))
        )
        turning += turning_speed(geoms, places, a, vec3(work, link_a, OMEGA))
    if link_b >= 0:
        total = minus(
            total,
            shift_velocity(
                work, link_b, minus(vec3(places, b, col.PLACE), vec3(work, link_b, ORIGIN))
            ),
        )
        turning += turning_speed(geoms, places, b, vec3(work, link_b, OMEGA))
    return length_of(total) + turning


@inlined
def turning_speed(geoms: Array, places: Array, g: int, omega: Vec3) -> float:
    """A bound of the speed at which points of a geom go about its position.

    That of a box about it, |w x r| over |r_i| <= e_i: a rod that rolls does not sweep its length.
    What a radius adds all about, of a ball all there is, stays where it is.
    """
    x, y, z = turned_into(places, g, omega)
    a, b, c = vec3(geoms, g, col.GEOM_SIZE)
    box = length_of((y * c + z * b, z * a + x * c, x * b + y * a))
    ball = geoms[g, col.GEOM_BOUND] * length_of(omega)
    return 0.5 * (box + ball - abs(box - ball))  # the lesser one, of eight in a register too


@inlined
def turning_along(geoms: Array, places: Array, g: int, omega: Vec3, normal: Vec3) -> float:
    """The same along a normal only, n . (w x r) = r . (n x w)."""
    x, y, z = turned_into(places, g, cross(normal, omega))
    a, b, c = vec3(geoms, g, col.GEOM_SIZE)
    return x * a + y * b + z * c


@inlined
def turned_into(places: Array, g: int, a: Vec3) -> Vec3:
    """Sizes of a vector's parts along the axes of a geom."""
    x, y, z = rotate_back(mat3(places, g, col.TURN), a)
    return abs(x), abs(y), abs(z)


@inlined
def length_of(a: Vec3) -> float:
    return math.sqrt(dot(a, a))


@inlined
def relative_velocity(work: Array, link_a: int, link_b: int, point: Vec3) -> Vec3:
    """Velocity of link a against link b at a world point."""
    velocity = ZERO3
    if link_a >= 0:
        velocity = shift_velocity(work, link_a, minus(point, vec3(work, link_a, ORIGIN)))
    if link_b >= 0:
        velocity = minus(
            velocity, shift_velocity(work, link_b, minus(point, vec3(work, link_b, ORIGIN)))
        )
    return velocity
