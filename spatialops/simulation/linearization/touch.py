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
    plus_scaled,
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
    Pair,
    axis_motion,
    moved_by,
    one_of_eight,
    put_one_of_eight,
)
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.friction.spin_friction import (
    is_moment,
    look_at_spins,
)
from spatialops.simulation.linearization.joints.joint_rows import is_of_joint, look_at_joint
from spatialops.simulation.linearization.made_step import Made, Room, Touched
from spatialops.simulation.linearization.shapes.shaped_contacts import put_motions
from spatialops.simulation.linearization.touch_both import clear_rows, look_at_both


@kernel
def place_late(made: Made, touched: Touched, room: Room) -> int:
    """Points into the axes of their links, whose poses must be in `work`; a status."""
    work = room.work[: made.tree.shape[0]]
    shaped = False
    for k in range(room.results[of.COUNT]):
        shaped = shaped or room.point_ints[k, of.KIND] == of.SHAPED
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
    return put_motions(touched, room, work, of.LATE) if shaped else of.KNOWN


@inlined
def in_axes_of(work: Array, link: int, point: Vec3) -> Vec3:
    """A point of the world from the origin of a link, in its axes."""
    lever = minus(point, vec3(work, link, layout.ORIGIN))
    return rotate_back(mat3(work, link, layout.ROTATION), lever)


@kernel
def place_early(made: Made, touched: Touched, room: Room) -> int:
    """Poses where the step began, and points with the gaps they had there, if any; a status."""
    shaped = False
    first, n = row_of_poses(room, of.EARLY), made.tree.shape[0]
    poses_kernel(made.tree, made.links, made.q0, room.work[first : first + n])
    known = touched.known
    for k in range(room.results[of.COUNT]):
        row = row_of_same(touched.before_ints, known, touched.ints, room.point_ints[k, of.ROW])
        gap = touched.before[row, col.KNOWN_GAP] if row >= 0 else 0.0
        room.point_ints[k, of.BEFORE] = -1 if is_moment(room, k) else row
        room.points[k, of.REACH] = room.points[k, of.RADIUS] + 0.5 * gap
        shaped = shaped or room.point_ints[k, of.KIND] == of.SHAPED
    poses = room.work[first : first + n]
    return put_motions(touched, room, poses, of.EARLY) if shaped else of.KNOWN


@inlined
def row_of_poses(room: Room, which: int) -> int:
    """First row of links' poses: where the step is evaluated, or behind them where it began."""
    return 2 * room.side.shape[0] + 1 if which == of.EARLY else 0


@kernel
def look(made: Made, room: Room, v: Array, which: int) -> None:
    """What is found of all points at velocities v; poses must be there.

    At the END, and FREE, what poses alone say is that of LATE.
    """
    n = made.tree.shape[0]
    first = row_of_poses(room, which)
    work, table = room.work[first : first + n], room.work[n : 2 * n + 1]
    put_moving_axes(made.tree, made.links, v, work, table)
    for k in range(room.results[of.COUNT]):
        if is_moment(room, k):
            look_at_spins(made.tree, work, table, room, k, which)
        elif is_of_joint(room, k):
            look_at_joint(room, k, v, which)
        elif room.point_ints[k, of.KIND] != of.STILL:
            look_at_both(made.tree, work, table, room, k, which)
        elif which == of.END or which == of.FREE:
            look_again(made.tree, work, table, room, k, which)
        else:
            look_at(made.tree, work, table, room, k, which)


@inlined
def put_moving_axes(tree: IntArray, links: Array, v: Array, work: Array, table: Array) -> None:
    """Of what `put_axes` puts, S and S' alone; velocities of links, whose poses are there."""
    V = own = (ZERO3, ZERO3)
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] != layout.SAME:
            V = own = carried_motion(tree, work, k)
        S = axis_motion(tree, links, work, k)
        put_one_of_eight(table, k, AXIS, S)
        put_one_of_eight(table, k, FIRST, moved_by(V, S))
        own = plus_scaled(own[0], v[k], S[0]), plus_scaled(own[1], v[k], S[1])
        put3(work, k, layout.OMEGA, own[0])
        put3(work, k, layout.VELOCITY, own[1])


@inlined
def carried_motion(tree: IntArray, work: Array, k: int) -> Pair:
    """Velocity of what is fixed to link k's parent, at k's origin."""
    parent = tree[k, layout.PARENT]
    if parent < 0:
        return ZERO3, ZERO3
    omega = vec3(work, parent, layout.OMEGA)
    swing = cross(omega, vec3(work, k, layout.LEVER))
    return omega, plus(vec3(work, parent, layout.VELOCITY), swing)


@inlined
def look_at(tree: IntArray, work: Array, table: Array, room: Room, k: int, which: int) -> None:
    """Point k: its velocity and its arm, and how they change along the path to the base."""
    n, link = tree.shape[0], room.point_ints[k, of.LINK]
    found = room.found[which, k]
    late = which == of.LATE
    clear_rows(found, 0, of.TURN_BY_Q, n)
    clear_rows(found, of.TURN_BY_Q if late else of.GAP_BY_Q, of.NORMAL_BY_Q, n)
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
        found[of.GAP_BY_Q, j] = gap
        for row in range(3):
            found[of.VELOCITY_BY_V + row, j] = by_v[row]
            found[of.VELOCITY_BY_Q + row, j] = by_q[row]
        if late:  # what forces push with
            arm_by_q = plus(cross(S[0], lever), out_by_q)
            for row in range(3):
                found[of.TURN_BY_Q + row, j] = S[0][row]
                found[of.ARM_BY_Q + row, j] = arm_by_q[row]
        j = tree[j, layout.PARENT]


@inlined
def look_again(tree: IntArray, work: Array, table: Array, room: Room, k: int, which: int) -> None:
    """Point k at another velocity where it was looked at LATE: that, and how it changes."""
    n, link = tree.shape[0], room.point_ints[k, of.LINK]
    found, gaps = room.found[which, k], room.found[of.LATE, k, of.GAP_BY_Q]
    clear_rows(found, of.VELOCITY_BY_Q, of.VELOCITY_BY_Q + 3, n)
    normal, omega = vec3(room.points, k, of.NORMAL), vec3(work, link, layout.OMEGA)
    arm = vec3(room.arms[of.LATE], k, of.ARM)
    place = plus(vec3(work, link, layout.ORIGIN), arm)
    out = scaled(-room.points[k, of.REACH], normal)
    velocity = plus(vec3(work, link, layout.VELOCITY), cross(omega, arm))
    put3(room.arms[which], k, of.VELOCITY, velocity)
    velocity = minus(velocity, cross(omega, out))
    swing = scaled(-0.5, cross(omega, normal))
    j = link
    while j >= 0:
        S, first = one_of_eight(table, j, AXIS), one_of_eight(table, j, FIRST)
        by_q = plus(first[1], cross(first[0], minus(place, vec3(work, j, layout.ORIGIN))))
        by_q = plus(by_q, plus(cross(S[0], velocity), cross(cross(S[0], omega), out)))
        by_q = plus_scaled(by_q, gaps[j], swing)
        for row in range(3):
            found[of.VELOCITY_BY_Q + row, j] = by_q[row]
        j = tree[j, layout.PARENT]
