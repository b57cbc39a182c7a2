"""How the centre of mass moves: its place, its Jacobian and its drift, O(N).

With m_k the mass that link k carries and c_k the place of that mass's centre, about the link's
origin o_k, a rotary axis s_k moves the centre of all mass m by m_k / m s_k x (c_k - o_k), a linear
one by m_k / m s_k. The drift is the mean of the links' accelerations at constant rates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    mat3,
    plus,
    plus_scaled,
    put3,
    rotate,
    scaled,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of, finite_status, move_link, place_links
from spatialops.dynamics.newton_euler import carried_acceleration
from spatialops.tree.model import Model, not_a_model

# Of the mass that a link carries, where forces of links stand otherwise.
_MOMENT = layout.FORCE
_MASS = layout.MOMENT
# Columns of what is found: place, drift, and the Jacobian behind them.
PLACE = 0
DRIFT = 1
JACOBIAN = 2


class CenterMotion(NamedTuple):
    """What `center_of_mass_motion` returns.

    Parameters
    ----------
    x : (3,) array
        Place, m.
    J : (3, nv) array
        J v is its velocity.
    drift : (3,) array
        Jdot v, m/s^2.
    """

    x: Array
    J: Array
    drift: Array


def center_of_mass_motion(model: Model, q: ArrayLike, v: ArrayLike) -> CenterMotion:
    """Place of the centre of mass, and how it moves, O(N).

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
    CenterMotion
        World axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.kinematics.center_motion import center_of_mass_motion
    >>> model, q, v = so.models.pendulum(2).model, [0.3, 0.1], [1.0, -1.0]
    >>> center = center_of_mass_motion(model, q, v)
    >>> bool(np.allclose(center.x, so.center_of_mass(model, q)))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    work, found = model.workspace(), np.empty((3, JACOBIAN + model.nv))
    if center_motion_kernel(model.tree, model.links, q, v, work, found) != layout.OK:
        raise not_finite(q=q, v=v)
    model.spare.append(work)
    J = np.ascontiguousarray(found[:, JACOBIAN:])
    return CenterMotion(found[:, PLACE].copy(), J, found[:, DRIFT].copy())


@kernel
def center_motion_kernel(
    tree: IntArray, links: Array, q: Array, v: Array, work: Array, found: Array
) -> int:
    """Place, drift and Jacobian of the centre of mass, as columns of `found` (3, 2 + n)."""
    status = place_links(tree, links, q, work)
    if status != layout.OK or finite_status(v) != layout.OK:
        return layout.NOT_FINITE
    place = drift = ZERO3
    mass = 0.0
    for k in range(tree.shape[0]):
        move_link(tree, links, v, work, k)
        alpha, accel = carried_acceleration(tree, ZERO3, work, k)
        put3(work, k, layout.ALPHA, alpha)
        put3(work, k, layout.ACCEL, accel)
        own = links[k, layout.MASS]
        lever = rotate(mat3(work, k, layout.ROTATION), vec3(links, k, layout.COM))
        omega = vec3(work, k, layout.OMEGA)
        swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
        center = scaled(own, plus(vec3(work, k, layout.ORIGIN), lever))
        work[k, _MASS] = own
        put3(work, k, _MOMENT, center)
        place = plus(place, center)
        drift = plus_scaled(drift, own, plus(accel, swing))
        mass += own
    for i in range(3):
        found[i, PLACE] = place[i] / mass
        found[i, DRIFT] = drift[i] / mass
    put_columns(tree, links, work, mass, found)
    return layout.OK


@inlined
def put_columns(tree: IntArray, links: Array, work: Array, mass: float, found: Array) -> None:
    """The Jacobian, link by link from the tips: mass and moment are handed to the parent."""
    for k in range(tree.shape[0] - 1, -1, -1):
        own, moment = work[k, _MASS], vec3(work, k, _MOMENT)
        axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
        moved = ZERO3
        if motion != layout.LINEAR:
            moved = cross(axis, plus_scaled(moment, -own, vec3(work, k, layout.ORIGIN)))
        if motion != layout.ROTARY:
            slide = 1.0 if motion == layout.LINEAR else links[k, layout.PITCH]
            moved = plus_scaled(moved, slide * own, axis)
        for i in range(3):
            found[i, JACOBIAN + k] = moved[i] / mass
        parent = tree[k, layout.PARENT]
        if parent >= 0:
            work[parent, _MASS] += own
            add3(work, parent, _MOMENT, moment)
