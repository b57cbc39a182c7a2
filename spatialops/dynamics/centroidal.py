"""The centroidal momentum matrix: momentum about the centre of mass from joint velocities.

Column k is the composite inertia of what link k carries times its axis, I_c(k) H*(k), the same
force that makes the mass matrix, taken to the centre of mass.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import mat3, sym3, vec3
from spatialops.dynamics.articulated_body import add_inertia, place_and_weigh, shifted_inertia
from spatialops.dynamics.blocks import articulated_inertias, joint_axes, shifted
from spatialops.tree.model import Model, not_a_model


@kernel
def composite_inertias_kernel(tree: IntArray, links: Array, q: Array, work: Array) -> int:
    """Inertias of all that each link carries, in the columns of articulated ones."""
    status = place_and_weigh(tree, links, q, work)
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        if parent >= 0:
            J = sym3(work, k, layout.ART_J)
            B = mat3(work, k, layout.ART_B)
            C = sym3(work, k, layout.ART_C)
            J, B = shifted_inertia(J, B, C, vec3(work, k, layout.LEVER))
            add_inertia(work, parent, J, B, C)
    return status


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
    q = vector(q, model.nq, "q")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    if composite_inertias_kernel(model.tree, model.links, q, work) != layout.OK:
        raise not_finite(q=q)
    composites = articulated_inertias(work)  # composite ones stand in their columns
    forces = np.einsum("kij,kj->ki", composites, joint_axes(model.tree, model.links, work))
    roots = np.flatnonzero(model.tree[:, layout.PARENT] < 0)
    origins = work[:, layout.ORIGIN : layout.ORIGIN + 3]
    return shifted(forces, origins - _center(composites[roots], origins[roots])).T.copy()


def _center(composites: Array, origins: Array) -> Array:
    """Centre of mass of trees, from composite inertias (r, 6, 6) about their roots' origins."""
    masses = composites[:, 3, 3]
    # The corner block is m c~, whose entries (2, 1), (0, 2), (1, 0) are m c.
    moments = np.stack([composites[:, 2, 4], composites[:, 0, 5], composites[:, 1, 3]], axis=1)
    total = masses.sum()
    return np.asarray((moments + masses[:, None] * origins).sum(axis=0) / total)
