"""Derivatives of energy, momentum and centre of mass, O(N).

With h the momentum (moment, force) of all that link j carries about its origin, I its inertia, and
S, S' = V x S of `carried.py`,

    dT / dq(j) = S'(j)* h,    d h_0 / dq(j) = S(j) x* h + I S'(j),

the latter about a fixed point; T is the kinetic energy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, all_finite, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, plus_scaled, put3, vec3
from spatialops.derivatives.carried import (
    AXIS,
    CENTER,
    FIRST,
    MASS,
    add_to_parent,
    force_on,
    inertia_times,
    one_of_eight,
    power,
    put_axes,
    put_own,
    shifted,
    sum_of,
    turned_by_twist,
)
from spatialops.dynamics.energy import center_kernel, link_momentum, momentum_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.forces.passive import spring_forces
from spatialops.tree.model import Model, not_a_model

# Rows of what is found, a number for every velocity.
KINETIC_BY_Q = 0
KINETIC_BY_V = 1
POTENTIAL_BY_Q = 2
CENTER_BY_Q = 3  # 3: of the sum of masses times places
MOMENTUM_BY_Q = 6  # 6: about a point
MOMENTUM_BY_V = 12  # 6
FOUND_ROWS = 18


class EnergyDerivatives(NamedTuple):
    """What `energy_derivatives` returns.

    Parameters
    ----------
    dq : (nv,) array
        Of kinetic and potential energy by coordinates, on the tangent space.
    dv : (nv,) array
        By velocities: M v.
    """

    dq: Array
    dv: Array


class MomentumDerivatives(NamedTuple):
    """What `centroidal_momentum_derivatives` returns.

    Parameters
    ----------
    dq : (6, nv) array
        By coordinates, on the tangent space.
    dv : (6, nv) array
        By velocities: the centroidal momentum matrix.
    """

    dq: Array
    dv: Array


@kernel
def momentum_derivatives_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, center: Array, work: Array, found: Array
) -> None:
    """All changes, of momentum about the point `center`; `work` is a stack of the model's."""
    n = tree.shape[0]
    table = work[n : 2 * n + 1]
    poses_kernel(tree, links, q, work[:n])
    velocities_kernel(tree, links, v, work[:n])
    put_axes(tree, links, ZERO3, work[:n], table)
    for k in range(n):
        put_own(links, work, k)
        moment, force = link_momentum(links, work, k)
        put3(work, k, layout.MOMENT, moment)
        put3(work, k, layout.FORCE, force)
    gravity = vec3(links, 0, layout.GRAVITY)
    for k in range(n - 1, -1, -1):
        S = one_of_eight(table, k, AXIS)
        first = one_of_eight(table, k, FIRST)
        h = force_on(work, k)
        arm = (
            work[k, layout.ORIGIN] - center[0],
            work[k, layout.ORIGIN + 1] - center[1],
            work[k, layout.ORIGIN + 2] - center[2],
        )
        moved = plus_scaled(cross(S[0], vec3(work, k, CENTER)), work[k, MASS], S[1])
        by_q = shifted(arm, sum_of(turned_by_twist(S, h), inertia_times(work, k, first)))
        by_v = shifted(arm, inertia_times(work, k, S))
        found[KINETIC_BY_Q, k] = power(h, first)
        found[KINETIC_BY_V, k] = power(h, S) + links[k, layout.ARMATURE] * v[k]
        found[POTENTIAL_BY_Q, k] = -dot(gravity, moved)
        for i in range(3):
            found[CENTER_BY_Q + i, k] = moved[i]
            found[MOMENTUM_BY_Q + i, k] = by_q[0][i]
            found[MOMENTUM_BY_Q + 3 + i, k] = by_q[1][i]
            found[MOMENTUM_BY_V + i, k] = by_v[0][i]
            found[MOMENTUM_BY_V + 3 + i, k] = by_v[1][i]
        add_to_parent(tree, work, k)


@kernel
def centroidal_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, sums: Array, work: Array, found: Array
) -> None:
    """All changes, of momentum about the centre of mass, which moves.

    `sums` (9,) are the momentum and the centre of mass.
    """
    n = tree.shape[0]
    momentum_kernel(tree, links, q, v, work[:n], sums[:6])
    center_kernel(tree, links, q, v, work[:n], sums[6:])
    mass = 0.0
    for k in range(n):
        mass += links[k, layout.MASS]
    momentum_derivatives_kernel(tree, links, q, v, sums[6:], work, found)
    linear = sums[3], sums[4], sums[5]
    for k in range(n):
        moved = found[CENTER_BY_Q, k], found[CENTER_BY_Q + 1, k], found[CENTER_BY_Q + 2, k]
        turned = cross(moved, linear)
        for i in range(3):
            found[MOMENTUM_BY_Q + i, k] -= turned[i] / mass


def _centroidal(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    found, work = np.empty((FOUND_ROWS, model.nv)), model.stack()
    sums = np.empty(9)
    centroidal_kernel(model.tree, model.links, q, v, sums, work, found)
    model.stacks.append(work)
    return found


def _found(model: Model, q: ArrayLike, v: ArrayLike, center: Array) -> Array:
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    found, work = np.empty((FOUND_ROWS, model.nv)), model.stack()
    momentum_derivatives_kernel(model.tree, model.links, q, v, center, work, found)
    model.stacks.append(work)
    return found


def energy_derivatives(model: Model, q: ArrayLike, v: ArrayLike) -> EnergyDerivatives:
    """Derivatives of the energy that `energy` gives, O(N).

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
    EnergyDerivatives
        `dq` (N m, N) and `dv`.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> by = so.energy_derivatives(model, q, v)
    >>> bool(np.allclose(by.dv, so.mass_matrix(model, q) @ v))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    found = _found(model, q, v, np.zeros(3))
    by_q = found[KINETIC_BY_Q] + found[POTENTIAL_BY_Q]
    if model.stiffness.any():
        by_q -= spring_forces(model, vector(q, model.nq, "q"))
    return EnergyDerivatives(by_q, found[KINETIC_BY_V])


def center_of_mass_derivative(model: Model, q: ArrayLike) -> Array:
    """Derivative of `center_of_mass` on the tangent space: times v its velocity.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    (3, nv) array
        World axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], np.array([1.0, -1.0])
    >>> velocity = so.center_of_mass_derivative(model, q) @ v
    >>> bool(np.allclose(velocity * model.mass, so.momentum(model, q, v)[3:]))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    found = _found(model, q, np.zeros(model.nv), np.zeros(3))
    return np.asarray(found[CENTER_BY_Q : CENTER_BY_Q + 3] / model.mass)


def centroidal_momentum_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike
) -> MomentumDerivatives:
    """Derivatives of the momentum about the centre of mass, O(N).

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
    MomentumDerivatives
        Of `centroidal_momentum_matrix(model, q) @ v`, [angular; linear] in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> by = so.centroidal_momentum_derivatives(model, q, v)
    >>> bool(np.allclose(by.dv, so.centroidal_momentum_matrix(model, q)))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    found = _centroidal(model, q, v)
    by_q = found[MOMENTUM_BY_Q : MOMENTUM_BY_Q + 6].copy()
    return MomentumDerivatives(by_q, found[MOMENTUM_BY_V:].copy())
