"""Hybrid dynamics, O(N): some joints' accelerations are given, the others' forces.

As the articulated-body sweep, but a joint that is moved does not give way: with c' = c + H* dv,

    P+ = P,  z+ = z + P c'   for a joint that is moved,
    P+ = P - U D^-1 U*,  z+ = z + P c + U D^-1 u   for the others,

and once accelerations are known, base to tips, a joint that is moved needs tau = H (P a + z) and
what its armature takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    BoolArray,
    IntArray,
    array,
    not_finite,
    several,
    vector,
)
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import (
    add3,
    cross,
    dot,
    mat3,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.articulated_body import (
    about_parent,
    add_inertia,
    body_inertia_and_bias,
    eliminate_joint,
    joint_force,
    minus_gain,
    singular_joint,
)
from spatialops.dynamics.kinematics import finite_status, poses_kernel, velocities_kernel
from spatialops.dynamics.newton_euler import (
    NO_EXTERNAL,
    carried_acceleration,
    lifted,
    put_acceleration,
    subtract_external,
)
from spatialops.tree.model import Model, not_a_model


@kernel
def gather_forces_kernel(
    tree: IntArray, links: Array, moved: BoolArray, tau: Array, work: Array, a: Array
) -> int:
    """Tips to base: P, z, U and D^-1 (tau - H z - U* c) of all links; `a` of moved joints is read.

    Own inertias, bias forces and velocity-dependent accelerations must be in `work`.
    """
    status = layout.OK
    for k in range(tree.shape[0] - 1, -1, -1):
        J = sym3(work, k, layout.ART_J)
        B = mat3(work, k, layout.ART_B)
        C = sym3(work, k, layout.ART_C)
        moment, force = vec3(work, k, layout.MOMENT), vec3(work, k, layout.FORCE)
        gain_m, gain_f, d = eliminate_joint(tree, links, work, k, J, B, C)
        alpha, accel = vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL)
        if moved[k]:
            put_acceleration(tree, links, work, k, alpha, accel, a[k])
            alpha, accel = vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL)
        elif not d > 0.0:
            status = layout.SINGULAR
        u = 0.0
        if not moved[k]:
            u = tau[k] - joint_force(tree, links, work, k, moment, force)
            u = (u - dot(gain_m, alpha) - dot(gain_f, accel)) / d
            work[k, layout.RESIDUAL] = u
        parent = tree[k, layout.PARENT]
        if parent < 0:
            continue
        moment = plus(moment, plus(sym_times(J, alpha), rotate(B, accel)))
        force = plus(force, plus(rotate_back(B, alpha), sym_times(C, accel)))
        lever = vec3(work, k, layout.LEVER)
        moment = plus(moment, cross(lever, force))
        J, B, gain_m = about_parent(tree, work, k, J, B, C, gain_m, gain_f)
        if not moved[k]:
            moment = plus_scaled(moment, u, gain_m)
            force = plus_scaled(force, u, gain_f)
            J, B, C = minus_gain(J, B, C, 1.0 / d, gain_m, gain_f)
        add_inertia(work, parent, J, B, C)
        add3(work, parent, layout.MOMENT, moment)
        add3(work, parent, layout.FORCE, force)
    return status


@kernel
def scatter_accelerations_kernel(
    tree: IntArray, links: Array, moved: BoolArray, tau: Array, work: Array, a: Array
) -> None:
    """Base to tips: accelerations of free joints into `a`, forces of moved ones into `tau`."""
    base = lifted(links)
    for k in range(tree.shape[0]):
        own_alpha, own_accel = vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL)
        alpha, accel = carried_acceleration(tree, base, work, k)
        rate = 0.0
        if not moved[k]:
            # U* of the parent's part alone: RESIDUAL has that of the link's own.
            carried = dot(vec3(work, k, layout.GAIN_M), alpha)
            carried += dot(vec3(work, k, layout.GAIN_F), accel)
            carried -= dot(vec3(work, k, layout.GAIN_M), own_alpha)
            carried -= dot(vec3(work, k, layout.GAIN_F), own_accel)
            rate = work[k, layout.RESIDUAL] - work[k, layout.D_INVERSE] * carried
            a[k] = rate
        put_acceleration(tree, links, work, k, alpha, accel, rate)
        if moved[k]:
            J = sym3(work, k, layout.ART_J)
            B = mat3(work, k, layout.ART_B)
            moment = plus(sym_times(J, alpha), rotate(B, accel))
            force = plus(rotate_back(B, alpha), sym_times(sym3(work, k, layout.ART_C), accel))
            moment = plus(moment, vec3(work, k, layout.MOMENT))
            force = plus(force, vec3(work, k, layout.FORCE))
            tau[k] = joint_force(tree, links, work, k, moment, force)
            tau[k] += links[k, layout.ARMATURE] * a[k]


@kernel
def hybrid_kernel(
    tree: IntArray,
    links: Array,
    moved: BoolArray,
    tau: Array,
    external: Array,
    work: Array,
    a: Array,
) -> int:
    """Hybrid dynamics; poses and velocities must be in `work`. Completes `tau` and `a`."""
    body_inertia_and_bias(links, work)
    subtract_external(tree, external, work)
    status = gather_forces_kernel(tree, links, moved, tau, work, a)
    scatter_accelerations_kernel(tree, links, moved, tau, work, a)
    return finite_status(a) if status == layout.OK else status


def hybrid_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    moved: Sequence[str],
    tau: ArrayLike,
    a: ArrayLike,
    external: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Accelerations of free joints and forces of moved ones, in O(N).

    Forward dynamics where no joint is moved, inverse dynamics where all are.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    moved : sequence of str
        Names of joints whose accelerations are given.
    tau : (nv,) array_like
        Generalised forces, N or N m; those of moved joints are not read.
    a : (nv,) array_like
        Time derivatives of `v`; those of the other joints are not read.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.

    Returns
    -------
    a : (nv,) array
        Of all joints.
    tau : (nv,) array
        Of all joints.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown joint.
    ModelError
        If a joint that is not moved has nothing to move.

    References
    ----------
    A. Jain and G. Rodriguez, Recursive dynamics for flexible and prescribed joints, 1993; R.
    Featherstone, Rigid Body Dynamics Algorithms, 2008, section 9.2.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> first = model.joint_names[0]
    >>> a, tau = so.hybrid_dynamics(model, q, v, moved=[first], tau=[0, 0.2], a=[0.5, 0])
    >>> bool(np.allclose(so.forward_dynamics(model, q, v, tau), a)), float(tau[1])
    (True, 0.2)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    nv = model.nv
    q = vector(q, model.nq, "q")
    v = vector(v, nv, "v")
    tau = vector(tau, nv, "tau").copy()
    a = vector(a, nv, "a").copy()
    wrench = NO_EXTERNAL if external is None else array(external, (model.n_bodies, 6), "external")
    mask = _mask(model, moved)
    known = np.concatenate([v, wrench.ravel(), np.where(mask, a, tau)])
    work = np.empty((nv, layout.WORK_COLUMNS))
    placed = poses_kernel(model.tree, model.links, q, work) == layout.OK
    if not placed or not np.isfinite(known).all():
        raise not_finite(q=q, v=v, tau=tau, a=a, external=external)
    velocities_kernel(model.tree, model.links, v, work)
    status = hybrid_kernel(model.tree, model.links, mask, tau, wrench, work, a)
    if status == layout.SINGULAR:
        raise singular_joint(model, work)
    if status != layout.OK:
        raise not_finite(q=q, v=v, tau=tau, a=a, external=external)
    return a, tau


def _mask(model: Model, moved: Sequence[str]) -> BoolArray:
    """Which velocities belong to joints that are moved."""
    mask = np.zeros(model.nv, dtype=np.bool_)
    for name in several(moved, "moved", "joints' names"):
        mask[model.v_slice(name)] = True
    return mask
