"""Newton-Euler inverse dynamics on eight links at a time.

Rates and forces are summed from link to link; axes, inertias, what each link's own mass needs and
what that does along the axes is computed for eight links in one register. World axes, about the
links' origins:

    w = w_p + s,  alpha = alpha_p + w_0 x s + S_w a,  s = S_w v,
    accel = accel_p + alpha_p x r + w_p x (w_p x r) + c w_p x S_v v + S_v a,

with w_0 of the joint's parent, and c = 2, but 1 for slides of a free joint, which are along axes of
the link that has turned already; then, with the first moment h = m c and J about the origin,

    f = m accel + alpha x h + w x (w x h),  n = J alpha + w x J w + h x accel.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.prefetch import prefetch, prefetch_rows
from spatialops.algebra.simd import WIDTH, at, load1, load3, load_sym3, store1, store3, stream
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    scaled,
    sym_times,
    vec3,
)
from spatialops.dynamics.composite_lanes import (
    AHEAD,
    CARRIES,
    CENTER,
    COMPOSITE_ROWS,
    FAR_AHEAD,
    MOVES,
    NO_POSE,
    REACH,
    SCALE,
    SECOND,
    WEIGHT,
    Pose,
    branches_at,
    column3,
    fits_workspace,
    gather_coordinates,
    place_in_parents,
    place_in_world,
    put_column3,
    weigh_and_direct,
)
from spatialops.dynamics.kinematics import finite_status, fits
from spatialops.tree.branches import BLOCK, GRAVITY, NUMBER

# Rows of the workspace; CARRIES has (n, f), and SCALE what they do along the axes.
OMEGA = COMPOSITE_ROWS  # 3
ALPHA = COMPOSITE_ROWS + 3  # 3
ACCEL = COMPOSITE_ROWS + 6  # 3

_TO_BASE = CARRIES + 6 - REACH  # rows from REACH on that the sweep to the base reads

Motion = tuple[Vec3, Vec3, Vec3, Vec3]


@inlined
def accelerate(
    tree: IntArray,
    constants: Array,
    v: Array,
    a: Array,
    work: Array,
    near: Array,
    first: int,
    end: int,
    before: Motion,
) -> Motion:
    """Angular velocities and accelerations of links, base to tips; the world falls upwards.

    `before` are w_0, w, alpha and accel of the link before the first, those of the last one are
    returned. For `near` see `place_in_world`.
    """
    base, omega, alpha, accel = before
    more = end < constants.shape[0]
    apart = near.shape[0] < work.shape[0]
    lifted = scaled(-1.0, column3(constants, GRAVITY, 0))
    for k in range(WIDTH * first, min(tree.shape[0], WIDTH * end)):
        if more:
            prefetch_rows(constants, (k >> 3) + AHEAD, 0, GRAVITY, k)
            prefetch(tree, k + WIDTH * AHEAD, 0)
        parent, number = tree[k, layout.PARENT], tree[k, NUMBER]
        if parent < 0:
            omega = ZERO3
            alpha = ZERO3
            accel = lifted
        elif parent != k - 1:  # else they are in registers still
            omega = column3(work, OMEGA, parent)
            alpha = column3(work, ALPHA, parent)
            accel = column3(work, ACCEL, parent)
        coriolis = v[number]
        if tree[k, layout.FRAME] != layout.SAME:
            base = omega
            coriolis = 2.0 * v[number]
            lever = column3(near, REACH, k)
            swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
            accel = plus(accel, swing)
        turn, slide = column3(near, MOVES, k), column3(near, MOVES + 3, k)
        accel = plus_scaled(plus_scaled(accel, a[number], slide), coriolis, cross(omega, slide))
        spin = scaled(v[number], turn)
        alpha = plus(plus_scaled(alpha, a[number], turn), cross(base, spin))
        omega = plus(omega, spin)
        put_column3(near, OMEGA, k, omega)
        put_column3(near, ALPHA, k, alpha)
        put_column3(near, ACCEL, k, accel)
        if apart and branches_at(tree, k):
            put_column3(work, OMEGA, k, omega)
            put_column3(work, ALPHA, k, alpha)
            put_column3(work, ACCEL, k, accel)
    return base, omega, alpha, accel


@inlined
def put_inertial_forces(work: Array, k: int) -> None:
    """What the own masses of eight links need to move so."""
    omega = load3(work, OMEGA, k)
    alpha = load3(work, ALPHA, k)
    accel = load3(work, ACCEL, k)
    h, inertia = load3(work, CENTER, k), load_sym3(work, SECOND, k)
    spin = cross(omega, sym_times(inertia, omega))
    moment = plus(plus(sym_times(inertia, alpha), spin), cross(h, accel))
    swing = plus(cross(alpha, h), cross(omega, cross(omega, h)))
    store3(work, CARRIES, k, moment)
    store3(work, CARRIES + 3, k, plus_scaled(swing, load1(work, WEIGHT, k), accel))


@inlined
def keep(work: Array, near: Array, k: int) -> None:
    """Put what sweeps read of eight links into their own rows.

    That is half of it, and memory is written three times as fast as it is read and then written.
    """
    for row in range(REACH, SECOND + 6):
        stream(work, k, WIDTH * row, load1(near, row, k))


@inlined
def move_block(
    tree: IntArray,
    constants: Array,
    q: Array,
    v: Array,
    a: Array,
    work: Array,
    near: Array,
    first: int,
    end: int,
    before: tuple[Pose, Motion],
) -> tuple[Pose, Motion]:
    """All of `move` for some eights, which have their rows in `near`."""
    gather_coordinates(tree, q, near, first, end)
    place_in_parents(constants, near, first, end)
    pose = place_in_world(tree, q, work, near, first, end, before[0])
    weigh_and_direct(constants, near, first, end)
    motion = accelerate(tree, constants, v, a, work, near, first, end, before[1])
    return pose, motion


@inlined
def move(tree: IntArray, constants: Array, q: Array, v: Array, a: Array, work: Array) -> None:
    """Poses, inertias and accelerations of all links, and the forces that their own masses need.

    One block after the other: of large trees a step of all links would wait for memory. Where the
    workspace has rows to spare, all blocks work in these: what no sweep reads again is not written
    to memory. It is written twice, since compiled for either case rows are found 5 % faster.
    """
    before = NO_POSE, (ZERO3, ZERO3, ZERO3, ZERO3)
    eights = constants.shape[0]
    if work.shape[0] == eights:
        step = BLOCK if eights > 4 * BLOCK else 4 * BLOCK  # beginning anew costs more than it saves
        for first in range(0, eights, step):
            end = min(first + step, eights)
            before = move_block(tree, constants, q, v, a, work, work, first, end, before)
            for k in range(first, end):
                put_inertial_forces(work, k)
        return
    for first in range(0, eights, BLOCK):
        end = min(first + BLOCK, eights)
        near = work[eights - first :]
        before = move_block(tree, constants, q, v, a, work, near, first, end, before)
        for k in range(first, end):
            put_inertial_forces(near, k)
            keep(work, near, k)


@inlined
def take_off_external(tree: IntArray, external: Array, work: Array) -> None:
    """Subtract external wrenches [moment; force] on bodies, which the joints need not give."""
    if external.shape[0] == 0:
        return
    for k in range(tree.shape[0]):
        b = tree[k, layout.BODY]
        if b >= 0:
            moment = minus(column3(work, CARRIES, k), vec3(external, b, 0))
            put_column3(work, CARRIES, k, moment)
            force = minus(column3(work, CARRIES + 3, k), vec3(external, b, 3))
            put_column3(work, CARRIES + 3, k, force)


@inlined
def hand_down(tree: IntArray, work: Array) -> None:
    """Forces that each link must be given for all that it carries, in registers along a branch."""
    moment, force = ZERO3, ZERO3
    for k in range(tree.shape[0] - 1, -1, -1):
        ahead = (k >> 3) - FAR_AHEAD
        if ahead >= 0:
            prefetch_rows(work, ahead, REACH, _TO_BASE, k)
            prefetch(tree, k - WIDTH * FAR_AHEAD, 0)
        moment = plus(moment, column3(work, CARRIES, k))
        force = plus(force, column3(work, CARRIES + 3, k))
        put_column3(work, CARRIES, k, moment)
        put_column3(work, CARRIES + 3, k, force)
        parent = tree[k, layout.PARENT]
        if tree[k, layout.FRAME] != layout.SAME:
            moment = plus(moment, cross(column3(work, REACH, k), force))
        if parent == k - 1:
            continue
        if parent >= 0:
            put_column3(work, CARRIES, parent, plus(column3(work, CARRIES, parent), moment))
            put_column3(work, CARRIES + 3, parent, plus(column3(work, CARRIES + 3, parent), force))
        moment, force = ZERO3, ZERO3


@kernel
def newton_euler_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    v: Array,
    a: Array,
    external: Array,
    work: Array,
    tau: Array,
) -> int:
    """Joint forces `tau` of the motion q, v, a; tables are those of `Branches`.

    Without external forces, `external` has no rows.
    """
    if not fits(tree, q, v) or not fits(tree, q, a) or tau.size != v.size:
        return layout.MISFIT
    if not fits_workspace(constants, work):
        return layout.MISFIT
    if finite_status(q) != layout.OK:  # the position of a free root enters no result
        return layout.NOT_FINITE
    move(tree, constants, q, v, a, work)
    take_off_external(tree, external, work)
    hand_down(tree, work)
    for k in range(constants.shape[0]):
        moment, force = load3(work, CARRIES, k), load3(work, CARRIES + 3, k)
        along = dot(load3(work, MOVES, k), moment) + dot(load3(work, MOVES + 3, k), force)
        store1(work, SCALE, k, along)
    for k in range(tree.shape[0]):
        number = tree[k, NUMBER]
        tau[number] = work[at(SCALE, k)] + constants[at(layout.ARMATURE, k)] * a[number]
    return finite_status(tau)


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(newton_euler_kernel, arguments)


NEWTON_EULER = FastCall(newton_euler_kernel, _entry)
