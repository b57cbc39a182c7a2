"""Newton-Euler inverse dynamics: the joint forces that a demanded motion needs, O(N)."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, array, not_finite, output, vector
from spatialops._compile.doors import door
from spatialops._compile.fast_call import FastCall
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    cross,
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
from spatialops.dynamics.kinematics import axis_of
from spatialops.dynamics.newton_euler_lanes import NEWTON_EULER
from spatialops.tree import sources
from spatialops.tree.model import Model, not_a_model


@inlined
def lifted(links: Array) -> Vec3:
    """Acceleration of the world that stands in for gravity."""
    return -links[0, layout.GRAVITY], -links[0, layout.GRAVITY + 1], -links[0, layout.GRAVITY + 2]


@inlined
def carried_acceleration(tree: IntArray, base: Vec3, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Acceleration of link k but for its own joint's.

    That is its velocity-dependent part, and its parent's (or `base`).
    """
    parent = tree[k, layout.PARENT]
    alpha = vec3(work, k, layout.ALPHA)
    accel = vec3(work, k, layout.ACCEL)
    if parent < 0:
        return alpha, plus(accel, base)
    above = vec3(work, parent, layout.ALPHA)
    accel = plus(
        plus(accel, vec3(work, parent, layout.ACCEL)), cross(above, vec3(work, k, layout.LEVER))
    )
    return plus(alpha, above), accel


@inlined
def put_acceleration(
    tree: IntArray, links: Array, work: Array, k: int, alpha: Vec3, accel: Vec3, rate: float
) -> None:
    """Write link k's acceleration: what it is carried with, and `rate` along its axis."""
    motion, axis = tree[k, layout.MOTION], axis_of(tree, work, k)
    if motion != layout.LINEAR:
        alpha = plus_scaled(alpha, rate, axis)
    if motion != layout.ROTARY:
        accel = plus_scaled(
            accel, rate if motion == layout.LINEAR else links[k, layout.PITCH] * rate, axis
        )
    put3(work, k, layout.ALPHA, alpha)
    put3(work, k, layout.ACCEL, accel)


@inlined
def accelerate_link(
    tree: IntArray, links: Array, base: Vec3, a: Array, work: Array, k: int
) -> None:
    """Full acceleration of link k in place of its velocity-dependent part, `base` the world's."""
    alpha, accel = carried_acceleration(tree, base, work, k)
    put_acceleration(tree, links, work, k, alpha, accel, a[k])


@kernel
def accelerate_kernel(tree: IntArray, links: Array, base: Vec3, a: Array, work: Array) -> None:
    """Full accelerations of all links; velocities and what they cause must be in `work`."""
    for k in range(tree.shape[0]):
        accelerate_link(tree, links, base, a, work, k)


@inlined
def put_inertial_force(links: Array, work: Array, k: int, alpha: Vec3, accel: Vec3) -> None:
    """Force and moment about its origin that link k's own mass needs to accelerate so.

    f = m (a + alpha x c + w x (w x c));  n = I alpha + w x I w + m c x a, with I about the origin.
    """
    mass = links[k, layout.MASS]
    if mass == 0.0:
        put3(work, k, layout.MOMENT, (0.0, 0.0, 0.0))
        put3(work, k, layout.FORCE, (0.0, 0.0, 0.0))
        return
    rotation, omega = mat3(work, k, layout.ROTATION), vec3(work, k, layout.OMEGA)
    com, inertia = rotate(rotation, vec3(links, k, layout.COM)), sym3(links, k, layout.INERTIA)
    local_omega, local_alpha = rotate_back(rotation, omega), rotate_back(rotation, alpha)
    gyro = plus(
        sym_times(inertia, local_alpha), cross(local_omega, sym_times(inertia, local_omega))
    )
    force = scaled(mass, plus(accel, plus(cross(alpha, com), cross(omega, cross(omega, com)))))
    put3(work, k, layout.MOMENT, plus_scaled(rotate(rotation, gyro), mass, cross(com, accel)))
    put3(work, k, layout.FORCE, force)


@inlined
def subtract_external(tree: IntArray, external: Array, work: Array) -> None:
    """Subtract external wrenches [moment; force] on bodies, which the joints need not give."""
    if external.shape[0] == 0:
        return
    for k in range(tree.shape[0]):
        b = tree[k, layout.BODY]
        if b < 0:
            continue
        put3(work, k, layout.MOMENT, minus(vec3(work, k, layout.MOMENT), vec3(external, b, 0)))
        put3(work, k, layout.FORCE, minus(vec3(work, k, layout.FORCE), vec3(external, b, 3)))


NO_EXTERNAL = np.zeros((0, 6))


@door(
    NEWTON_EULER,
    *sources.BRANCHES,
    sources.Q,
    sources.V,
    sources.A,
    NO_EXTERNAL,
    sources.WORK,
    sources.OUT,
    results=[sources.LENGTH],
    classes=sources.OF_STATE,
)
def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Generalised forces of a motion, tau = M(q) a + bias(q, v) - external forces, in O(N).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    a : (nv,) array_like
        Their time derivatives. Those of free and ball joints are of their body-axes components.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        Forces along the velocities, N or N m. Armature is part of M; damping and dry friction of
        the joints are not part of the forces.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    Luh, Walker and Paul 1980.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> tau = so.inverse_dynamics(model, q, v, a=[0.5, 2.0])
    >>> bool(np.allclose(so.forward_dynamics(model, q, v, tau), [0.5, 2.0]))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    tau = np.empty(model.nv) if out is None else out
    tables = model.branches
    work = tables.work if tables.work is not None else tables.workspace()
    wrench = NO_EXTERNAL
    if external is not None:
        wrench = array(external, (model.n_bodies, 6), "external")
    try:
        status = NEWTON_EULER.call(tables.tree, tables.constants, q, v, a, wrench, work, tau)
    except TypeError:
        status = layout.MISFIT
    if status:
        checked_call(NEWTON_EULER, model, {"q": q, "v": v, "a": a}, wrench, tau)
        return tau
    if tables.work is None:
        tables.spare.append(work)
    return tau


def checked_call(
    call: FastCall, model: Model, motion: dict[str, ArrayLike], external: Array, out: Array
) -> int:
    """Status of a kernel of a motion q, v and a third, or what is not finite as an error.

    Everything is checked, and the memory is one that no other thread uses.
    """
    given = {
        name: vector(value, model.nq if name == "q" else model.nv, name)
        for name, value in motion.items()
    }
    out, tables = output(out, (model.nv,)), model.branches
    work = tables.workspace()
    arguments = *given.values(), external, work, out
    status = call.checked_call(tables.tree, tables.constants, *arguments)
    tables.spare.append(work)
    if status not in (layout.OK, layout.SINGULAR):
        raise not_finite(**given, external=external)
    return status


@door(
    NEWTON_EULER,
    *sources.BRANCHES,
    sources.Q,
    sources.V,
    sources.of_branches("rest"),
    NO_EXTERNAL,
    sources.WORK,
    sources.OUT,
    results=[sources.LENGTH],
    classes=sources.OF_STATE,
)
def bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    external: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Coriolis, centrifugal and gravity forces less external ones.

    The equation of motion is M(q) a + bias(q, v) = tau: what `inverse_dynamics` gives for no
    acceleration.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        N or N m.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> a = so.forward_dynamics(model, q, v, tau=[0.0, 0.0])
    >>> bool(np.allclose(so.mass_matrix(model, q) @ a + so.bias(model, q, v), 0.0))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    return inverse_dynamics(model, q, v, model.branches.rest, external, out=out)
