"""Contacts of a step that was made, and what they do.

Shortest are contacts of what is round or pointed with half-spaces, and of spheres with faces of
boxes and with spheres: the centre of a sphere, the end of a capsule or the vertex that touches
alone are points c fixed to a link, and with the normal N (towards the link) and the radius r the
contact's point is

    P = c - N (r + g / 2),    dP = dc - dN (r + g / 2) - N dg / 2.

All others move as `collision/contact_motion` says (`shapes/shaped_contacts`).

A contact that presses slides where its friction is a corner of the friction polygon or stands on an
edge of it, or on the circle of the exact cone, and sticks inside. Without slip it sticks wherever
there is friction; a drag acts on what does not press too.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    mat3,
    plus,
    plus_scaled,
    put3,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import sides_of
from spatialops.contact.newton._layout import CONE, NO_SLIP, VISCOUS
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.laws.own_laws import put_own_friction
from spatialops.simulation.linearization.made_step import Room, Touched

_ALONG = 1e-12  # 1 - cos of what is no angle
_KINDS = 3  # of features in one number
AT_THE_LIMIT = 1e-9  # of the limit of friction that is the limit
NEAR_THE_LIMIT = 1e-7  # of what would have to change for another status
_FILM = 1e-9  # m from where a film ends


@kernel
def find_points(touched: Touched, room: Room) -> None:
    """The acting contacts, without moments and joints, and what they do.

    Poses where they are evaluated must be in the room's `work`.
    """
    room.results[of.COUNT] = room.results[of.HELD] = 0
    if room.own_friction.size > 0:
        put_own_friction(touched, room)
    for i in range(touched.contacts):
        if touched.ints[i, col.CONTACT_FEATURE_A] < 0:
            break  # those of joints come last
        if not put_point(touched, i, room):
            put_shaped(touched, i, room)
    largest = largest_impulse(touched)
    for k in range(room.results[of.COUNT]):
        put_status(touched, room, k, largest)


@kernel
def put_point(touched: Touched, i: int, room: Room) -> bool:
    """Contact i of the loop as the next point; whether it is one of the shortest."""
    ints, floats = touched.ints, touched.floats
    pair = ints[i, col.CONTACT_PAIR]
    k = room.results[of.COUNT]
    sides = sides_of(touched.geom_ints, touched.pair_runs, pair)
    for side in range(2):
        # The point is of A, or of B.
        kind = kind_of(touched, room.work, i, side)
        if kind < 0:
            continue
        towards = 1.0 if side == 0 else -1.0
        core = sides[side]
        is_round = touched.geom_ints[core, col.GEOM_SHAPE] in (col.SPHERE, col.CAPSULE)
        radius = touched.geoms[core, col.GEOM_RADIUS] if is_round else 0.0
        normal = scaled(towards, vec3(floats, i, col.NORMAL))
        put_name(touched, i, room, (kind, side))
        room.points[k, of.RADIUS] = radius
        put3(room.points, k, of.NORMAL, normal)
        # Points in the world, until they are put into their links' axes.
        reach = radius + 0.5 * floats[i, col.GAP]
        point = vec3(floats, i, col.POINT)
        put3(room.points, k, of.OFFSET, plus(point, scaled(reach, normal)))
        if kind == of.ROUND:
            other = sides[1 - side]
            reach = touched.geoms[other, col.GEOM_RADIUS] + 0.5 * floats[i, col.GAP]
            put3(room.points, k, of.OTHER_OFFSET, plus(point, scaled(-reach, normal)))
        return True
    return False


@inlined
def put_name(touched: Touched, i: int, room: Room, what: tuple[int, int]) -> None:
    """Contact i as the next point, of a kind, and of A or of B; and how it pushes."""
    ints, floats = touched.ints, touched.floats
    kind, side = what
    k, towards = room.results[of.COUNT], 1.0 if side == 0 else -1.0
    room.results[of.COUNT] += 1
    room.point_ints[k, of.ROW] = i
    room.point_ints[k, of.LINK] = ints[i, col.CONTACT_A + side]
    room.point_ints[k, of.OTHER] = ints[i, col.CONTACT_B - side]
    room.point_ints[k, of.KIND] = kind
    room.point_ints[k, of.PAIR] = ints[i, col.CONTACT_PAIR]
    room.point_ints[k, of.OWNER] = -1
    room.point_ints[k, of.LAW] = touched.law
    if room.own_friction.size > 0:
        room.point_ints[k, of.LAW] = room.own_laws[ints[i, col.CONTACT_PAIR], of.OWN_LAW]
    room.points[k, of.SIDE] = towards
    p = col.IMPULSE
    push = scaled(floats[i, p], vec3(floats, i, col.NORMAL))
    push = plus_scaled(push, floats[i, p + 1], vec3(floats, i, col.TANGENT))
    push = plus_scaled(push, floats[i, p + 2], vec3(floats, i, col.SECOND))
    put3(room.points, k, of.IMPULSE, scaled(towards, push))


@kernel
def put_shaped(touched: Touched, i: int, room: Room) -> None:
    """Contact i of two shapes as the next point, of A."""
    k = room.results[of.COUNT]
    put_name(touched, i, room, (of.SHAPED, 0))
    room.points[k, of.RADIUS] = 0.0
    put3(room.points, k, of.NORMAL, vec3(touched.floats, i, col.NORMAL))


@kernel
def kind_of(touched: Touched, work: Array, i: int, side: int) -> int:
    """Kind of contact i if its point is of A (side 0) or of B (1); -1: it is not known.

    Poses must be in `work`.
    """
    ints, pair = touched.ints, touched.ints[i, col.CONTACT_PAIR]
    sides = sides_of(touched.geom_ints, touched.pair_runs, pair)
    core, other = sides[side], sides[1 - side]
    shape = touched.geom_ints[core, col.GEOM_SHAPE]
    surface = touched.geom_ints[other, col.GEOM_SHAPE]
    link = ints[i, col.CONTACT_B - side]
    feature = ints[i, col.CONTACT_FEATURE_A + side]
    pointed = shape in (col.BOX, col.HULL) and feature % _KINDS == col.VERTEX
    pointed = (pointed or shape == col.CAPSULE) and is_alone(touched, i)
    if surface == col.HALF_SPACE and (pointed or shape == col.SPHERE):
        return of.STILL if link < 0 else of.FLAT
    if shape != col.SPHERE:
        return -1
    if surface == col.SPHERE:
        return of.ROUND
    if surface == col.BOX and on_face(touched, work, i, other):
        return of.STILL if link < 0 else of.FLAT
    return -1


@inlined
def is_alone(touched: Touched, i: int) -> bool:
    """Whether contact i is the only one of its pair: points of more have a plane in common."""
    pair = touched.ints[i, col.CONTACT_PAIR]
    alone = i == 0 or touched.ints[i - 1, col.CONTACT_PAIR] != pair
    last = i + 1 == touched.contacts
    return alone and (last or touched.ints[i + 1, col.CONTACT_PAIR] != pair)


@kernel
def on_face(touched: Touched, work: Array, i: int, box: int) -> bool:
    """Whether contact i has the normal of a face of a box."""
    normal, link = vec3(touched.floats, i, col.NORMAL), touched.geom_ints[box, col.GEOM_LINK]
    if link >= 0:
        normal = rotate_back(mat3(work, link, layout.ROTATION), normal)
    along = rotate_back(mat3(touched.geoms, box, col.GEOM_TURN), normal)
    return max(abs(along[0]), abs(along[1]), abs(along[2])) > 1.0 - _ALONG


@kernel
def largest_impulse(touched: Touched) -> float:
    """Largest component of an impulse along contacts' frames, N s, or along joints."""
    largest = 0.0
    for i in range(touched.contacts):
        for j in range(3):
            largest = max(largest, abs(touched.floats[i, col.IMPULSE + j]))
    return largest


@kernel
def put_status(touched: Touched, room: Room, k: int, largest: float) -> None:
    """Status of point k, and how friction may move."""
    i = room.point_ints[k, of.ROW]
    normal, mu = touched.floats[i, col.IMPULSE], touched.friction[i]
    points, ints = room.points, room.point_ints
    ints[k, of.STATUS] = of.OPEN
    ints[k, of.NOTES] = 0
    ints[k, of.PRESSES] = 1 if normal > 0.0 else 0
    points[k, of.PRESSED] = normal
    points[k, of.RESISTANCE] = points[k, of.YIELDS] = points[k, of.LEANS] = 0.0
    if touched.law == of.COMPLIANT:
        put_ground(touched, room, k)
    for j in range(2):
        points[k, of.SHARE + j] = 0.0
        points[k, of.EDGE + j] = 0.0
    if normal > 0.0 and normal < NEAR_THE_LIMIT * largest:
        ints[k, of.NOTES] += of.HARDLY_PRESSES
    law = ints[k, of.LAW]
    if law == VISCOUS:
        put_drag(touched, points, ints, k, mu)
    first, second = touched.floats[i, col.IMPULSE + 1], touched.floats[i, col.IMPULSE + 2]
    if law == NO_SLIP and (first != 0.0 or second != 0.0):
        ints[k, of.STATUS] = of.STICKING  # also of what arrives, and does not press yet
    if ints[k, of.STATUS] != of.OPEN or not normal > 0.0:
        return
    if mu == 0.0:
        ints[k, of.STATUS] = of.SLIDING
        return
    if law == NO_SLIP:
        ints[k, of.STATUS] = of.STICKING
        return
    x = first / (normal * mu)
    y = second / (normal * mu)
    if is_round(law):
        put_round_friction(x, y, mu, points, ints, k)
        return
    ints[k, of.STATUS] = put_friction(touched.facets, x, y, mu, points, k)
    on_edge = points[k, of.EDGE] != 0.0 or points[k, of.EDGE + 1] != 0.0
    if is_close(touched.facets, x, y, ints[k, of.STATUS], on_edge):
        ints[k, of.NOTES] += of.AT_LIMIT


@inlined
def is_round(law: int) -> bool:
    """Whether friction is limited by a circle, not by a polygon."""
    return law == CONE or law == of.CONVEX or law == of.COMPLIANT


@inlined
def stiffness_at_end(touched: Touched, room: Room, i: int) -> tuple[float, float]:
    """Force of ground that gives way over the speed at which it is pressed in, and over the gap.

    The second is how much less the first is, for each unit of the gap of contact i.
    """
    gap, ground = touched.floats[i, col.GAP], room.ground
    slope = ground[of.STIFFNESS] * touched.left
    if gap >= 0.0:
        return slope, 0.0
    slope += ground[of.DAMPING] - ground[of.BY_DEPTH] * gap
    return slope, -ground[of.BY_DEPTH]


@inlined
def put_ground(touched: Touched, room: Room, k: int) -> None:
    """How point k gives way: velocity over impulse along the normal and along tangents."""
    slope, _ = stiffness_at_end(touched, room, room.point_ints[k, of.ROW])
    room.points[k, of.YIELDS] = 1.0 / (touched.length * slope)
    room.points[k, of.RESISTANCE] = 1.0 / (touched.length * room.ground[of.CREEP])


@inlined
def put_drag(touched: Touched, points: Array, ints: IntArray, k: int, drag: float) -> None:
    """Status of a point that a film may drag: by `drag`, impulse over velocity."""
    if drag > 0.0:
        ints[k, of.STATUS] = of.DRAGGED
        points[k, of.RESISTANCE] = 1.0 / drag
    if abs(touched.floats[ints[k, of.ROW], col.GAP] - touched.film) < _FILM:
        ints[k, of.NOTES] += of.AT_FILM


@kernel
def put_round_friction(
    x: float, y: float, mu: float, points: Array, ints: IntArray, k: int
) -> None:
    """Status of friction (x, y) mu under the exact cone, and the tangent where it slides."""
    size = math.hypot(x, y)
    ints[k, of.STATUS] = of.STICKING
    if size > 1.0 - AT_THE_LIMIT:
        ints[k, of.STATUS] = of.SLIDING
        points[k, of.SHARE] = mu * x
        points[k, of.SHARE + 1] = mu * y
        points[k, of.EDGE] = -y / size
        points[k, of.EDGE + 1] = x / size
    elif size > 1.0 - NEAR_THE_LIMIT:
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
    if distance <= AT_THE_LIMIT:
        points[k, of.SHARE] = mu * facets[corner, 0]
        points[k, of.SHARE + 1] = mu * facets[corner, 1]
        return of.SLIDING
    side, reached = nearest_side(facets, x, y)
    if reached < 1.0 - AT_THE_LIMIT:
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
        return nearest_side(facets, x, y)[1] > 1.0 - NEAR_THE_LIMIT
    return on_edge and nearest_corner(facets, x, y)[1] < NEAR_THE_LIMIT
