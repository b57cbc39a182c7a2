"""How tangents, and friction along them, turn with the slip in the middle of a step.

The first tangent is w / |w|, so that with across = N x t1

    d t1 = across dz,    d t2 = -t1 dz,    dz = across . dw / |w|,

and w = G (2 v_e + dv), of moments, and where a step is evaluated at its start, G (v_e + dv), where
dv is what the smooth part changes,

    M ddv = s (dF - C_q dq_e - C (dv_e + dx / 2) - a dA),

where dx is the change of the whole, C_q and C the derivatives of inverse dynamics, A the armature.
One row of M^-1 for each contact that slides is all that takes.
"""

from __future__ import annotations

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.dense_lu import factor_by_rows, solve_transposed_lu
from spatialops.algebra.vectors import cross, dot, plus_scaled, scaled, vec3
from spatialops.contact.newton._layout import POLYGON
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_lines import end_of_drift, leans, tangents_of
from spatialops.simulation.linearization.friction.spin_friction import is_moment, is_torsion
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.rows.changes import add_row

_SLIP = 1e-9  # m/s below which tangents do not follow the slip: `contact/friction.py`


@kernel
def find_slips(made: Made, touched: Touched, room: Room) -> bool:
    """Which points have tangents that follow a slip; whether any, and whether that counts."""
    found = False
    for k in range(room.results[of.COUNT]):
        room.point_ints[k, of.SLIP] = 0
        if room.point_ints[k, of.STATUS] != of.SLIDING:
            continue
        row = room.point_ints[k, of.ROW]
        law = room.point_ints[k, of.LAW]
        polygon = law == POLYGON or law == of.DISSIPATION
        polygon = polygon and touched.friction[row] > 0.0
        if is_moment(room, k) and is_torsion(touched, room, k):
            continue
        if polygon and slip_of(made, touched, room, k) > _SLIP:
            room.point_ints[k, of.SLIP] = 1
            found = True
    return found


@inlined
def slip_of(made: Made, touched: Touched, room: Room, k: int) -> float:
    """Speed w of point k along its first tangent."""
    return dot(tangents_of(touched, room, k)[0], velocity_of(made, room, k))


@inlined
def early_part(made: Made, room: Room, k: int) -> float:
    """How often w has the slip with which the step begins beside that without contacts."""
    return 0.0 if is_moment(room, k) else 2.0 * made.half


@inlined
def velocity_of(made: Made, room: Room, k: int) -> Vec3:
    """Velocity of point k whose slip is w."""
    free, begun = vec3(room.arms[of.FREE], k, of.VELOCITY), vec3(room.arms[of.LATE], k, of.VELOCITY)
    return plus_scaled(free, early_part(made, room, k), begun)


@kernel
def put_slips(made: Made, touched: Touched, room: Room, resists: bool) -> None:
    """Rows dz of all slips, by the change of the whole and by what the step is evaluated at.

    Takes the place of K for factors of the mass matrix.
    """
    n = made.tree.shape[0]
    system, mass = room.system, room.squares[of.MASS]
    for i in range(n):
        for j in range(n):
            system[i, j] = mass[i, j]
    order = room.order[of.SYSTEM_ORDER : of.CONTACT_ORDER]
    rank = factor_by_rows(system, n, 0.0, order)
    for k in range(room.results[of.COUNT]):
        if room.point_ints[k, of.SLIP] == 1:
            put_slip(made, touched, room, k)
            # The mass matrix is symmetric.
            solve_transposed_lu(system, n, rank, order, room.slips[of.SLIP_ANSWER, k])
            put_answer(made, room, k, resists)


@kernel
def put_slip(made: Made, touched: Touched, room: Room, k: int) -> None:
    """The direct part of row k, and how much its edge's line changes with z."""
    n = made.tree.shape[0]
    tangents, normal = tangents_of(touched, room, k), vec3(room.points, k, of.NORMAL)
    across = cross(normal, tangents[0])
    turn = scaled(1.0 / slip_of(made, touched, room, k), across)
    early = early_part(made, room, k)
    row, late = room.slip_side[k], room.found[of.LATE, k]
    by_v, answer = room.slips[of.SLIP_BY_V, k], room.slips[of.SLIP_ANSWER, k]
    for j in range(n):
        by_v[j] = 0.0
    for j in range(row.size):
        row[j] = 0.0
    add_row(room.slips[of.SLIP_BY_V], k, 0, turn, late, of.VELOCITY_BY_V)
    add_row(room.slip_side, k, 0, turn, room.found[of.FREE, k], of.VELOCITY_BY_Q)
    add_row(room.slip_side, k, 0, scaled(early, turn), late, of.VELOCITY_BY_Q)
    if room.point_ints[k, of.KIND] != of.STILL:
        speed = dot(normal, velocity_of(made, room, k))
        add_row(room.slip_side, k, 0, scaled(-speed, turn), late, of.NORMAL_BY_Q)
    for j in range(n):
        row[n + j] = (1.0 + early) * by_v[j]
        answer[j] = by_v[j]
        row[3 * n] += by_v[j] * made.change[j] / made.s
    end = end_of_drift(touched, room, k)
    room.points[k, of.GAIN] = dot(turned_along(touched, room, k, of.EDGE), end)
    if leans(touched):
        room.points[k, of.LEANS] = dot(turned_along(touched, room, k, of.SHARE), end)


@inlined
def turned_along(touched: Touched, room: Room, k: int, column: int) -> Vec3:
    """Change of x t1 + y t2 for each unit of z; x and y stand in a column of point k.

    The second tangent is across where the link is A, and against it where it is B.
    """
    tangents, normal = tangents_of(touched, room, k), vec3(room.points, k, of.NORMAL)
    x, y = room.points[k, column], room.points[k, column + 1]
    first = scaled(-y * room.points[k, of.SIDE], tangents[0])
    return plus_scaled(first, x, cross(normal, tangents[0]))


@kernel
def put_answer(made: Made, room: Room, k: int, resists: bool) -> None:
    """Add what the smooth part does: its changes times the row of M^-1."""
    n = made.tree.shape[0]
    s = made.s
    row, y = room.slip_side[k], room.slips[of.SLIP_ANSWER, k]
    by_change = room.slips[of.SLIP_BY_CHANGE, k]
    for j in range(n):
        by_change[j] = 0.0
        row[2 * n + j] += s * y[j]
    for i in range(n):
        f = s * y[i]
        for j in range(n):
            row[j] -= f * room.squares[of.SMOOTH_BY_Q, i, j]
            row[n + j] -= f * room.squares[of.BY_V, i, j]
            by_change[j] -= made.half * f * room.squares[of.BY_V, i, j]
        if not resists:
            continue
        push = f * room.vectors[of.SMOOTH, i]
        row[3 * n] += f * room.vectors[of.PULL_BY_TIME, i]
        row[3 * n] -= push * room.vectors[of.FIT_BY_TIME, i]
        for j in range(n):
            row[j] += f * room.squares[of.PULL_BY_Q, i, j] - push * room.squares[of.FIT, i, j]
            row[n + j] += f * room.squares[of.PULL_BY_V, i, j]


@kernel
def turned_friction(touched: Touched, room: Room, k: int) -> None:
    """Change of G* p for each unit of z, of friction along x t1 + y t2, into ANSWER."""
    turned = scaled(room.points[k, of.PRESSED], turned_along(touched, room, k, of.SHARE))
    for j in range(room.vectors.shape[1]):
        room.vectors[of.ANSWER, j] = 0.0
    add_row(room.vectors, of.ANSWER, 0, turned, room.found[of.LATE, k], of.VELOCITY_BY_V)
