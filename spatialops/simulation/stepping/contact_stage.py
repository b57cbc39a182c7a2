"""The contact problem of a step: frames, rows of L, velocities, and what its impulses do.

Each stage leaves behind what the next one needs.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.memory import matrix
from spatialops.algebra.vectors import copy_into, cross, dot, put3, vec3
from spatialops.collision import _layout as col
from spatialops.contact.delassus import contact_rows, velocity_change
from spatialops.contact.friction import put_frames
from spatialops.contact.rows import (
    COUNT_A,
    START,
    TREE_A,
    SparseRows,
    place_rows,
    squares_of,
    turn_tangents,
    width_of,
)
from spatialops.contact.runs.rows import change_through_runs, put_run_rows
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.response import squared_length
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    arrive_together,
    mark_arrivals,
)
from spatialops.simulation.stepping.constraints.closed_mechanisms import project_contacts
from spatialops.simulation.stepping.constraints.forgone_motion import forgo_drift
from spatialops.simulation.stepping.constraints.friction_laws import friction_of
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    n_of_geoms,
    put_dry_limits,
    put_joint_speeds,
)
from spatialops.simulation.stepping.constraints.loop_constraints import close_middle, has_loops
from spatialops.simulation.stepping.constraints.torsional_rolling import (
    add_moments,
    first_moment,
    has_moments,
    measure_spins,
)
from spatialops.simulation.stepping.constraints.unforeseen import drop_far
from spatialops.simulation.stepping.contact_drift import add_drift, put_drift
from spatialops.simulation.stepping.detection_stage import take_contacts
from spatialops.simulation.stepping.tables import Tables, has_runs, runs_of
from spatialops.simulation.stepping.warm.held_tangents import follow_forces
from spatialops.simulation.stepping.warm.impulse_memory import unit_of
from spatialops.simulation.stepping.warm.warm_check import still_holds

SHALLOW = 100.0  # times the depth that is projected: overlaps that joints may yet open
_NO_SPEED = 8.0 * float(np.finfo(np.float64).eps)
# m/s: smaller speeds lose digits, where motion decays for ever, and have no inverse in the end.
_LEAST_SPEED = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
# W_nn relative to the tangential compliance of a contact, at most of one at a dead centre, and of
# one that is there in a deep overlap.
_LOCKED, _LOCKED_DEEP = 1e-6, 1e-4


@merged
def put_acting_rows(t: Tables) -> None:
    """Frames, velocities and rows of L of the acting contacts, and of their moments."""
    frame_contacts(t, t.ints, t.floats, t.control[at.ACTING])
    put_framed_rows(t)


@merged
def put_framed_rows(t: Tables) -> None:
    """Moments, and rows of L, of the acting contacts, whose frames and velocities are known."""
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
    take_speeds(t, ints, floats, m)


@merged
def take_speeds(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Velocities along the frames of m contacts, and friction, as the problem has them."""
    for i in range(m):
        t.prior[i] = 0.0
        t.friction[i] = friction_of(t, ints, floats, i)
        for j in range(3):
            t.u[3 * i + j] = floats[i, col.APPROACH + j]


@merged
def put_entries(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Rows of L of m contacts along their frames."""
    rows = SparseRows(t.entries, t.places)
    if has_runs(t) and put_run_rows(
        t.tree_of, t.trees, t.tree, t.links, t.work, ints, floats, m, runs_of(t), rows
    ):
        return
    place_rows(t.tree_of, t.trees, ints, m, t.places)
    if has_loops(t):
        widen_rows(t, m)
    contact_rows(t.tree, t.links, t.work, ints, floats, m, rows)
    if has_loops(t):
        project_contacts(t, m)


@merged
def widen_rows(t: Tables, m: int) -> None:
    """Rows with all columns of their trees: the closures of a mechanism answer through them."""
    start = 0
    for i in range(m):
        t.places[i, START] = start
        for side in range(2):
            tree = t.places[i, TREE_A + side]
            count = t.trees[tree + 1] - t.trees[tree] if tree >= 0 else 0
            t.places[i, COUNT_A + 2 * side] = count
        start += 3 * width_of(t.places, i)


@merged
def drop_locked(t: Tables) -> bool:
    """Leave out contacts at a dead centre; whether there are any. W's diagonal into `impulses`.

    W_nn below 1e-6 of the tangential compliance of the same contact.

    There the line of contact passes through the mechanism's joints. Within the angle d = 1e-3 about
    it the gap changes by less than d^2 / 2 = 5e-7 of the lever whatever the motion, while impulses
    of hundreds of N s would be needed to answer normal speeds of 1e-9 m/s, and with friction they
    jam or have no bound (Painleve).

    Of what overlaps deeply, hulls about a joint, within d = 1e-2: by less than 5e-5 of the lever,
    of millimetres that no joint opens anyway. They wedge go2's trunk between its hips else, by
    impulses a thousand times those of its weight, which a solver finds in a thousand iterations.
    """
    m = first_moment(t)
    kept = 0
    largest = put_squares(t)
    squares = t.impulses[: 3 * m]
    for i in range(m):
        sideways = max(squares[3 * i + 1], squares[3 * i + 2])
        moves = sideways > 1e-14 * largest if t.ints[i, col.CONTACT_FEATURE_A] == col.DRY else False
        if moves or squares[3 * i] > max(locked_below(t, i) * sideways, 1e-14 * largest):
            if kept < i:
                copy_into(t.ints[kept], t.ints[i])
                copy_into(t.floats[kept], t.floats[i])
            kept += 1
    t.monitor[at.MOST_COMPLIANT] = largest
    if kept < m:
        t.control[at.ACTING] = kept
        t.control[at.MOMENTS] = 0
        t.control[at.TURNED] = 0
        put_kept_rows(t)
    return kept < m


@stage
def put_kept_rows(t: Tables) -> None:
    """Rows and squares anew of the contacts that are left, which most problems never need."""
    take_speeds(t, t.ints, t.floats, t.control[at.ACTING])
    put_framed_rows(t)
    put_squares(t)


@inlined
def locked_below(t: Tables, i: int) -> float:
    """Normal compliance, relative to the tangential one, with which acting contact i is locked."""
    deep = t.floats[i, col.GAP] < -SHALLOW * t.settings[at.DEPTH]
    return _LOCKED_DEEP if deep else _LOCKED


@merged
def put_squares(t: Tables) -> float:
    """The diagonal of W into `impulses`, where the answer will be; its largest entry."""
    largest = 0.0
    rows = SparseRows(t.entries, t.places)
    for i in range(t.control[at.ACTING]):
        a, b, c = squares_of(rows, i, t.ints[i, col.CONTACT_FEATURE_A] == col.DRY)
        t.impulses[3 * i] = a
        t.impulses[3 * i + 1] = b
        t.impulses[3 * i + 2] = c
        largest = max(largest, a, b, c)
    return largest


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
    t.control[at.TURNED] = 0
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
    t.control[at.HOLDS] = 0
    m = t.control[at.ACTING]
    before = matrix(t.impulses, 0, m, 3)  # tangents, where the answer will be
    for i in range(m):
        put3(before, i, 0, vec3(t.floats, i, col.TANGENT))
    put_speeds(t)
    for i in range(m):
        if t.ints[i, col.CONTACT_FEATURE_A] >= 0:
            turn_rows(t, i, vec3(before, i, 0))
    t.control[at.TURNED] = 1
    leave_out(t)


@stage
def state_without_drift(t: Tables) -> None:
    """The same problem with no more than what bodies' motion asks of contacts: it has an answer."""
    forgo_drift(t)
    if has_loops(t):
        close_middle(t)
    state_again(t)


@inlined
def turn_rows(t: Tables, i: int, before: Vec3) -> None:
    """Rows of contact i, whose first tangent was another."""
    first = vec3(t.floats, i, col.TANGENT)
    if first[0] == before[0] and first[1] == before[1] and first[2] == before[2]:
        return
    c = dot(before, first)
    s = dot(cross(vec3(t.floats, i, col.NORMAL), before), first)
    if s == 0.0:
        return
    turn_tangents(SparseRows(t.entries, t.places), i, c, s)
    for j in range(t.contact_parts.shape[1]):  # what closures answer by
        along, across = t.contact_parts[3 * i + 1, j], t.contact_parts[3 * i + 2, j]
        t.contact_parts[3 * i + 1, j] = c * along + s * across
        t.contact_parts[3 * i + 2, j] = c * across - s * along


@inlined
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
    follow_forces(t, n_of_geoms(t))
    complete_speeds(t)


@inlined
def leave_out(t: Tables) -> None:
    """Contacts that nothing can move, and velocities that are roundings."""
    if drop_locked(t):
        complete_speeds(t)
    drop_roundings(t, t.vectors[at.V_X, : t.v.size])


@kernel
def drop_roundings(t: Tables, v: Array) -> None:
    """Make none of contacts' velocities that are roundings of the motion v, which is in `work`.

    |G_i v| = |l_i . y| <= sqrt(W_ii) |y|, where v = S y: what is 1e-14 of that is none. Of a robot
    that falls freely all are, and no solver could tell their signs. W's diagonal must be in
    `impulses`.
    """
    allowed = _NO_SPEED * math.sqrt(squared_length(t.tree, t.work, v))
    for i in range(3 * t.control[at.ACTING]):
        if abs(t.u[i]) <= max(allowed * math.sqrt(t.impulses[i]), _LEAST_SPEED):
            t.u[i] = 0.0


@inlined
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
    if t.control[at.HOLDS] != 1:
        put_change(t, t.impulses[: 3 * m], dv)
    t.control[at.SOLVES] += 1


@merged
def put_change(t: Tables, impulses: Array, dv: Array) -> None:
    """Joint velocities dv = M^-1 G^T p of impulses along the rows that are at hand."""
    rows = SparseRows(t.entries, t.places)
    if has_runs(t) and t.run_trees[t.run_trees.size - 1] < dv.size:
        change_through_runs(t.tree, t.links, t.work, rows, runs_of(t), impulses, dv)
    else:
        velocity_change(t.tree, t.links, t.work, rows, impulses, dv)
