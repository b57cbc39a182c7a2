"""Derivatives of inverse dynamics on the tangent space, O(N depth)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, array, not_finite, output, vector
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.simd import WIDTH, Lanes, LanesVec3, load1, load3, store1
from spatialops.algebra.vectors import cross, dot, plus, vec3
from spatialops.derivatives.carried import (
    AXIS,
    BOTH,
    FIRST,
    SECOND,
    add_to_parent,
    coriolis_back,
    coriolis_times,
    force_on,
    inertia_times,
    one_of_eight,
    put_axes,
    put_own_all,
    sum_of,
    turned_by_twist,
)
from spatialops.derivatives.external import add_external_derivatives
from spatialops.dynamics.kinematics import finite_status, fits, move_link, place_link
from spatialops.dynamics.newton_euler import (
    NO_EXTERNAL,
    accelerate_link,
    lifted,
    subtract_external,
)
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, not_a_model

# The row behind those of the links.
MASKS = 4  # which of the eight wrenches are which
POWERS = 6  # where the eight products stand

Masks = tuple[Lanes, Lanes, Lanes, Lanes]


class InverseDynamicsDerivatives(NamedTuple):
    """What `inverse_dynamics_derivatives` returns.

    Parameters
    ----------
    dq : (nv, nv) array
        Row i, column j: change of force i for a step along velocity j.
    dv : (nv, nv) array
        By velocities.
    da : (nv, nv) array
        By accelerations: the mass matrix.
    """

    dq: Array
    dv: Array
    da: Array


@inlined
def put_masks(table: Array) -> None:
    """Which of the eight wrenches are A, b, d and c, into the row behind those of the links."""
    n = table.shape[0] - 1
    for column in range(MASKS * WIDTH):
        table[n, column] = 0.0
    table[n, 0] = 1.0
    table[n, WIDTH + 1] = 1.0
    for place in (2, SECOND, BOTH):
        table[n, 2 * WIDTH + place] = 1.0
    for place in (5, FIRST):
        table[n, 3 * WIDTH + place] = 1.0


@inlined
def at_masks(masks: Masks, A: Vec3, b: Vec3, d: Vec3) -> LanesVec3:
    """Vectors A, b and d in their places of eight."""
    a = scaled_by(masks[0], A)
    return (
        a[0] + masks[1] * b[0] + masks[2] * d[0],
        a[1] + masks[1] * b[1] + masks[2] * d[1],
        a[2] + masks[1] * b[2] + masks[2] * d[2],
    )


@inlined
def scaled_by(mask: Lanes, a: Vec3) -> LanesVec3:
    """A vector in the places of a mask."""
    return mask * a[0], mask * a[1], mask * a[2]


@inlined
def wrenches_of(work: Array, table: Array, k: int, masks: Masks) -> tuple[LanesVec3, LanesVec3]:
    """The eight wrenches of link k: moments and forces.

    In the order of the motions that they meet: A, b, d = I S three times, and c = (2 B)* S twice.
    They are put together in registers: numbers stored one by one are not soon read as eight.
    """
    S, first = one_of_eight(table, k, AXIS), one_of_eight(table, k, FIRST)
    second, both = one_of_eight(table, k, SECOND), one_of_eight(table, k, BOTH)
    A = sum_of(coriolis_times(work, k, first), inertia_times(work, k, second))
    b = sum_of(coriolis_times(work, k, S), inertia_times(work, k, both))
    d = inertia_times(work, k, S)
    moments = at_masks(masks, A[0], b[0], d[0])
    moments = plus(moments, scaled_by(masks[3], coriolis_back(work, k, S)))
    return moments, at_masks(masks, A[1], b[1], d[1])


@inlined
def put_entries(
    table: Array,
    j: int,
    k: int,
    moments: LanesVec3,
    forces: LanesVec3,
    dq: Array,
    dv: Array,
    da: Array,
) -> None:
    """Entries of link k and its ancestor j; the eight wrenches are about j's origin."""
    n = table.shape[0] - 1
    store1(table, POWERS, n, dot(moments, load3(table, 0, j)) + dot(forces, load3(table, 3, j)))
    first = POWERS * WIDTH
    dq[j, k] = table[n, first]
    dv[j, k] = table[n, first + 1]
    da[j, k] = da[k, j] = table[n, first + 2]
    dq[k, j] = table[n, first + SECOND] + table[n, first + FIRST]
    dv[k, j] = table[n, first + BOTH] + table[n, first + 5]


@inlined
def put_row_and_column(
    tree: IntArray, work: Array, table: Array, k: int, dq: Array, dv: Array, da: Array
) -> None:
    """Entries of link k with itself and its ancestors: its wrenches are carried to the base."""
    n = table.shape[0] - 1
    masks = load1(table, 0, n), load1(table, 1, n), load1(table, 2, n), load1(table, 3, n)
    moments, forces = wrenches_of(work, table, k, masks)
    j = k
    while tree[j, layout.FRAME] == layout.SAME:  # of the same joint: all about one origin
        put_entries(table, j, k, moments, forces, dq, dv, da)
        j = tree[j, layout.PARENT]
    put_entries(table, j, k, moments, forces, dq, dv, da)
    twist = turned_by_twist(one_of_eight(table, k, AXIS), force_on(work, k))
    moments = plus(moments, scaled_by(masks[0], twist[0]))
    forces = plus(forces, scaled_by(masks[0], twist[1]))
    child, j = j, tree[j, layout.PARENT]
    while j >= 0:
        moments = plus(moments, cross(vec3(work, child, layout.LEVER), forces))
        put_entries(table, j, k, moments, forces, dq, dv, da)
        child, j = j, tree[j, layout.PARENT]


@inlined
def differentiate(
    tree: IntArray,
    links: Array,
    external: Array,
    work: Array,
    table: Array,
    dq: Array,
    dv: Array,
    da: Array,
) -> None:
    """What is not zero of all three matrices; poses, velocities and accelerations are in `work`."""
    n = tree.shape[0]
    put_axes(tree, links, lifted(links), work, table)
    put_masks(table)
    put_own_all(links, work)
    subtract_external(tree, external, work)
    for k in range(n - 1, -1, -1):
        put_row_and_column(tree, work, table, k, dq, dv, da)
        da[k, k] += links[k, layout.ARMATURE]
        add_to_parent(tree, work, k)
    if external.shape[0] > 0:
        add_external_derivatives(tree, external, work, table, dq)


@inlined
def square(matrix: Array, n: int) -> bool:
    return matrix.shape[0] == n and matrix.shape[1] == n


@inlined
def all_finite(q: Array, v: Array, a: Array, external: Array) -> bool:
    """Whether nothing given is NaN or infinite: a derivative would hide it in zeros."""
    total = 0.0
    for k in range(external.shape[0]):
        for i in range(6):
            total += external[k, i] - external[k, i]
    given = finite_status(q) == layout.OK and finite_status(v) == layout.OK
    return given and finite_status(a) == layout.OK and total == 0.0


@kernel
def inverse_dynamics_derivatives_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    a: Array,
    external: Array,
    work: Array,
    dq: Array,
    dv: Array,
    da: Array,
) -> int:
    """Derivatives by q, v and a; `work` has 2 n + 1 rows of a workspace, or more."""
    n = tree.shape[0]
    if not fits(tree, q, v) or not fits(tree, q, a) or work.shape[0] < 2 * n + 1:
        return layout.MISFIT
    if not (square(dq, n) and square(dv, n) and square(da, n)):
        return layout.MISFIT
    if not all_finite(q, v, a, external):
        return layout.NOT_FINITE
    base = lifted(links)
    for k in range(n):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
        accelerate_link(tree, links, base, a, work, k)
    dq[:] = 0.0
    dv[:] = 0.0
    da[:] = 0.0
    differentiate(tree, links, external, work, work[n : 2 * n + 1], dq, dv, da)
    return layout.OK


@kernel
def derivatives_at_poses_kernel(
    tree: IntArray,
    links: Array,
    v: Array,
    a: Array,
    external: Array,
    work: Array,
    dq: Array,
    dv: Array,
    da: Array,
) -> None:
    """The same where links' poses are in `work` already, for what is known to fit."""
    n, base = tree.shape[0], lifted(links)
    for k in range(n):
        move_link(tree, links, v, work, k)
        accelerate_link(tree, links, base, a, work, k)
    dq[:] = 0.0
    dv[:] = 0.0
    da[:] = 0.0
    differentiate(tree, links, external, work, work[n : 2 * n + 1], dq, dv, da)


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(inverse_dynamics_derivatives_kernel, arguments)


_CALL = FastCall(inverse_dynamics_derivatives_kernel, _entry)


_made = tuple.__new__  # a NamedTuple's own constructor is Python: 0.1 us more
_empty = np.empty


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external: ArrayLike | None = None,
    *,
    out: InverseDynamicsDerivatives | None = None,
) -> InverseDynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by coordinates, velocities and accelerations, O(N depth).

    Those by coordinates are on the tangent space: column j is the derivative along
    `integrate(model, q, s e_j)` at s = 0. A free joint's columns are therefore for turning and
    moving along its body's axes (as Pinocchio's, which has linear components first).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    a : (nv,) array_like
        Their time derivatives.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
        It keeps its components while coordinates change.
    out : InverseDynamicsDerivatives, optional
        What an earlier call returned: its arrays are written over.

    Returns
    -------
    InverseDynamicsDerivatives
        `dq`, `dv` and `da`. Damping is not part of the forces.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    J. Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018;
    S. Singh, R. Russell and P. Wensing, Efficient analytical derivatives of rigid-body dynamics
    using spatial vector algebra, 2022.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v, a = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0], [0.5, 2.0]
    >>> by = so.inverse_dynamics_derivatives(model, q, v, a)
    >>> bool(np.allclose(by.da, so.mass_matrix(model, q)))
    True
    >>> step = np.array([0.0, 1e-6])
    >>> ahead = so.inverse_dynamics(model, q + step, v, a)
    >>> back = so.inverse_dynamics(model, q - step, v, a)
    >>> bool(np.allclose(by.dq[:, 1], (ahead - back) / 2e-6))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    nv, wrench = model.nv, NO_EXTERNAL
    result, work = out, model.stack()
    if result is None:
        size = nv, nv
        result = _made(InverseDynamicsDerivatives, (_empty(size), _empty(size), _empty(size)))
    if external is not None:
        wrench = array(external, (model.n_bodies, 6), "external")
    try:
        status = _CALL.call(model.tree, model.links, q, v, a, wrench, work, *result)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q = vector(q, model.nq, "q")
        v = vector(v, nv, "v")
        a = vector(a, nv, "a")
        matrices = matrices_of(result, InverseDynamicsDerivatives, nv)
        status = _CALL.checked_call(model.tree, model.links, q, v, a, wrench, work, *matrices)
    if status != layout.OK:
        raise not_finite(q=q, v=v, a=a, external=external)
    model.stacks.append(work)
    return result


def matrices_of(result: object, kind: type[tuple[Array, ...]], nv: int) -> list[Array]:
    """The checked matrices of `out`.

    Raises
    ------
    ArgumentError
        If it is not what an earlier call returned for a model of this size.
    """
    if not isinstance(result, kind):
        raise ArgumentError(f"out: expected {kind.__name__}, got {type(result).__name__}")
    return [output(matrix, (nv, nv)) for matrix in result]
