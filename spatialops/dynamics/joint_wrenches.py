"""Wrenches through the joints: what every joint transmits from its parent's body to its own."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import add3, cross, plus, vec3
from spatialops.dynamics.kinematics import finite_status, move_link, place_link
from spatialops.dynamics.newton_euler import (
    NO_EXTERNAL,
    accelerate_link,
    lifted,
    put_inertial_force,
    subtract_external,
)
from spatialops.tree.model import Model, not_a_model


@kernel
def joint_wrenches_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, a: Array, external: Array, work: Array
) -> int:
    """Force and moment about its origin that each link must be given for all that it carries."""
    n, base = tree.shape[0], lifted(links)
    for k in range(n):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
        accelerate_link(tree, links, base, a, work, k)
        put_inertial_force(links, work, k, vec3(work, k, layout.ALPHA), vec3(work, k, layout.ACCEL))
    subtract_external(tree, external, work)
    for k in range(n - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        if parent >= 0:
            moment, force = vec3(work, k, layout.MOMENT), vec3(work, k, layout.FORCE)
            carried = plus(moment, cross(vec3(work, k, layout.LEVER), force))
            add3(work, parent, layout.MOMENT, carried)
            add3(work, parent, layout.FORCE, force)
    return finite_status(q)


def joint_wrenches(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, external: ArrayLike | None = None
) -> Array:
    """Wrenches that joints transmit in a motion: constraint forces and motors together.

    That of body i carries its own inertia force and those of all that hang on it, less what acts on
    them from outside. Along the joint's axis it is the joint force less the armature's share.

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

    Returns
    -------
    (n_bodies, 6) array
        [moment (N m); force (N)] of the parent on each body, at the body's origin, world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    Luh, Walker and Paul 1980: the forces of the inward recursion.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, still = so.models.pendulum(2).model, np.zeros(2)
    >>> weight = so.joint_wrenches(model, still, still, still)[0, 3:]
    >>> bool(np.allclose(weight, -model.mass * model.gravity))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    a = vector(a, model.nv, "a")
    given = NO_EXTERNAL
    if external is not None:
        given = array(external, (model.n_bodies, 6), "external")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    status = joint_wrenches_kernel(model.tree, model.links, q, v, a, given, work)
    found = work[model.body_links, layout.MOMENT : layout.FORCE + 3].copy()
    if status != layout.OK or not np.isfinite(found).all():
        raise not_finite(q=q, v=v, a=a, external=external)
    return found
