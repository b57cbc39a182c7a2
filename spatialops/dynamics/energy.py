"""Energy, momentum and centre of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, Vec3, not_finite, vector
from spatialops._jit import inlined, kernel
from spatialops._layout import (
    ARMATURE,
    COM,
    GRAVITY,
    INERTIA,
    MASS,
    OK,
    OMEGA,
    ORIGIN,
    ROTATION,
    VELOCITY,
    WORK_COLUMNS,
)
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
from spatialops.tree.model import Model


class Energy(NamedTuple):
    """Kinetic and potential energy, J; the potential is zero with every mass at the world's origin."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum, J."""
        return self.kinetic + self.potential


@inlined
def link_momentum(links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """Angular momentum about its origin and linear momentum of link k's own mass."""
    rotation, omega, velocity = mat3(work, k, ROTATION), vec3(work, k, OMEGA), vec3(work, k, VELOCITY)
    com = scaled(links[k, MASS], rotate(rotation, vec3(links, k, COM)))
    spin = rotate(rotation, sym_times(sym3(links, k, INERTIA), rotate_back(rotation, omega)))
    return plus(spin, cross(com, velocity)), plus_scaled(cross(omega, com), links[k, MASS], velocity)


@kernel
def kinetic_kernel(links: Array, v: Array, work: Array) -> float:
    """Kinetic energy; velocities must be in `work`."""
    total = 0.0
    for k in range(links.shape[0]):
        total += links[k, ARMATURE] * v[k] * v[k]
        if links[k, MASS] != 0.0:
            angular, linear = link_momentum(links, work, k)
            total += dot(angular, vec3(work, k, OMEGA)) + dot(linear, vec3(work, k, VELOCITY))
    return 0.5 * total


@kernel
def potential_kernel(links: Array, work: Array) -> float:
    """Potential energy of gravity; poses must be in `work`."""
    pull = vec3(links, 0, GRAVITY)
    total = 0.0
    for k in range(links.shape[0]):
        if links[k, MASS] != 0.0:
            com = plus(vec3(work, k, ORIGIN), rotate(mat3(work, k, ROTATION), vec3(links, k, COM)))
            total -= links[k, MASS] * dot(pull, com)
    return total


@kernel
def momentum_kernel(links: Array, work: Array, out: Array) -> None:
    """Total momentum [angular about the world's origin; linear] in out[0:6], mass-weighted centre in out[6:9]."""
    out[:] = 0.0
    for k in range(links.shape[0]):
        if links[k, MASS] == 0.0:
            continue
        origin = vec3(work, k, ORIGIN)
        angular, linear = link_momentum(links, work, k)
        angular = plus(angular, cross(origin, linear))
        center = plus(origin, rotate(mat3(work, k, ROTATION), vec3(links, k, COM)))
        for j in range(3):
            out[j] += angular[j]
            out[3 + j] += linear[j]
            out[6 + j] += links[k, MASS] * center[j]


def _swept(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    work = np.empty((model.nv, WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != OK or not np.isfinite(v).all():
        raise not_finite(q=q, v=v)
    velocities_kernel(model.tree, model.links, v, work)
    return v, work


def energy(model: Model, q: Array, v: Array) -> Energy:
    """Kinetic energy (armature included) and potential energy of gravity, J, of coordinates (nq,), velocities (nv,)."""
    v, work = _swept(model, q, v)
    return Energy(kinetic_kernel(model.links, v, work), potential_kernel(model.links, work))


def momentum(model: Model, q: Array, v: Array) -> Array:
    """Total momentum (6,) [angular about the world's origin (kg m^2/s); linear (kg m/s)], armature left out."""
    out = np.empty(9)
    momentum_kernel(model.links, _swept(model, q, v)[1], out)
    return out[:6]


def center_of_mass(model: Model, q: Array) -> Array:
    """Centre of mass (3,) in the world, m."""
    out = np.empty(9)
    momentum_kernel(model.links, _swept(model, q, np.zeros(model.nv))[1], out)
    return out[6:] / model.mass
