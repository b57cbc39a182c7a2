"""Articulated-body forward dynamics, O(N), and its factors, of which Lambda is made.

Per link, tips to base ([J] appendix; the innovations form
M^-1 = (I - H psi K)* D^-1 (I - H psi K)):

    U = P H*,  D = H U (+ armature),  u = tau - H z,  P+ = P - U D^-1 U*,  z+ = z + P+ c + U D^-1 u,
    P(parent) += phi P+ phi*,  z(parent) += phi z+

and base to tips a' = phi* a(parent) + c,  dv = (u - U* a') / D,  a = a' + H* dv.

The kernels wait for one another's results more than they compute, link after link. Everything that
needs neither the division nor the parent's acceleration is therefore taken out of these chains,
with U' = phi U and u' = u - U* c:

    phi P+ phi* = phi P phi* - U' D^-1 U'*,  phi z+ = phi (z + P c) + U' D^-1 u',
    dv = D^-1 u' - D^-1 U'* a(parent)
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    IntArray,
    Mat3,
    Sym3,
    Vec3,
)
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    mat3,
    mat_minus_outer,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    put_sym3,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_minus_outer,
    sym_plus,
    sym_rotated,
    sym_times,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of, finite_status, fits, move_link, place_link
from spatialops.dynamics.newton_euler import (
    lifted,
    put_acceleration,
    subtract_external,
)
from spatialops.errors import ModelError
from spatialops.tree.model import Model

_NOTHING: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_INERTIA = _NOTHING, (ZERO3, ZERO3, ZERO3), _NOTHING


@inlined
def rigid_inertia(links: Array, work: Array, k: int) -> tuple[Sym3, Mat3, Sym3]:
    """Link k's own inertia [[I, m c~], [., m 1]], in world axes about the link's origin."""
    mass = links[k, layout.MASS]
    if mass == 0.0:
        return NO_INERTIA
    rotation = mat3(work, k, layout.ROTATION)
    x, y, z = scaled(mass, rotate(rotation, vec3(links, k, layout.COM)))
    J = sym_rotated(rotation, sym3(links, k, layout.INERTIA))
    return J, ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)), (mass, 0.0, 0.0, mass, 0.0, mass)


@inlined
def put_rigid_inertia(links: Array, work: Array, k: int) -> None:
    """The same as start of the articulated one."""
    J, B, C = rigid_inertia(links, work, k)
    put_sym3(work, k, layout.ART_J, J)
    put_mat3(work, k, layout.ART_B, B)
    put_sym3(work, k, layout.ART_C, C)


@inlined
def shifted_inertia(J: Sym3, B: Mat3, C: Sym3, r: Vec3) -> tuple[Sym3, Mat3]:
    """Shift phi P phi*: with X = r~, B' = B + X C and J' = J + (X B^T)^T + X B'^T (C stays)."""
    x, y, z = r
    c0 = (C[0], C[1], C[2])
    c1 = (C[1], C[3], C[4])
    c2 = (C[2], C[4], C[5])
    b0 = (
        B[0][0] + y * c2[0] - z * c1[0],
        B[0][1] + y * c2[1] - z * c1[1],
        B[0][2] + y * c2[2] - z * c1[2],
    )
    b1 = (
        B[1][0] + z * c0[0] - x * c2[0],
        B[1][1] + z * c0[1] - x * c2[1],
        B[1][2] + z * c0[2] - x * c2[2],
    )
    b2 = (
        B[2][0] + x * c1[0] - y * c0[0],
        B[2][1] + x * c1[1] - y * c0[1],
        B[2][2] + x * c1[2] - y * c0[2],
    )
    # (X B^T)_ij = (r x B_j)_i and (X B'^T)_ij = (r x B'_j)_i with B_j row j.
    o0 = cross(r, B[0])
    o1 = cross(r, B[1])
    o2 = cross(r, B[2])
    n0 = cross(r, b0)
    n1 = cross(r, b1)
    n2 = cross(r, b2)
    j = (
        J[0] + o0[0] + n0[0],
        J[1] + o0[1] + n1[0],
        J[2] + o0[2] + n2[0],
        J[3] + o1[1] + n1[1],
        J[4] + o1[2] + n2[1],
        J[5] + o2[2] + n2[2],
    )
    return j, (b0, b1, b2)


@inlined
def add_inertia(work: Array, k: int, J: Sym3, B: Mat3, C: Sym3) -> None:
    for i in range(6):
        work[k, layout.ART_J + i] += J[i]
        work[k, layout.ART_C + i] += C[i]
    add3(work, k, layout.ART_B, B[0])
    add3(work, k, layout.ART_B + 3, B[1])
    add3(work, k, layout.ART_B + 6, B[2])


@inlined
def joint_gain(
    tree: IntArray, links: Array, work: Array, k: int, J: Sym3, B: Mat3, C: Sym3
) -> tuple[Vec3, Vec3, float]:
    """U = (moment, force) and D of link k from its articulated inertia."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    if motion == layout.ROTARY:
        gain_m, gain_f = sym_times(J, axis), rotate_back(B, axis)
        d = dot(axis, gain_m) + links[k, layout.ARMATURE]
    elif motion == layout.LINEAR:
        gain_m, gain_f = rotate(B, axis), sym_times(C, axis)
        d = dot(axis, gain_f) + links[k, layout.ARMATURE]
    else:
        slide = scaled(links[k, layout.PITCH], axis)
        gain_m = plus(sym_times(J, axis), rotate(B, slide))
        gain_f = plus(rotate_back(B, axis), sym_times(C, slide))
        d = dot(axis, gain_m) + dot(slide, gain_f) + links[k, layout.ARMATURE]
    return gain_m, gain_f, d


@inlined
def eliminate_joint(
    tree: IntArray, links: Array, work: Array, k: int, J: Sym3, B: Mat3, C: Sym3
) -> tuple[Vec3, Vec3, float]:
    """U = (moment, force) and D of link k from its articulated inertia; U and 1 / D into `work`."""
    gain_m, gain_f, d = joint_gain(tree, links, work, k, J, B, C)
    put3(work, k, layout.GAIN_M, gain_m)
    put3(work, k, layout.GAIN_F, gain_f)
    work[k, layout.D_INVERSE] = 1.0 / d
    return gain_m, gain_f, d


@inlined
def about_parent(
    tree: IntArray, work: Array, k: int, J: Sym3, B: Mat3, C: Sym3, gain_m: Vec3, gain_f: Vec3
) -> tuple[Sym3, Mat3, Vec3]:
    """Inertia and U of link k about its parent's origin."""
    if tree[k, layout.FRAME] == layout.SAME:
        return J, B, gain_m
    lever = vec3(work, k, layout.LEVER)
    J, B = shifted_inertia(J, B, C, lever)
    return J, B, plus(gain_m, cross(lever, gain_f))


@inlined
def minus_gain(
    J: Sym3, B: Mat3, C: Sym3, f: float, gain_m: Vec3, gain_f: Vec3
) -> tuple[Sym3, Mat3, Sym3]:
    """P - U f U*."""
    return (
        sym_minus_outer(J, f, gain_m),
        mat_minus_outer(B, f, gain_m, gain_f),
        sym_minus_outer(C, f, gain_f),
    )


@inlined
def place_and_weigh(tree: IntArray, links: Array, q: Array, work: Array) -> int:
    """Poses of all links and their own inertias.

    In one sweep: of trees that are larger than the cache, memory is what a sweep waits for.
    """
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
        put_rigid_inertia(links, work, k)
    return finite_status(q)


@inlined
def factor_link(tree: IntArray, links: Array, work: Array, k: int) -> int:
    """U and D of link k, and what it leaves to its parent; what it carries must have done so."""
    J = sym3(work, k, layout.ART_J)
    B = mat3(work, k, layout.ART_B)
    C = sym3(work, k, layout.ART_C)
    gain_m, gain_f, d = eliminate_joint(tree, links, work, k, J, B, C)
    parent = tree[k, layout.PARENT]
    if parent >= 0:
        J, B, gain_m = about_parent(tree, work, k, J, B, C, gain_m, gain_f)
        J, B, C = minus_gain(J, B, C, 1.0 / d, gain_m, gain_f)
        add_inertia(work, parent, J, B, C)
    return layout.OK if d > 0.0 else layout.SINGULAR


@inlined
def factor(tree: IntArray, links: Array, work: Array) -> int:
    """Articulated inertias, U and D of all links; their own inertias must be in `work`."""
    status = layout.OK
    for k in range(tree.shape[0] - 1, -1, -1):
        if factor_link(tree, links, work, k) != layout.OK:
            status = layout.SINGULAR
    return status


@kernel
def factor_kernel(tree: IntArray, links: Array, work: Array) -> int:
    """Articulated inertias, U and D of all links; poses must be in `work`."""
    for k in range(tree.shape[0]):
        put_rigid_inertia(links, work, k)
    return factor(tree, links, work)


@kernel
def factor_from(tree: IntArray, links: Array, work: Array, first: int) -> None:
    """U and D of link `first` and of those behind it, which hold all that hangs on them.

    Poses must be in `work`. Inertias of the links before are left as sums that mean nothing.
    """
    for k in range(first, tree.shape[0]):
        put_rigid_inertia(links, work, k)
    for k in range(tree.shape[0] - 1, first - 1, -1):
        factor_link(tree, links, work, k)


@inlined
def joint_force(
    tree: IntArray, links: Array, work: Array, k: int, moment: Vec3, force: Vec3
) -> float:
    """H (moment, force): what a wrench at link k's origin does along its axis."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    if motion == layout.ROTARY:
        return dot(axis, moment)
    if motion == layout.LINEAR:
        return dot(axis, force)
    return dot(axis, moment) + links[k, layout.PITCH] * dot(axis, force)


@inlined
def acceleration_kernel(tree: IntArray, links: Array, base: Vec3, work: Array, a: Array) -> None:
    """Third sweep, base to tips: accelerations of joints, and of links for their velocity parts."""
    for k in range(tree.shape[0]):
        parent = tree[k, layout.PARENT]
        alpha = ZERO3
        accel = base
        if parent >= 0:
            alpha, accel = vec3(work, parent, layout.ALPHA), vec3(work, parent, layout.ACCEL)
        a[k] = work[k, layout.RESIDUAL] - (
            dot(vec3(work, k, layout.PULL_M), alpha) + dot(vec3(work, k, layout.PULL_F), accel)
        )
        accel = plus(
            plus(vec3(work, k, layout.ACCEL), accel), cross(alpha, vec3(work, k, layout.LEVER))
        )
        put_acceleration(
            tree, links, work, k, plus(vec3(work, k, layout.ALPHA), alpha), accel, a[k]
        )


@inlined
def weigh_link(links: Array, work: Array, k: int) -> None:
    """Own inertia and bias force of link k, in world axes about its origin.

    n = w x I w and f = w x (w x m c).
    """
    put_rigid_inertia(links, work, k)
    omega, B = vec3(work, k, layout.OMEGA), mat3(work, k, layout.ART_B)
    spin = cross(omega, sym_times(sym3(work, k, layout.ART_J), omega))
    put3(work, k, layout.MOMENT, spin)
    put3(work, k, layout.FORCE, cross(omega, cross(omega, (B[2][1], B[0][2], B[1][0]))))


@inlined
def body_inertia_and_bias(links: Array, work: Array) -> None:
    """Own inertia and own bias force of every link; poses and velocities must be in `work`."""
    for k in range(links.shape[0]):
        weigh_link(links, work, k)


@inlined
def backward_kernel(tree: IntArray, links: Array, tau: Array, work: Array) -> int:
    """Second sweep, tips to base: articulated inertias with bias forces, U, D, D^-1 u' and D^-1 U'.

    What a link hands to its parent stays in registers where the parent comes next (7 % of the
    whole), else it is added to the parent's columns."""
    status = layout.OK
    J_up, B_up, C_up = NO_INERTIA
    moment_up = ZERO3
    force_up = ZERO3
    for k in range(tree.shape[0] - 1, -1, -1):
        J, C = (
            sym_plus(sym3(work, k, layout.ART_J), J_up),
            sym_plus(sym3(work, k, layout.ART_C), C_up),
        )
        B = mat3(work, k, layout.ART_B)
        B = plus(B[0], B_up[0]), plus(B[1], B_up[1]), plus(B[2], B_up[2])
        gain_m, gain_f, d = eliminate_joint(tree, links, work, k, J, B, C)
        if not d > 0.0:
            status = layout.SINGULAR
        moment, force = (
            plus(vec3(work, k, layout.MOMENT), moment_up),
            plus(vec3(work, k, layout.FORCE), force_up),
        )
        alpha, accel = vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL)
        f, parent = 1.0 / d, tree[k, layout.PARENT]
        u = f * (
            tau[k]
            - joint_force(tree, links, work, k, moment, force)
            - (dot(gain_m, alpha) + dot(gain_f, accel))
        )
        work[k, layout.RESIDUAL] = u
        moment = plus(moment, plus(sym_times(J, alpha), rotate(B, accel)))
        force = plus(force, plus(rotate_back(B, alpha), sym_times(C, accel)))
        lever = vec3(work, k, layout.LEVER)
        J, B, gain_m = about_parent(tree, work, k, J, B, C, gain_m, gain_f)
        J_up, B_up, C_up = minus_gain(J, B, C, f, gain_m, gain_f)
        put3(work, k, layout.PULL_M, scaled(f, gain_m))
        put3(work, k, layout.PULL_F, scaled(f, gain_f))
        moment_up = plus_scaled(plus(moment, cross(lever, force)), u, gain_m)
        force_up = plus_scaled(force, u, gain_f)
        if parent == k - 1:
            continue
        if parent >= 0:
            add_inertia(work, parent, J_up, B_up, C_up)
            add3(work, parent, layout.MOMENT, moment_up)
            add3(work, parent, layout.FORCE, force_up)
        J_up, B_up, C_up = NO_INERTIA
        moment_up = ZERO3
        force_up = ZERO3
    return status


@inlined
def sweep_kernel(
    tree: IntArray, links: Array, tau: Array, external: Array, work: Array, a: Array
) -> int:
    """Second and third sweep; own inertias and bias forces must be in `work`."""
    subtract_external(tree, external, work)
    status = backward_kernel(tree, links, tau, work)
    acceleration_kernel(tree, links, lifted(links), work, a)
    return finite_status(a) if status == layout.OK else status


@kernel
def articulated_body_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    a: Array,
) -> int:
    """Forward dynamics; leaves poses, velocities and the factors U, D in `work`."""
    if not fits(tree, q, v) or not fits(tree, q, tau) or a.size != v.size:
        return layout.MISFIT
    if work.shape[0] != v.size or work.shape[1] != layout.WORK_COLUMNS:
        return layout.MISFIT
    if finite_status(q) != layout.OK:  # the position of a free root enters no result
        return layout.NOT_FINITE
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
    body_inertia_and_bias(links, work)
    return sweep_kernel(tree, links, tau, external, work, a)


def singular_joint(model: Model, work: Array) -> ModelError:
    """The error that names the first joint whose D is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        d = 1.0 / work[:, layout.D_INVERSE]
    bad = np.flatnonzero(~((d > 0.0) & np.isfinite(d)))
    k = int(bad[-1]) if bad.size else 0
    return ModelError(
        f"joint {model.joint_of_link(k)!r}: nothing to move along its axis (singular mass matrix)"
    )
