"""Velocities of contacts' points, and how they change with coordinates and velocities.

With S(j) the axis of joint j about the point c that is fixed to the link, (w, u), and S'(j) = V x
S(j), (w', u'), V the velocity of the joint's parent (`derivatives/carried.py`),

    d v_c / dv(j) = u,    d v_c / dq(j) = w x v_c + u',    d omega / dq(j) = w x omega + w'.

The contact's point is P = c + o with o = -N (r + g / 2), and v_P = v_c + omega x o.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.known_contacts import row_of_same
from spatialops.derivatives.carried import (
    AXIS,
    FIRST,
    axis_motion,
    moved_by,
    one_of_eight,
    parent_motion,
    put_one_of_eight,
)
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.friction.spin_friction import (
    is_moment,
    look_at_spins,
)
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.touch_both import clear_rows, look_at_both


@kernel
def place_late(made: Made, touched: Touched, room: Room) -> None:
    """Points into the axes of their links, whose poses must be in `work`."""
    work = room.work[: made.tree.shape[0]]
    for k in range(room.results[of.COUNT]):
        link, other = room.point_ints[k, of.LINK], room.point_ints[k, of.OTHER]
        if link >= 0:
            point = vec3(room.points, k, of.OFFSET)
            put3(room.points, k, of.OFFSET, in_axes_of(work, link, point))
        if room.point_ints[k, of.KIND] == of.FLAT:
            normal = vec3(room.points, k, of.NORMAL)
            turned = rotate_back(mat3(work, other, layout.ROTATION), normal)
            put3(room.points, k, of.OTHER_OFFSET, turned)
        elif room.point_ints[k, of.KIND] == of.ROUND and other >= 0:
            point = vec3(room.points, k, of.OTHER_OFFSET)
            put3(room.points, k, of.OTHER_OFFSET, in_axes_of(work, other, point))
        gap = touched.floats[room.point_ints[k, of.ROW], col.GAP]
        room.points[k, of.REACH] = room.points[k, of.RADIUS] + 0.5 * gap


@inlined
def in_axes_of(work: Array, link: int, point: Vec3) -> Vec3:
    """A point of the world from the origin of a link, in its axes."""
    lever = minus(point, vec3(work, link, layout.ORIGIN))
    return rotate_back(mat3(work, link, layout.ROTATION), lever)


@kernel
def place_early(made: Made, touched: Touched, room: Room) -> None:
    """Poses where the step began, and points with the gaps that they had there, if any."""
    poses_kernel(made.tree, made.links, made.q0, room.work[: made.tree.shape[0]])
    known = touched.known
    for k in range(room.results[of.COUNT]):
        row = row_of_same(touched.before_ints, known, touched.ints, room.point_ints[k, of.ROW])
        gap = touched.before[row, col.KNOWN_GAP] if row >= 0 else 0.0
        room.point_ints[k, of.BEFORE] = -1 if is_moment(room, k) else row
        room.points[k, of.REACH] = room.points[k, of.RADIUS] + 0.5 * gap


@kernel
def look(made: Made, room: Room, v: Array, which: int) -> None:
    """What is found of all points at velocities v; poses must be in `work`."""
    n = made.tree.shape[0]
    work = room.work[:n]
    table = room.work[n : 2 * n + 1]
    velocities_kernel(made.tree, made.links, v, work)
    put_moving_axes(made.tree, made.links, work, table)
    for k in range(room.results[of.COUNT]):
        if is_moment(room, k):
            look_at_spins(made.tree, room, k, which)
        elif room.point_ints[k, of.KIND] == of.STILL:
            look_at(made.tree, room, k, which)
        else:
            look_at_both(made.tree, room, k, which)


@inlined
def put_moving_axes(tree: IntArray, links: Array, work: Array, table: Array) -> None:
    """Of what `put_axes` puts, S and S' alone."""
    V = (ZERO3, ZERO3)
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] != layout.SAME:
            V, _ = parent_motion(tree, ZERO3, work, k)
        S = axis_motion(tree, links, work, k)
        put_one_of_eight(table, k, AXIS, S)
        put_one_of_eight(table, k, FIRST, moved_by(V, S))


@inlined
def look_at(tree: IntArray, room: Room, k: int, which: int) -> None:
    """Point k: its velocity and its arm, and how they change along the path to the base."""
    n, link = tree.shape[0], room.point_ints[k, of.LINK]
    work = room.work
    table = work[n : 2 * n + 1]
    found = room.found[which, k]
    clear_rows(found, of.NORMAL_BY_Q, n)
    normal = vec3(room.points, k, of.NORMAL)
    lever = rotate(mat3(work, link, layout.ROTATION), vec3(room.points, k, of.OFFSET))
    core = plus(vec3(work, link, layout.ORIGIN), lever)
    out = scaled(-room.points[k, of.REACH], normal)
    omega = vec3(work, link, layout.OMEGA)
    velocity = plus(vec3(work, link, layout.VELOCITY), cross(omega, lever))
    put3(room.arms[which], k, of.VELOCITY, plus(velocity, cross(omega, out)))
    put3(room.arms[which], k, of.ARM, plus(lever, out))
    put3(room.arms[which], k, of.NORMAL_THERE, normal)
    j = link
    while j >= 0:
        arm = minus(core, vec3(work, j, layout.ORIGIN))
        S, first = one_of_eight(table, j, AXIS), one_of_eight(table, j, FIRST)
        move = plus(S[1], cross(S[0], arm))
        spin_by_q = plus(cross(S[0], omega), first[0])
        by_q = plus(cross(S[0], velocity), plus(first[1], cross(first[0], arm)))
        gap = dot(normal, move)
        out_by_q = scaled(-0.5 * gap, normal)
        by_v = plus(move, cross(S[0], out))
        by_q = plus(by_q, plus(cross(spin_by_q, out), cross(omega, out_by_q)))
        arm_by_q = plus(cross(S[0], lever), out_by_q)
        for row in range(3):
            found[of.VELOCITY_BY_V + row, j] = by_v[row]
            found[of.VELOCITY_BY_Q + row, j] = by_q[row]
            found[of.TURN_BY_Q + row, j] = S[0][row]
            found[of.ARM_BY_Q + row, j] = arm_by_q[row]
        found[of.GAP_BY_Q, j] = gap
        j = tree[j, layout.PARENT]
