"""What the stepping loop writes down: rows of recorded steps, impacts, and the contacts that acted."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel, merged
from spatialops._stage import entered, refer, stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import APPROACH, CONTACT_PAIR, GAP, IMPULSE, NORMAL, POINT, SECOND, TANGENT
from spatialops.dynamics.energy import kinetic_kernel, potential_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation._layout import (
    ACTING,
    CONTACT_ROWS,
    DT,
    EVENT_AFTER,
    EVENT_BEFORE,
    EVENT_CONTACTS,
    EVENT_FRACTION,
    EVENT_ROWS,
    EVENT_SPEED,
    EVENT_TIME,
    FORCES,
    FRACTION,
    HIT_GAP,
    HIT_IMPULSE,
    HIT_KIND,
    HIT_NORMAL,
    HIT_PAIR,
    HIT_POINT,
    HIT_TIME,
    IMPACTS,
    LOWEST_GAP,
    OPENING,
    PIVOTS,
    REMAINING,
    ROW_CONTACTS,
    ROW_GAP,
    ROW_IMPACTS,
    ROW_KINETIC,
    ROW_OPENING,
    ROW_PIVOTS,
    ROW_POTENTIAL,
    ROW_RESIDUAL,
    ROW_TIME,
    ROWS,
    SPINS,
    TIME,
)
from spatialops.simulation._layout import RESIDUAL as WORST
from spatialops.simulation.joints import has_joints, n_of_geoms, write_joint_sums
from spatialops.simulation.tables import Tables


@stage
def write_row(t: Tables) -> None:
    """State, energies and monitors of a recorded step; the monitors start anew."""
    row, nq = t.control[ROWS], t.q.size
    copy_into(t.row_states[row], t.q)
    copy_into(t.row_states[row, nq:], t.v)
    t.rows[row, ROW_TIME] = t.monitor[TIME]
    t.rows[row, ROW_KINETIC] = kinetic_kernel(t.links, t.v, t.work)
    t.rows[row, ROW_POTENTIAL] = potential_kernel(t.links, t.work)
    t.rows[row, ROW_CONTACTS] = n_of_geoms(t)
    t.rows[row, ROW_IMPACTS] = t.control[IMPACTS]
    t.rows[row, ROW_RESIDUAL] = t.monitor[WORST]
    t.rows[row, ROW_GAP] = t.monitor[LOWEST_GAP]
    t.rows[row, ROW_PIVOTS] = t.control[PIVOTS]
    t.rows[row, ROW_OPENING] = t.monitor[OPENING]
    copy_into(t.row_forces[row], t.closure_vectors[FORCES])
    if has_joints(t):
        write_joint_sums(t, row)
    t.control[ROWS] += 1
    t.control[IMPACTS] = 0
    t.control[PIVOTS] = 0
    t.monitor[WORST] = 0.0
    t.monitor[LOWEST_GAP] = 0.0
    t.monitor[OPENING] = 0.0


@merged
def write_event(t: Tables, before: float, after: float) -> None:
    """An impact: when, how many contacts, how fast, and the kinetic energies about it."""
    row, count, speed = t.control[EVENT_ROWS], t.control[ACTING] - t.control[SPINS], 0.0
    for i in range(count):
        speed = max(speed, -t.floats[i, APPROACH])
    t.events[row, EVENT_TIME] = now(t)
    t.events[row, EVENT_CONTACTS] = count
    t.events[row, EVENT_SPEED] = speed
    t.events[row, EVENT_BEFORE] = before
    t.events[row, EVENT_AFTER] = after
    t.events[row, EVENT_FRACTION] = t.monitor[FRACTION]
    t.control[EVENT_ROWS] += 1


@merged
def now(t: Tables) -> float:
    """Time of the present state, also between the pieces of a step."""
    return t.monitor[TIME] + t.settings[DT] - t.monitor[REMAINING]


@merged
def write_hits(t: Tables, share: float, kind: int) -> None:
    """The acting contacts with a share of their impulses; kind 1 is an impact (`begin_step` saw to the room)."""
    first, count, spins = t.control[CONTACT_ROWS], n_of_geoms(t), t.control[SPINS]
    put_hits(t.ints, t.floats, count, now(t), share, kind, t.hits[first:])
    if spins > 0:
        last = t.control[ACTING] - spins
        put_hits(t.ints[last:], t.floats[last:], spins, now(t), share, kind, t.hits[first + count :])
    t.control[CONTACT_ROWS] = first + count + spins


@kernel
def put_hits(ints: IntArray, floats: Array, count: int, time: float, share: float, kind: int, hits: Array) -> None:
    for i in range(count):
        hits[i, HIT_TIME] = time
        hits[i, HIT_PAIR] = ints[i, CONTACT_PAIR]
        hits[i, HIT_KIND] = kind
        hits[i, HIT_GAP] = floats[i, GAP]
        for j in range(3):
            hits[i, HIT_POINT + j] = floats[i, POINT + j]
            hits[i, HIT_NORMAL + j] = floats[i, NORMAL + j]
            total = floats[i, IMPULSE] * floats[i, NORMAL + j] + floats[i, IMPULSE + 1] * floats[i, TANGENT + j]
            hits[i, HIT_IMPULSE + j] = share * (total + floats[i, IMPULSE + 2] * floats[i, SECOND + j])


@entered
def start(t: Tables) -> None:
    """Poses and velocities of the present state into `work`, and its row of the record."""
    begin_record(refer(t))


@stage
def begin_record(t: Tables) -> None:
    poses_kernel(t.tree, t.links, t.q, t.work)
    velocities_kernel(t.tree, t.links, t.v, t.work)
    write_row(t)
