"""The centroidal momentum matrix: momentum about the centre of mass from joint velocities.

Column k is the composite inertia of what link k carries times its axis, I_c(k) H*(k), the same
force that makes the mass matrix, taken to the centre of mass.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, not_finite, vector
from spatialops._compile.doors import FIXED, Size, door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    mat3,
    minus,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.articulated_body import add_inertia, place_and_weigh, shifted_inertia
from spatialops.dynamics.kinematics import axis_of
from spatialops.tree import sources
from spatialops.tree.model import Model, not_a_model


@inlined
def add_composites(tree: IntArray, work: Array) -> None:
    """Inertias of all that each link carries, from the links' own, in the same columns."""
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        if parent >= 0:
            J = sym3(work, k, layout.ART_J)
            B = mat3(work, k, layout.ART_B)
            C = sym3(work, k, layout.ART_C)
            J, B = shifted_inertia(J, B, C, vec3(work, k, layout.LEVER))
            add_inertia(work, parent, J, B, C)


@inlined
def carried_momentum(tree: IntArray, links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Momentum (moment, force) about its origin of all that link k carries, moving at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
    B = mat3(work, k, layout.ART_B)
    moment, force = ZERO3, ZERO3
    if motion != layout.LINEAR:
        moment, force = sym_times(sym3(work, k, layout.ART_J), axis), rotate_back(B, axis)
    if motion != layout.ROTARY:
        slide = scaled(1.0 if motion == layout.LINEAR else links[k, layout.PITCH], axis)
        moment = plus(moment, rotate(B, slide))
        force = plus(force, sym_times(sym3(work, k, layout.ART_C), slide))
    return moment, force


@inlined
def center_of_trees(tree: IntArray, work: Array) -> Vec3:
    """Centre of mass, from the composite inertias of the roots.

    Their corner block is m c~, whose entries (2, 1), (0, 2) and (1, 0) are m c.
    """
    mass, center = 0.0, ZERO3
    for k in range(tree.shape[0]):
        if tree[k, layout.PARENT] < 0:
            B, own = mat3(work, k, layout.ART_B), work[k, layout.ART_C]
            moment = B[2][1], B[0][2], B[1][0]
            center = plus(center, plus_scaled(moment, own, vec3(work, k, layout.ORIGIN)))
            mass += own
    return scaled(1.0 / mass, center)


@kernel
def centroidal_kernel(tree: IntArray, links: Array, q: Array, work: Array, out: Array) -> int:
    """Columns [angular; linear] of the matrix."""
    n = tree.shape[0]
    if q.size != tree[0, layout.SIZE_Q] or out.shape[0] != 6 or out.shape[1] != n:
        return layout.MISFIT
    if work.shape[0] != n:
        return layout.MISFIT
    if place_and_weigh(tree, links, q, work) != layout.OK:
        return layout.NOT_FINITE
    add_composites(tree, work)
    center = center_of_trees(tree, work)
    for k in range(n):
        moment, force = carried_momentum(tree, links, work, k)
        lever = minus(vec3(work, k, layout.ORIGIN), center)
        moment = plus(moment, cross(lever, force))
        for j in range(3):
            out[j, k] = moment[j]
            out[3 + j, k] = force[j]
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(centroidal_kernel, arguments)


_CALL = FastCall(centroidal_kernel, _entry)


@door(
    _CALL,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.HELD,
    results=[(Size(FIXED, 6), Size(0))],
    classes=sources.OF_STATE,
)
def centroidal_momentum_matrix(model: Model, q: ArrayLike) -> Array:
    """Momentum of all moving bodies about their centre of mass, per unit of joint velocity.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    (6, nv) array
        Times v: [angular about the centre of mass (kg m^2/s); linear (kg m/s)], world axes.
        Armature is left out.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    D. Orin, A. Goswami, S.-H. Lee, Centroidal dynamics of a humanoid robot, 2013.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> A = so.centroidal_momentum_matrix(model, q)
    >>> bool(np.allclose(A[3:] @ v, so.momentum(model, q, v)[3:]))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    out = np.empty((6, model.nv))
    try:
        status = _CALL.call(model.tree, model.links, q, model.held, out)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, work = vector(q, model.nq, "q"), np.empty((model.nv, layout.WORK_COLUMNS))
        status = _CALL.checked_call(model.tree, model.links, q, work, out)
    if status != layout.OK:
        raise not_finite(q=q)
    return out
