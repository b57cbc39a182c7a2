"""Contacts of a step that was made, and what they do.

Known in closed form are contacts of what is round or pointed with a half-space of the world: the
centre of a sphere, an end of a capsule and a vertex are points c fixed to a link, the normal N
(towards the link) is constant, and with the radius r the contact's point is

    P = c - N (r + g / 2),    dP = (1 - N N* / 2) dc,    dg = N . dc.

A contact that presses slides where its friction is a corner of the friction polygon or stands on an
edge of it, and sticks inside.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import plus, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Touched

_KINDS = 3  # of features in one number
_LIMIT = 1e-9  # of the limit of friction that is the limit
_NEAR = 1e-7  # of what would have to change for another status


@kernel
def find_points(touched: Touched, room: Room) -> int:
    """The acting contacts and their statuses into the room; a status, KNOWN or not."""
    room.results[of.COUNT] = room.results[of.HELD] = 0
    for i in range(touched.acting):
        pressed = False
        for j in range(3):
            pressed = pressed or touched.floats[i, col.IMPULSE + j] != 0.0
        own = touched.ints[i, col.CONTACT_FEATURE_A] >= 0
        if not own and not pressed:
            continue
        room.results[of.FAULTY] = i
        if not own:
            return of.OF_JOINT
        if not put_point(touched, i, room):
            return of.NOT_FLAT
    largest = largest_impulse(room)
    for k in range(room.results[of.COUNT]):
        put_status(touched, room, k, largest)
    return of.KNOWN


@kernel
def put_point(touched: Touched, i: int, room: Room) -> bool:
    """Contact i of the loop as the next point; whether its motion is known."""
    ints = touched.ints
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    pair = ints[i, col.CONTACT_PAIR]
    link, side = (a, 1.0) if a >= 0 else (b, -1.0)
    moving = touched.pairs[pair, 0 if a >= 0 else 1]
    fixed = touched.pairs[pair, 1 if a >= 0 else 0]
    feature = ints[i, col.CONTACT_FEATURE_A if a >= 0 else col.CONTACT_FEATURE_B]
    shape = touched.geom_ints[moving, col.GEOM_SHAPE]
    is_round = shape in (col.SPHERE, col.CAPSULE)
    pointed = shape in (col.BOX, col.HULL) and feature % _KINDS == col.VERTEX
    flat = touched.geom_ints[fixed, col.GEOM_SHAPE] == col.HALF_SPACE
    if (a >= 0 and b >= 0) or not flat or not (is_round or pointed):
        return False
    k = room.results[of.COUNT]
    room.results[of.COUNT] += 1
    room.point_ints[k, of.ROW] = i
    room.point_ints[k, of.LINK] = link
    room.point_ints[k, of.PAIR] = pair
    room.points[k, of.SIDE] = side
    radius = touched.geoms[moving, col.GEOM_RADIUS] if is_round else 0.0
    room.points[k, of.RADIUS] = radius
    floats, p = touched.floats, col.IMPULSE
    normal = scaled(side, vec3(floats, i, col.NORMAL))
    push = scaled(floats[i, p], vec3(floats, i, col.NORMAL))
    push = plus_scaled(push, floats[i, p + 1], vec3(floats, i, col.TANGENT))
    push = plus_scaled(push, floats[i, p + 2], vec3(floats, i, col.SECOND))
    put3(room.points, k, of.NORMAL, normal)
    put3(room.points, k, of.IMPULSE, scaled(side, push))
    # The point c in the world, until it is put into the link's axes.
    reach = radius + 0.5 * floats[i, col.GAP]
    put3(room.points, k, of.OFFSET, plus(vec3(floats, i, col.POINT), scaled(reach, normal)))
    return True


@kernel
def largest_impulse(room: Room) -> float:
    """Largest component of an impulse, N s."""
    largest = 0.0
    for k in range(room.results[of.COUNT]):
        for j in range(3):
            largest = max(largest, abs(room.points[k, of.IMPULSE + j]))
    return largest


@kernel
def put_status(touched: Touched, room: Room, k: int, largest: float) -> None:
    """Status of point k, and how friction may move."""
    i = room.point_ints[k, of.ROW]
    normal, mu = touched.floats[i, col.IMPULSE], touched.floats[i, col.MU]
    points, ints = room.points, room.point_ints
    ints[k, of.STATUS] = of.OPEN
    ints[k, of.NOTES] = 0
    for j in range(2):
        points[k, of.SHARE + j] = 0.0
        points[k, of.EDGE + j] = 0.0
    if not normal > 0.0:
        return
    if normal < _NEAR * largest:
        ints[k, of.NOTES] += of.HARDLY_PRESSES
    if mu == 0.0:
        ints[k, of.STATUS] = of.SLIDING
        return
    x = touched.floats[i, col.IMPULSE + 1] / (normal * mu)
    y = touched.floats[i, col.IMPULSE + 2] / (normal * mu)
    ints[k, of.STATUS] = put_friction(touched.facets, x, y, mu, points, k)
    on_edge = points[k, of.EDGE] != 0.0 or points[k, of.EDGE + 1] != 0.0
    if is_close(touched.facets, x, y, ints[k, of.STATUS], on_edge):
        ints[k, of.NOTES] += of.AT_LIMIT


@kernel
def nearest_corner(facets: Array, x: float, y: float) -> tuple[int, float]:
    """Corner of the polygon that is nearest to (x, y), and how far it is."""
    best, least = 0, col.INFINITE
    for j in range(facets.shape[0]):
        distance = math.hypot(x - facets[j, 0], y - facets[j, 1])
        if distance < least:
            best, least = j, distance
    return best, least


@kernel
def nearest_side(facets: Array, x: float, y: float) -> tuple[int, float]:
    """Side of the polygon that (x, y) lies before, and how far towards it: 1 on it."""
    half = math.pi / facets.shape[0]
    best, most = 0, -col.INFINITE
    for j in range(facets.shape[0]):
        across = facets[j, 0] * math.cos(half) - facets[j, 1] * math.sin(half)
        along = facets[j, 0] * math.sin(half) + facets[j, 1] * math.cos(half)
        reached = (across * x + along * y) / math.cos(half)
        if reached > most:
            best, most = j, reached
    return best, most


@kernel
def put_friction(facets: Array, x: float, y: float, mu: float, points: Array, k: int) -> int:
    """Status of friction (x, y) mu; direction and edge of what slides."""
    corner, distance = nearest_corner(facets, x, y)
    if distance <= _LIMIT:
        points[k, of.SHARE] = mu * facets[corner, 0]
        points[k, of.SHARE + 1] = mu * facets[corner, 1]
        return of.SLIDING
    side, reached = nearest_side(facets, x, y)
    if reached < 1.0 - _LIMIT:
        return of.STICKING
    after = (side + 1) % facets.shape[0]
    points[k, of.SHARE] = mu * x
    points[k, of.SHARE + 1] = mu * y
    points[k, of.EDGE] = facets[side, 0] - facets[after, 0]
    points[k, of.EDGE + 1] = facets[side, 1] - facets[after, 1]
    return of.SLIDING


@kernel
def is_close(facets: Array, x: float, y: float, status: int, on_edge: bool) -> bool:
    """Whether friction that sticks is near the limit, or that on an edge near a corner."""
    if status == of.STICKING:
        return nearest_side(facets, x, y)[1] > 1.0 - _NEAR
    return on_edge and nearest_corner(facets, x, y)[1] < _NEAR
