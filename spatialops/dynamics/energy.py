"""Energy, momentum and centre of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, not_finite, vector
from spatialops._compile.doors import FIXED, Size, door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
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
from spatialops.dynamics.kinematics import finite_status, fits, move_link, place_link, place_links
from spatialops.tree import sources
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


@inlined
def sweep(tree: IntArray, links: Array, q: Array, v: Array, work: Array) -> int:
    """Poses and velocities of all links, and whether all that was given is sound."""
    if not fits(tree, q, v) or work.shape[0] != v.size:
        return layout.MISFIT
    if finite_status(q) != layout.OK or finite_status(v) != layout.OK:
        return layout.NOT_FINITE
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
        move_link(tree, links, v, work, k)
    return layout.OK


@inlined
def add_to(out: Array, first: int, a: Vec3) -> None:
    out[first] += a[0]
    out[first + 1] += a[1]
    out[first + 2] += a[2]


@kernel
def energy_kernel(tree: IntArray, links: Array, q: Array, v: Array, work: Array, out: Array) -> int:
    """Kinetic energy, and potential energy of gravity."""
    status = sweep(tree, links, q, v, work)
    if status == layout.OK:
        out[0] = kinetic_kernel(links, v, work)
        out[1] = potential_kernel(links, work)
    return status


@kernel
def momentum_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, work: Array, out: Array
) -> int:
    """Momentum [angular about the world's origin; linear]."""
    status = sweep(tree, links, q, v, work)
    if status != layout.OK:
        return status
    out[:] = 0.0
    for k in range(tree.shape[0]):
        if links[k, layout.MASS] != 0.0:
            angular, linear = link_momentum(links, work, k)
            add_to(out, 0, plus(angular, cross(vec3(work, k, layout.ORIGIN), linear)))
            add_to(out, 3, linear)
    return layout.OK


@kernel
def center_kernel(tree: IntArray, links: Array, q: Array, v: Array, work: Array, out: Array) -> int:
    """Centre of mass; velocities are not looked at."""
    if not fits(tree, q, v) or work.shape[0] != v.size:
        return layout.MISFIT
    if place_links(tree, links, q, work) != layout.OK:
        return layout.NOT_FINITE
    out[:] = 0.0
    mass = 0.0
    for k in range(tree.shape[0]):
        own = links[k, layout.MASS]
        if own != 0.0:
            com = rotate(mat3(work, k, layout.ROTATION), vec3(links, k, layout.COM))
            add_to(out, 0, scaled(own, plus(vec3(work, k, layout.ORIGIN), com)))
            mass += own
    for j in range(3):
        out[j] /= mass
    return layout.OK


@entry_point
def _energy_entry(arguments: Arguments) -> int:
    return enter(energy_kernel, arguments)


@entry_point
def _momentum_entry(arguments: Arguments) -> int:
    return enter(momentum_kernel, arguments)


@entry_point
def _center_entry(arguments: Arguments) -> int:
    return enter(center_kernel, arguments)


_ENERGY = FastCall(energy_kernel, _energy_entry)
_MOMENTUM = FastCall(momentum_kernel, _momentum_entry)
_CENTER = FastCall(center_kernel, _center_entry)


def _filled(call: FastCall, model: Model, q: ArrayLike, v: ArrayLike, out: Array) -> Array:
    """What a kernel makes of a state, with everything checked that its door refuses."""
    try:
        status = call.call(model.tree, model.links, q, v, model.held, out)
    except TypeError:
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
        work = np.empty((model.nv, layout.WORK_COLUMNS))
        status = call.checked_call(model.tree, model.links, q, v, work, out)
    if status != layout.OK:
        raise not_finite(q=q, v=v)
    return out


@door(
    _ENERGY,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.V,
    sources.HELD_UNSPRUNG,
    results=[(Size(FIXED, 2),)],
    classes=sources.OF_STATE,
    gives=Energy,
)
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
    found = _filled(_ENERGY, model, q, v, np.empty(2)).tolist()
    for k in model.sprung:
        stretch = float(np.asarray(q)[model.tree[k, layout.FIRST_Q]]) - model.reference[k]
        found[1] += 0.5 * float(model.stiffness[k]) * stretch * stretch
    return Energy(*found)


@door(
    _MOMENTUM,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.V,
    sources.HELD,
    results=[(Size(FIXED, 6),)],
    classes=sources.OF_STATE,
)
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
    return _filled(_MOMENTUM, model, q, v, np.empty(6))


@door(
    _CENTER,
    sources.TREE,
    sources.LINKS,
    sources.Q,
    sources.of_branches("rest"),
    sources.HELD,
    results=[(Size(FIXED, 3),)],
    classes=sources.OF_STATE,
)
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
    return _filled(_CENTER, model, q, model.branches.rest, np.empty(3))
