"""What the stepping loop writes down: recorded steps, impacts, and the contacts that acted."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops._compile.stage import entered, refer, stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision import _layout as col
from spatialops.dynamics.energy import kinetic_kernel, potential_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.forces.elements import spring_energy
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    n_of_geoms,
    write_joint_sums,
)
from spatialops.simulation.stepping.integrators.joint_forces import has_elements, placed_in
from spatialops.simulation.stepping.tables import Tables


@merged
def becomes_row(t: Tables) -> bool:
    """Whether the step under way is recorded: its state, and what its contacts do."""
    return (t.control[at.STEP] + 1) % t.control[at.EVERY] == 0


@stage
def write_row(t: Tables) -> None:
    """State, energies and monitors of a recorded step; the monitors start anew."""
    row, nq = t.control[at.ROWS], t.q.size
    copy_into(t.row_states[row], t.q)
    copy_into(t.row_states[row, nq:], t.v)
    t.rows[row, at.ROW_TIME] = t.monitor[at.TIME]
    t.rows[row, at.ROW_KINETIC] = kinetic_kernel(t.links, t.v, t.work)
    t.rows[row, at.ROW_POTENTIAL] = potential_kernel(t.links, t.work)
    if has_elements(t):
        t.rows[row, at.ROW_POTENTIAL] += energy_of_springs(t)
    t.rows[row, at.ROW_CONTACTS] = n_of_geoms(t)
    t.rows[row, at.ROW_IMPACTS] = t.control[at.IMPACTS]
    t.rows[row, at.ROW_RESIDUAL] = t.monitor[at.RESIDUAL]
    t.rows[row, at.ROW_GAP] = t.monitor[at.LOWEST_GAP]
    t.rows[row, at.ROW_PIVOTS] = t.control[at.PIVOTS]
    t.rows[row, at.ROW_OPENING] = t.monitor[at.OPENING]
    copy_into(t.row_forces[row], t.closure_vectors[at.FORCES])
    if has_joints(t):
        write_joint_sums(t, row)
    t.control[at.ROWS] += 1
    t.control[at.IMPACTS] = 0
    t.control[at.PIVOTS] = 0
    t.monitor[at.RESIDUAL] = 0.0
    t.monitor[at.LOWEST_GAP] = 0.0
    t.monitor[at.OPENING] = 0.0


@stage
def energy_of_springs(t: Tables) -> float:
    """Elastic energy of the elements at the present state, whose poses are in `work`, J."""
    placed = placed_in(t, t.q, t.work)
    return spring_energy(t.element_ints, t.elements, t.element_joints, t.arms, placed)


@merged
def write_event(t: Tables, before: float, after: float) -> None:
    """An impact: when, how many contacts, how fast, and the kinetic energies about it."""
    row = t.control[at.EVENT_ROWS]
    count = t.control[at.ACTING] - t.control[at.MOMENTS]
    speed = 0.0
    for i in range(count):
        speed = max(speed, -t.floats[i, col.APPROACH])
    t.events[row, at.EVENT_TIME] = now(t)
    t.events[row, at.EVENT_CONTACTS] = count
    t.events[row, at.EVENT_SPEED] = speed
    t.events[row, at.EVENT_BEFORE] = before
    t.events[row, at.EVENT_AFTER] = after
    t.events[row, at.EVENT_FRACTION] = t.monitor[at.FRACTION]
    t.control[at.EVENT_ROWS] += 1


@merged
def now(t: Tables) -> float:
    """Time of the present state, also between the pieces of a step."""
    return t.monitor[at.TIME] + t.settings[at.DT] - t.monitor[at.REMAINING]


@merged
def write_contacts(t: Tables, share: float, kind: int) -> None:
    """The acting contacts with a share of their impulses; `begin_step` has made room.

    Kind 1 is an impact.
    """
    first = t.control[at.CONTACT_ROWS]
    count = n_of_geoms(t)
    spins = t.control[at.MOMENTS]
    put_contact_records(t.ints, t.floats, count, now(t), share, kind, t.contact_records[first:])
    if spins > 0:
        last = t.control[at.ACTING] - spins
        put_contact_records(
            t.ints[last:],
            t.floats[last:],
            spins,
            now(t),
            share,
            kind,
            t.contact_records[first + count :],
        )
    t.control[at.CONTACT_ROWS] = first + count + spins


@kernel
def put_contact_records(
    ints: IntArray,
    floats: Array,
    count: int,
    time: float,
    share: float,
    kind: int,
    contact_records: Array,
) -> None:
    for i in range(count):
        contact_records[i, at.RECORD_TIME] = time
        contact_records[i, at.RECORD_PAIR] = ints[i, col.CONTACT_PAIR]
        contact_records[i, at.RECORD_KIND] = kind
        contact_records[i, at.RECORD_GAP] = floats[i, col.GAP]
        for j in range(3):
            contact_records[i, at.RECORD_POINT + j] = floats[i, col.POINT + j]
            contact_records[i, at.RECORD_NORMAL + j] = floats[i, col.NORMAL + j]
            total = (
                floats[i, col.IMPULSE] * floats[i, col.NORMAL + j]
                + floats[i, col.IMPULSE + 1] * floats[i, col.TANGENT + j]
            )
            contact_records[i, at.RECORD_IMPULSE + j] = share * (
                total + floats[i, col.IMPULSE + 2] * floats[i, col.SECOND + j]
            )


@entered
def start(t: Tables) -> None:
    """Poses and velocities of the present state into `work`, and its row of the record."""
    begin_record(refer(t))


@stage
def begin_record(t: Tables) -> None:
    poses_kernel(t.tree, t.links, t.q, t.work)
    velocities_kernel(t.tree, t.links, t.v, t.work)
    write_row(t)
