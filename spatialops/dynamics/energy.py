"""Energy, momentum and centre of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, Vec3, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    cross,
    dot,
    mat3,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.tree.model import Model, not_a_model


class Energy(NamedTuple):
    """Kinetic and potential energy of a mechanism.

    Parameters
    ----------
    kinetic : float
        J, armature included.
    potential : float
        Of gravity, zero with every mass at the world's origin, and of the joints' springs, J.
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum, J."""
        return self.kinetic + self.potential


@inlined
def link_momentum(links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Angular momentum about its origin and linear momentum of link k's own mass."""
    rotation = mat3(work, k, layout.ROTATION)
    omega = vec3(work, k, layout.OMEGA)
    velocity = vec3(work, k, layout.VELOCITY)
    com = scaled(links[k, layout.MASS], rotate(rotation, vec3(links, k, layout.COM)))
    spin = rotate(rotation, sym_times(sym3(links, k, layout.INERTIA), rotate_back(rotation, omega)))
    return plus(spin, cross(com, velocity)), plus_scaled(
        cross(omega, com), links[k, layout.MASS], velocity
    )


@kernel
def kinetic_kernel(links: Array, v: Array, work: Array) -> float:
    """Kinetic energy; velocities must be in `work`."""
    total = 0.0
    for k in range(links.shape[0]):
        total += links[k, layout.ARMATURE] * v[k] * v[k]
        if links[k, layout.MASS] != 0.0:
            angular, linear = link_momentum(links, work, k)
            total += dot(angular, vec3(work, k, layout.OMEGA)) + dot(
                linear, vec3(work, k, layout.VELOCITY)
            )
    return 0.5 * total


@kernel
def potential_kernel(links: Array, work: Array) -> float:
    """Potential energy of gravity; poses must be in `work`."""
    pull = vec3(links, 0, layout.GRAVITY)
    total = 0.0
    for k in range(links.shape[0]):
        if links[k, layout.MASS] != 0.0:
            com = plus(
                vec3(work, k, layout.ORIGIN),
                rotate(mat3(work, k, layout.ROTATION), vec3(links, k, layout.COM)),
            )
            total -= links[k, layout.MASS] * dot(pull, com)
    return total


@kernel
def momentum_kernel(links: Array, work: Array, out: Array) -> None:
    """Momentum [angular about the world's origin; linear] and mass-weighted centre into `out`."""
    out[:] = 0.0
    for k in range(links.shape[0]):
        if links[k, layout.MASS] == 0.0:
            continue
        origin = vec3(work, k, layout.ORIGIN)
        angular, linear = link_momentum(links, work, k)
        angular = plus(angular, cross(origin, linear))
        center = plus(origin, rotate(mat3(work, k, layout.ROTATION), vec3(links, k, layout.COM)))
        for j in range(3):
            out[j] += angular[j]
            out[3 + j] += linear[j]
            out[6 + j] += links[k, layout.MASS] * center[j]


def _swept(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != layout.OK or not np.isfinite(v).all():
        raise not_finite(q=q, v=v)
    velocities_kernel(model.tree, model.links, v, work)
    return v, work


def energy(model: Model, q: ArrayLike, v: ArrayLike) -> Energy:
    """Kinetic energy, armature included, and potential energy of gravity and joints' springs.

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
    Energy
        Both, and their `total`, J.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(1).model
    >>> now = so.energy(model, [0.0], [2.0])
    >>> bool(now.kinetic > 0.0), bool(now.total == now.kinetic + now.potential)
    (True, True)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    rates, work = _swept(model, q, v)
    potential = potential_kernel(model.links, work)
    for k in np.flatnonzero(model.stiffness).tolist():
        stretch = float(np.asarray(q)[model.tree[k, layout.FIRST_Q]]) - model.reference[k]
        potential += 0.5 * float(model.stiffness[k]) * stretch * stretch
    return Energy(kinetic_kernel(model.links, rates, work), potential)


def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Total momentum of a mechanism, armature left out.

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
    (6,) array
        [angular about the world's origin (kg m^2/s); linear (kg m/s)], world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    out = np.empty(9)
    momentum_kernel(model.links, _swept(model, q, v)[1], out)
    return out[:6]


def center_of_mass(model: Model, q: ArrayLike) -> Array:
    """Centre of mass of all moving bodies.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.

    Returns
    -------
    (3,) array
        In the world, m.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> model = so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build()
    >>> so.center_of_mass(model, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    array([1., 2., 3.])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    out = np.empty(9)
    momentum_kernel(model.links, _swept(model, q, np.zeros(model.nv))[1], out)
    return out[6:] / model.mass
