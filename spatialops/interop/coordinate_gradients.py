"""Gradients by coordinates and by the tangent space, one from the other.

With T(q) (nq, nv), how `integrate` moves coordinates, a gradient g by coordinates is T* g on the
tangent space. Back, T (T* T)^-1 h is the one without a part that would change a quaternion's
length. A quaternion's columns are orthogonal and of length 1/2: T* T = 1/4.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.tree.model import Model


def coordinate_rates(model: Model, q: Array) -> Array:
    """T(q) of coordinates, whose quaternions have unit length.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (..., nq) array
        Coordinates.

    Returns
    -------
    (..., nq, nv) array
        Column j is the rate of the coordinates at a unit velocity j.
    """
    rates = np.zeros((*q.shape, model.nv))
    for at_v, at_q in enumerate(model.tree[:, layout.FIRST_Q].tolist()):
        rates[..., at_q, at_v] = 1.0
    for name in model.joint_names:
        where_q, where_v = model.q_slice(name), model.v_slice(name)
        width = where_q.stop - where_q.start
        if width == where_v.stop - where_v.start:
            continue
        rates[..., where_q, where_v] = 0.0
        turn = where_q.stop - 4
        quaternion = q[..., turn : where_q.stop]
        first = where_v.start
        rates[..., turn : where_q.stop, first : first + 3] = 0.5 * _turns(quaternion)
        if width > 4:
            rates[..., where_q.start : turn, first + 3 : first + 6] = _rotations(quaternion)
    return rates


def to_tangent(model: Model, q: Array, by_coordinates: Array) -> Array:
    """The gradient (..., nv) on the tangent space of one (..., nq) by coordinates."""
    return np.einsum("...ij,...i->...j", coordinate_rates(model, q), by_coordinates)


def to_coordinates(model: Model, q: Array, on_tangent: Array) -> Array:
    """The gradient (..., nq) by coordinates of one (..., nv) on the tangent space.

    It is that of a function that makes quaternions unit before all else.
    """
    rates = coordinate_rates(model, q)
    squares = np.square(rates).sum(axis=-2)  # columns are orthogonal
    return np.einsum("...ij,...j->...i", rates, on_tangent / squares)


def _turns(quaternion: Array) -> Array:
    """(..., 4, 3): products of a quaternion with the units i, j and k, in its own axes."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _rotations(quaternion: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
