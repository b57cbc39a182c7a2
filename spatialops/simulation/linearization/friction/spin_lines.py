"""What torsional and rolling friction hold, as linear equations of the change of the velocity."""

from __future__ import annotations

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, scaled, vec3
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_lines import along_tangents, tangents_of, turn_line
from spatialops.simulation.linearization.friction.spin_friction import (
    is_torsion,
    resistance_of_spin,
    turned_axis,
)
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.rows.changes import add_reached, add_row, put_row, to_start

_REST = 1e-9  # rad/s of a spin that is none


@kernel
def put_moment_lines(made: Made, touched: Touched, room: Room, k: int) -> None:
    """Lines, pushes and goals of moment k; what slides is pushed by its contact's normal line."""
    ints, points = room.point_ints, room.points
    status, torsion = ints[k, of.STATUS], is_torsion(touched, room, k)
    ints[k, of.FIRST_LINE] = room.results[of.HELD]
    sides = tangents_of(touched, room, k)
    if status == of.STICKING:
        put_moment_line(made, room, k, sides[0], torsion)
        if not torsion:
            put_moment_line(made, room, k, sides[1], torsion)
    elif status == of.SLIDING:
        share = along_tangents(sides, points[k, of.SHARE], points[k, of.SHARE + 1])
        owner = ints[ints[k, of.OWNER], of.FIRST_LINE]
        add_row(room.pushes, owner, 0, share, room.found[of.LATE, k], of.VELOCITY_BY_V)
        edge = along_tangents(sides, points[k, of.EDGE], points[k, of.EDGE + 1])
        if dot(edge, edge) > 0.0:
            put_moment_line(made, room, k, edge, torsion)
        end = vec3(room.arms[of.END], k, of.VELOCITY)
        along = dot(share, end)
        if along * along < _REST * _REST * dot(share, share):
            ints[k, of.NOTES] += of.NO_SPEED
    ints[k, of.LINES] = room.results[of.HELD] - ints[k, of.FIRST_LINE]


@inlined
def put_moment_line(made: Made, room: Room, k: int, d: Vec3, torsion: bool) -> None:
    """The next line: along d of moment k."""
    i, n = room.results[of.HELD], made.tree.shape[0]
    goal, late = room.goal[i], room.found[of.LATE, k]
    put_row(room.lines, i, 0, d, late, of.VELOCITY_BY_V)
    put_row(room.pushes, i, 0, d, late, of.VELOCITY_BY_V)
    back = scaled(-1.0, d)
    put_row(room.goal, i, 0, back, room.found[of.END, k], of.VELOCITY_BY_Q)
    put_row(room.goal, i, n, back, late, of.VELOCITY_BY_V)
    for j in range(2 * n, goal.size):
        goal[j] = 0.0
    if room.point_ints[k, of.KIND] != of.STILL:
        turned = turned_axis(room, k, d, torsion)
        add_row(room.goal, i, 0, scaled(-1.0, turned), late, of.NORMAL_BY_Q)
    if room.point_ints[k, of.SLIP] == 1:
        turn_line(made, room, room.points[k, of.GAIN], k)
    if made.timed:
        add_reached(room, goal)
    to_start(room, room.goal, i)
    turns = room.point_ints[k, of.STATUS] == of.SLIDING and room.point_ints[k, of.SLIP] == 0
    room.resistances[i] = resistance_of_spin(room, k) if turns else 0.0
    room.results[of.HELD] += 1
