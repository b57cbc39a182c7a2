"""Contacts between spheres and half-spaces in closed form, with a list of near pairs that is seldom renewed."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops._layout import ORIGIN, ROTATION
from spatialops.algebra.vectors import ZERO3, dot, mat3, minus, plus, plus_scaled, put3, rotate, scaled, vec3
from spatialops.collision._layout import (
    APPROACH,
    CONTACT_A,
    CONTACT_B,
    CONTACT_PAIR,
    GAP,
    GEOM_FRICTION,
    GEOM_LINK,
    GEOM_NORMAL,
    GEOM_OFFSET,
    GEOM_RADIUS,
    GEOM_RESTITUTION,
    GEOM_SHAPE,
    HALF_SPACE,
    MU,
    NORMAL,
    POINT,
    RESTITUTION,
)
from spatialops.dynamics.kinematics import shift_velocity

FULL = -1


@kernel
def place_geoms(geom_ints: IntArray, geoms: Array, work: Array, centers: Array) -> None:
    """World positions of all geoms; poses must be in `work`."""
    for g in range(geoms.shape[0]):
        k, offset = geom_ints[g, GEOM_LINK], vec3(geoms, g, GEOM_OFFSET)
        if k >= 0:
            offset = plus(vec3(work, k, ORIGIN), rotate(mat3(work, k, ROTATION), offset))
        put3(centers, g, 0, offset)


@inlined
def pair_gap(geom_ints: IntArray, geoms: Array, centers: Array, a: int, b: int) -> float:
    """Distance between the surfaces of sphere a and sphere or half-space b."""
    line = minus(vec3(centers, a, 0), vec3(centers, b, 0))
    if geom_ints[b, GEOM_SHAPE] == HALF_SPACE:
        return dot(line, vec3(geoms, b, GEOM_NORMAL)) - geoms[a, GEOM_RADIUS]
    return math.sqrt(dot(line, line)) - geoms[a, GEOM_RADIUS] - geoms[b, GEOM_RADIUS]


@kernel
def renew_near_pairs(
    geom_ints: IntArray, geoms: Array, pairs: IntArray, centers: Array, kept: Array, skin: float, near: IntArray
) -> int:
    """Rows of `pairs` whose gap may fall below `skin` / 2 before any geom has moved by `skin` / 4; returns how many.

    `near[-1]` holds the count of the last renewal (-1: never), `kept` the positions then.
    """
    last = near.size - 1
    if near[last] >= 0:
        moved = 0.0
        for g in range(centers.shape[0]):
            step = minus(vec3(centers, g, 0), vec3(kept, g, 0))
            moved = max(moved, dot(step, step))
        if moved < 0.0625 * skin * skin:
            return near[last]
    count = 0
    for p in range(pairs.shape[0]):
        if pair_gap(geom_ints, geoms, centers, pairs[p, 0], pairs[p, 1]) < skin:
            near[count] = p
            count += 1
    for g in range(centers.shape[0]):
        put3(kept, g, 0, vec3(centers, g, 0))
    near[last] = count
    return count


@kernel
def find_contacts(
    geom_ints: IntArray,
    geoms: Array,
    pairs: IntArray,
    centers: Array,
    near: IntArray,
    work: Array,
    margin: float,
    horizon: float,
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
        gap = pair_gap(geom_ints, geoms, centers, a, b)
        if gap > geoms[a, GEOM_RADIUS] and gap > margin:
            continue  # spheres do not move by a radius within a step
        if count == ints.shape[0]:
            return FULL
        normal = pair_normal(geom_ints, geoms, centers, a, b)
        point = plus_scaled(vec3(centers, a, 0), -geoms[a, GEOM_RADIUS] - 0.5 * gap, normal)
        link_a, link_b = geom_ints[a, GEOM_LINK], geom_ints[b, GEOM_LINK]
        approach = dot(normal, relative_velocity(work, link_a, link_b, point))
        if gap > margin and gap + horizon * approach > margin:
            continue
        ints[count, CONTACT_PAIR], ints[count, CONTACT_A], ints[count, CONTACT_B] = p, link_a, link_b
        floats[count, GAP], floats[count, APPROACH] = gap, approach
        put3(floats, count, POINT, point)
        put3(floats, count, NORMAL, normal)
        floats[count, MU] = math.sqrt(geoms[a, GEOM_FRICTION] * geoms[b, GEOM_FRICTION])
        floats[count, RESTITUTION] = math.sqrt(geoms[a, GEOM_RESTITUTION] * geoms[b, GEOM_RESTITUTION])
        count += 1
    return count


@inlined
def pair_normal(geom_ints: IntArray, geoms: Array, centers: Array, a: int, b: int) -> Vec3:
    """Unit normal from b to a; up where two centres coincide."""
    if geom_ints[b, GEOM_SHAPE] == HALF_SPACE:
        return vec3(geoms, b, GEOM_NORMAL)
    line = minus(vec3(centers, a, 0), vec3(centers, b, 0))
    length = math.sqrt(dot(line, line))
    if length < 1e-12:
        return 0.0, 0.0, 1.0
    return scaled(1.0 / length, line)


@inlined
def relative_velocity(work: Array, link_a: int, link_b: int, point: Vec3) -> Vec3:
    """Velocity of link a against link b at a world point."""
    velocity = ZERO3
    if link_a >= 0:
        velocity = shift_velocity(work, link_a, minus(point, vec3(work, link_a, ORIGIN)))
    if link_b >= 0:
        velocity = minus(velocity, shift_velocity(work, link_b, minus(point, vec3(work, link_b, ORIGIN))))
    return velocity
