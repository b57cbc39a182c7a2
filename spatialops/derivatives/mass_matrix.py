"""Derivatives of the mass matrix and of Lambda along a direction, O(N depth).

Along the velocity u everything that a link carries moves rigidly, so that with V the velocities
under u, S'_b = V x S and 2 B of `carried.py`, whose symmetric part is twice the change of I,

    dM(j, k) = S(j)* (I S'_b(k) + (B + B*) S(k)) + S'_b(j)* I S(k),   j an ancestor of k,

and with dM known, Lambda = J M^-1 J* changes by dJ X + X* dJ* - X* dM X, X = M^-1 J*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, all_finite, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, plus, put3, scaled, vec3
from spatialops.derivatives.carried import (
    AXIS,
    BOTH,
    FIRST,
    Pair,
    add_to_parent,
    coriolis_back,
    coriolis_times,
    inertia_times,
    one_of_eight,
    power,
    put_axes,
    put_own,
    shifted,
    sum_of,
)
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.coriolis import jacobian_rate
from spatialops.dynamics.jacobian import jacobian
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import NodeLike


@inlined
def own_motion(table: Array, k: int) -> Pair:
    """S'_b of link k."""
    both, first = one_of_eight(table, k, BOTH), one_of_eight(table, k, FIRST)
    return sum_of(both, (scaled(-1.0, first[0]), scaled(-1.0, first[1])))


@kernel
def mass_matrix_derivative_kernel(
    tree: IntArray, links: Array, q: Array, u: Array, work: Array, out: Array
) -> None:
    """Write dM along u to `out`, which must hold zeros; `work` is a stack of the model's."""
    n = tree.shape[0]
    table = work[n : 2 * n + 1]
    poses_kernel(tree, links, q, work[:n])
    velocities_kernel(tree, links, u, work[:n])
    put_axes(tree, links, ZERO3, work[:n], table)
    for k in range(n):
        put_own(links, work, k)
        put3(work, k, layout.MOMENT, ZERO3)  # nothing pushes
        put3(work, k, layout.FORCE, ZERO3)
    for k in range(n - 1, -1, -1):
        S = one_of_eight(table, k, AXIS)
        change = coriolis_times(work, k, S)
        change = plus(change[0], coriolis_back(work, k, S)), change[1]
        x = sum_of(
            inertia_times(work, k, own_motion(table, k)),
            (scaled(0.5, change[0]), scaled(0.5, change[1])),
        )
        d = inertia_times(work, k, S)
        j = k
        while j >= 0:
            entry = power(x, one_of_eight(table, j, AXIS)) + power(d, own_motion(table, j))
            out[j, k] = out[k, j] = entry
            r = vec3(work, j, layout.LEVER)
            x = shifted(r, x)
            d = shifted(r, d)
            j = tree[j, layout.PARENT]
        add_to_parent(tree, work, k)


def mass_matrix_derivative(model: Model, q: ArrayLike, u: ArrayLike) -> Array:
    """Derivative of the mass matrix along a direction of motion: that of M(integrate(q, s u)).

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    u : (nv,) array_like
        Direction, as a velocity.

    Returns
    -------
    (nv, nv) array
        Symmetric.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, u = so.models.pendulum(2).model, np.array([0.3, 0.1]), np.array([0.0, 1e-5])
    >>> step = so.mass_matrix(model, q + u) - so.mass_matrix(model, q - u)
    >>> bool(np.allclose(so.mass_matrix_derivative(model, q, u), step / 2.0, atol=1e-12))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q, u = vector(q, model.nq, "q"), vector(u, model.nv, "u")
    if not (all_finite(q) and all_finite(u)):
        raise not_finite(q=q, u=u)
    out, work = np.zeros((model.nv, model.nv)), model.stack()
    mass_matrix_derivative_kernel(model.tree, model.links, q, u, work, out)
    model.stacks.append(work)
    return out


def compliance_derivative(
    model: Model, q: ArrayLike, u: ArrayLike, nodes: Sequence[NodeLike]
) -> Array:
    """Derivative of Lambda at nodes along a direction of motion.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    u : (nv,) array_like
        Direction, as a velocity.
    nodes : sequence of Node
        Points fixed to bodies.

    Returns
    -------
    (6 n_c, 6 n_c) array
        Of `compliance(model, integrate(model, q, s * u), nodes)` by s at 0; symmetric.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity or an unknown body.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, u = so.models.pendulum(2).model, np.array([0.3, 0.1]), np.array([0.5, 1.0])
    >>> tip = [so.Node("link2")]
    >>> ahead, back = (so.compliance(model, q + s * u, tip) for s in (1e-5, -1e-5))
    >>> by = so.compliance_derivative(model, q, u, tip)
    >>> bool(np.allclose(by, (ahead - back) / 2e-5, atol=1e-7))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    change = mass_matrix_derivative(model, q, u)
    X = np.linalg.solve(mass_matrix(model, q), jacobian(model, q, nodes).T)
    turned = jacobian_rate(model, q, u, nodes) @ X
    return np.asarray(turned + turned.T - X.T @ change @ X)
