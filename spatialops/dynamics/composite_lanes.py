"""Axes of motion and composite momenta of all links, eight links at a time.

F(k) = I(k) S(k) is the momentum of all that link k carries, moving at unit rate, about the link's
own origin; the mass matrix is M(i, k) = S(i)* phi(i, k) F(k) (Featherstone 2008, section 6.2). Only
poses and composite inertias go from link to link; all else is done by `lanes`. About a common point
inertias could be added without shifting them, 5 % faster in all, but on random trees of long links
errors of Lambda were up to two thousand times larger.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Sym3, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import (
    WIDTH,
    LanesVec3,
    at,
    load1,
    load3,
    load_mat3,
    load_sym3,
    store1,
    store3,
)
from spatialops.algebra.trigonometry import FAR, near_sine_and_cosine
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    plus,
    plus_scaled,
    rotate,
    rotation_from_quaternion,
    scaled,
    sym_plus,
    sym_rotated,
    sym_times,
    times,
)
from spatialops.dynamics.kinematics import turned_by
from spatialops.tree.branches import (
    ALONG,
    ANGULAR,
    BLOCK,
    DIRECTION,
    LAST,
    SLIDING,
    TURNING,
    WORK_ROWS,
)

# Rows of the workspace, a striped table (`lanes.at`). World axes.
TURNED = 0  # 9: rotation, first in the parent's frame
PLACED = 9  # 3: position from the first axis that turns; first in the parent's frame
REACH = 12  # 3: from the parent's origin
MOVES = 15  # 6: S, the spatial velocity (angular, linear) at unit rate, about the link's origin
CARRIES = 21  # 6: F, (angular, linear), about the link's origin
SCALE = 27  # S* F, the mass matrix's diagonal without armature
WEIGHT = 28  # mass,
CENTER = 29  # 3: first moment
# 6: and rotational inertia about the link's origin, of the link, then of all that it carries
SECOND = 32
Q, ANGLE = 38, 39
COMPOSITE_ROWS = 40

AHEAD = 4
"""Eights that a sweep asks for memory ahead: it comes after 0.1 to 0.3 us."""

FAR_AHEAD = 8
"""The same of a sweep that does little for a link."""

Mat3 = tuple[LanesVec3, LanesVec3, LanesVec3]
Pose = tuple[Mat3, Vec3]

NO_POSE = (ZERO3, ZERO3, ZERO3), ZERO3


@inlined
def column3(table: Array, row: int, k: int) -> Vec3:
    """Vector of one link."""
    return table[at(row, k)], table[at(row + 1, k)], table[at(row + 2, k)]


@inlined
def column9(table: Array, row: int, k: int) -> Mat3:
    """Row-major matrix of one link."""
    return column3(table, row, k), column3(table, row + 3, k), column3(table, row + 6, k)


@inlined
def put_column3(table: Array, row: int, k: int, a: Vec3) -> None:
    table[at(row, k)], table[at(row + 1, k)], table[at(row + 2, k)] = a


@inlined
def put_column9(table: Array, row: int, k: int, m: Mat3) -> None:
    put_column3(table, row, k, m[0])
    put_column3(table, row + 3, k, m[1])
    put_column3(table, row + 6, k, m[2])


@inlined
def fits_workspace(constants: Array, work: Array) -> bool:
    """Whether it has a row for each eight, perhaps those of a block besides."""
    spare = work.shape[0] - constants.shape[0]
    return spare in (0, BLOCK) and work.shape[1] == WIDTH * WORK_ROWS


@inlined
def branches_at(tree: IntArray, k: int) -> bool:
    """Whether link k carries more than one branch."""
    last = tree[k, LAST]
    return k < last and tree[k + 1, LAST] != last


@inlined
def gather_coordinates(tree: IntArray, q: Array, work: Array, first: int, end: int) -> None:
    """What turns or slides each link of these eights, and angles within `FAR`.

    Those too large for `near_sine_and_cosine` are brought into one turn.
    """
    last, far = min(tree.shape[0], WIDTH * end), False
    for k in range(WIDTH * first, last):
        x = q[tree[k, layout.FIRST_Q]]
        work[at(Q, k)] = work[at(ANGLE, k)] = x
        far |= not abs(x) < FAR
    for k in range(last, WIDTH * end):
        work[at(Q, k)] = work[at(ANGLE, k)] = 0.0
    if far:
        for k in range(WIDTH * first, last):
            x = work[at(Q, k)]
            work[at(ANGLE, k)] = math.atan2(math.sin(x), math.cos(x))


@inlined
def place_in_parents(constants: Array, work: Array, first: int, end: int) -> None:
    """Poses of joints of one axis in the frames of their parents."""
    for k in range(first, end):
        frame = load_mat3(constants, layout.PLACE_R, k)
        slide = load1(constants, SLIDING, k) * load1(work, Q, k)
        store3(
            work,
            PLACED,
            k,
            plus_scaled(
                load3(constants, layout.PLACE_P, k), slide, (frame[0][2], frame[1][2], frame[2][2])
            ),
        )
        s, c = near_sine_and_cosine(load1(constants, TURNING, k) * load1(work, ANGLE, k))
        m = turned_by(frame, s, c)
        store3(work, TURNED, k, m[0])
        store3(work, TURNED + 3, k, m[1])
        store3(work, TURNED + 6, k, m[2])


@inlined
def place_in_world(
    tree: IntArray, q: Array, work: Array, near: Array, first: int, end: int, before: Pose
) -> Pose:
    """Poses from those in the parents' frames, base to tips; quaternions where joints have them.

    `before` is the pose of the link before the first, that of the last one is returned. These links
    have their rows in `near`; what carries more than one branch is put into its row of `work` too.
    """
    rotation, place = before
    apart = near.shape[0] < work.shape[0]
    for k in range(WIDTH * first, min(tree.shape[0], WIDTH * end)):
        parent = tree[k, layout.PARENT]
        frame = tree[k, layout.FRAME]
        i = tree[k, layout.FIRST_Q]
        if parent != k - 1 and parent >= 0:  # else they are in registers still
            rotation, place = column9(work, TURNED, parent), column3(work, PLACED, parent)
        lever = ZERO3
        if frame != layout.SAME:
            own = column9(near, TURNED, k)
            if frame == layout.POSE:
                i += 3
            if frame in (layout.ATTITUDE, layout.POSE):
                own = times(own, rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3]))
            if parent >= 0:
                lever = rotate(rotation, column3(near, PLACED, k))
                rotation, place = times(rotation, own), plus(place, lever)
            else:
                rotation, place = own, ZERO3
        put_column9(near, TURNED, k, rotation)
        put_column3(near, PLACED, k, place)
        put_column3(near, REACH, k, lever)
        if apart and branches_at(tree, k):
            put_column9(work, TURNED, k, rotation)
            put_column3(work, PLACED, k, place)
    return rotation, place


@inlined
def weigh_and_direct(constants: Array, work: Array, first: int, end: int) -> None:
    """Inertias of the links alone, and their axes."""
    for k in range(first, end):
        rotation = load_mat3(work, TURNED, k)
        inertia = sym_rotated(rotation, load_sym3(constants, layout.INERTIA, k))
        store1(work, WEIGHT, k, load1(constants, layout.MASS, k))
        store3(work, CENTER, k, rotate(rotation, load3(constants, layout.COM, k)))
        store3(work, SECOND, k, (inertia[0], inertia[1], inertia[2]))
        store3(work, SECOND + 3, k, (inertia[3], inertia[4], inertia[5]))
        axis = rotate(rotation, load3(constants, DIRECTION, k))
        store3(work, MOVES, k, scaled(load1(constants, ANGULAR, k), axis))
        store3(work, MOVES + 3, k, scaled(load1(constants, ALONG, k), axis))


@inlined
def shift_of_inertia(mass: float, h: Vec3, r: Vec3) -> Sym3:
    """What a rotational inertia gains about a point at -r.

    That is 2 (r.g) 1 - r g^T - g r^T with g = h + m r / 2.
    """
    x, y, z = plus_scaled(h, 0.5 * mass, r)
    xx = r[0] * x
    yy = r[1] * y
    zz = r[2] * z
    return (
        2.0 * (yy + zz),
        -(r[0] * y + r[1] * x),
        -(r[0] * z + r[2] * x),
        2.0 * (xx + zz),
        -(r[1] * z + r[2] * y),
        2.0 * (xx + yy),
    )


@inlined
def add_to_parents(tree: IntArray, work: Array) -> None:
    """Inertias of all that each link carries, tips to base, in registers along a branch."""
    mass = 0.0
    h = ZERO3
    J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(tree.shape[0] - 1, -1, -1):
        a, b = column3(work, SECOND, k), column3(work, SECOND + 3, k)
        mass, h = mass + work[at(WEIGHT, k)], plus(h, column3(work, CENTER, k))
        J = sym_plus(J, (a[0], a[1], a[2], b[0], b[1], b[2]))
        work[at(WEIGHT, k)] = mass
        put_column3(work, CENTER, k, h)
        put_column3(work, SECOND, k, (J[0], J[1], J[2]))
        put_column3(work, SECOND + 3, k, (J[3], J[4], J[5]))
        parent = tree[k, layout.PARENT]
        if tree[k, layout.FRAME] != layout.SAME:
            r = column3(work, REACH, k)
            J, h = sym_plus(J, shift_of_inertia(mass, h, r)), plus_scaled(h, mass, r)
        if parent == k - 1:
            continue
        if parent >= 0:
            work[at(WEIGHT, parent)] += mass
            for i in range(3):
                work[at(CENTER + i, parent)] += h[i]
            for i in range(6):
                work[at(SECOND + i, parent)] += J[i]
        mass = 0.0
        h = ZERO3
        J = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def carried_momenta(work: Array, eights: int) -> None:
    """F = (J w + h x v, m v + w x h) of S = (w, v), and S* F."""
    for k in range(eights):
        omega = load3(work, MOVES, k)
        v = load3(work, MOVES + 3, k)
        h = load3(work, CENTER, k)
        moment = plus(sym_times(load_sym3(work, SECOND, k), omega), cross(h, v))
        force = plus_scaled(cross(omega, h), load1(work, WEIGHT, k), v)
        store3(work, CARRIES, k, moment)
        store3(work, CARRIES + 3, k, force)
        store1(work, SCALE, k, dot(omega, moment) + dot(v, force))


@inlined
def composites(tree: IntArray, constants: Array, q: Array, work: Array) -> None:
    """Everything: S and F of all links, and their poses."""
    end = constants.shape[0]
    gather_coordinates(tree, q, work, 0, end)
    place_in_parents(constants, work, 0, end)
    place_in_world(tree, q, work, work, 0, end, NO_POSE)
    weigh_and_direct(constants, work, 0, end)
    add_to_parents(tree, work)
    carried_momenta(work, end)
