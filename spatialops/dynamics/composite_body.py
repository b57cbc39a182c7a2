"""Mass matrix by the composite-body algorithm, O(N depth)."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, not_finite, output, vector
from spatialops._compile.fast_call import FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.vectors import (
    cross,
    mat3,
    plus,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.articulated_body import (
    add_inertia,
    joint_force,
    place_and_weigh,
    shifted_inertia,
)
from spatialops.dynamics.kinematics import axis_of
from spatialops.tree.model import Model, not_a_model


@inlined
def unit_force(tree: IntArray, links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Momentum (moment, force) about its origin of all that link k carries, moving at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    J = sym3(work, k, layout.ART_J)
    B = mat3(work, k, layout.ART_B)
    C = sym3(work, k, layout.ART_C)
    moment, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if motion != layout.LINEAR:
        moment, force = sym_times(J, axis), rotate_back(B, axis)
    if motion != layout.ROTARY:
        slide = scaled(1.0 if motion == layout.LINEAR else links[k, layout.PITCH], axis)
        moment, force = plus(moment, rotate(B, slide)), plus(force, sym_times(C, slide))
    return moment, force


@kernel
def composite_body_kernel(tree: IntArray, links: Array, q: Array, work: Array, mass: Array) -> int:
    """The full symmetric mass matrix; composite inertias take the columns of articulated ones."""
    n = tree.shape[0]
    if q.size != tree[0, layout.SIZE_Q] or mass.shape[0] != n or mass.shape[1] != n:
        return layout.MISFIT
    status = place_and_weigh(tree, links, q, work)
    for k in range(n - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        if parent >= 0:
            J = sym3(work, k, layout.ART_J)
            B = mat3(work, k, layout.ART_B)
            C = sym3(work, k, layout.ART_C)
            J, B = shifted_inertia(J, B, C, vec3(work, k, layout.LEVER))
            add_inertia(work, parent, J, B, C)
    for k in range(n):
        for j in range(k):
            mass[k, j] = 0.0
        moment, force = unit_force(tree, links, work, k)
        mass[k, k] = joint_force(tree, links, work, k, moment, force) + links[k, layout.ARMATURE]
        child, j = k, tree[k, layout.PARENT]
        while j >= 0:
            moment = plus(moment, cross(vec3(work, child, layout.LEVER), force))
            mass[k, j] = joint_force(tree, links, work, j, moment, force)
            child, j = j, tree[j, layout.PARENT]
    for k in range(n):
        for j in range(k):
            mass[j, k] = mass[k, j]
    return status


@entry_point
def _entry(tree: IntArray, links: Array, q: Array, work: Array, mass: Array) -> int:
    return enter(composite_body_kernel, tree, links, q, work, mass)


_CALL = FastCall(composite_body_kernel, _entry)


def mass_matrix(model: Model, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Mass matrix M(q), with joint armature on its diagonal.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    out : (nv, nv) array, optional
        Where to write the result.

    Returns
    -------
    (nv, nv) array
        Symmetric and positive definite; kg, kg m, kg m^2.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    Walker and Orin 1982; [J] equation 59, first line.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> M = so.mass_matrix(model, [0.1, 0.2])
    >>> M.shape, bool((M == M.T).all())
    ((2, 2), True)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    nv = model.nv
    mass, work = np.empty((nv, nv)) if out is None else out, model.workspace()
    try:
        status = _CALL.call(model.tree, model.links, q, work, mass)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, mass = vector(q, model.nq, "q"), output(mass, (nv, nv))
        status = _CALL.checked_call(model.tree, model.links, q, work, mass)
    if status != layout.OK:
        raise not_finite(q=q)
    model.spare.append(work)
    return mass
