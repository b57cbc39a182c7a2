"""Torsional and rolling friction: points whose velocities are spins, and whose impulses moments.

A moment stands behind the contacts as one of its own (`constraints/torsional_rolling.py`). Its
axis is the normal, or it has two across it; it sticks, or is at a limit that the normal impulse of
its contact gives, c p_n. What slides pushes with it: the line along the normal that its contact
holds does so along that moment too. Axes turn with the normal N as tangents do,

    da = -N (a . dN) across it, or dN along it,    d(a . w) = a . dw + w . da,

moments m by N . m dN - N (m . dN), and those of rolling with the spin that there is without
contacts, as friction does with slips.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.pair_coefficients import class_of_pair
from spatialops.collision.pair_runs import count_pairs
from spatialops.contact.newton._layout import POLYGON
from spatialops.derivatives.carried import AXIS, FIRST, one_of_eight
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_points import (
    AT_THE_LIMIT,
    NEAR_THE_LIMIT,
    is_close,
    put_friction,
    put_round_friction,
)
from spatialops.simulation.linearization.made_step import Room, Touched


@inlined
def is_moment(room: Room, k: int) -> bool:
    """Whether point k is a moment."""
    return room.point_ints[k, of.OWNER] >= 0


@kernel
def find_moments(touched: Touched, room: Room) -> None:
    """Moments of the acting contacts as points behind those of contacts."""
    for i in range(touched.contacts, touched.acting):
        put_moment_point(touched, room, i)


@kernel
def put_moment_point(touched: Touched, room: Room, i: int) -> None:
    """Moment i of the loop as the next point, behind that of its contact."""
    ints, points = room.point_ints, room.points
    k = room.results[of.COUNT]
    owner = 0
    while ints[owner, of.ROW] != touched.owners[i - touched.contacts]:
        owner += 1
    for j in range(of.POINT_INTS):
        ints[k, j] = ints[owner, j]
    for j in range(of.POINT_COLUMNS):
        points[k, j] = points[owner, j]
    ints[k, of.ROW] = i
    ints[k, of.OWNER] = owner
    ints[k, of.NOTES] = 0
    ints[k, of.LAW] = room.moments[0] if room.own_friction.size > 0 else touched.law
    push = scaled(touched.floats[i, col.IMPULSE + 1], vec3(touched.floats, i, col.TANGENT))
    second = vec3(touched.floats, i, col.SECOND)
    push = plus_scaled(push, touched.floats[i, col.IMPULSE + 2], second)
    put3(points, k, of.IMPULSE, scaled(points[k, of.SIDE], push))
    room.results[of.COUNT] += 1
    put_moment_status(touched, room, k)


@inlined
def is_torsion(touched: Touched, room: Room, k: int) -> bool:
    """Whether moment k is about its contact's normal."""
    return -1 - touched.ints[room.point_ints[k, of.ROW], col.CONTACT_PAIR] >= count_pairs(
        touched.pair_runs
    )


@kernel
def put_moment_status(touched: Touched, room: Room, k: int) -> None:
    """Status of moment k, and how it may move."""
    ints, points = room.point_ints, room.points
    i = ints[k, of.ROW]
    pressed = touched.floats[ints[ints[k, of.OWNER], of.ROW], col.IMPULSE]
    torsion = is_torsion(touched, room, k)
    runs = touched.pair_runs
    own = class_of_pair(touched.classes, touched.geom_ints, runs, ints[k, of.PAIR])
    limit = touched.turning[own, 0 if torsion else 1]
    ints[k, of.STATUS] = of.OPEN
    ints[k, of.PRESSES] = 0
    points[k, of.PRESSED] = pressed
    points[k, of.RESISTANCE] = points[k, of.YIELDS] = points[k, of.LEANS] = 0.0
    for j in range(2):
        points[k, of.SHARE + j] = points[k, of.EDGE + j] = 0.0
    if not pressed > 0.0:
        return
    x = touched.floats[i, col.IMPULSE + 1] / (pressed * limit)
    y = touched.floats[i, col.IMPULSE + 2] / (pressed * limit)
    if torsion:
        ints[k, of.STATUS] = of.STICKING
        if abs(x) > 1.0 - AT_THE_LIMIT:
            ints[k, of.STATUS] = of.SLIDING
            points[k, of.SHARE] = limit * x
        elif abs(x) > 1.0 - NEAR_THE_LIMIT:
            ints[k, of.NOTES] += of.AT_LIMIT
    elif ints[k, of.LAW] == POLYGON:
        ints[k, of.STATUS] = put_friction(touched.facets, x, y, limit, points, k)
        on_edge = points[k, of.EDGE] != 0.0 or points[k, of.EDGE + 1] != 0.0
        if is_close(touched.facets, x, y, ints[k, of.STATUS], on_edge):
            ints[k, of.NOTES] += of.AT_LIMIT
    else:
        put_round_friction(x, y, limit, points, ints, k)


@kernel
def look_at_spins(
    tree: IntArray, work: Array, table: Array, room: Room, k: int, which: int
) -> None:
    """Spin of moment k's link against the other; its contact must have been looked at."""
    n = tree.shape[0]
    owner = room.point_ints[k, of.OWNER]
    found, arms = room.found[which, k], room.arms[which]
    for row in range(of.FOUND_ROWS):
        for j in range(n):
            turned = of.NORMAL_BY_Q <= row < of.NORMAL_BY_Q + 3
            turned = turned and room.point_ints[k, of.KIND] != of.STILL
            found[row, j] = room.found[which, owner, row, j] if turned else 0.0
    put3(arms, k, of.NORMAL_THERE, vec3(arms, owner, of.NORMAL_THERE))
    put3(arms, k, of.VELOCITY, ZERO3)
    add_spin(tree, work, table, found, arms, k, room.point_ints[k, of.LINK], 1.0)
    add_spin(tree, work, table, found, arms, k, room.point_ints[k, of.OTHER], -1.0)


@kernel
def add_spin(
    tree: IntArray,
    work: Array,
    table: Array,
    found: Array,
    arms: Array,
    k: int,
    link: int,
    sign: float,
) -> None:
    """What one link's spin adds."""
    if link < 0:
        return
    omega = vec3(work, link, layout.OMEGA)
    put3(arms, k, of.VELOCITY, plus_scaled(vec3(arms, k, of.VELOCITY), sign, omega))
    j = link
    while j >= 0:
        S, first = one_of_eight(table, j, AXIS), one_of_eight(table, j, FIRST)
        by_q = plus(cross(S[0], omega), first[0])
        for row in range(3):
            found[of.VELOCITY_BY_V + row, j] += sign * S[0][row]
            found[of.VELOCITY_BY_Q + row, j] += sign * by_q[row]
        j = tree[j, layout.PARENT]


@inlined
def resistance_of_spin(room: Room, k: int) -> float:
    """What resists spins across a moment that turns with them: |w| / |m|."""
    moment, normal = vec3(room.points, k, of.IMPULSE), vec3(room.points, k, of.NORMAL)
    end = vec3(room.arms[of.END], k, of.VELOCITY)
    rolls = minus(end, scaled(dot(normal, end), normal))
    size = math.sqrt(dot(moment, moment))
    return math.sqrt(dot(rolls, rolls)) / size if size > 0.0 else 0.0


@inlined
def turned_axis(room: Room, k: int, d: Vec3, torsion: bool) -> Vec3:
    """Vector c: the spin of moment k along its axis d changes by c . dN, as the axis turns."""
    end = vec3(room.arms[of.END], k, of.VELOCITY)
    return end if torsion else scaled(-dot(vec3(room.points, k, of.NORMAL), end), d)
