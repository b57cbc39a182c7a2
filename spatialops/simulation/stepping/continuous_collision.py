"""Conservative advancement.

Bodies so fast that they would pass through thin ones within a piece of a step.

B. Mirtich, *Timewarp rigid body simulation*, SIGGRAPH 2000: a pair that is a distance d apart and
whose points approach each other at most with speed s cannot touch before d / s. Only pairs that
move by half their least width within the piece are looked at; all others are seen where the piece
ends.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.collision._layout import (
    GEOM_LINK,
    GEOM_SHAPE,
    GEOM_WIDTH,
    HALF_SPACE,
    INFINITE,
)
from spatialops.collision.broad_phase import bound_gap, skin_of
from spatialops.collision.detector import closing_speed, is_simple, pair_gap, place_geoms
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.contact_drift import was_slow
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.rest import flow_to_end

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
        k = geom_ints[g, GEOM_LINK]
        if k >= 0:
            most = max(most, closing_speed(geoms, places, work, g, g, k, -1))
    return most


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
    first = 1.0
    speed = fastest(t.geom_ints, t.geoms, t.centers, t.work)
    put_at(t, 0.0)
    speed = max(speed, fastest(t.geom_ints, t.geoms, t.centers, t.work))
    farthest = 2.0 * speed * HASTE * t.monitor[at.PIECE]
    done = 0
    while done < looked_at(t, farthest):
        done, count = gather_pairs(t, done, farthest)
        if count > 0:
            put_at(t, 1.0)
            put_travels(t, count)
            put_at(t, 0.0)
            first = first_touch(t, count, first)
    put_at(t, 1.0)
    return first


@inlined
def looked_at(t: Tables, farthest: float) -> int:
    """How many pairs may be nearer than that as the piece begins: all, or those listed as near.

    No geom has moved by more than a fourth of the list's skin where the piece ends, nor by more
    than half of `farthest` in it: all others are apart by half of the skin, less what is farthest.
    """
    listed = farthest <= 0.25 * skin_of(t.kept)
    return t.near[t.near.size - 1] if listed else t.pairs.shape[0]


@kernel
def gather_pairs(t: Tables, begin: int, farthest: float) -> tuple[int, int]:
    """Pairs from one on that may meet in the piece, with their speeds, in the LCP's rooms.

    Those that move slowly are a matter of the contact problem. Returns where to go on, and how many
    there are.
    """
    count = 0
    room = min(t.lcp_ints.size, t.lcp_vectors.size)
    end = looked_at(t, farthest)
    listed = end < t.pairs.shape[0]
    for i in range(begin, end):
        p = t.near[i] if listed else i
        a, b = t.pairs[p, 0], t.pairs[p, 1]
        if is_simple(t.geom_ints, a, b) or t.geom_ints[b, GEOM_SHAPE] == HALF_SPACE:
            continue
        if bound_gap(t.geom_ints, t.geoms, t.centers, a, b) >= farthest or was_slow(t, p):
            continue
        t.lcp_ints[count], t.lcp_vectors[count] = p, pair_speed(t, p)
        count += 1
        if count == room:
            return i + 1, count
    return end, count


@inlined
def pair_speed(t: Tables, p: int) -> float:
    """How fast points of a pair approach each other at most."""
    a, b = t.pairs[p, 0], t.pairs[p, 1]
    link_a, link_b = t.geom_ints[a, GEOM_LINK], t.geom_ints[b, GEOM_LINK]
    return closing_speed(t.geoms, t.centers, t.work, a, b, link_a, link_b)


@kernel
def put_travels(t: Tables, count: int) -> None:
    """How far the gathered pairs go in the piece, by their speeds so far and those here."""
    for i in range(count):
        speed = max(t.lcp_vectors[i], pair_speed(t, t.lcp_ints[i]))
        t.lcp_vectors[i] = HASTE * t.monitor[at.PIECE] * speed


@kernel
def first_touch(t: Tables, count: int, first: float) -> float:
    """Fraction at which the first of the gathered pairs touches, or `first`."""
    for i in range(count):
        a, b = t.pairs[t.lcp_ints[i], 0], t.pairs[t.lcp_ints[i], 1]
        travel = t.lcp_vectors[i]
        if travel < 0.5 * min(t.geoms[a, GEOM_WIDTH], t.geoms[b, GEOM_WIDTH]):
            continue
        if bound_gap(t.geom_ints, t.geoms, t.centers, a, b) < travel:
            first = min(first, touch_time(t, a, b, travel, first))
            put_at(t, 0.0)
    return first


@merged
def touch_time(t: Tables, a: int, b: int, travel: float, latest: float) -> float:
    """Fraction at which a pair touches, or `latest`."""
    x = 0.0
    for i in range(MAX_ADVANCES):
        gap = pair_gap(
            t.geom_ints, t.geoms, t.solids, t.lists, t.centers, a, b, t.shape_rows, t.shape_ints
        )
        if gap < 0.5 * t.settings[at.TOUCH]:
            return x if i > 0 else latest  # touching from the start: the contact problem's matter
        x += max(gap, 0.25 * t.settings[at.TOUCH]) / travel
        if x >= latest:
            return latest
        put_at(t, x)
    return x
