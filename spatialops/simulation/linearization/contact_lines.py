"""What contacts hold, as linear equations of the change of the velocity, and how they push.

A contact that sticks holds three directions, one that slides the normal (and, between two
directions of the friction polygon, the edge), one that is open none. Along a direction d

    d . (v_P + drift) + d . N o + k d . p = 0

at the end of the step, with the drift and the free opening speed o of `stepping/contact_drift.py`.
How the drift changes is in `drift_change`. The resistance k is none but of a drag, where it is one
over the impulse for each unit of velocity and gets less as a piece gets longer, and of the
exact cone: friction R against a slip of the speed |u| turns with it, so that across it k = |u| / R.
Under the convex law, and where most is dissipated, what slides parts with mu |u|: its first line is
along N + t, t friction for each unit that presses, as it pushes. That t turns is of second order
under the convex law; a polygon turns with the slip that there is without contacts.

Ground that gives way (`contact/laws/compliant.py`) has a resistance along the normal too, and

    N . (v_P + drift) + k g / S + p_n / (s S) = 0,    S = k r + c(g),

in place of the opening speed: both terms change with the gap g where it is evaluated.
"""

from __future__ import annotations

import math

from spatialops._arrays import Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, dot, plus, plus_scaled, rotate_back, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_points import is_round, stiffness_at_end
from spatialops.simulation.linearization.drift_change import (
    closes_by_start,
    drift_slopes,
    gain_by_normal,
)
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.rows.changes import add_reached, add_row, put_row, to_start

_KINK = 1e-9  # m/s within which a gap's speed is at its kink
_SLIP = 1e-9  # m/s below which tangents do not follow the slip: `contact/friction.py`
_NO_MATRIX = (ZERO3, ZERO3, ZERO3)


@inlined
def end_of_drift(touched: Touched, room: Room, k: int) -> Vec3:
    """Velocity of point k at the end, with its drift."""
    drift = vec3(touched.floats, room.point_ints[k, of.ROW], col.DRIFT)
    velocity = vec3(room.arms[of.END], k, of.VELOCITY)
    return plus_scaled(velocity, room.points[k, of.SIDE], drift)


@inlined
def tangents_of(touched: Touched, room: Room, k: int) -> tuple[Vec3, Vec3]:
    """Tangents of point k, towards the link as its normal is."""
    row, side = room.point_ints[k, of.ROW], room.points[k, of.SIDE]
    floats = touched.floats
    return scaled(side, vec3(floats, row, col.TANGENT)), scaled(side, vec3(floats, row, col.SECOND))


@inlined
def along_tangents(tangents: tuple[Vec3, Vec3], x: float, y: float) -> Vec3:
    return plus_scaled(scaled(x, tangents[0]), y, tangents[1])


@inlined
def was_there(touched: Touched, room: Room, k: int) -> bool:
    """Whether point k obeys its law by what it did where the step began."""
    row = room.point_ints[k, of.BEFORE]
    return row >= 0 and touched.before[row, col.KNOWN_GAP] >= -touched.depth


@kernel
def let_go(touched: Touched, room: Room, k: int) -> None:
    """A point parts, if of its impulse and its speed that is the one which is no rounding.

    Velocities at the end must have been looked at. Moments go with their contacts.
    """
    ints = room.point_ints
    owner = ints[k, of.OWNER]
    if owner >= 0 and ints[owner, of.STATUS] == of.OPEN:
        ints[k, of.STATUS] = of.OPEN
    if not ints[k, of.NOTES] & of.HARDLY_PRESSES or room.points[k, of.YIELDS] > 0.0:
        return
    opening = touched.floats[ints[k, of.ROW], col.OPEN]
    d = vec3(room.points, k, of.NORMAL)
    if leans(touched):
        x, y = room.points[k, of.SHARE], room.points[k, of.SHARE + 1]
        d = plus(d, along_tangents(tangents_of(touched, room, k), x, y))
    if dot(d, end_of_drift(touched, room, k)) + opening > _SLIP:
        ints[k, of.PRESSES] = 0
        ints[k, of.NOTES] -= of.HARDLY_PRESSES
        if ints[k, of.STATUS] != of.DRAGGED:
            ints[k, of.STATUS] = of.OPEN


@kernel
def note_velocities(made: Made, touched: Touched, room: Room, k: int) -> None:
    """Note what slides at no speed, is open and does not part, or is at a kink or threshold."""
    normal, end = vec3(room.points, k, of.NORMAL), end_of_drift(touched, room, k)
    along, status = dot(normal, end), room.point_ints[k, of.STATUS]
    slip = plus_scaled(end, -along, normal)
    rubs = touched.friction[room.point_ints[k, of.ROW]] > 0.0
    if status == of.SLIDING and rubs and dot(slip, slip) < _SLIP * _SLIP:
        room.point_ints[k, of.NOTES] += of.NO_SPEED
    start = room.arms[of.EARLY if made.half > 0.0 else of.LATE]
    begun = vec3(start, k, of.VELOCITY)
    if abs(dot(vec3(start, k, of.NORMAL_THERE), begun) + touched.threshold) < _KINK:
        room.point_ints[k, of.NOTES] += of.BARELY_NOT_MET
    opening = touched.floats[room.point_ints[k, of.ROW], col.OPEN]
    apart = room.point_ints[k, of.PRESSES] == 0 and status != of.STICKING
    if apart and along + opening < _SLIP:
        room.point_ints[k, of.NOTES] += of.NO_PARTING
    if status == of.OPEN or made.half == 0.0 or not was_there(touched, room, k):
        return
    known = touched.before[room.point_ints[k, of.BEFORE], col.KNOWN_GAP]
    free = 2.0 * known / made.s + dot(vec3(room.arms[of.EARLY], k, of.NORMAL_THERE), begun)
    if abs(free) < _KINK:
        opens = opening > 0.0
        room.point_ints[k, of.NOTES] += of.NO_GAP + (of.OPENS if opens else 0)


@kernel
def put_lines(made: Made, touched: Touched, room: Room, k: int) -> None:
    """Lines, pushes and goals of point k, which is not open."""
    points, sides = room.points, tangents_of(touched, room, k)
    normal = vec3(points, k, of.NORMAL)
    impulse = vec3(points, k, of.IMPULSE)
    status = room.point_ints[k, of.STATUS]
    slides = status == of.SLIDING
    share = along_tangents(sides, points[k, of.SHARE], points[k, of.SHARE + 1])
    edge = along_tangents(sides, points[k, of.EDGE], points[k, of.EDGE + 1])
    count = (2 if dot(edge, edge) > 0.0 else 1) if slides else 3
    begin = 0 if room.point_ints[k, of.PRESSES] == 1 else 1
    room.point_ints[k, of.FIRST_LINE] = room.results[of.HELD]
    room.point_ints[k, of.LINES] = count - begin
    resistance = resistance_of(touched, room, k)
    X = Y = _NO_MATRIX
    if made.half > 0.0 and was_there(touched, room, k):
        X, Y, rests = drift_slopes(touched, room, k)
        if rests:
            room.point_ints[k, of.NOTES] += of.AT_REST
    for c in range(begin, count):
        d = plus(normal, share) if slides and leans(touched) else normal
        if c > 0:
            d = edge if slides else (sides[0] if c == 1 else sides[1])
        push = plus(normal, share) if slides and c == 0 else d
        put_line(made, touched, room, k, d, push, X, Y)
        i = room.results[of.HELD]
        room.resistances[i] = resistance if c > 0 else points[k, of.YIELDS]
        if status == of.DRAGGED and c > 0:
            room.goal[i, 3 * made.tree.shape[0]] += resistance * dot(d, impulse) / made.s
        room.results[of.HELD] += 1


@inlined
def leans(touched: Touched) -> bool:
    """Whether what slides parts, under the law."""
    return touched.law == of.CONVEX or touched.law == of.DISSIPATION


@inlined
def resistance_of(touched: Touched, room: Room, k: int) -> float:
    """What resists the motion of point k across the normal, and across its friction if round."""
    if not is_round(room.point_ints[k, of.LAW]) or room.point_ints[k, of.STATUS] != of.SLIDING:
        return room.points[k, of.RESISTANCE]
    normal, impulse = vec3(room.points, k, of.NORMAL), vec3(room.points, k, of.IMPULSE)
    end = end_of_drift(touched, room, k)
    slip = plus_scaled(end, -dot(normal, end), normal)
    limit = touched.friction[room.point_ints[k, of.ROW]] * dot(normal, impulse)
    return math.sqrt(dot(slip, slip)) / limit if limit > 0.0 else 0.0


@kernel
def put_line(
    made: Made, touched: Touched, room: Room, k: int, d: Vec3, push: Vec3, X: Mat3, Y: Mat3
) -> None:
    """The next line: along d of point k, with an impulse along `push`."""
    i, n = room.results[of.HELD], made.tree.shape[0]
    goal = room.goal[i]
    late, early = room.found[of.LATE, k], room.found[of.EARLY, k]
    put_row(room.lines, i, 0, d, late, of.VELOCITY_BY_V)
    put_row(room.pushes, i, 0, push, late, of.VELOCITY_BY_V)
    back = scaled(-1.0, d)
    moved = scaled(-1.0, rotate_back(X, d))
    along = dot(d, vec3(room.points, k, of.NORMAL))
    put_row(room.goal, i, 0, back, room.found[of.END, k], of.VELOCITY_BY_Q)
    put_row(room.goal, i, n, plus(back, moved), late, of.VELOCITY_BY_V)
    for j in range(2 * n, goal.size):
        goal[j] = 0.0
    add_row(room.goal, i, 0, moved, late, of.VELOCITY_BY_Q)
    there = made.half > 0.0 and was_there(touched, room, k)
    gives = touched.law == of.COMPLIANT
    gap = touched.floats[room.point_ints[k, of.ROW], col.GAP]
    if gives and along > 0.5:
        change = change_of_ground(touched, room, k)
        for j in range(n):
            goal[j] -= change * late[of.GAP_BY_Q, j]
    elif not there and gap > 0.0:
        for j in range(n):
            goal[j] -= along / touched.left * late[of.GAP_BY_Q, j]
        goal[3 * n] += along * gap / (touched.left * made.s)
    if room.point_ints[k, of.SLIP] == 1:
        turn_line(made, room, room.points[k, of.LEANS if along > 0.5 else of.GAIN], k)
    turns = room.point_ints[k, of.KIND] != of.STILL
    if turns:
        gain = gain_by_normal(touched, room, k, d, there, (X, Y))
        lean = plus_scaled(d, -1.0, vec3(room.points, k, of.NORMAL))
        if along > 0.5 and dot(lean, lean) > 0.0:
            gain = plus(gain, gain_by_normal(touched, room, k, lean, there, (X, Y)))
        add_row(room.goal, i, 0, scaled(-1.0, gain), late, of.NORMAL_BY_Q)
    if made.timed:
        add_reached(room, goal)
    to_start(room, room.goal, i)
    if not there:
        return
    begun = scaled(-1.0, rotate_back(Y, d))
    if not gives and touched.floats[room.point_ints[k, of.ROW], col.OPEN] > 0.0:
        begun = plus_scaled(begun, -along, vec3(room.arms[of.EARLY], k, of.NORMAL_THERE))
        for j in range(n):
            goal[j] -= along * 2.0 / made.s * early[of.GAP_BY_Q, j]
        known = touched.before[room.point_ints[k, of.BEFORE], col.KNOWN_GAP]
        goal[3 * n] += along * 2.0 * known / (made.s * made.s)
    add_row(room.goal, i, 0, begun, early, of.VELOCITY_BY_Q)
    add_row(room.goal, i, n, begun, early, of.VELOCITY_BY_V)
    if turns and closes_by_start(touched, room, k, d):
        begun = vec3(room.arms[of.EARLY], k, of.VELOCITY)
        add_row(room.goal, i, 0, begun, early, of.NORMAL_BY_Q)


@inlined
def change_of_ground(touched: Touched, room: Room, k: int) -> float:
    """Change of k g / S + p_n / (s S) for each unit of the gap."""
    i = room.point_ints[k, of.ROW]
    slope, by_gap = stiffness_at_end(touched, room, i)
    pressed = touched.floats[i, col.IMPULSE] / touched.length
    whole = room.ground[of.STIFFNESS] * touched.floats[i, col.GAP] + pressed
    return (room.ground[of.STIFFNESS] - whole * by_gap / slope) / slope


@kernel
def turn_line(made: Made, room: Room, gain: float, k: int) -> None:
    """What the next line gains as friction turns with the slip of point k."""
    line, goal = room.lines[room.results[of.HELD]], room.goal[room.results[of.HELD]]
    for j in range(made.tree.shape[0]):
        line[j] += gain * room.slips[of.SLIP_BY_CHANGE, k, j]
    for j in range(goal.size):
        goal[j] -= gain * room.slip_side[k, j]
