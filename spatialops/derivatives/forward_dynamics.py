"""Derivatives of forward dynamics on the tangent space, from those of inverse dynamics.

With a the accelerations under tau, tau = ID(q, v, a(q, v, tau)) for all q, v and tau, so that

    da/dq = -M^-1 d ID/dq,   da/dv = -M^-1 d ID/dv,   da/dtau = M^-1,   at that a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array, not_finite, vector
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.derivatives.inverse_dynamics import all_finite, differentiate, matrices_of, square
from spatialops.derivatives.mass_solve import (
    EIGHTS,
    FACTORED,
    LINK_COLUMNS,
    ROW,
    put_links,
    solve_columns,
    solve_side_by_side,
    take_columns,
    width_of,
)
from spatialops.dynamics.articulated_body import articulated_body_kernel, singular_joint
from spatialops.dynamics.newton_euler import NO_EXTERNAL
from spatialops.tree.model import Model, not_a_model


class ForwardDynamicsDerivatives(NamedTuple):
    """What `forward_dynamics_derivatives` returns.

    Parameters
    ----------
    dq : (nv, nv) array
        Row i, column j: change of acceleration i for a step along velocity j.
    dv : (nv, nv) array
        By velocities.
    dtau : (nv, nv) array
        By forces: the inverse of the mass matrix.
    """

    dq: Array
    dv: Array
    dtau: Array


@kernel
def forward_dynamics_derivatives_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    dq: Array,
    dv: Array,
    dtau: Array,
) -> int:
    """Derivatives by q, v and tau; `work` is a stack of the model's."""
    n = tree.shape[0]
    if work.shape[0] < (2 + EIGHTS) * n + 1:
        return layout.MISFIT
    if not (square(dq, n) and square(dv, n) and square(dtau, n)):
        return layout.MISFIT
    # Accelerations go where mass and inverse will stand, and end in `work`.
    status = articulated_body_kernel(tree, links, q, v, tau, external, work[:n], dtau[0])
    if status != layout.OK:
        return status
    if not all_finite(q, v, tau, external):
        return layout.NOT_FINITE
    if n <= FACTORED:
        by_factors(tree, links, external, work, dq, dv, dtau)
    else:
        by_sweeps(tree, links, external, work, dq, dv, dtau)
    return layout.OK


@inlined
def by_factors(
    tree: IntArray, links: Array, external: Array, work: Array, dq: Array, dv: Array, dtau: Array
) -> None:
    """All three, from the factored mass matrix; what they are in `work`, side by side."""
    n, width = tree.shape[0], width_of(tree.shape[0])
    memory = work.reshape(work.size)
    behind = (2 * n + 1) * work.shape[1]
    X = memory[behind : behind + 3 * n * width].reshape(n, 3 * width)
    X[:] = 0.0
    dtau[:] = 0.0
    for k in range(n):
        X[k, 2 * width + k] = 1.0
    by_q, by_v = X[:, :width], X[:, width : 2 * width]
    differentiate(tree, links, external, work[:n], work[n : 2 * n + 1], by_q, by_v, dtau)
    solve_side_by_side(tree, dtau, memory[: n * ROW].reshape(n, ROW), X)
    take_columns(X, 0, -1.0, dq)
    take_columns(X, width, -1.0, dv)
    take_columns(X, 2 * width, 1.0, dtau)


@inlined
def by_sweeps(
    tree: IntArray, links: Array, external: Array, work: Array, dq: Array, dv: Array, dtau: Array
) -> None:
    """All three in their places, column by column."""
    n = tree.shape[0]
    factors, table = work[:n], work[n : 2 * n + 1]
    scratch = work[2 * n + 1 :]
    dq[:] = 0.0
    dv[:] = 0.0
    dtau[:] = 0.0
    differentiate(tree, links, external, factors, table, dq, dv, dtau)
    dtau[:] = 0.0
    for k in range(n):
        dtau[k, k] = 1.0
    few = table.reshape(table.size)[: n * LINK_COLUMNS].reshape(n, LINK_COLUMNS)
    put_links(factors, table, few)
    solve_columns(tree, few, scratch, 1.0, dtau)
    solve_columns(tree, few, scratch, -1.0, dq)
    solve_columns(tree, few, scratch, -1.0, dv)


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(forward_dynamics_derivatives_kernel, arguments)


_CALL = FastCall(forward_dynamics_derivatives_kernel, _entry)


_made = tuple.__new__  # a NamedTuple's own constructor is Python: 0.1 us more
_empty = np.empty


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None = None,
    *,
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    """Derivatives of `forward_dynamics` by coordinates, velocities and forces.

    Those by coordinates are on the tangent space, as in `inverse_dynamics_derivatives`. O(N depth),
    and O(N) for every column of the three matrices.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    tau : (nv,) array_like
        Generalised forces, N or N m, taken not to change with q and v: damping is not added.
    external : (n_bodies, 6) array_like, optional
        Wrench [moment (N m); force (N)] on each body at its origin, in world axes; default: none.
        It keeps its components while coordinates change.
    out : ForwardDynamicsDerivatives, optional
        What an earlier call returned: its arrays are written over.

    Returns
    -------
    ForwardDynamicsDerivatives
        `dq`, `dv` and `dtau`.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    ModelError
        If a joint has nothing to move (a singular mass matrix).

    References
    ----------
    J. Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018;
    [J] equation 59, last line.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v, tau = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0], [0.0, 0.2]
    >>> by = so.forward_dynamics_derivatives(model, q, v, tau)
    >>> bool(np.allclose(by.dtau @ so.mass_matrix(model, q), np.eye(2)))
    True
    >>> ahead = so.forward_dynamics(model, q, np.add(v, [0.1, 0.0]), tau)
    >>> back = so.forward_dynamics(model, q, np.subtract(v, [0.1, 0.0]), tau)
    >>> bool(np.allclose(by.dv[:, 0], (ahead - back) / 0.2))  # exact: of second degree in v
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    nv, wrench = model.nv, NO_EXTERNAL
    result, work = out, model.stack()
    if result is None:
        size = nv, nv
        result = _made(ForwardDynamicsDerivatives, (_empty(size), _empty(size), _empty(size)))
    if external is not None:
        wrench = array(external, (model.n_bodies, 6), "external")
    try:
        status = _CALL.call(model.tree, model.links, q, v, tau, wrench, work, *result)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q = vector(q, model.nq, "q")
        v = vector(v, nv, "v")
        tau = vector(tau, nv, "tau")
        matrices = matrices_of(result, ForwardDynamicsDerivatives, nv)
        status = _CALL.checked_call(model.tree, model.links, q, v, tau, wrench, work, *matrices)
    if status == layout.SINGULAR and np.isfinite(q).all():
        raise singular_joint(model, work[:nv])
    if status != layout.OK:
        raise not_finite(q=q, v=v, tau=tau, external=external)
    model.stacks.append(work)
    return result
