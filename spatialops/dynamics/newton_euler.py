"""Newton-Euler inverse dynamics: the joint forces that a demanded motion needs, O(N)."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3, array, not_finite, output, vector
from spatialops._door import Door, enter
from spatialops._jit import entrance, inlined, kernel
from spatialops._layout import (
    ACCEL,
    ALPHA,
    ARMATURE,
    BODY,
    COM,
    FORCE,
    GRAVITY,
    INERTIA,
    LEVER,
    LINEAR,
    MASS,
    MISFIT,
    MOMENT,
    MOTION,
    NOT_FINITE,
    OK,
    OMEGA,
    PARENT,
    PITCH,
    ROTARY,
    ROTATION,
)
from spatialops.algebra.vectors import (
    add3,
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
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of, finite_status, fits, move_link, place_link
from spatialops.tree.model import Model


@inlined
def lifted(links: Array) -> Vec3:
    """Acceleration of the world that stands in for gravity."""
    return -links[0, GRAVITY], -links[0, GRAVITY + 1], -links[0, GRAVITY + 2]


@inlined
def carried_acceleration(tree: IntArray, base: Vec3, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Acceleration of link k but for its own joint's: its velocity-dependent part and the parent's (or `base`)."""
    parent, alpha, accel = tree[k, PARENT], vec3(work, k, ALPHA), vec3(work, k, ACCEL)
    if parent < 0:
        return alpha, plus(accel, base)
    above = vec3(work, parent, ALPHA)
    accel = plus(plus(accel, vec3(work, parent, ACCEL)), cross(above, vec3(work, k, LEVER)))
    return plus(alpha, above), accel


@inlined
def put_acceleration(tree: IntArray, links: Array, work: Array, k: int, alpha: Vec3, accel: Vec3, rate: float) -> None:
    """Write link k's acceleration: what it is carried with, and `rate` along its axis (a' + H* rate)."""
    motion, axis = tree[k, MOTION], axis_of(tree, work, k)
    if motion != LINEAR:
        alpha = plus_scaled(alpha, rate, axis)
    if motion != ROTARY:
        accel = plus_scaled(accel, rate if motion == LINEAR else links[k, PITCH] * rate, axis)
    put3(work, k, ALPHA, alpha)
    put3(work, k, ACCEL, accel)


@inlined
def accelerate_link(tree: IntArray, links: Array, base: Vec3, a: Array, work: Array, k: int) -> None:
    """Full acceleration of link k in place of its velocity-dependent part; `base` is that of the world."""
    alpha, accel = carried_acceleration(tree, base, work, k)
    put_acceleration(tree, links, work, k, alpha, accel, a[k])


@kernel
def accelerate_kernel(tree: IntArray, links: Array, base: Vec3, a: Array, work: Array) -> None:
    """Full accelerations of all links; velocities and their parts of the accelerations must be in `work`."""
    for k in range(tree.shape[0]):
        accelerate_link(tree, links, base, a, work, k)


@inlined
def put_inertial_force(links: Array, work: Array, k: int, alpha: Vec3, accel: Vec3) -> None:
    """Force and moment about its origin that link k's own mass needs to accelerate so.

    f = m (a + alpha x c + w x (w x c));  n = I alpha + w x I w + m c x a, with I about the origin.
    """
    mass = links[k, MASS]
    if mass == 0.0:
        put3(work, k, MOMENT, (0.0, 0.0, 0.0))
        put3(work, k, FORCE, (0.0, 0.0, 0.0))
        return
    rotation, omega = mat3(work, k, ROTATION), vec3(work, k, OMEGA)
    com, inertia = rotate(rotation, vec3(links, k, COM)), sym3(links, k, INERTIA)
    local_omega, local_alpha = rotate_back(rotation, omega), rotate_back(rotation, alpha)
    gyro = plus(sym_times(inertia, local_alpha), cross(local_omega, sym_times(inertia, local_omega)))
    force = scaled(mass, plus(accel, plus(cross(alpha, com), cross(omega, cross(omega, com)))))
    put3(work, k, MOMENT, plus_scaled(rotate(rotation, gyro), mass, cross(com, accel)))
    put3(work, k, FORCE, force)


@inlined
def subtract_external(tree: IntArray, external: Array, work: Array) -> None:
    """External wrenches [moment; force] at the bodies' origins are force that the joints need not give."""
    if external.shape[0] == 0:
        return
    for k in range(tree.shape[0]):
        b = tree[k, BODY]
        if b < 0:
            continue
        put3(work, k, MOMENT, minus(vec3(work, k, MOMENT), vec3(external, b, 0)))
        put3(work, k, FORCE, minus(vec3(work, k, FORCE), vec3(external, b, 3)))


@kernel
def newton_euler_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    a: Array,
    external: Array,
    work: Array,
    tau: Array,
) -> int:
    """Joint forces `tau` of the motion q, v, a; `external` has no rows where there is no external force."""
    if not fits(tree, q, v) or not fits(tree, q, a) or work.shape[0] != v.size or tau.size != v.size:
        return MISFIT
    if finite_status(q) != OK:  # the position of a free root enters no result
        return NOT_FINITE
    n, base = tree.shape[0], lifted(links)
    for k in range(n):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
        accelerate_link(tree, links, base, a, work, k)
        put_inertial_force(links, work, k, vec3(work, k, ALPHA), vec3(work, k, ACCEL))
    subtract_external(tree, external, work)
    for k in range(n - 1, -1, -1):
        parent, motion, axis = tree[k, PARENT], tree[k, MOTION], axis_of(tree, work, k)
        moment, force = vec3(work, k, MOMENT), vec3(work, k, FORCE)
        effort = links[k, ARMATURE] * a[k]
        if motion != LINEAR:
            effort += dot(axis, moment)
        if motion != ROTARY:
            effort += dot(axis, force) if motion == LINEAR else links[k, PITCH] * dot(axis, force)
        tau[k] = effort
        if parent >= 0:
            add3(work, parent, MOMENT, plus(moment, cross(vec3(work, k, LEVER), force)))
            add3(work, parent, FORCE, force)
    return finite_status(tau)


@entrance
def _entrance(
    tree: IntArray, links: Array, q: Array, v: Array, a: Array, external: Array, work: Array, tau: Array
) -> int:
    return enter(newton_euler_kernel, tree, links, q, v, a, external, work, tau)


NO_EXTERNAL = np.zeros((0, 6))
_DOOR = Door(newton_euler_kernel, _entrance)


def inverse_dynamics(
    model: Model, q: Array, v: Array, a: Array, external: Array | None = None, *, out: Array | None = None
) -> Array:
    """Generalised forces of a motion: tau = M(q) a + bias(q, v) - (external forces), by Newton-Euler in O(N).

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Coordinates.
    v, a : (nv,) array
        Velocities and their derivatives.
    external : (n_bodies, 6) array, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        Forces along the velocities, N or N m. Damping and dry friction of the joints are not part of it.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Notes
    -----
    Joint armature is included in M. Accelerations of free and ball joints are those of their body-axes components.
    """
    nv, wrench = model.nv, NO_EXTERNAL
    tau, work = np.empty(nv) if out is None else out, model.workspace()
    if external is not None:
        wrench = array(external, (model.n_bodies, 6), "external")
    try:
        status = _DOOR.call(model.tree, model.links, q, v, a, wrench, work, tau)
    except TypeError:
        status = MISFIT
    if status == MISFIT:
        q, v, a = vector(q, model.nq, "q"), vector(v, nv, "v"), vector(a, nv, "a")
        tau = output(tau, (nv,))
        status = _DOOR.checked_call(model.tree, model.links, q, v, a, wrench, work, tau)
    if status != OK:
        raise not_finite(q=q, v=v, a=a, external=external)
    model.spare.append(work)
    return tau


def bias(model: Model, q: Array, v: Array, external: Array | None = None, *, out: Array | None = None) -> Array:
    """Coriolis, centrifugal and gravity forces: what `inverse_dynamics` gives for zero acceleration.

    Parameters and errors are those of `inverse_dynamics`.

    Returns
    -------
    (nv,) array
        N or N m; the equation of motion is M(q) a + bias(q, v) = tau.
    """
    return inverse_dynamics(model, q, v, np.zeros(model.nv), external, out=out)
