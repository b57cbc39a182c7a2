"""The equations that the change of a step's velocity obeys, linearised.

A step from (q, v) evaluates the dynamics at q_e, reached in s/2 of the velocity v (Moreau's rule;
semi-implicit Euler: q_e = q), where v has become v_e, and solves for the velocity changes dv of the
smooth part and dw of contacts with the impulses p,

    dv = s f(q_e, v_e + (dv + dw) / 2, F)         (semi-implicit: f(q_e, v_e, F)),
    M(q_e) dw = G* p,                             p in the closed directions,
    G (v_e + dv + dw) + d + o N = 0               in those directions,

with the drift d and the free opening speed o of `stepping/contact_drift.py`, N the normals. f is
`forward_dynamics` with w x v added for free bodies (`integrators/accelerations.py`). It ends at the
velocity v_e + x, x = dv + dw, with which it moves on for s/2 (semi-implicit: s). With inverse
dynamics ID the first two are together

    s ID(q_e, v_m, x / s - w x v) = s F + G* p,

so that one derivative of ID, with p / s as wrenches on bodies, has all that x needs:

    (M + s/2 C) dx - P dp = s dF - s ID_q dq_e - s C dv_e + ...,    L dx = goal,

C = ID_v - M d(w x v). Statuses of contacts stay as they are. A piece that takes ds longer reaches
another q_e and v_e, and has the right-hand side M dv / s ds beside those, from

    d/ds [s ID(q_e, v_m, x / s - w x v) - s F - G* p] = ID - F - M x / s = -M dv / s.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.simd import WIDTH as LANES
from spatialops.algebra.simd import load, store, zeros
from spatialops.algebra.vectors import cross
from spatialops.derivatives.inverse_dynamics import derivatives_at_poses_kernel
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, FIRST, WIDTH, move_kernel
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_forces import put_levers, put_wrenches
from spatialops.simulation.linearization.contact_lines import let_go, note_velocities, put_lines
from spatialops.simulation.linearization.contact_points import find_points
from spatialops.simulation.linearization.free_bodies.lone_moves import (
    add_by_time,
    put_lone_moves,
    put_lone_slopes,
)
from spatialops.simulation.linearization.friction.slip_turning import (
    find_slips,
    put_slips,
    turned_friction,
)
from spatialops.simulation.linearization.friction.spin_friction import find_moments, is_moment
from spatialops.simulation.linearization.friction.spin_lines import put_moment_lines
from spatialops.simulation.linearization.joints.joint_rows import (
    find_joints,
    is_of_joint,
    put_joint_row,
)
from spatialops.simulation.linearization.made_step import Made, Pulls, Room, Touched
from spatialops.simulation.linearization.resistance import differentiate_resistance
from spatialops.simulation.linearization.rows.changes import add_reached, to_start
from spatialops.simulation.linearization.rows.factors import factor_equations
from spatialops.simulation.linearization.touch import look, place_early, place_late
from spatialops.simulation.stepping.integrators.accelerations import add_convection


@kernel
def state_equations(made: Made, touched: Touched, pulls: Pulls, resists: bool, room: Room) -> int:
    """The factored equations and their right-hand sides into the room; a status."""
    poses_kernel(made.tree, made.links, made.q, room.work[: made.tree.shape[0]])
    find_points(touched, room)
    find_joints(touched, room)
    find_moments(touched, room)
    put_velocities(made, room)
    status = look_at_points(made, touched, room)
    if status != of.KNOWN:
        return status
    for k in range(room.results[of.COUNT]):
        let_go(touched, room, k)
    if resists:
        differentiate_resistance(made, pulls, room)
    slips = find_slips(made, touched, room)
    differentiate_dynamics(made, room, slips)
    if slips:
        put_slips(made, touched, room, resists)
    put_system(made, room, resists)
    if made.timed:
        add_by_time(made, room)
    put_levers(made, room)
    for k in range(room.results[of.COUNT]):
        if room.point_ints[k, of.SLIP] == 1:
            turn_friction(made, touched, room, k)
    for i in range(made.tree.shape[0]):
        if made.timed:
            add_reached(room, room.side[i])
        to_start(room, room.side, i)
    for k in range(room.results[of.COUNT]):
        if is_moment(room, k):
            put_moment_lines(made, touched, room, k)
            continue
        if is_of_joint(room, k):
            put_joint_row(made, touched, room, k)
            continue
        note_velocities(made, touched, room, k)
        if room.point_ints[k, of.STATUS] != of.OPEN:
            put_lines(made, touched, room, k)
    factor_equations(room)
    return of.KNOWN


@kernel
def put_velocities(made: Made, room: Room) -> None:
    """Velocities and accelerations of the step, and its two moves."""
    n = made.tree.shape[0]
    s = made.s
    vectors = room.vectors
    for k in range(n):
        x = made.change[k] + made.answer[k]
        vectors[of.V_FREE, k] = made.v[k] + made.change[k]
        vectors[of.V_END, k] = made.v[k] + x
        vectors[of.V_MIDDLE, k] = made.v[k] + made.half * x
        vectors[of.SMOOTH, k] = made.change[k] / s
        vectors[of.WHOLE, k] = x / s
    add_convection(made.tree, vectors[of.V_MIDDLE], vectors[of.SMOOTH], -1.0)
    add_convection(made.tree, vectors[of.V_MIDDLE], vectors[of.WHOLE], -1.0)
    move_kernel(made.tree, made.v0, made.half * s, room.blocks[of.START])
    move_kernel(made.tree, vectors[of.V_END], (1.0 - made.half) * s, room.blocks[of.LAST])
    room.results[of.LONE] = made.lone.size
    if made.timed:
        put_lead(made, room)
    put_lone_moves(made, room)
    for k in range(n):
        alone = room.spans[k, WIDTH] == 1
        blocks = room.blocks[of.START]
        vectors[of.START_BY_Q, k] = blocks[BY_Q, k, 0] if alone else 1.0
        vectors[of.START_BY_V, k] = blocks[BY_V, k, 0] if alone else 0.0
        vectors[of.START_CARRIED, k] = blocks[CARRIED, k, 0] if alone else 1.0


@kernel
def put_lead(made: Made, room: Room) -> None:
    """How q_e and v_e change with the time s: both are functions of s v0."""
    lead_q, lead_v = room.vectors[of.LEAD_Q], room.vectors[of.LEAD_V]
    for k in range(made.tree.shape[0]):
        lead_q[k], lead_v[k] = 0.0, -made.v[k] / made.s
        first = room.spans[k, FIRST]
        for i in range(room.spans[k, WIDTH]):
            rate = made.v0[first + i] / made.s
            lead_q[k] += room.blocks[of.START, BY_V, k, i] * rate
            lead_v[k] += room.blocks[of.START, CARRIED, k, i] * rate


@kernel
def look_at_points(made: Made, touched: Touched, room: Room) -> int:
    """All that contacts' points do, in four states; a status."""
    if room.results[of.COUNT] == 0:
        return of.KNOWN
    status = place_late(made, touched, room)
    if status != of.KNOWN:
        return status
    look(made, room, made.v, of.LATE)
    look(made, room, room.vectors[of.V_END], of.END)
    for k in range(room.results[of.COUNT]):
        if room.point_ints[k, of.STATUS] == of.SLIDING:
            look(made, room, room.vectors[of.V_FREE], of.FREE)
            break
    if made.half > 0.0:
        status = place_early(made, touched, room)
        look(made, room, made.v0, of.EARLY)
    return status


@kernel
def differentiate_dynamics(made: Made, room: Room, slips: bool) -> None:
    """ID_q with what contacts do (and SMOOTH_BY_Q without, if wanted), C and the mass matrix."""
    squares = room.squares
    by_v, mass = squares[of.BY_V], squares[of.MASS]
    tree, links = made.tree, made.damped
    middle = room.vectors[of.V_MIDDLE]
    if slips:
        derivatives_at_poses_kernel(
            tree,
            links,
            middle,
            room.vectors[of.SMOOTH],
            made.external,
            room.work,
            squares[of.SMOOTH_BY_Q],
            by_v,
            mass,
        )
    wrenches = put_wrenches(made, room)
    derivatives_at_poses_kernel(
        tree,
        links,
        middle,
        room.vectors[of.WHOLE],
        room.wrenches[:wrenches],
        room.work,
        squares[of.BY_Q],
        by_v,
        mass,
    )
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] == layout.POSE:
            take_convection(by_v, mass, middle, k)
    put_lone_slopes(made, room)


@kernel
def take_convection(by_v: Array, mass: Array, v: Array, k: int) -> None:
    """C = ID_v - M d(w x v) of a free joint at k: d(w x v) = -v~ dw + w~ dv."""
    w = (v[k], v[k + 1], v[k + 2])
    u = (v[k + 3], v[k + 4], v[k + 5])
    for i in range(by_v.shape[0]):
        row = (mass[i, k + 3], mass[i, k + 4], mass[i, k + 5])
        turn, move = cross(u, row), cross(row, w)
        for j in range(3):
            by_v[i, k + j] -= turn[j]
            by_v[i, k + 3 + j] -= move[j]


@kernel
def put_system(made: Made, room: Room, resists: bool) -> None:
    """K, and the right-hand sides for changes of q_e, v_e and forces."""
    n = made.tree.shape[0]
    s = made.s
    squares, side = room.squares, room.side
    system = squares[of.SYSTEM]
    mass, by_q = squares[of.MASS], squares[of.BY_Q]
    by_v = squares[of.BY_V]
    whole = n // LANES * LANES
    for i in range(n):
        for j in range(0, whole, LANES):
            back = -s * load(by_v, i, j)
            store(system, i, j, load(mass, i, j) - made.half * back)
            store(side, i, j, -s * load(by_q, i, j))
            store(side, i, n + j, back)
            store(side, i, 2 * n + j, zeros())
        for j in range(whole, n):
            system[i, j] = mass[i, j] + made.half * s * by_v[i, j]
            side[i, j] = -s * by_q[i, j]
            side[i, n + j] = -s * by_v[i, j]
            side[i, 2 * n + j] = 0.0
        side[i, 2 * n + i] = s
        side[i, 3 * n] = 0.0
        if made.timed:
            for j in range(3 * n + 1, side.shape[1]):
                side[i, j] = 0.0
            for j in range(n):
                side[i, 3 * n] += squares[of.MASS, i, j] * made.change[j] / s
        if not resists:
            continue
        push = s * room.vectors[of.WHOLE, i]
        side[i, 3 * n] += s * room.vectors[of.PULL_BY_TIME, i]
        side[i, 3 * n] -= push * room.vectors[of.FIT_BY_TIME, i]
        for j in range(n):
            side[i, j] += s * squares[of.PULL_BY_Q, i, j] - push * squares[of.FIT, i, j]
            side[i, n + j] += s * squares[of.PULL_BY_V, i, j]


@kernel
def turn_friction(made: Made, touched: Touched, room: Room, k: int) -> None:
    """Friction of point k turns with its slip."""
    n = made.tree.shape[0]
    push, system = room.vectors[of.ANSWER], room.squares[of.SYSTEM]
    turned_friction(touched, room, k)
    for i in range(n):
        for j in range(n):
            system[i, j] -= push[i] * room.slips[of.SLIP_BY_CHANGE, k, j]
        for j in range(3 * n + 1):
            room.side[i, j] += push[i] * room.slip_side[k, j]
