"""Articulated-body forward dynamics with all that links do alike done for eight at a time.

Accelerations are a' more than those of the same velocities with joints that do not accelerate.
The latter, and the forces z that they need, are those of Newton-Euler, so that of the equations at
the head of `articulated_body` all terms in c are zero:

    u = tau - H z,  phi P+ phi* = phi P phi* - U' D^-1 U'*,  phi z+ = phi z + U' D^-1 u,
    dv = D^-1 u - D^-1 U'* a'(parent),  a' = phi* a'(parent) + H* dv

with U' = phi U. Links are numbered depth first: what a link carries is handed to the one before it
in registers, and only where branches meet through memory. A link's own inertia is ten numbers until
it becomes an articulated one.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Sym3, Vec3
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.prefetch import prefetch, prefetch_rows
from spatialops.algebra.simd import WIDTH, at
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    scaled,
    sym_plus,
    sym_times,
)
from spatialops.dynamics.articulated_body import minus_gain, shifted_inertia
from spatialops.dynamics.composite_lanes import (
    AHEAD,
    CARRIES,
    CENTER,
    FAR_AHEAD,
    MOVES,
    PLACED,
    REACH,
    SCALE,
    SECOND,
    TURNED,
    WEIGHT,
    branches_at,
    column3,
    column9,
    fits_workspace,
    put_column3,
    put_column9,
)
from spatialops.dynamics.kinematics import finite_status, fits
from spatialops.dynamics.newton_euler_lanes import (
    ACCEL,
    ALPHA,
    OMEGA,
    move,
    take_off_external,
)
from spatialops.tree.branches import LAST, NUMBER

# Of a link where branches meet, B and C of what all but its first branch hand to it; its pose and
# spin are needed no more by then.
_MET_B = TURNED  # 9
_MET_C, _MET_C3 = PLACED, OMEGA  # 3 each
_PULL = CARRIES  # 6: D^-1 phi U, once the bias force has been handed on
_RESIDUAL = SCALE  # D^-1 (tau - H z)

# Rows from REACH on that the sweeps read.
_TO_BASE = SECOND + 6 - REACH
_TO_TIPS = SCALE + 1 - REACH

Inertia = tuple[Sym3, Mat3, Sym3]

_NONE: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_NOTHING: Mat3 = (ZERO3, ZERO3, ZERO3)


@inlined
def own_inertia(work: Array, k: int) -> Inertia:
    """[[J, m c~], [., m 1]] of link k alone."""
    a, b = column3(work, SECOND, k), column3(work, SECOND + 3, k)
    x, y, z = column3(work, CENTER, k)
    mass = work[at(WEIGHT, k)]
    J = a[0], a[1], a[2], b[0], b[1], b[2]
    B = (0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)
    return J, B, (mass, 0.0, 0.0, mass, 0.0, mass)


@inlined
def sum_of_inertias(a: Inertia, b: Inertia) -> Inertia:
    """Block by block."""
    B = plus(a[1][0], b[1][0]), plus(a[1][1], b[1][1]), plus(a[1][2], b[1][2])
    return sym_plus(a[0], b[0]), B, sym_plus(a[2], b[2])


@inlined
def met_inertia(work: Array, k: int) -> tuple[Mat3, Sym3]:
    """B and C that branches have left at link k."""
    a, b = column3(work, _MET_C, k), column3(work, _MET_C3, k)
    return column9(work, _MET_B, k), (a[0], a[1], a[2], b[0], b[1], b[2])


@inlined
def leave_at(work: Array, k: int, first: bool, inertia: Inertia, moment: Vec3, force: Vec3) -> None:
    """Add to link k what a branch hands to it that does not start right after it."""
    J, B, C = inertia
    if not first:
        _, B, C = sum_of_inertias((_NONE, *met_inertia(work, k)), (_NONE, B, C))
    put_column9(work, _MET_B, k, B)
    put_column3(work, _MET_C, k, (C[0], C[1], C[2]))
    put_column3(work, _MET_C3, k, (C[3], C[4], C[5]))
    put_column3(work, SECOND, k, plus(column3(work, SECOND, k), (J[0], J[1], J[2])))
    put_column3(work, SECOND + 3, k, plus(column3(work, SECOND + 3, k), (J[3], J[4], J[5])))
    put_column3(work, CARRIES, k, plus(column3(work, CARRIES, k), moment))
    put_column3(work, CARRIES + 3, k, plus(column3(work, CARRIES + 3, k), force))


@inlined
def gain_of(motion: int, turn: Vec3, slide: Vec3, inertia: Inertia) -> tuple[Vec3, Vec3]:
    """U = P S of S = (turn, slide)."""
    J, B, C = inertia
    if motion == layout.ROTARY:
        return sym_times(J, turn), rotate_back(B, turn)
    if motion == layout.LINEAR:
        return rotate(B, slide), sym_times(C, slide)
    return (
        plus(sym_times(J, turn), rotate(B, slide)),
        plus(rotate_back(B, turn), sym_times(C, slide)),
    )


@inlined
def sweep_to_base(tree: IntArray, constants: Array, tau: Array, work: Array) -> int:
    """Articulated inertias with bias forces, tips to base: D^-1 u and D^-1 U' of all links."""
    status = layout.OK
    carried = _NONE, _NOTHING, _NONE
    moment_up = ZERO3
    force_up = ZERO3
    n = tree.shape[0]
    for k in range(n - 1, -1, -1):
        prefetch_rows(work, (k >> 3) - AHEAD, REACH, _TO_BASE, k)
        parent, last = tree[k, layout.PARENT], tree[k, LAST]
        inertia = sum_of_inertias(own_inertia(work, k), carried)
        if branches_at(tree, k):
            inertia = sum_of_inertias(inertia, (_NONE, *met_inertia(work, k)))
        turn, slide = column3(work, MOVES, k), column3(work, MOVES + 3, k)
        gain_m, gain_f = gain_of(tree[k, layout.MOTION], turn, slide, inertia)
        d = dot(turn, gain_m) + dot(slide, gain_f) + constants[at(layout.ARMATURE, k)]
        if not d > 0.0:
            status = layout.SINGULAR
        f = 1.0 / d
        moment = plus(column3(work, CARRIES, k), moment_up)
        force = plus(column3(work, CARRIES + 3, k), force_up)
        u = f * (tau[tree[k, NUMBER]] - (dot(turn, moment) + dot(slide, force)))
        work[at(_RESIDUAL, k)] = u
        J, B, C = inertia
        if tree[k, layout.FRAME] != layout.SAME:
            lever = column3(work, REACH, k)
            moment = plus(moment, cross(lever, force))
            gain_m = plus(gain_m, cross(lever, gain_f))
            J, B = shifted_inertia(J, B, C, lever)
        put_column3(work, _PULL, k, scaled(f, gain_m))
        put_column3(work, _PULL + 3, k, scaled(f, gain_f))
        carried = minus_gain(J, B, C, f, gain_m, gain_f)
        moment_up = plus_scaled(moment, u, gain_m)
        force_up = plus_scaled(force, u, gain_f)
        if parent == k - 1:
            continue
        if parent >= 0:
            leave_at(work, parent, last == tree[parent, LAST], carried, moment_up, force_up)
        carried = _NONE, _NOTHING, _NONE
        moment_up = ZERO3
        force_up = ZERO3
    return status


@inlined
def sweep_to_tips(tree: IntArray, work: Array, a: Array) -> None:
    """Accelerations of joints, and what they add to those of links, base to tips."""
    alpha = ZERO3
    accel = ZERO3
    for k in range(tree.shape[0]):
        ahead = (k >> 3) + FAR_AHEAD
        if ahead < work.shape[0]:
            prefetch_rows(work, ahead, REACH, _TO_TIPS, k)
            prefetch(tree, k + WIDTH * FAR_AHEAD, 0)
        parent = tree[k, layout.PARENT]
        if parent < 0:
            alpha = ZERO3
            accel = ZERO3
        elif parent != k - 1:  # else they are in registers still
            alpha = column3(work, ALPHA, parent)
            accel = column3(work, ACCEL, parent)
        pull = dot(column3(work, _PULL, k), alpha) + dot(column3(work, _PULL + 3, k), accel)
        rate = work[at(_RESIDUAL, k)] - pull
        a[tree[k, NUMBER]] = rate
        accel = plus(accel, cross(alpha, column3(work, REACH, k)))
        accel = plus_scaled(accel, rate, column3(work, MOVES + 3, k))
        alpha = plus_scaled(alpha, rate, column3(work, MOVES, k))
        if branches_at(tree, k):
            put_column3(work, ALPHA, k, alpha)
            put_column3(work, ACCEL, k, accel)


@kernel
def articulated_lanes_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    a: Array,
) -> int:
    """Accelerations `a` under forces `tau`; tables are those of `Branches`.

    Without external forces, `external` has no rows.
    """
    if not fits(tree, q, v) or not fits(tree, q, tau) or a.size != v.size:
        return layout.MISFIT
    if not fits_workspace(constants, work):
        return layout.MISFIT
    if finite_status(q) != layout.OK:  # the position of a free root enters no result
        return layout.NOT_FINITE
    for k in range(a.size):
        a[k] = 0.0
    move(tree, constants, q, v, a, work)
    take_off_external(tree, external, work)
    status = sweep_to_base(tree, constants, tau, work)
    sweep_to_tips(tree, work, a)
    return finite_status(a) if status == layout.OK else status


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(articulated_lanes_kernel, arguments)


FORWARD_DYNAMICS = FastCall(articulated_lanes_kernel, _entry)
