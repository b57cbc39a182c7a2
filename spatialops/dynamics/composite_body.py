"""Mass matrix by the composite-body algorithm, O(N depth)."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3, not_finite, output, vector
from spatialops._door import Door, enter
from spatialops._jit import entrance, inlined, kernel
from spatialops._layout import (
    ARMATURE,
    ART_B,
    ART_C,
    ART_J,
    LEVER,
    LINEAR,
    MISFIT,
    MOTION,
    OK,
    PARENT,
    PITCH,
    ROTARY,
    SIZE_Q,
)
from spatialops.algebra.vectors import cross, mat3, plus, rotate, rotate_back, scaled, sym3, sym_times, vec3
from spatialops.dynamics.articulated_body import add_inertia, joint_force, put_rigid_inertia, shifted_inertia
from spatialops.dynamics.kinematics import axis_of, place_links
from spatialops.tree.model import Model


@inlined
def unit_force(tree: IntArray, links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Momentum (moment, force) about its origin of everything that link k carries, moving at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, MOTION]
    J, B, C = sym3(work, k, ART_J), mat3(work, k, ART_B), sym3(work, k, ART_C)
    moment, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if motion != LINEAR:
        moment, force = sym_times(J, axis), rotate_back(B, axis)
    if motion != ROTARY:
        slide = scaled(1.0 if motion == LINEAR else links[k, PITCH], axis)
        moment, force = plus(moment, rotate(B, slide)), plus(force, sym_times(C, slide))
    return moment, force


@kernel
def composite_body_kernel(tree: IntArray, links: Array, q: Array, work: Array, mass: Array) -> int:
    """The full symmetric mass matrix; composite inertias take the columns of articulated ones."""
    n = tree.shape[0]
    if q.size != tree[0, SIZE_Q] or mass.shape[0] != n or mass.shape[1] != n:
        return MISFIT
    status = place_links(tree, links, q, work)
    for k in range(n):
        put_rigid_inertia(links, work, k)
    for k in range(n - 1, -1, -1):
        parent = tree[k, PARENT]
        if parent >= 0:
            J, B, C = sym3(work, k, ART_J), mat3(work, k, ART_B), sym3(work, k, ART_C)
            J, B = shifted_inertia(J, B, C, vec3(work, k, LEVER))
            add_inertia(work, parent, J, B, C)
    for k in range(n):
        for j in range(k):
            mass[k, j] = 0.0
        moment, force = unit_force(tree, links, work, k)
        mass[k, k] = joint_force(tree, links, work, k, moment, force) + links[k, ARMATURE]
        child, j = k, tree[k, PARENT]
        while j >= 0:
            moment = plus(moment, cross(vec3(work, child, LEVER), force))
            mass[k, j] = joint_force(tree, links, work, j, moment, force)
            child, j = j, tree[j, PARENT]
    for k in range(n):
        for j in range(k):
            mass[j, k] = mass[k, j]
    return status


@entrance
def _entrance(tree: IntArray, links: Array, q: Array, work: Array, mass: Array) -> int:
    return enter(composite_body_kernel, tree, links, q, work, mass)


_DOOR = Door(composite_body_kernel, _entrance)


def mass_matrix(model: Model, q: Array, *, out: Array | None = None) -> Array:
    """Mass matrix M(q), with joint armature on its diagonal.

    Parameters
    ----------
    model : Model
    q : (nq,) array
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
    """
    nv = model.nv
    mass, work = np.empty((nv, nv)) if out is None else out, model.workspace()
    try:
        status = _DOOR.call(model.tree, model.links, q, work, mass)
    except TypeError:
        status = MISFIT
    if status == MISFIT:
        q, mass = vector(q, model.nq, "q"), output(mass, (nv, nv))
        status = _DOOR.checked_call(model.tree, model.links, q, work, mass)
    if status != OK:
        raise not_finite(q=q)
    model.spare.append(work)
    return mass
