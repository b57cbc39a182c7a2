"""The time of impact within a piece of a step."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import kernel, merged
from spatialops._compile.stage import stage
from spatialops.collision._layout import (
    APPROACH,
    CONTACT_PAIR,
    GAP,
    INFINITE,
)
from spatialops.collision.detector import is_simple, pair_gap, place_geoms
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import of_joint, stop_gap
from spatialops.simulation.stepping.contact_stage import detect_at
from spatialops.simulation.stepping.continuous_collision import first_crossing
from spatialops.simulation.stepping.integrators.flow import flow_to
from spatialops.simulation.stepping.tables import Tables

_GRAZES = 4  # times that a piece is cut again for what is seen on its way at the cut


@merged
def arrives_fast(t: Tables) -> bool:
    """Whether a contact came together too fast during the piece.

    An impact that it must be cut at.
    """
    for i in range(t.control[at.SEEN]):
        if (
            t.seen[i, GAP] < -t.settings[at.TOUCH]
            and t.seen[i, APPROACH] < -t.settings[at.THRESHOLD]
        ):
            return True
    return False


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
    return x


@stage
def cut_at_crossing(t: Tables) -> float:
    """Put the end of the piece where the first fast body would begin to pass through another.

    Returns its fraction.
    """
    x = first_crossing(t)
    if x < 1.0:
        flow_to(t, x)
        t.control[at.PIECES] += 1
    t.control[at.SEEN] = detect_at(
        t, t.vectors[at.Q_X, : t.q.size], t.vectors[at.V_X, : t.v.size], 0.0
    )
    return x


@merged
def violating_pairs(t: Tables) -> int:
    """Gather in `lcp_ints` the pairs that came together too fast during the piece; how many."""
    count = 0
    for i in range(t.control[at.SEEN]):
        fast = (
            t.seen[i, GAP] < -t.settings[at.TOUCH]
            and t.seen[i, APPROACH] < -t.settings[at.THRESHOLD]
        )
        if fast and count < t.lcp_vectors.size:
            t.lcp_ints[count] = t.seen_ints[i, CONTACT_PAIR]
            count += 1
    return count


@kernel
def lowest_gap(t: Tables, q: Array, count: int, store: int) -> float:
    """Smallest gap of the gathered pairs at q, above what counts as touching for each.

    With `store` 1 the gaps are kept, at the start of the piece; with 2 what counts is found from
    them, at its end. A pair of shapes with faces may touch in one point already when another one
    arrives. Its gap is then that of the resting point, and goes on falling when the other one
    passes it: it counts as arrived a hundredth of the way down. A pair of spheres has but one
    point."""
    poses_kernel(t.tree, t.links, q, t.work)
    place_geoms(t.geom_ints, t.geoms, t.work, t.centers)
    lowest = INFINITE
    for i in range(count):
        p = t.lcp_ints[i]
        if of_joint(t, p):
            gap = stop_gap(t, p, q)
            t.lcp_vectors[i] = gap if store == 1 else 0.0
            lowest = min(lowest, gap)
            continue
        a, b = t.pairs[p, 0], t.pairs[p, 1]
        gap = pair_gap(
            t.geom_ints, t.geoms, t.solids, t.lists, t.centers, a, b, t.shape_rows, t.shape_ints
        )
        if store == 1:
            t.lcp_vectors[i] = gap
        if store == 2:
            rests = t.lcp_vectors[i] <= t.settings[at.TOUCH] and not is_simple(t.geom_ints, a, b)
            start = min(t.lcp_vectors[i], 0.0)
            t.lcp_vectors[i] = (
                start - max(0.01 * (start - gap), 0.1 * t.settings[at.TOUCH]) if rests else 0.0
            )
        lowest = min(lowest, gap - t.lcp_vectors[i] if store != 1 else gap)
    return lowest


@merged
def keep_apart(t: Tables, count: int) -> int:
    """Of the gathered pairs those that can still arrive.

    Spheres and stops that touch at the start cannot; how many.

    They take part in the piece's problem (`note_touching`). Were one kept for a gap that is
    positive but below TOUCH, the piece would be cut where it stands, again and again, and what does
    arrive later would never be met.
    """
    kept = 0
    for i in range(count):
        p = t.lcp_ints[i]
        several = (
            False if of_joint(t, p) else not is_simple(t.geom_ints, t.pairs[p, 0], t.pairs[p, 1])
        )
        if t.lcp_vectors[i] > t.settings[at.TOUCH] or several:
            t.lcp_ints[kept], t.lcp_vectors[kept] = p, t.lcp_vectors[i]
            kept += 1
    return kept


@merged
def time_of_impact(t: Tables, count: int, last: float) -> float:
    """Fraction of the piece at which the first of the gathered pairs touches (Illinois).

    They overlap at the fraction `last`, where the state is; it is the answer where none was apart.
    """
    q_x = t.vectors[at.Q_X, : t.q.size]
    low, high = 0.0, last
    lowest_gap(t, t.q, count, 1)
    count = keep_apart(t, count)
    below = lowest_gap(t, q_x, count, 2)
    above = lowest_gap(t, t.q, count, 0)
    if count == 0 or above <= 0.0 or below >= 0.0:
        return last
    side, x = 0, last
    for _ in range(60):
        x = (low * below - high * above) / (below - above)
        flow_to(t, x)
        gap = lowest_gap(t, q_x, count, 0)
        if abs(gap) < 1e-3 * t.settings[at.TOUCH] or high - low < 1e-15:
            break
        if gap > 0.0:
            low, above = x, gap
            below = 0.5 * below if side == 1 else below
            side = 1
        else:
            high, below = x, gap
            above = 0.5 * above if side == -1 else above
            side = -1
    return x
