"""The time of impact within a piece of a step."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import dot, vec3
from spatialops.collision._layout import (
    APPROACH,
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    CONTACT_PAIR,
    GAP,
    GEOM_LINK,
    INFINITE,
)
from spatialops.collision.detector import is_simple, pair_gap, place_geoms, relative_velocity
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.known_contacts import first_of_pair
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import FOUND, GATHERED, Scratch, row_at
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import count_met, cuts
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint, stop_gap
from spatialops.simulation.stepping.continuous_collision import first_crossing
from spatialops.simulation.stepping.detection_stage import detect_at
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables

_MET = 1e-3  # of the distance that counts as touching
_SAME_TIME = 1e-12  # of the piece
_GRAZES = 4  # times that a piece is cut again for what is seen on its way at the cut


@merged
def arrives_fast(t: Tables) -> bool:
    """Whether a contact came together too fast during the piece.

    An impact that it must be cut at.
    """
    found = False
    for i in range(t.control[at.SEEN]):
        found = found or cuts(t, i)
    return found


@merged
def sinks_fast(t: Tables) -> bool:
    """Whether something went in deep that touched under another name: no time to cut at."""
    for i in range(t.control[at.SEEN]):
        if (
            t.seen[i, GAP] < -t.settings[at.DEPTH]
            and t.seen[i, APPROACH] < -t.settings[at.THRESHOLD]
        ):
            return True
    return False


@stage
def cut_piece(t: Tables) -> float:
    """Put the end of the piece at its first impact; returns its fraction.

    What grazes comes and goes within a piece: where it is cut for another, it may be seen on its
    way, and has come first.
    """
    x = 1.0
    for _ in range(_GRAZES):
        last = x
        x = time_of_impact(t, violating_pairs(t), last)
        flow_to(t, x)
        t.control[at.SEEN] = detect_at(
            t, t.vectors[at.Q_X, : t.q.size], t.vectors[at.V_X, : t.v.size], 0.0
        )
        if x == last or not arrives_fast(t):
            break
    t.control[at.PIECES] += 1
    count_met(t)
    return x


@stage
def cut_at_crossing(t: Tables) -> float:
    """Put the end of the piece where the first fast body would begin to pass through another.

    Returns its fraction.
    """
    x = first_crossing(t)
    if x == 1.0:
        return x
    flow_to(t, x)
    t.control[at.PIECES] += 1
    t.control[at.SEEN] = detect_at(
        t, t.vectors[at.Q_X, : t.q.size], t.vectors[at.V_X, : t.v.size], 0.0
    )
    return x


@merged
def violating_pairs(t: Tables) -> int:
    """Gather in `lcp_ints` the pairs that came together too fast during the piece; how many.

    Spheres and stops that touched at the start take part in the piece's problem (`note_touching`)
    and cannot arrive. Shapes with faces may have touched in one point when another one arrives: of
    those the depth at the end is kept in `lcp_vectors`, 0 of others.
    """
    count = 0
    for i in range(t.control[at.SEEN]):
        gap, p = t.seen[i, GAP], t.seen_ints[i, CONTACT_PAIR]
        if not cuts(t, i):
            continue
        touched = touches(t, p)
        if (touched and has_one_point(t, p)) or count == t.lcp_vectors.size:
            continue
        if count > 0 and t.lcp_ints[count - 1] == p:
            count -= 1
            gap = min(gap, -t.lcp_vectors[count])
        t.lcp_ints[count] = p
        t.lcp_vectors[count] = -gap if touched else 0.0
        count += 1
    return count


@inlined
def touches(t: Tables, p: int) -> bool:
    """Whether a pair touched as the piece began."""
    j = first_of_pair(t.touching, t.control[at.TOUCHING], p)
    return j < t.control[at.TOUCHING] and t.touching[j, CONTACT_PAIR] == p


@inlined
def has_one_point(t: Tables, p: int) -> bool:
    """Whether a pair is the stop of a joint, or never touches in more than one point."""
    return True if of_joint(t, p) else is_simple(t.geom_ints, t.pairs[p, 0], t.pairs[p, 1])


@kernel
def lowest_gap(t: Tables, q: Array, v: Array, count: int) -> float:
    """Smallest gap of the gathered pairs at a state.

    Where a pair touched already its points sink, by roundings and by what the step leaves: only
    those that approach fast count.
    """
    poses_kernel(t.tree, t.links, q, t.work)
    velocities_kernel(t.tree, t.links, v, t.work)
    place_geoms(t.geom_ints, t.geoms, t.work, t.centers)
    lowest = INFINITE
    for i in range(count):
        p = t.lcp_ints[i]
        if of_joint(t, p):
            lowest = min(lowest, stop_gap(t, p, q))
        elif t.lcp_vectors[i] > 0.0:
            lowest = min(lowest, arriving_gap(t, p, t.lcp_vectors[i]))
        else:
            lowest = min(lowest, whole_gap(t, p))
    return lowest


@inlined
def whole_gap(t: Tables, p: int) -> float:
    """Distance between the shapes of a pair."""
    a, b = t.pairs[p, 0], t.pairs[p, 1]
    return pair_gap(
        t.geom_ints, t.geoms, t.solids, t.lists, t.centers, a, b, t.shape_rows, t.shape_ints
    )


@inlined
def arriving_gap(t: Tables, p: int, none: float) -> float:
    """Smallest gap of the points of a pair that approach fast; `none` where none does."""
    a, b = t.pairs[p, 0], t.pairs[p, 1]
    link_a, link_b = t.geom_ints[a, GEOM_LINK], t.geom_ints[b, GEOM_LINK]
    geoms = GeomTables(t.geom_ints, t.geoms, t.solids, t.lists)
    scratch = Scratch(t.shape_rows, t.shape_ints)
    count = pair_points(geoms, t.centers, a, b, none, scratch)
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    lowest = none
    for i in range(count):
        velocity = relative_velocity(t.work, link_a, link_b, vec3(found, i, AT_POINT))
        if dot(vec3(found, i, AT_NORMAL), velocity) < -t.settings[at.THRESHOLD]:
            lowest = min(lowest, found[i, AT_GAP])
    return lowest


@merged
def time_of_impact(t: Tables, count: int, last: float) -> float:
    """Fraction of the piece at which the first of the gathered pairs touches (Illinois).

    They overlap at the fraction `last`, where the state is; it is the answer where none was apart.
    """
    q_x = t.vectors[at.Q_X, : t.q.size]
    v_x = t.vectors[at.V_X, : t.v.size]
    low, high = 0.0, last
    below = lowest_gap(t, q_x, v_x, count)
    above = lowest_gap(t, t.q, t.v, count)
    if count == 0 or above <= 0.0 or below >= 0.0:
        return last
    side, x = 0, last
    gap = below
    for _ in range(60):
        x = (low * below - high * above) / (below - above)
        flow_to(t, x)
        gap = lowest_gap(t, q_x, v_x, count)
        if abs(gap) < _MET * t.settings[at.TOUCH] or high - low < _SAME_TIME:
            break
        if gap > 0.0:
            low, above = x, gap
            below = 0.5 * below if side == 1 else below
            side = 1
        else:
            high, below = x, gap
            above = 0.5 * above if side == -1 else above
            side = -1
    # A point that begins to approach fast where it is counts from there on: gaps jump then.
    return x if gap < _MET * t.settings[at.TOUCH] else high
