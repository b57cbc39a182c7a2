"""Dynamics of an impact, linearised: what one phase's impulses f do at the coordinates q.

    M(q) y = G(q)* f,    M dy = (G*' f - M' y) dq + G* df,

where the bracket is that of inverse dynamics at rest with y for accelerations and f for forces,
without what gravity adds to it.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import merged
from spatialops._compile.references import refer
from spatialops.algebra.vectors import put3, scaled, vec3
from spatialops.derivatives.inverse_dynamics import derivatives_at_poses_kernel
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_forces import put_levers, put_wrenches
from spatialops.simulation.linearization.contact_points import find_points
from spatialops.simulation.linearization.joints.joint_rows import find_joints
from spatialops.simulation.linearization.made_step import Made, Room, touched
from spatialops.simulation.linearization.touch import look, place_late
from spatialops.simulation.stepping.tables import Tables


@merged
def impact_of(t: Tables, y: Array) -> Made:
    """An impact as a step of no length, and of 1 s where a force stands for an impulse."""
    nv = t.v.size
    return Made(
        t.tree,
        t.links,
        t.links,
        t.external[:0],
        t.q,
        t.vectors[at.V_X, :nv],
        t.q,
        t.vectors[at.V_X, :nv],
        y,
        y,
        1.0,
        0.0,
        False,
        t.lone[:0],
        t.tau,
    )


@held
def differentiate_impact_held(t: Tables, room: Room, y: Array, after: Array, f: Array) -> int:
    """Of the impact that the loop has resolved last, with the impulses f (contacts, 3) of a phase.

    Into the room: the mass matrix, the bracket in the first columns of `side`, and contacts'
    velocities before (LATE) and with the velocity `after` (END). Returns a status.
    """
    contacts = refer(touched(t))
    made = refer(impact_of(t, y))
    n = y.size
    poses_kernel(made.tree, made.links, made.q, room.work[:n])
    find_points(contacts, room)
    if contacts.acting > contacts.contacts:
        return of.SPUN
    find_joints(contacts, room)
    status = place_late(made, contacts, room)
    if status != of.KNOWN:
        return status
    look(made, room, made.v, of.LATE)
    look(made, room, after, of.END)
    tree, links = made.tree, made.links
    squares, still = room.squares, room.vectors[of.ANSWER]
    for k in range(n):
        still[k] = 0.0
    for k in range(room.results[of.COUNT]):
        i = room.point_ints[k, of.ROW]
        put3(room.points, k, of.IMPULSE, scaled(room.points[k, of.SIDE], vec3(f, i, 0)))
        room.point_ints[k, of.STATUS] = of.STICKING
    for which, push in ((of.SMOOTH_BY_Q, False), (of.BY_Q, True)):
        acceleration = y if push else still
        rows = put_wrenches(made, room) if push else 0
        derivatives_at_poses_kernel(
            tree,
            links,
            still,
            acceleration,
            room.wrenches[:rows],
            room.work,
            squares[which],
            squares[of.BY_V],
            squares[of.MASS],
        )
    for i in range(n):
        for j in range(n):
            room.side[i, j] = squares[of.SMOOTH_BY_Q, i, j] - squares[of.BY_Q, i, j]
    put_levers(made, room)
    return of.KNOWN
