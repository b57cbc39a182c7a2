"""Seeing contacts: where geoms stand, what touches or would, and what takes part in a problem."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, merged
from spatialops._compile.references import refer
from spatialops._compile.stage import entered, stage
from spatialops.algebra.vectors import ZERO3, copy_into, put3
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import FULL, near_pairs, renew_near_pairs
from spatialops.collision.contact_set import ContactTables
from spatialops.collision.detector import Search, find_contacts, place_geoms
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.known_contacts import KnownContacts, note_moved
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.collision.pair_coefficients import PairClasses
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    arrive_together,
    is_fast,
    meet_together,
    of_others,
)
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    joint_contacts,
)
from spatialops.simulation.stepping.constraints.same_contacts import has_touched
from spatialops.simulation.stepping.contact_drift import (
    is_slow,
    remaining_time,
)
from spatialops.simulation.stepping.tables import Tables


@merged
def detect_at(t: Tables, q: Array, v: Array, horizon: float) -> int:
    """Poses, velocities and contacts at a state; returns how many contacts (FULL if too many)."""
    poses_kernel(t.tree, t.links, q, t.work)
    velocities_kernel(t.tree, t.links, v, t.work)
    place(t)
    return contacts_at(t, q, v, horizon)


@merged
def place(t: Tables) -> None:
    """Geoms where the links in `work` are, who has moved, and the pairs that are near."""
    place_geoms(t.geom_ints, t.geoms, t.work, t.centers)
    t.control[at.LOOKS] += 1
    note_moved(t.geoms, t.centers, t.stood, t.control[at.LOOKS])
    renew_near_pairs(
        t.geom_ints,
        t.geoms,
        t.pair_runs,
        t.sweep_order,
        t.centers,
        t.kept,
        t.settings[at.SKIN],
        t.near,
    )


@merged
def contacts_at(t: Tables, q: Array, v: Array, horizon: float) -> int:
    """Contacts where geoms stand, now or within the horizon, then those of joints.

    How many (FULL if too many, or too many pairs are near). The narrow phase is reached, and
    compiled, when a pair is near.
    """
    near = near_pairs(t.near)
    if near < 0:
        return FULL
    count = geom_contacts(t, horizon) if near > 0 else 0
    return joint_contacts(t, q, v, horizon, count) if has_joints(t) else count


@stage
def geom_contacts(t: Tables, horizon: float) -> int:
    """Contacts of geoms where they stand."""
    return find_contacts(
        GeomTables(t.geom_ints, t.geoms, t.solids, t.lists),
        PairClasses(t.class_values, t.own_pairs),
        t.centers,
        t.near,
        t.work,
        Search(t.settings[at.MARGIN] + t.monitor[at.REACH], horizon, known_before(t)),
        Scratch(t.shape_rows, t.shape_ints, t.remembered),
        ContactTables(t.seen_ints, t.seen),
    )


@inlined
def known_before(t: Tables) -> KnownContacts:
    """Contacts seen as the piece began."""
    count = t.control[at.BEFORE]
    return KnownContacts(
        t.before_ints[:count], t.before[:count], t.stood, t.control[at.BEFORE_LOOK]
    )


@entered
def detect_contacts(t: Tables) -> None:
    """Contacts at the present state, for callers in Python."""
    detect_now(refer(t))


@stage
def detect_now(t: Tables) -> None:
    """Contacts at the present state."""
    t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
    t.control[at.LOOKED] = 1


@merged
def take_contacts(t: Tables, touching_only: bool) -> None:
    """Copy seen contacts to those that the next problem is made of.

    For an impact all that touch. For a step all but those that approach too fast: they are met by
    an impact of their own when they arrive (unless the step has been cut too often already, or
    they arrive together). What touched as the piece began cannot arrive any more: it takes part
    however fast it approaches where the step is evaluated.
    """
    if not touching_only:
        meet_together(t, arriving_pairs(t), t.control[at.MET])
    t.control[at.MOMENTS] = 0
    kept = 0
    for i in range(t.control[at.SEEN]):
        taken = t.seen[i, col.GAP] <= t.settings[at.TOUCH] if touching_only else takes_part(t, i)
        if taken:
            copy_into(t.ints[kept], t.seen_ints[i])
            copy_into(t.floats[kept], t.seen[i])
            put3(t.floats, kept, col.SLIP, ZERO3)
            t.floats[kept, col.MIDWAY] = 0.0
            kept += 1
    t.control[at.ACTING] = kept


@inlined
def takes_part(t: Tables, i: int) -> bool:
    """Whether seen contact i takes part in the step's problem."""
    if arrive_together(t) and t.seen[i, col.RESTITUTION] == 0.0:
        return True
    if is_far(t, i):
        return has_touched(t, i)
    if not is_fast(t, i) or t.control[at.PIECES] == at.MAX_PIECES:
        return True
    return has_touched(t, i)


@inlined
def is_far(t: Tables, i: int) -> bool:
    """Whether seen contact i is not near within the rest of the piece, but within the reach."""
    if t.monitor[at.REACH] == 0.0:
        return False
    gap, margin = t.seen[i, col.GAP], t.settings[at.MARGIN]
    return min(gap, gap + remaining_time(t) * t.seen[i, col.APPROACH]) > margin


@merged
def arriving_pairs(t: Tables) -> int:
    """Pairs of bodies that come together fast, without restitution, where they did not touch."""
    count, last = 0, -1
    for i in range(t.control[at.SEEN]):
        if not is_fast(t, i) or t.seen[i, col.RESTITUTION] > 0.0 or is_far(t, i):
            continue
        if not has_touched(t, i):
            count += of_others(t, i, last)
            last = i
    return count


@merged
def note_touching(t: Tables) -> None:
    """Keep the names of the contacts that touch at the present state."""
    count = 0
    for i in range(t.control[at.SEEN]):
        gap = t.seen[i, col.GAP]
        if gap <= t.settings[at.TOUCH] or is_slow(t, gap, t.seen[i, col.APPROACH]):
            copy_into(t.touching[count], t.seen_ints[i])
            count += 1
    t.control[at.TOUCHING] = count


@merged
def detect_ahead(t: Tables) -> int:
    """Contacts at the evaluation state that touch or would within the rest of the piece.

    FULL if too many.
    """
    q_e, v_e = t.vectors[at.Q_E, : t.q.size], t.vectors[at.V_E, : t.v.size]
    if (
        t.control[at.SCHEME] == at.MOREAU
    ):  # else it is the present state, where geoms have been placed
        place(t)
    t.control[at.SEEN] = contacts_at(t, q_e, v_e, remaining_time(t))
    return t.control[at.SEEN]


@merged
def lowest_gap(t: Tables) -> float:
    """Smallest seen gap of the present state (0 where nothing is near), kept for the record.

    And the pair of the smallest, for what is to be said of it.
    """
    lowest = 0.0
    for i in range(t.control[at.SEEN]):
        lowest = min(lowest, t.seen[i, col.GAP])
        if t.seen[i, col.GAP] < t.monitor[at.DEEPEST_GAP]:
            t.monitor[at.DEEPEST_GAP] = t.seen[i, col.GAP]
            t.monitor[at.DEEPEST_PAIR] = t.seen_ints[i, col.CONTACT_PAIR]
    t.monitor[at.LOWEST_GAP] = min(t.monitor[at.LOWEST_GAP], lowest)
    return lowest
