"""Derivatives of motions along the manifold of coordinates, and of velocities carried with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, all_finite, not_finite, scalar, vector
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.tree.model import Model, not_a_model

_SERIES = 1e-4  # rad^2 below which the series of three terms is exact


class MoveDerivatives(NamedTuple):
    """What `integrate_derivatives` returns.

    Parameters
    ----------
    dq : (nv, nv) array
        By the coordinates that the move begins at: both ends in the tangent space there.
    dv : (nv, nv) array
        By the velocity.
    carried : (nv, nv) array
        By the velocity, of the velocity that arrives: linear ones of free bodies stay as they are
        in the world, and have other components along axes that have turned.
    """

    dq: Array
    dv: Array
    carried: Array


def integrate_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, step: float = 1.0
) -> MoveDerivatives:
    """Derivatives of `integrate(model, q, step * v)` on the tangent spaces of its two ends.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    step : float
        s. Default: 1.

    Returns
    -------
    MoveDerivatives
        All block diagonal: diagonal but for ball and free joints.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> so.integrate_derivatives(model, [0.3, 0.1], [1.0, 2.0], 0.5).dv
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    step = scalar(step, "step")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    dq = np.eye(model.nv)
    dv = step * np.eye(model.nv)
    carried = np.eye(model.nv)
    for k in turning(model):
        turn = slice(k, k + 3)
        back = from_rotation_vector(-step * v[turn])
        dq[turn, turn] = back
        dv[turn, turn] = step * right_jacobian(step * v[turn])
        if model.tree[k, layout.FRAME] == layout.POSE:
            move = slice(k + 3, k + 6)
            dq[move, turn] = -step * back @ skew(v[move])
            dq[move, move] = back
            dv[move, move] = step * back
            carried[move, move] = back
            carried[move, turn] = skew(back @ v[move]) @ dv[turn, turn]
    return MoveDerivatives(dq, dv, carried)


def turning(model: Model) -> list[int]:
    """First links of ball and free joints."""
    frames = model.tree[:, layout.FRAME]
    found: list[int] = np.flatnonzero(
        (frames == layout.ATTITUDE) | (frames == layout.POSE)
    ).tolist()
    return found


def right_jacobian(r: Array) -> Array:
    """Turn in body axes at the end for each unit of the rotation vector r (Sola 2018, eq. 143)."""
    square = float(r @ r)
    if square < _SERIES:
        a = 0.5 - square / 24.0 + square**2 / 720.0
        b = 1.0 / 6.0 - square / 120.0 + square**2 / 5040.0
    else:
        angle = np.sqrt(square)
        a, b = (1.0 - np.cos(angle)) / square, (angle - np.sin(angle)) / (angle * square)
    x = skew(r)
    return np.asarray(np.eye(3) - a * x + b * x @ x)


def skew(a: Array) -> Array:
    """The matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
