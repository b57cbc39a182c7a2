"""Contacts of all pairs of geoms that are near."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops._layout import OMEGA, ORIGIN, ROTATION
from spatialops.algebra.vectors import (
    ZERO3,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    scaled,
    times,
    vec3,
)
from spatialops.collision._layout import (
    APPROACH,
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    CONTACT_A,
    CONTACT_B,
    CONTACT_FEATURE_A,
    CONTACT_FEATURE_B,
    CONTACT_PAIR,
    CONTACT_SLOT,
    GAP,
    GEOM_BOUND,
    GEOM_LINK,
    GEOM_MARGIN,
    GEOM_NORMAL,
    GEOM_OFFSET,
    GEOM_RADIUS,
    GEOM_SHAPE,
    GEOM_TURN,
    HALF_SPACE,
    MU,
    NORMAL,
    PAIR_FRICTION,
    PAIR_RESTITUTION,
    PLACE,
    POINT,
    RESTITUTION,
    SPHERE,
    TURN,
)
from spatialops.collision.broad_phase import bound_gap
from spatialops.collision.narrow_phase import pair_points
from spatialops.collision.scratch import FOUND, GATHERED, name_at, row_at
from spatialops.dynamics.kinematics import shift_velocity

FULL = -1


@kernel
def place_geoms(geom_ints: IntArray, geoms: Array, work: Array, places: Array) -> None:
    """World positions of all geoms, and rotations of those that have any; poses must be in `work`."""
    for g in range(geom_ints.shape[0] - 1):  # the last row is no geom
        k, offset = geom_ints[g, GEOM_LINK], vec3(geoms, g, GEOM_OFFSET)
        if k >= 0:
            offset = plus(vec3(work, k, ORIGIN), rotate(mat3(work, k, ROTATION), offset))
        put3(places, g, PLACE, offset)
        if geom_ints[g, GEOM_SHAPE] > HALF_SPACE:
            turn = mat3(geoms, g, GEOM_TURN)
            put_mat3(places, g, TURN, times(mat3(work, k, ROTATION), turn) if k >= 0 else turn)


@inlined
def is_simple(geom_ints: IntArray, a: int, b: int) -> bool:
    """Whether the bound is all there is: two spheres, or a sphere and a half-space."""
    return geom_ints[a, GEOM_SHAPE] == SPHERE and geom_ints[b, GEOM_SHAPE] <= HALF_SPACE


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
    """Distance between the surfaces of two geoms (m; below 0: how deep); a lower bound where they are far apart."""
    bound = bound_gap(geom_ints, geoms, places, a, b)
    if is_simple(geom_ints, a, b):
        return bound
    limit = max(bound, 0.0) + geoms[a, GEOM_BOUND]
    count = pair_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
    found, lowest = rows[row_at(rows, FOUND) : row_at(rows, GATHERED)], limit
    for i in range(count):
        lowest = min(lowest, found[i, AT_GAP])
    return lowest


@kernel
def find_contacts(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    pairs: IntArray,
    pair_values: Array,
    places: Array,
    near: IntArray,
    work: Array,
    margin: float,
    horizon: float,
    rows: Array,
    row_ints: IntArray,
    ints: IntArray,
    floats: Array,
) -> int:
    """Contacts with a gap below `margin` now or, at the present velocities, within `horizon` seconds; FULL if too many.

    Velocities must be in `work`. Point, normal, gap, pair data and normal velocity are written.
    """
    count = 0
    for i in range(near[near.size - 1]):
        p = near[i]
        a, b = pairs[p, 0], pairs[p, 1]
        link_a, link_b = geom_ints[a, GEOM_LINK], geom_ints[b, GEOM_LINK]
        reach = margin + max(geoms[a, GEOM_MARGIN], geoms[b, GEOM_MARGIN])
        gap = bound_gap(geom_ints, geoms, places, a, b)
        if is_simple(geom_ints, a, b):
            if gap > geoms[a, GEOM_RADIUS] and gap > reach:
                continue  # spheres do not move by a radius within a step
            if count == ints.shape[0]:
                return FULL
            normal = sphere_normal(geom_ints, geoms, places, a, b)
            point = plus_scaled(vec3(places, a, PLACE), -geoms[a, GEOM_RADIUS] - 0.5 * gap, normal)
            approach = dot(normal, relative_velocity(work, link_a, link_b, point))
            if gap > reach and gap + horizon * approach > reach:
                continue
            put_contact(pair_values, ints, floats, count, p, gap, approach, point, normal)
            ints[count, CONTACT_A], ints[count, CONTACT_B] = link_a, link_b
            ints[count, CONTACT_FEATURE_A] = ints[count, CONTACT_FEATURE_B] = ints[count, CONTACT_SLOT] = 0
            count += 1
            continue
        limit = reach
        if horizon > 0.0:
            limit += horizon * closing_speed(geoms, places, work, a, b, link_a, link_b)
        if gap > limit:
            continue
        points = pair_points(geom_ints, geoms, solids, lists, places, a, b, limit, rows, row_ints)
        found, names, slot = (
            rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
            row_ints[name_at(row_ints, FOUND) : name_at(row_ints, GATHERED)],
            0,
        )
        for j in range(points):
            gap, point, normal = found[j, AT_GAP], vec3(found, j, AT_POINT), vec3(found, j, AT_NORMAL)
            approach = dot(normal, relative_velocity(work, link_a, link_b, point))
            if gap > reach and gap + horizon * approach > reach:
                continue
            if count == ints.shape[0]:
                return FULL
            put_contact(pair_values, ints, floats, count, p, gap, approach, point, normal)
            ints[count, CONTACT_A], ints[count, CONTACT_B] = link_a, link_b
            ints[count, CONTACT_FEATURE_A], ints[count, CONTACT_FEATURE_B] = names[j, 0], names[j, 1]
            ints[count, CONTACT_SLOT] = slot
            slot += 1
            count += 1
    return count


@inlined
def put_contact(
    pair_values: Array,
    ints: IntArray,
    floats: Array,
    row: int,
    p: int,
    gap: float,
    approach: float,
    point: Vec3,
    normal: Vec3,
) -> None:
    """Geometry of a contact and the coefficients of its pair."""
    ints[row, CONTACT_PAIR] = p
    floats[row, GAP], floats[row, APPROACH] = gap, approach
    put3(floats, row, POINT, point)
    put3(floats, row, NORMAL, normal)
    floats[row, MU], floats[row, RESTITUTION] = pair_values[p, PAIR_FRICTION], pair_values[p, PAIR_RESTITUTION]


@inlined
def sphere_normal(geom_ints: IntArray, geoms: Array, places: Array, a: int, b: int) -> Vec3:
    """Unit normal from b to a; up where two centres coincide."""
    if geom_ints[b, GEOM_SHAPE] == HALF_SPACE:
        return vec3(geoms, b, GEOM_NORMAL)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    length = math.sqrt(dot(line, line))
    if length < 1e-12:
        return 0.0, 0.0, 1.0
    return scaled(1.0 / length, line)


@kernel
def closing_speed(geoms: Array, places: Array, work: Array, a: int, b: int, link_a: int, link_b: int) -> float:
    """A bound of the speed at which points of two geoms approach each other."""
    total, turning = ZERO3, 0.0
    if link_a >= 0:
        total = shift_velocity(work, link_a, minus(vec3(places, a, PLACE), vec3(work, link_a, ORIGIN)))
        turning += geoms[a, GEOM_BOUND] * length_of(vec3(work, link_a, OMEGA))
    if link_b >= 0:
        total = minus(total, shift_velocity(work, link_b, minus(vec3(places, b, PLACE), vec3(work, link_b, ORIGIN))))
        turning += geoms[b, GEOM_BOUND] * length_of(vec3(work, link_b, OMEGA))
    return length_of(total) + turning


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
        velocity = minus(velocity, shift_velocity(work, link_b, minus(point, vec3(work, link_b, ORIGIN))))
    return velocity
