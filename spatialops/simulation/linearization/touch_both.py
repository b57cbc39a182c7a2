"""Contacts of which both sides move: velocities of one against the other, and normals that turn.

With v_A and v_B the velocities of the two links' material at P, w x v + u' its change as in
`touch`, and u the motion of that material with a coordinate,

    d v_A / dq = w x v_A + u' + omega_A x (dP - u),

since the contact's point moves otherwise than either link. Normals N turn with a plane of the other
link, dN = w_B x N, or follow the line between two centres, dN = (1 - N N*) (dc_A - dc_B) / l.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH as LANES
from spatialops.algebra.simd import store, zeros
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
    scaled,
    vec3,
)
from spatialops.derivatives.carried import AXIS, FIRST, one_of_eight
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.shapes.shaped_contacts import (
    moved_shape,
    normal_there,
    point_there,
)


@inlined
def get(found: Array, row: int, j: int) -> Vec3:
    return found[row, j], found[row + 1, j], found[row + 2, j]


@inlined
def put(found: Array, row: int, j: int, a: Vec3) -> None:
    for i in range(3):
        found[row + i, j] = a[i]


@inlined
def add(found: Array, row: int, j: int, a: Vec3) -> None:
    for i in range(3):
        found[row + i, j] += a[i]


@inlined
def point_of(work: Array, link: int, offset: Vec3) -> Vec3:
    """A point that is fixed to a link, in the world."""
    if link < 0:
        return offset
    turned = rotate(mat3(work, link, layout.ROTATION), offset)
    return plus(vec3(work, link, layout.ORIGIN), turned)


@inlined
def material(work: Array, link: int, point: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Velocity and spin of a link's material at a point, and the arm from its origin."""
    if link < 0:
        return ZERO3, ZERO3, point
    arm, omega = minus(point, vec3(work, link, layout.ORIGIN)), vec3(work, link, layout.OMEGA)
    return plus(vec3(work, link, layout.VELOCITY), cross(omega, arm)), omega, arm


@inlined
def clear_rows(found: Array, first: int, end: int, n: int) -> None:
    """Zeros in rows from the first to the end."""
    whole = n // LANES * LANES
    for row in range(first, end):
        for j in range(0, whole, LANES):
            store(found, row, j, zeros())
        for j in range(whole, n):
            found[row, j] = 0.0


@kernel
def look_at_both(tree: IntArray, work: Array, table: Array, room: Room, k: int, which: int) -> None:
    """Point k: what `touch.look_at` finds, of link against other."""
    n = tree.shape[0]
    link, other = room.point_ints[k, of.LINK], room.point_ints[k, of.OTHER]
    found, arms = room.found[which, k], room.arms[which]
    clear_rows(found, 0, of.FOUND_ROWS, n)
    core = point_of(work, link, vec3(room.points, k, of.OFFSET))
    normal, centre = vec3(room.points, k, of.OTHER_OFFSET), ZERO3
    distance = 1.0
    kind, reach = room.point_ints[k, of.KIND], room.points[k, of.REACH]
    motion = room.motions[of.EARLY if which == of.EARLY else of.LATE, k]
    if kind == of.SHAPED:
        core, normal = point_there(motion), normal_there(motion)
        reach = 0.0
    elif kind == of.FLAT:
        normal = rotate(mat3(work, other, layout.ROTATION), normal)
    else:
        centre = point_of(work, other, normal)
        line = minus(core, centre)
        distance = math.sqrt(dot(line, line))
        normal = scaled(1.0 / distance, line)
    P = plus_scaled(core, -reach, normal)
    mine, spin, arm = material(work, link, P)
    its, its_spin, its_arm = material(work, other, P)
    put3(arms, k, of.VELOCITY, minus(mine, its))
    put3(arms, k, of.ARM, arm)
    put3(arms, k, of.OTHER_ARM, its_arm)
    put3(arms, k, of.NORMAL_THERE, normal)
    add_side(tree, work, table, found, link, P, 1.0)
    add_side(tree, work, table, found, other, P, -1.0)
    turning = minus(spin, its_spin)
    for j in range(n):
        w, its_w = get(found, of.TURN_BY_Q, j), get(found, of.OTHER_TURN, j)
        moves = plus(get(found, of.ARM_BY_Q, j), cross(w, minus(core, P)))  # the point c
        gap = dot(normal, get(found, of.VELOCITY_BY_V, j))
        turned = cross(its_w, normal)
        if kind == of.ROUND:
            its_move = plus(get(found, of.OTHER_ARM_BY_Q, j), cross(its_w, minus(centre, P)))
            turned = minus(moves, its_move)
            turned = scaled(1.0 / distance, plus_scaled(turned, -dot(normal, turned), normal))
        moved = plus_scaled(moves, -reach, turned)
        moved = plus_scaled(moved, -0.5 * gap, normal)
        if kind == of.SHAPED:
            its_move = get(found, of.OTHER_ARM_BY_Q, j)
            spins, moves = minus(w, its_w), minus(get(found, of.ARM_BY_Q, j), its_move)
            moved, turned, gap = moved_shape(motion, spins, moves)
            moved, turned = plus(its_move, moved), plus(cross(its_w, normal), turned)
        add(found, of.VELOCITY_BY_Q, j, cross(turning, moved))
        put(found, of.NORMAL_BY_Q, j, turned)
        found[of.GAP_BY_Q, j] = gap
        # Arms from the links' origins, which move by u - w x arm.
        origin = minus(get(found, of.ARM_BY_Q, j), cross(w, arm))
        its_origin = minus(get(found, of.OTHER_ARM_BY_Q, j), cross(its_w, its_arm))
        put(found, of.ARM_BY_Q, j, minus(moved, origin))
        put(found, of.OTHER_ARM_BY_Q, j, minus(moved, its_origin))


@kernel
def add_side(
    tree: IntArray, work: Array, table: Array, found: Array, link: int, P: Vec3, sign: float
) -> None:
    """What the material of one link at P adds; its motion u stands where arms will."""
    velocity, omega, _ = material(work, link, P)
    turn, motion = of.TURN_BY_Q, of.ARM_BY_Q
    if sign < 0.0:
        turn, motion = of.OTHER_TURN, of.OTHER_ARM_BY_Q
    j = link
    while j >= 0:
        arm = minus(P, vec3(work, j, layout.ORIGIN))
        S, first = one_of_eight(table, j, AXIS), one_of_eight(table, j, FIRST)
        move = plus(S[1], cross(S[0], arm))
        by_q = plus(cross(S[0], velocity), plus(first[1], cross(first[0], arm)))
        by_q = minus(by_q, cross(omega, move))
        add(found, of.VELOCITY_BY_V, j, scaled(sign, move))
        add(found, of.VELOCITY_BY_Q, j, scaled(sign, by_q))
        put(found, turn, j, S[0])
        put(found, motion, j, move)
        j = tree[j, layout.PARENT]
