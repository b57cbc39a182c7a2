"""Forward dynamics: what joints accelerate under given forces."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, array
from spatialops._compile.doors import door
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.articulated_lanes import FORWARD_DYNAMICS
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.newton_euler import NO_EXTERNAL, checked_call
from spatialops.errors import ModelError
from spatialops.tree import sources
from spatialops.tree.model import Model, not_a_model


@door(
    FORWARD_DYNAMICS,
    *sources.BRANCHES,
    sources.Q,
    sources.V,
    sources.TAU,
    NO_EXTERNAL,
    sources.WORK,
    sources.OUT,
    results=[sources.LENGTH],
    classes=sources.OF_STATE,
)
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Accelerations under given forces, a = M(q)^-1 (tau - bias(q, v)), in O(N).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    tau : (nv,) array_like
        Generalised forces, N or N m. Damping and dry friction of the joints are not added.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        Time derivatives of `v`.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    ModelError
        If a joint has nothing to move (a singular mass matrix).

    References
    ----------
    Featherstone 1983, articulated bodies; [J] equation 59, last line.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(1).model
    >>> so.forward_dynamics(model, q=[0.5], v=[0.0], tau=[0.0]).round(4)
    array([-0.5593])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    a = np.empty(model.nv) if out is None else out
    tables = model.branches
    work = tables.work if tables.work is not None else tables.workspace()
    wrench = NO_EXTERNAL
    if external is not None:
        wrench = array(external, (model.n_bodies, 6), "external")
    try:
        status = FORWARD_DYNAMICS.call(tables.tree, tables.constants, q, v, tau, wrench, work, a)
    except TypeError:
        status = layout.MISFIT
    if status:
        status = checked_call(FORWARD_DYNAMICS, model, {"q": q, "v": v, "tau": tau}, wrench, a)
        if status == layout.SINGULAR:
            raise without_mass(model, np.asarray(q, dtype=np.float64))
        return a
    if tables.work is None:
        tables.spare.append(work)
    return a


def without_mass(model: Model, q: Array) -> ModelError:
    """The error that names the joint that has nothing to move."""
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    factor_kernel(model.tree, model.links, work)
    return singular_joint(model, work)
