"""Seeing contacts, and the contact problem of a step.

Each stage leaves behind what the next one needs.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import entered, refer, stage
from spatialops.algebra.vectors import copy_into, cross, dot, put3, vec3
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import renew_near_pairs
from spatialops.collision.contact_set import ContactTables
from spatialops.collision.detector import Search, find_contacts, place_geoms
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.known_contacts import KnownContacts, note_moved, row_of_same
from spatialops.collision.narrow_phase.scratch import Scratch
from spatialops.contact.delassus import contact_rows, velocity_change
from spatialops.contact.friction import put_frames
from spatialops.contact.rows import (
    COUNT_A,
    COUNT_B,
    FIRST_A,
    START,
    TREE_A,
    TREE_B,
    SparseRows,
    place_rows,
    square_of,
    turn_tangents,
)
from spatialops.dynamics.energy import kinetic_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    arrive_together,
    drop_far,
    is_fast,
    mark_arrivals,
    meet_together,
    of_others,
)
from spatialops.simulation.stepping.constraints.friction_laws import friction_of
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    joint_contacts,
    n_of_geoms,
    put_dry_limits,
    put_joint_speeds,
)
from spatialops.simulation.stepping.constraints.loop_constraints import has_loops, project_contacts
from spatialops.simulation.stepping.constraints.torsional_rolling import (
    add_moments,
    has_moments,
    measure_spins,
)
from spatialops.simulation.stepping.contact_drift import (
    add_drift,
    is_slow,
    put_drift,
    remaining_time,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.impulse_memory import unit_of
from spatialops.simulation.stepping.warm.warm_check import still_holds

_NO_SPEED = 8.0 * float(np.finfo(np.float64).eps)


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
        t.pairs,
        t.sweep_order,
        t.centers,
        t.kept,
        t.settings[at.SKIN],
        t.near,
    )


@merged
def contacts_at(t: Tables, q: Array, v: Array, horizon: float) -> int:
    """Contacts where geoms stand, now or within the horizon, then those of joints.

    How many (FULL if too many).
    """
    count = geom_contacts(t, horizon)
    return joint_contacts(t, q, v, horizon, count) if has_joints(t) else count


@stage
def geom_contacts(t: Tables, horizon: float) -> int:
    """Contacts of geoms where they stand."""
    return find_contacts(
        GeomTables(t.geom_ints, t.geoms, t.solids, t.lists),
        t.pairs,
        t.pair_values,
        t.centers,
        t.near,
        t.work,
        Search(t.settings[at.MARGIN] + t.monitor[at.REACH], horizon, known_before(t)),
        Scratch(t.shape_rows, t.shape_ints),
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
        meet_together(t, arriving_pairs(t))
    t.control[at.MOMENTS] = 0
    kept = 0
    for i in range(t.control[at.SEEN]):
        taken = t.seen[i, col.GAP] <= t.settings[at.TOUCH] if touching_only else takes_part(t, i)
        if taken:
            copy_into(t.ints[kept], t.seen_ints[i])
            copy_into(t.floats[kept], t.seen[i])
            kept += 1
    t.control[at.ACTING] = kept


@inlined
def takes_part(t: Tables, i: int) -> bool:
    """Whether seen contact i takes part in the step's problem."""
    if not is_fast(t, i) or t.control[at.PIECES] == at.MAX_PIECES:
        return True
    if arrive_together(t) and t.seen[i, col.RESTITUTION] == 0.0:
        return True
    return row_of_same(t.touching, t.control[at.TOUCHING], t.seen_ints, i) >= 0


@merged
def arriving_pairs(t: Tables) -> int:
    """Pairs of bodies that come together fast, without restitution, where they did not touch."""
    count, last = 0, -1
    for i in range(t.control[at.SEEN]):
        if not is_fast(t, i) or t.seen[i, col.RESTITUTION] > 0.0:
            continue
        if row_of_same(t.touching, t.control[at.TOUCHING], t.seen_ints, i) < 0:
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
def put_acting_rows(t: Tables) -> None:
    """The same of the acting contacts, with the moments that go with them."""
    frame_contacts(t, t.ints, t.floats, t.control[at.ACTING])
    if has_moments(t):
        add_moments(t)
    put_acting_entries(t)


@merged
def put_acting_entries(t: Tables) -> None:
    """Rows of L of the acting contacts and moments, in units in which both are alike."""
    put_entries(t, t.ints, t.floats, t.control[at.ACTING])
    if t.control[at.MOMENTS] > 0:
        measure_spins(t)


@merged
def put_rows(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Frames, velocities and rows of L of m contacts.

    Factors and velocities must be in `work` (joints have theirs already).
    """
    frame_contacts(t, ints, floats, m)
    put_entries(t, ints, floats, m)


@merged
def frame_contacts(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Frames, velocities and friction of m contacts."""
    put_frames(ints, floats, m, t.work)
    for i in range(m):
        t.prior[i] = 0.0
        t.friction[i] = friction_of(t, ints, floats, i)
        for j in range(3):
            t.u[3 * i + j] = floats[i, col.APPROACH + j]


@merged
def put_entries(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Rows of L of m contacts along their frames."""
    place_rows(t.tree_of, t.trees, ints, m, t.places)
    if has_loops(t):
        place_whole_rows(t, m)
    contact_rows(t.tree, t.links, t.work, ints, floats, m, SparseRows(t.entries, t.places))
    if has_loops(t):
        project_contacts(t, m)


@merged
def place_whole_rows(t: Tables, m: int) -> None:
    """Rows with all columns: the closures answer through them."""
    nv = t.v.size
    for i in range(m):
        t.places[i, START] = 3 * nv * i
        t.places[i, TREE_A] = t.places[i, FIRST_A] = 0
        t.places[i, COUNT_A] = nv
        t.places[i, TREE_B], t.places[i, COUNT_B] = -1, 0


@merged
def drop_locked(t: Tables) -> bool:
    """Leave out contacts at a dead centre; whether there are any. W's diagonal into `impulses`.

    W_nn below 1e-6 of the tangential compliance of the same contact.

    There the line of contact passes through the mechanism's joints. Within the angle d = 1e-3 about
    it the gap changes by less than d^2 / 2 = 5e-7 of the lever whatever the motion, while impulses
    of hundreds of N s would be needed to answer normal speeds of 1e-9 m/s, and with friction they
    jam or have no bound (Painleve).
    """
    m = t.control[at.ACTING] - t.control[at.MOMENTS]
    kept = 0
    largest = put_squares(t)
    squares = t.impulses[: 3 * m]
    for i in range(m):
        sideways = max(squares[3 * i + 1], squares[3 * i + 2])
        moves = sideways > 1e-14 * largest if t.ints[i, col.CONTACT_FEATURE_A] == col.DRY else False
        if moves or squares[3 * i] > max(1e-6 * sideways, 1e-14 * largest):
            if kept < i:
                copy_into(t.ints[kept], t.ints[i])
                copy_into(t.floats[kept], t.floats[i])
            kept += 1
    t.monitor[at.MOST_COMPLIANT] = largest
    if kept < m:
        t.control[at.ACTING] = kept
        t.control[at.MOMENTS] = 0
        put_acting_rows(t)
        put_squares(t)
    return kept < m


@merged
def put_squares(t: Tables) -> float:
    """The diagonal of W into `impulses`, where the answer will be; its largest entry."""
    largest = 0.0
    for i in range(3 * t.control[at.ACTING]):
        t.impulses[i] = square_of(SparseRows(t.entries, t.places), i // 3, i % 3)
        largest = max(largest, t.impulses[i])
    return largest


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


@stage
def prepare_contact(t: Tables) -> None:
    """Problem of a step, [J] 53.

    Contacts at the evaluation state, velocities that they would have without impulses.
    """
    take_contacts(t, False)
    if t.control[at.ACTING] > 0:
        if arrive_together(t):
            if t.control[at.ANEW] > 0:
                drop_far(t)
            mark_arrivals(t)
        put_drift(t)
        state_problem(t)


@stage
def state_problem(t: Tables) -> None:
    """The problem of the contacts that were taken, with the velocities that DV gives them."""
    t.control[at.ACTING] -= t.control[at.MOMENTS]
    t.control[at.MOMENTS] = 0
    put_speeds(t)
    if has_moments(t):
        add_moments(t)
    if still_holds(t):
        t.control[at.HOLDS] = 1
        return
    t.control[at.HOLDS] = 0
    put_acting_entries(t)
    leave_out(t)


@stage
def state_again(t: Tables) -> None:
    """The problem of the same contacts at the same place, with other velocities.

    Its rows are those at hand, whose tangents turn with the slip.
    """
    if t.control[at.HOLDS] == 1 or t.control[at.MOMENTS] > 0:
        state_problem(t)
        return
    m = t.control[at.ACTING]
    before = t.impulses[: 3 * m].reshape(m, 3)  # tangents, where the answer will be
    for i in range(m):
        put3(before, i, 0, vec3(t.floats, i, col.TANGENT))
    put_speeds(t)
    for i in range(m):
        if t.ints[i, col.CONTACT_FEATURE_A] >= 0:
            turn_rows(t, i, vec3(before, i, 0))
    leave_out(t)


@inlined
def turn_rows(t: Tables, i: int, before: Vec3) -> None:
    """Rows of contact i, whose first tangent was another."""
    first = vec3(t.floats, i, col.TANGENT)
    c = dot(before, first)
    s = dot(cross(vec3(t.floats, i, col.NORMAL), before), first)
    if s != 0.0:
        turn_tangents(SparseRows(t.entries, t.places), i, c, s)


@merged
def put_speeds(t: Tables) -> None:
    """Velocities of the acting contacts that DV gives them, along frames that follow their slip."""
    nv = t.v.size
    v_free = t.vectors[at.V_X, :nv]
    for k in range(nv):
        v_free[k] = t.vectors[at.V_E, k] + t.vectors[at.DV, k]
    velocities_kernel(t.tree, t.links, v_free, t.work)
    if has_joints(t):
        put_joint_speeds(t, n_of_geoms(t), t.control[at.ACTING], v_free)
    frame_contacts(t, t.ints, t.floats, t.control[at.ACTING])
    complete_speeds(t)


@merged
def leave_out(t: Tables) -> None:
    """Contacts that nothing can move, and velocities that are roundings."""
    if drop_locked(t):
        complete_speeds(t)
    drop_roundings(t, t.vectors[at.V_X, : t.v.size])


@kernel
def drop_roundings(t: Tables, v: Array) -> None:
    """Make none of contacts' velocities that are roundings of the motion v, which is in `work`.

    |G_i v| <= sqrt(W_ii v* M v): what is 1e-14 of that is none. Of a robot that falls freely all
    are, and no solver could tell their signs. W's diagonal must be in `impulses`.
    """
    allowed = _NO_SPEED * math.sqrt(2.0 * kinetic_kernel(t.links, v, t.work))
    for i in range(3 * t.control[at.ACTING]):
        if abs(t.u[i]) <= allowed * math.sqrt(t.impulses[i]):
            t.u[i] = 0.0


@merged
def complete_speeds(t: Tables) -> None:
    """What joints' dry friction can do, and what drift and gaps add to the contacts' velocities."""
    if has_joints(t):
        put_dry_limits(t, t.control[at.ACTING])
    add_drift(t)


@merged
def apply_impulses(t: Tables, dv: Array) -> None:
    """Joint velocities dv = M^-1 G^T p of the acting contacts; their impulses into their table.

    Where the forces of the step before hold, dv is there already.
    """
    m = t.control[at.ACTING]
    for i in range(m):
        unit = unit_of(t, i)
        for j in range(3):
            t.floats[i, col.IMPULSE + j] = unit * t.impulses[3 * i + j]
    if t.control[at.HOLDS] == 0:
        rows = SparseRows(t.entries, t.places)
        velocity_change(t.tree, t.links, t.work, rows, t.impulses[: 3 * m], dv)
    t.control[at.SOLVES] += 1


@merged
def lowest_gap(t: Tables) -> float:
    """Smallest seen gap of the present state (0 where nothing is near), kept for the record."""
    lowest = 0.0
    for i in range(t.control[at.SEEN]):
        lowest = min(lowest, t.seen[i, col.GAP])
    t.monitor[at.LOWEST_GAP] = min(t.monitor[at.LOWEST_GAP], lowest)
    return lowest
