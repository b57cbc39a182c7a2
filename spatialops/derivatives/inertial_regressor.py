"""Joint forces as linear functions of the bodies' inertial parameters.

With a body's mass m, first moment h = m c and inertia I about its origin, all in its own axes,

    f = m a + alpha x h + w x (w x h),    n = h x a + I alpha + w x I w,

is linear in the ten numbers (m, h, I), and so are the joint forces (Atkeson, An and Hollerbach
1986). The wrenches of the ten are carried to the base side by side.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
    cross,
    dot,
    plus,
    plus_scaled,
    put3,
    vec3,
)
from spatialops.dynamics.articulated_body import joint_force
from spatialops.dynamics.kinematics import fits, move_link, place_link
from spatialops.dynamics.newton_euler import accelerate_link, lifted
from spatialops.tree.model import Model, not_a_model

PARAMETERS = 10
"""Of a body: m, m c (3), and I about its origin as xx, xy, xz, yy, yz, zz."""


@inlined
def put_wrench(table: Array, row: int, moment: Vec3, force: Vec3) -> None:
    put3(table, row, 0, moment)
    put3(table, row, 3, force)


@inlined
def product_of_inertia(a: Vec3, b: Vec3, same: bool, omega: Vec3, alpha: Vec3) -> Vec3:
    """I alpha + w x I w of the inertia a b* + b a*, or a a* where they are the `same`."""
    turned = plus_scaled(ZERO3, dot(b, alpha), a)
    spun = plus_scaled(ZERO3, dot(b, omega), a)
    if not same:
        turned = plus_scaled(turned, dot(a, alpha), b)
        spun = plus_scaled(spun, dot(a, omega), b)
    return plus(turned, cross(omega, spun))


@inlined
def put_unit_wrenches(work: Array, k: int, turn: Array, b: int, wrenches: Array) -> None:
    """Wrenches (10, 6) of unit parameters of the body on link k, world axes about its origin.

    `turn` takes the body's axes to the link's.
    """
    omega, alpha = vec3(work, k, layout.OMEGA), vec3(work, k, layout.ALPHA)
    accel = vec3(work, k, layout.ACCEL)
    put_wrench(wrenches, 0, ZERO3, accel)
    row = 4
    for i in range(3):
        e = body_axis(work, k, turn, b, i)
        force = plus(cross(alpha, e), cross(omega, cross(omega, e)))
        put_wrench(wrenches, 1 + i, cross(e, accel), force)
        for j in range(i, 3):
            moment = product_of_inertia(e, body_axis(work, k, turn, b, j), i == j, omega, alpha)
            put_wrench(wrenches, row, moment, ZERO3)
            row += 1


@inlined
def body_axis(work: Array, k: int, turn: Array, b: int, i: int) -> Vec3:
    """Axis i of body b, which is on link k, in world axes."""
    x = column_of(work, k, layout.ROTATION, 0)
    y = column_of(work, k, layout.ROTATION, 1)
    z = column_of(work, k, layout.ROTATION, 2)
    return plus_scaled(
        plus_scaled(plus_scaled(ZERO3, turn[b, 0, i], x), turn[b, 1, i], y), turn[b, 2, i], z
    )


@kernel
def regressor_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    a: Array,
    turns: Array,
    work: Array,
    wrenches: Array,
    Y: Array,
) -> int:
    """Y (n, 10 n_bodies), which must hold zeros; `turns` are from bodies' axes to their links'."""
    if not fits(tree, q, v) or not fits(tree, q, a):
        return layout.MISFIT
    base = lifted(links)
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
        accelerate_link(tree, links, base, a, work, k)
    for k in range(tree.shape[0]):
        b = tree[k, layout.BODY]
        if b < 0:
            continue
        put_unit_wrenches(work, k, turns, b, wrenches)
        j = k
        while j >= 0:
            lever = vec3(work, j, layout.LEVER)
            for i in range(PARAMETERS):
                moment, force = vec3(wrenches, i, 0), vec3(wrenches, i, 3)
                Y[j, PARAMETERS * b + i] = joint_force(tree, links, work, j, moment, force)
                put3(wrenches, i, 0, plus(moment, cross(lever, force)))
            j = tree[j, layout.PARENT]
    return layout.OK


def inertial_regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """The matrix Y of joint forces tau = Y theta in the bodies' inertial parameters.

    Parameters
    ----------
    model : Model
        The mechanism; its own inertias do not enter.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    a : (nv,) array_like
        Their time derivatives.

    Returns
    -------
    (nv, 10 n_bodies) array
        Columns 10 b to 10 b + 9 are those of body b, in the order of `inertial_parameters`.
        Armature and damping are not part of tau.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    C. Atkeson, C. An and J. Hollerbach, Estimation of inertial parameters of manipulator loads and
    links, 1986.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v, a = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0], [0.5, 2.0]
    >>> tau = so.inertial_regressor(model, q, v, a) @ so.inertial_parameters(model)
    >>> bool(np.allclose(tau, so.inverse_dynamics(model, q, v, a)))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    a = vector(a, model.nv, "a")
    if not all(np.isfinite(x).all() for x in (q, v, a)):
        raise not_finite(q=q, v=v, a=a)
    Y, work = np.zeros((model.nv, PARAMETERS * model.n_bodies)), model.workspace()
    turns, wrenches = body_turns(model), np.empty((PARAMETERS, 6))
    regressor_kernel(model.tree, model.links, q, v, a, turns, work, wrenches, Y)
    model.spare.append(work)
    return Y


def inertial_parameters(model: Model) -> Array:
    """Inertial parameters of all bodies, in their own axes about their own origins.

    Parameters
    ----------
    model : Model
        The mechanism.

    Returns
    -------
    (10 n_bodies,) array
        Of each body its mass (kg), its first moment m c (3, kg m), and its inertia about its origin
        (kg m^2) as xx, xy, xz, yy, yz, zz. What is fixed to a body is part of it.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> so.inertial_parameters(model).shape
    (20,)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    rows, turns = model.links[model.body_links], body_turns(model)
    mass, local = rows[:, layout.MASS], rows[:, layout.COM : layout.COM + 3]
    upper = [[0, 1, 2], [1, 3, 4], [2, 4, 5]]
    tensors = rows[:, layout.INERTIA + np.array(upper)]
    result = np.empty((model.n_bodies, PARAMETERS))
    result[:, 0] = mass
    result[:, 1:4] = np.einsum("bji,bj->bi", turns, mass[:, None] * local)
    turned = np.einsum("bji,bjk,bkl->bil", turns, tensors, turns)
    result[:, 4:] = turned[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return result.ravel()


def body_turns(model: Model) -> Array:
    """Rotations (n_bodies, 3, 3) from bodies' axes to their links'."""
    return np.ascontiguousarray(model.turns[model.body_links].transpose(0, 2, 1))
