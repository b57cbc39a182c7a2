"""Passive forces of joints: what they do by themselves, whatever motors and contacts do.

Today that is viscous damping, -d v for every velocity. Integrators, events and controllers all take
it from here, so that a new passive force (a spring, say) is one change. Dry friction is not among
them: it is a constraint, and solved for with the contacts.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.tree.model import Model


@kernel
def add_passive_forces(links: Array, v: Array, tau: Array, out: Array) -> None:
    """Joint forces `tau` and passive ones, together in `out`."""
    for k in range(tau.size):
        out[k] = tau[k] - links[k, layout.DAMPING] * v[k]


def passive_forces(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Forces that joints exert by themselves.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.

    Returns
    -------
    (nv,) array
        Generalised forces, N or N m, to be added to those of motors: M a + bias = tau + passive.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.forces.passive import passive_forces
    >>> hinge = so.Joint("revolute", axis="y", damping=0.5)
    >>> rod = so.Inertia.capsule(0.1, 1.0, mass=2.0)
    >>> model = so.TreeBuilder().add_body("rod", joint=hinge, inertia=rod).build()
    >>> passive_forces(model, [0.0], [3.0])
    array([-1.5])
    """
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        raise not_finite(q=q, v=v)
    forces = np.empty(model.nv)
    add_passive_forces(model.links, v, np.zeros(model.nv), forces)
    return forces
