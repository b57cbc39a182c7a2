"""Stops and dry friction of joints, as points whose velocity is the rate of a joint.

A row e_k of a joint does not turn, and has no drift. A stop that presses holds

    side v+_k + o = 0,

o the speed that its gap leaves free (`stepping/contact_drift.py`). Dry friction holds v+_k = 0, or
pushes with its limit, tau_f s of a piece of the time s. Neither is a wrench on a body: inverse
dynamics does not know of it.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_points import (
    AT_THE_LIMIT,
    NEAR_THE_LIMIT,
    largest_impulse,
)
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.rows.changes import add_reached, to_start
from spatialops.simulation.linearization.touch_both import clear_rows

_SLIP = 1e-9  # rad/s or m/s that is none, as of contacts
_KINK = 1e-9  # within which a gap's speed is at its kink, as of contacts


@inlined
def is_of_joint(room: Room, k: int) -> bool:
    """Whether point k is a stop or dry friction."""
    return room.point_ints[k, of.KIND] == of.JOINT


@kernel
def find_joints(touched: Touched, room: Room) -> None:
    """Rows of joints among the acting contacts, as points behind those of contacts."""
    for i in range(touched.contacts):
        if touched.ints[i, col.CONTACT_FEATURE_A] < 0:
            put_joint_point(touched, room, i)


@kernel
def put_joint_point(touched: Touched, room: Room, i: int) -> None:
    """Row i of the loop's contacts as the next point."""
    ints, points = room.point_ints, room.points
    k = room.results[of.COUNT]
    pair = touched.ints[i, col.CONTACT_PAIR]
    for j in range(of.POINT_INTS):
        ints[k, j] = 0
    for j in range(of.POINT_COLUMNS):
        points[k, j] = 0.0
    ints[k, of.ROW] = i
    ints[k, of.LINK] = touched.ints[i, col.CONTACT_A]
    ints[k, of.OTHER] = ints[k, of.BEFORE] = -1
    ints[k, of.OWNER] = -1
    ints[k, of.KIND] = of.JOINT
    ints[k, of.PAIR] = pair
    points[k, of.SIDE] = 1.0
    points[k, of.ALONG] = touched.joint_floats[pair - count_pairs(touched.pair_runs), at.JOINT_SIDE]
    put3(points, k, of.NORMAL, vec3(touched.floats, i, col.NORMAL))
    room.results[of.COUNT] += 1
    put_joint_status(touched, room, k)


@kernel
def put_joint_status(touched: Touched, room: Room, k: int) -> None:
    """What row k of a joint does."""
    ints, points = room.point_ints, room.points
    i = ints[k, of.ROW]
    if points[k, of.ALONG] != 0.0:
        points[k, of.PRESSED] = touched.floats[i, col.IMPULSE]
        ints[k, of.PRESSES] = 1 if points[k, of.PRESSED] > 0.0 else 0
        ints[k, of.STATUS] = of.STOPPED if ints[k, of.PRESSES] == 1 else of.OPEN
        if 0.0 < points[k, of.PRESSED] < NEAR_THE_LIMIT * largest_impulse(touched):
            ints[k, of.NOTES] += of.HARDLY_PRESSES
        return
    own = ints[k, of.PAIR] - count_pairs(touched.pair_runs)
    limit = touched.joint_floats[own, at.JOINT_LIMIT] * touched.length
    used = abs(touched.floats[i, col.IMPULSE + 1])
    slides = used > (1.0 - AT_THE_LIMIT) * limit
    ints[k, of.STATUS] = of.SLIDING if slides else of.STICKING
    if not slides and used > (1.0 - NEAR_THE_LIMIT) * limit:
        ints[k, of.NOTES] += of.AT_LIMIT


@kernel
def look_at_joint(room: Room, k: int, v: Array, which: int) -> None:
    """What an impact reads of row k: a stop as a point that moves along its normal.

    Dry friction has no impulse in impacts, and is not asked for.
    """
    found, arms = room.found[which, k], room.arms[which]
    link, side = room.point_ints[k, of.LINK], room.points[k, of.ALONG]
    clear_rows(found, 0, of.FOUND_ROWS, found.shape[1])
    axis = scaled(side, vec3(room.points, k, of.NORMAL))
    for j in range(3):
        found[of.VELOCITY_BY_V + j, link] = axis[j]
    found[of.GAP_BY_Q, link] = side
    put3(arms, k, of.VELOCITY, scaled(v[link], axis))
    put3(arms, k, of.ARM, ZERO3)
    put3(arms, k, of.NORMAL_THERE, vec3(room.points, k, of.NORMAL))


@kernel
def put_joint_row(made: Made, touched: Touched, room: Room, k: int) -> None:
    """What row k of a joint holds, or pushes with."""
    i, ints = room.point_ints[k, of.ROW], room.point_ints
    link, status = ints[k, of.LINK], ints[k, of.STATUS]
    there = was_there(made, touched, room, k)
    note_joint(made, touched, room, k, there)
    ints[k, of.FIRST_LINE] = room.results[of.HELD]
    ints[k, of.LINES] = 0
    if status == of.STOPPED:
        put_joint_line(made, touched, room, k, room.points[k, of.ALONG], there)
    elif status == of.STICKING:
        put_joint_line(made, touched, room, k, 1.0, False)
    elif status == of.SLIDING:
        room.side[link, 3 * made.tree.shape[0]] += touched.floats[i, col.IMPULSE + 1] / made.s


@inlined
def was_there(made: Made, touched: Touched, room: Room, k: int) -> bool:
    """Whether stop k obeys its law by what it did where the step began."""
    row = room.point_ints[k, of.BEFORE]
    seen = made.half > 0.0 and row >= 0
    return seen and touched.before[row, col.KNOWN_GAP] >= -touched.depth


@kernel
def put_joint_line(
    made: Made, touched: Touched, room: Room, k: int, side: float, there: bool
) -> None:
    """The next line: the rate of a joint, `side` times."""
    i, n = room.results[of.HELD], made.tree.shape[0]
    goal, link = room.goal[i], room.point_ints[k, of.LINK]
    row = room.point_ints[k, of.ROW]
    for j in range(n):
        room.lines[i, j] = room.pushes[i, j] = 0.0
    for j in range(goal.size):
        goal[j] = 0.0
    room.lines[i, link] = room.pushes[i, link] = side
    goal[n + link] = -side
    gap = touched.floats[row, col.GAP]
    if not there and gap > 0.0:
        goal[link] = -side / touched.left
        goal[3 * n] = gap / (touched.left * made.s)
    if made.timed:
        add_reached(room, goal)
    to_start(room, room.goal, i)
    if there and touched.floats[row, col.OPEN] > 0.0:
        goal[link] -= side * 2.0 / made.s
        goal[n + link] -= side
        known = touched.before[room.point_ints[k, of.BEFORE], col.KNOWN_GAP]
        goal[3 * n] += 2.0 * known / (made.s * made.s)
    room.resistances[i] = 0.0
    room.point_ints[k, of.LINES] = 1
    room.results[of.HELD] += 1


@kernel
def note_joint(made: Made, touched: Touched, room: Room, k: int, there: bool) -> None:
    """Note what of row k is about to change."""
    ints, i = room.point_ints, room.point_ints[k, of.ROW]
    link, side = ints[k, of.LINK], room.points[k, of.ALONG]
    end = room.vectors[of.V_END, link]
    if side == 0.0:
        if ints[k, of.STATUS] == of.SLIDING and abs(end) < _SLIP:
            ints[k, of.NOTES] += of.NO_SPEED
        return
    opening, begun = touched.floats[i, col.OPEN], side * made.v0[link]
    if abs(begun + touched.threshold) < _KINK:
        ints[k, of.NOTES] += of.BARELY_NOT_MET
    if ints[k, of.STATUS] == of.OPEN:
        if side * end + opening < _SLIP:
            ints[k, of.NOTES] += of.NO_PARTING
    elif there:
        known = touched.before[ints[k, of.BEFORE], col.KNOWN_GAP]
        if abs(2.0 * known / made.s + begun) < _KINK:
            ints[k, of.NOTES] += of.NO_GAP + (of.OPENS if opening > 0.0 else 0)
