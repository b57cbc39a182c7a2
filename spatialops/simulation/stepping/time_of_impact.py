"""The time of impact within a piece of a step."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops._layout import PARENT
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
from spatialops.collision.detector import pair_gap, place_geom, relative_velocity
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import FOUND, GATHERED, Scratch, row_at
from spatialops.collision.pair_runs import sides_of
from spatialops.dynamics.kinematics import move_link, place_link
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import count_met, cuts, of_pair
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint, stop_gap
from spatialops.simulation.stepping.constraints.same_contacts import has_one_point
from spatialops.simulation.stepping.continuous_collision import first_crossing
from spatialops.simulation.stepping.detection_stage import detect_at
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables

_MET = 1e-5  # of the distance that counts as touching
_SAME_TIME = 1e-12  # of the piece
# Of the piece, in which a gap jumps that changes by so much of its whole change. When it does is
# known well enough: where a point begins to approach fast is a matter of the threshold.
_JUMP_TIME = 1e-5
_JUMP = 1e-2
_MOST_LOOKS = 60  # for the first touch: more than halves of the piece take to the same time
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
        touched = of_pair(t.touching, t.control[at.TOUCHING], p, i)
        if (touched and has_one_point(t, p)) or count == t.lcp_vectors.size:
            continue
        if count > 0 and t.lcp_ints[count - 1] == p:
            count -= 1
            gap = min(gap, -t.lcp_vectors[count])
        t.lcp_ints[count] = p
        t.lcp_vectors[count] = -gap if touched else 0.0
        count += 1
    return count


@merged
def mark_ways(t: Tables, count: int) -> None:
    """Mark the links that the gathered pairs hang on."""
    marked = t.vectors[at.ON_WAY, : t.v.size]
    marked[:] = 0.0
    for i in range(count):
        p = t.lcp_ints[i]
        if of_joint(t, p):
            continue
        for g in sides_of(t.geom_ints, t.pair_runs, p):
            k = t.geom_ints[g, GEOM_LINK]
            while k >= 0 and marked[k] == 0.0:
                marked[k] = 1.0
                k = t.tree[k, PARENT]


@kernel
def place_marked(t: Tables, q: Array, v: Array, count: int) -> None:
    """Links that are marked at a state, and the geoms of the gathered pairs."""
    for k in range(t.v.size):
        if t.vectors[at.ON_WAY, k] > 0.0:
            place_link(t.tree, t.links, q, t.work, k)
            move_link(t.tree, t.links, v, t.work, k)
    for i in range(count):
        p = t.lcp_ints[i]
        if of_joint(t, p):
            continue
        for g in sides_of(t.geom_ints, t.pair_runs, p):
            place_geom(t.geom_ints, t.geoms, t.work, t.centers, g)


@kernel
def lowest_gap(t: Tables, q: Array, v: Array, count: int) -> float:
    """Smallest gap of the gathered pairs, whose links are marked, at a state.

    Where a pair touched already its points sink, by roundings and by what the step leaves: only
    those that approach fast count.
    """
    place_marked(t, q, v, count)
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
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    return pair_gap(
        t.geom_ints, t.geoms, t.solids, t.lists, t.centers, a, b, t.shape_rows, t.shape_ints
    )


@inlined
def arriving_gap(t: Tables, p: int, none: float) -> float:
    """Smallest gap of the points of a pair that approach fast; `none` where none does."""
    a, b = sides_of(t.geom_ints, t.pair_runs, p)
    link_a, link_b = t.geom_ints[a, GEOM_LINK], t.geom_ints[b, GEOM_LINK]
    geoms = GeomTables(t.geom_ints, t.geoms, t.solids, t.lists)
    scratch = Scratch(t.shape_rows, t.shape_ints, t.shape_rows[:0])
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
    """Fraction of the piece at which the first of the gathered pairs touches.

    They overlap at the fraction `last`, where the state is; it is the answer where none was apart.
    By inverse parabolas through the last three, where those are safe, and halves elsewhere
    (Chandrupatla, Adv. Eng. Software 28, 1997): gaps jump where another pair is the lowest, and
    where a point begins to approach fast.
    """
    q_x = t.vectors[at.Q_X, : t.q.size]
    v_x = t.vectors[at.V_X, : t.v.size]
    mark_ways(t, count)
    below = lowest_gap(t, q_x, v_x, count)
    above = lowest_gap(t, t.q, t.v, count)
    if count == 0 or above <= 0.0 or below >= 0.0:
        return last
    near = last, below
    far = third = 0.0, above
    share = below / (below - above)
    for _ in range(_MOST_LOOKS):
        x = near[0] + share * (far[0] - near[0])
        flow_to(t, x)
        gap = lowest_gap(t, q_x, v_x, count)
        third = near if (gap > 0.0) == (near[1] > 0.0) else far
        far = far if (gap > 0.0) == (near[1] > 0.0) else near
        near = (x, gap)
        width = abs(near[0] - far[0])
        jumps = width < _JUMP_TIME and abs(near[1] - far[1]) > _JUMP * (above - below)
        if abs(gap) < _MET * t.settings[at.TOUCH] or jumps or width < _SAME_TIME:
            break
        share = min(max(inner_share(near, far, third), _SAME_TIME / width), 1.0)
    met = near[1] < _MET * t.settings[at.TOUCH]
    return near[0] if met else far[0]


@inlined
def inner_share(
    near: tuple[float, float], far: tuple[float, float], third: tuple[float, float]
) -> float:
    """Where between near and far, which lie about a root, to look next: 0 at the first."""
    along = (near[0] - far[0]) / (third[0] - far[0])
    rise = (near[1] - far[1]) / (third[1] - far[1])
    if not (rise * rise < along and (1.0 - rise) * (1.0 - rise) < 1.0 - along):
        return 0.5
    share = near[1] / (far[1] - near[1]) * third[1] / (far[1] - third[1])
    rest = near[1] / (third[1] - near[1]) * far[1] / (third[1] - far[1])
    return share + rest * (third[0] - near[0]) / (far[0] - near[0])
