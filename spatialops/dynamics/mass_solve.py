"""The mass matrix's inverse times forces, without either matrix, in O(N)."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, not_finite, output, vector
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, kernel
from spatialops.algebra.vectors import ZERO3
from spatialops.dynamics.articulated_lanes import sweep_to_base, sweep_to_tips
from spatialops.dynamics.composite_lanes import (
    CARRIES,
    NO_POSE,
    fits_workspace,
    gather_coordinates,
    place_in_parents,
    place_in_world,
    put_column3,
    weigh_and_direct,
)
from spatialops.dynamics.forward_dynamics import without_mass
from spatialops.dynamics.kinematics import finite_status, fits
from spatialops.tree.model import Model, not_a_model


@kernel
def mass_solve_kernel(
    tree: IntArray, constants: Array, q: Array, x: Array, work: Array, out: Array
) -> int:
    """M^-1 x into `out`: forward dynamics at rest without gravity; tables as there."""
    if not fits(tree, q, x) or out.size != x.size:
        return layout.MISFIT
    if not fits_workspace(constants, work):
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    end = constants.shape[0]
    gather_coordinates(tree, q, work, 0, end)
    place_in_parents(constants, work, 0, end)
    place_in_world(tree, q, work, work, 0, end, NO_POSE)
    weigh_and_direct(constants, work, 0, end)
    for k in range(tree.shape[0]):
        put_column3(work, CARRIES, k, ZERO3)
        put_column3(work, CARRIES + 3, k, ZERO3)
    status = sweep_to_base(tree, constants, x, work)
    sweep_to_tips(tree, work, out)
    return finite_status(out) if status == layout.OK else status


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(mass_solve_kernel, arguments)


_CALL = FastCall(mass_solve_kernel, _entry)


def mass_solve(model: Model, q: ArrayLike, x: ArrayLike, *, out: Array | None = None) -> Array:
    """Accelerations M(q)^-1 x by forces x alone, in O(N).

    What `np.linalg.solve(mass_matrix(model, q), x)` is, by one sweep to the base and one to the
    tips. For many x at one q, `SpatialOperators(model, q).mass_matrix_inverse` keeps the factors.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    x : (nv,) array_like
        Generalised forces, N and N m, or momenta.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        Accelerations, or velocities.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    ModelError
        If a joint has nothing to move (a singular mass matrix).

    References
    ----------
    [J] equation 59, last line.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, x = so.models.pendulum(3).model, [0.5, 0.1, -0.3], [1.0, 0.0, 2.0]
    >>> bool(np.allclose(so.mass_matrix(model, q) @ so.mass_solve(model, q, x), x))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    result = np.empty(model.nv) if out is None else out
    tables = model.branches
    work = tables.work if tables.work is not None else tables.workspace()
    try:
        status = _CALL.call(tables.tree, tables.constants, q, x, work, result)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, x = vector(q, model.nq, "q"), vector(x, model.nv, "x")
        result = output(result, (model.nv,))
        status = _CALL.checked_call(tables.tree, tables.constants, q, x, tables.workspace(), result)
    if status == layout.SINGULAR:
        raise without_mass(model, np.asarray(q, dtype=np.float64))
    if status != layout.OK:
        raise not_finite(q=q, x=x)
    if tables.work is None:
        tables.spare.append(work)
    return result
