"""What the stepping loop writes down: recorded steps, impacts, and the contacts that acted."""

from __future__ import annotations

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.references import refer
from spatialops._compile.stage import entered, stage
from spatialops.algebra.vectors import add3, copy_into, plus_scaled, put3, scaled, vec3
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
from spatialops.simulation.stepping.constraints.torsional_rolling import first_moment, is_torsion
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
    if t.control[at.UNWEIGHED] == 0:
        put_energies(t, row)
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


@merged
def put_energies(t: Tables, row: int) -> None:
    """Kinetic and potential energy of the present state, whose poses are in `work`."""
    t.rows[row, at.ROW_KINETIC] = kinetic_kernel(t.links, t.v, t.work)
    t.rows[row, at.ROW_POTENTIAL] = potential_kernel(t.links, t.work)
    if has_elements(t):
        t.rows[row, at.ROW_POTENTIAL] += energy_of_springs(t)


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
    for i in range(count):
        put_contact_record(t, i, kind, first + i)
        put3(t.contact_records, first + i, at.RECORD_IMPULSE, scaled(share, impulse_of(t, i)))
    if t.control[at.MOMENTS] > 0:
        count += write_moments(t, share, kind, first + count)
    t.control[at.CONTACT_ROWS] = first + count


@kernel
def write_moments(t: Tables, share: float, kind: int, first: int) -> int:
    """A record for each contact that has moments, from row `first` on; how many.

    Torsion comes before rolling, both in the order of contacts.
    """
    start = first_moment(t)
    count, k = 0, 0
    torsions = -1
    for row in range(start, t.control[at.ACTING]):
        owner = t.owners[row - start]
        moment = scaled(share, impulse_of(t, row))
        if torsions < 0 and not is_torsion(t, row):
            torsions = count
        while 0 <= torsions and k < torsions and t.owners[k] < owner:
            k += 1
        if 0 <= torsions and k < torsions and t.owners[k] == owner:
            add3(t.contact_records, first + k, at.RECORD_IMPULSE, moment)
            continue
        put_contact_record(t, owner, kind, first + count)
        t.contact_records[first + count, at.RECORD_PAIR] = -1 - t.ints[owner, col.CONTACT_PAIR]
        put3(t.contact_records, first + count, at.RECORD_IMPULSE, moment)
        count += 1
    return count


@inlined
def impulse_of(t: Tables, i: int) -> Vec3:
    """Impulse, or moment, of acting contact i in world axes."""
    total = scaled(t.floats[i, col.IMPULSE], vec3(t.floats, i, col.NORMAL))
    total = plus_scaled(total, t.floats[i, col.IMPULSE + 1], vec3(t.floats, i, col.TANGENT))
    return plus_scaled(total, t.floats[i, col.IMPULSE + 2], vec3(t.floats, i, col.SECOND))


@inlined
def put_contact_record(t: Tables, i: int, kind: int, row: int) -> None:
    """When and where acting contact i acts, but for its impulse."""
    records = t.contact_records
    records[row, at.RECORD_TIME] = now(t)
    records[row, at.RECORD_PAIR] = t.ints[i, col.CONTACT_PAIR]
    records[row, at.RECORD_KIND] = kind
    records[row, at.RECORD_GAP] = t.floats[i, col.GAP]
    put3(records, row, at.RECORD_POINT, vec3(t.floats, i, col.POINT))
    put3(records, row, at.RECORD_NORMAL, vec3(t.floats, i, col.NORMAL))


@entered
def start(t: Tables) -> None:
    """Poses and velocities of the present state into `work`, and its row of the record."""
    begin_record(refer(t))


@stage
def begin_record(t: Tables) -> None:
    poses_kernel(t.tree, t.links, t.q, t.work)
    velocities_kernel(t.tree, t.links, t.v, t.work)
    write_row(t)
