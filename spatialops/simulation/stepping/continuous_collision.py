"""Conservative advancement.

Bodies so fast that they would pass through thin ones within a piece of a step.

B. Mirtich, *Timewarp rigid body simulation*, SIGGRAPH 2000: a pair that is a distance d apart and
whose points approach each other at most with speed s cannot touch before d / s. Only pairs that
move by half their least width within the piece are looked at; all others are seen where the piece
ends.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._layout import OMEGA, ORIGIN
from spatialops.algebra.memory import matrix
from spatialops.algebra.vectors import ZERO3, dot, minus, put3, vec3
from spatialops.collision._layout import (
    GEOM_LINK,
    GEOM_SHAPE,
    GEOM_WIDTH,
    INFINITE,
    MESH,
    PLACE,
)
from spatialops.collision.broad_phase import bound_gap
from spatialops.collision.detector import (
    closing_speed,
    is_simple,
    nearest,
    place_geoms,
    relative_velocity,
    turning_along,
    turning_speed,
)
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.collision.pair_runs import sides_of
from spatialops.collision.swept_pairs import NO_PAIR, begin_sweep, next_pair
from spatialops.dynamics.kinematics import poses_kernel, shift_velocity, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import arrives_with_others
from spatialops.simulation.stepping.contact_drift import was_slow
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.rest import flow_to_end

# Columns of what is known of a pair that may cross.
TRAVEL = 0  # m: how far its points go towards each other in the piece at most
GAINED = 1  # m: how much farther they go at speeds that they have later in it
UNTIL = 2  # fraction of the piece before which it cannot touch
MOVE = 3  # 3: velocity of A's position against B's as the piece begins, world axes
SPIN_A = 6  # 3: how A turns then
SPIN_B = 9  # 3
WAY_COLUMNS = 12

# Of half the least width: what is so near, and slow, touches for the contact problem.
_NEAR = 1e-3
HASTE = 1.1  # speeds within the piece may exceed those at both of its ends by so much
MAX_ADVANCES = 200


@merged
def may_cross(t: Tables) -> bool:
    """Whether some link moves so fast.

    Where only spheres meet, or half-spaces are met, the width is infinite.
    """
    if t.settings[at.WIDTH] >= INFINITE:
        return False
    return (
        fastest(t.geom_ints, t.geoms, t.centers, t.work) * t.monitor[at.PIECE]
        > 0.25 * t.settings[at.WIDTH]
    )


@kernel
def fastest(geom_ints: IntArray, geoms: Array, places: Array, work: Array) -> float:
    """Largest speed of a point of a geom; velocities must be in `work`."""
    most = 0.0
    for g in range(geom_ints.shape[0] - 1):
        most = max(most, speed_of(geom_ints, geoms, places, work, g))
    return most


@inlined
def speed_of(geom_ints: IntArray, geoms: Array, places: Array, work: Array, g: int) -> float:
    """A bound of the speed of a geom's points."""
    k = geom_ints[g, GEOM_LINK]
    return closing_speed(geoms, places, work, g, g, k, -1) if k >= 0 else 0.0


@kernel
def put_reaches(t: Tables, other: bool) -> None:
    """How far points of geoms go in the piece at most, at the speeds here or at `other` ones."""
    for g in range(t.reaches.size):
        speed = speed_of(t.geom_ints, t.geoms, t.centers, t.work, g)
        way = HASTE * t.monitor[at.PIECE] * speed
        t.reaches[g] = max(t.reaches[g], way) if other else way


@merged
def put_at(t: Tables, x: float) -> None:
    """Geoms and velocities at a fraction of the piece."""
    if x == 1.0:
        flow_to_end(t)
    else:
        flow_to(t, x)
    poses_kernel(t.tree, t.links, t.vectors[at.Q_X, : t.q.size], t.work)
    velocities_kernel(t.tree, t.links, t.vectors[at.V_X, : t.v.size], t.work)
    place_geoms(t.geom_ints, t.geoms, t.work, t.centers)


@merged
def first_crossing(t: Tables) -> float:
    """Fraction of the piece at which the first fast pair touches that was apart.

    1 where none does. Bodies are at the end of the piece before and after; they are put at its
    start and its end once for as many pairs as there is room for, whose speeds are those at both.
    """
    ways = matrix(t.D, 0, t.D.size // WAY_COLUMNS, WAY_COLUMNS)
    first = 1.0
    put_reaches(t, other=False)
    put_at(t, 0.0)
    put_reaches(t, other=True)
    geoms = GeomTables(t.geom_ints, t.geoms, t.solids, t.lists)
    place = begin_sweep(geoms, t.sweep_order, t.centers, t.reaches)
    while place >= 0:
        place, count = gather_pairs(t, ways, place)
        if count > 0:
            put_at(t, 1.0)
            count = keep_fast(t, ways, count)
            put_at(t, 0.0)
        if count > 0:
            first = first_touch(t, ways, count, first)
            put_at(t, 0.0)
    put_at(t, 1.0)
    return first


@kernel
def gather_pairs(t: Tables, ways: Array, place: int) -> tuple[int, int]:
    """Pairs from a place of the sweep on that may meet in the piece, with their motions.

    Those that move slowly, or arrive with others, are a matter of the contact problem. Returns
    where to go on (-1: nowhere), and how many there are.
    """
    count = 0
    room = min(t.lcp_ints.size, ways.shape[0])
    geoms = GeomTables(t.geom_ints, t.geoms, t.solids, t.lists)
    while count < room:
        p, a, b, place = next_pair(geoms, t.pair_runs, t.sweep_order, t.centers, t.reaches, place)
        if p == NO_PAIR:
            return -1, count
        if is_simple(t.geom_ints, a, b) or was_slow(t, p) or arrives_with_others(t, p, count):
            continue
        t.lcp_ints[count] = p
        ways[count, TRAVEL] = pair_speed(t, p)
        ways[count, UNTIL] = bound_gap(t.geom_ints, t.geoms, t.centers, a, b)
        move = motion_of(t, p)
        put3(ways, count, MOVE, move[0])
        put3(ways, count, SPIN_A, move[1])
        put3(ways, count, SPIN_B, move[2])
        count += 1
    return place, count


@inlined
def pair_speed(t: Tables, p: int) -> float:
    """How fast points of a pair approach each other at most."""
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    link_a, link_b = t.geom_ints[a, GEOM_LINK], t.geom_ints[b, GEOM_LINK]
    return closing_speed(t.geoms, t.centers, t.work, a, b, link_a, link_b)


@kernel
def keep_fast(t: Tables, ways: Array, count: int) -> int:
    """Keep the gathered pairs that may meet in the piece, and pass; how many.

    How far they go at most follows from their speeds as it began and those here, where it ends.
    """
    kept = 0
    for i in range(count):
        p = t.lcp_ints[i]
        a, b = sides_of(t.geom_ints, t.pair_runs, p)
        travel = HASTE * t.monitor[at.PIECE] * max(ways[i, TRAVEL], pair_speed(t, p))
        if travel < 0.5 * width_of(t, p) or ways[i, UNTIL] >= travel:
            continue
        move = motion_of(t, p)
        change = minus(move[0], vec3(ways, i, MOVE))
        gained = math.sqrt(dot(change, change))
        gained += turning_speed(t.geoms, t.centers, a, minus(move[1], vec3(ways, i, SPIN_A)))
        gained += turning_speed(t.geoms, t.centers, b, minus(move[2], vec3(ways, i, SPIN_B)))
        t.lcp_ints[kept], ways[kept, TRAVEL] = p, travel
        ways[kept, GAINED] = HASTE * t.monitor[at.PIECE] * gained
        kept += 1
    return kept


@kernel
def first_touch(t: Tables, ways: Array, count: int, latest: float) -> float:
    """Fraction at which the first of the gathered pairs comes together fast, or `latest`.

    All advance together: each is looked at no later than it may touch, and with it those that are
    to be looked at before it is again. Bodies must be at the start of the piece.
    """
    for i in range(count):
        meets(t, ways, i, 0.0)
    x = 0.0
    for _ in range(MAX_ADVANCES):
        next_one = 0
        for i in range(count):
            if ways[i, UNTIL] < ways[next_one, UNTIL]:
                next_one = i
        x = ways[next_one, UNTIL]
        if x >= latest:
            return latest
        put_at(t, x)
        if meets(t, ways, next_one, x):
            return x
        for i in range(count):
            if ways[i, UNTIL] < ways[next_one, UNTIL] and meets(t, ways, i, x):
                return x
    return x


@kernel
def meets(t: Tables, ways: Array, i: int, x: float) -> bool:
    """Whether a gathered pair touches at x, and fast; else until when it cannot touch.

    What touches slowly, or as the piece begins, is the contact problem's matter.
    """
    p = t.lcp_ints[i]
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    geoms = GeomTables(t.geom_ints, t.geoms, t.solids, t.lists)
    scratch = Scratch(t.shape_rows, t.shape_ints, t.shape_rows[:0])
    gap, point, normal = nearest(geoms, t.centers, a, b, scratch)
    touch = 0.5 * t.settings[at.TOUCH]
    if gap < max(touch, _NEAR * width_of(t, p)):
        link_a, link_b = t.geom_ints[a, GEOM_LINK], t.geom_ints[b, GEOM_LINK]
        approach = -dot(normal, relative_velocity(t.work, link_a, link_b, point))
        slow = approach <= t.settings[at.THRESHOLD]
        if slow or gap < touch:
            ways[i, UNTIL] = INFINITE
            return x > 0.0 and not slow
    travel = ways[i, TRAVEL]
    if t.geom_ints[b, GEOM_SHAPE] < MESH and normal != ZERO3:
        travel = min(travel, travel_along(t, p, normal) + ways[i, GAINED])
    way = max(gap, 0.5 * touch)
    ways[i, UNTIL] = x + way / travel if travel > 0.0 else INFINITE
    return False


@inlined
def width_of(t: Tables, p: int) -> float:
    """Half the least width of a pair's shapes or so."""
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    return min(t.geoms[a, GEOM_WIDTH], t.geoms[b, GEOM_WIDTH])


@inlined
def travel_along(t: Tables, p: int, normal: Vec3) -> float:
    """How far convex shapes approach along their normal in the piece at most, at these speeds."""
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    move, spin_a, spin_b = motion_of(t, p)
    speed = -dot(normal, move)
    speed += turning_along(t.geoms, t.centers, a, spin_a, normal)
    speed += turning_along(t.geoms, t.centers, b, spin_b, normal)
    return HASTE * t.monitor[at.PIECE] * max(speed, 0.0)


@inlined
def motion_of(t: Tables, p: int) -> tuple[Vec3, Vec3, Vec3]:
    """Velocity of geom A's position against B's, and how both turn; world axes."""
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    speed_a, spin_a = velocity_of(t, a)
    speed_b, spin_b = velocity_of(t, b)
    return minus(speed_a, speed_b), spin_a, spin_b


@inlined
def velocity_of(t: Tables, g: int) -> tuple[Vec3, Vec3]:
    """Velocity of a geom's position, and how it turns."""
    k = t.geom_ints[g, GEOM_LINK]
    if k < 0:
        return ZERO3, ZERO3
    lever = minus(vec3(t.centers, g, PLACE), vec3(t.work, k, ORIGIN))
    return shift_velocity(t.work, k, lever), vec3(t.work, k, OMEGA)
