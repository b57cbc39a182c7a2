"""Changes of coordinates as plain numbers, which RK4 adds up, and on the tangent space.

A quaternion p of any length turns by 2 p* dp / |p|^2, in its own axes; it changes at the rate
p w / 2. A free joint's place changes along axes of the world.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.algebra.rotation import from_quaternion
from spatialops.derivatives.manifold import turning
from spatialops.tree.model import Model


def _times(p: Array) -> Array:
    """(4, 3): products of a quaternion with the units i, j and k."""
    x, y, z, w = p
    return np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])


def _by_spin(w: Array) -> Array:
    """(4, 4): the product of a quaternion with a spin, by the quaternion."""
    x, y, z = w
    return np.array([[0.0, z, -y, x], [-z, 0.0, x, y], [y, -x, 0.0, z], [-x, -y, -z, 0.0]])


def crossed(a: Array, columns: Array) -> Array:
    """A x each column."""
    return np.asarray(np.cross(a, columns, axisb=0, axisc=0))


def frames(model: Model, q: Array) -> dict[int, Array]:
    """Rotations of ball and free joints, by their first velocity."""
    return {k: from_quaternion(_quaternion(model, q, k)) for k in turning(model)}


def is_free(model: Model, k: int) -> bool:
    """Whether a joint that turns moves too."""
    return bool(model.tree[k, layout.FRAME] == layout.POSE)


def _turn_slice(model: Model, k: int) -> slice:
    first = int(model.tree[k, layout.FIRST_Q]) + (3 if is_free(model, k) else 0)
    return slice(first, first + 4)


def _quaternion(model: Model, q: Array, k: int) -> Array:
    p = q[_turn_slice(model, k)]
    return np.asarray(p / np.linalg.norm(p))


def _plain(model: Model) -> tuple[list[int], list[int]]:
    """Velocities that are rates of numbers, and these numbers."""
    turns = turning(model)
    taken = {k + i for k in turns for i in range(6 if is_free(model, k) else 3)}
    plain = [k for k in range(model.nv) if k not in taken]
    return plain, [int(model.tree[k, layout.FIRST_Q]) for k in plain]


def on_tangent(model: Model, q: Array, dq: Array) -> Array:
    """Changes (nv, columns) on the tangent space of coordinates that change by dq."""
    result = np.empty((model.nv, dq.shape[1]))
    plain, numbers = _plain(model)
    result[plain] = dq[numbers]
    for k in turning(model):
        where = _turn_slice(model, k)
        p = q[where]
        result[k : k + 3] = 2.0 * _times(p).T @ dq[where] / (p @ p)
        if is_free(model, k):
            place = slice(where.start - 3, where.start)
            result[k + 3 : k + 6] = from_quaternion(_quaternion(model, q, k)).T @ dq[place]
    return result


def from_tangent(model: Model, q: Array, change: Array) -> Array:
    """The other way, at quaternions of unit length."""
    return rates_of(model, q, change)


def rates_of(model: Model, q: Array, v: Array) -> Array:
    """Rates (nq, columns) of coordinates at velocities (nv, columns)."""
    result = np.empty((model.nq, v.shape[1]))
    plain, numbers = _plain(model)
    result[numbers] = v[plain]
    for k in turning(model):
        where = _turn_slice(model, k)
        result[where] = 0.5 * _times(q[where]) @ v[k : k + 3]
        if is_free(model, k):
            place = slice(where.start - 3, where.start)
            result[place] = from_quaternion(_quaternion(model, q, k)) @ v[k + 3 : k + 6]
    return result


def rate_changes(model: Model, q: Array, v: Array, dq: Array, dv: Array) -> Array:
    """Changes of the rates at v, of coordinates that change by dq and velocities by dv."""
    result = rates_of(model, q, dv)
    turned = on_tangent(model, q, dq)
    for k in turning(model):
        where = _turn_slice(model, k)
        result[where] += 0.5 * _by_spin(v[k : k + 3]) @ dq[where]
        if is_free(model, k):
            place = slice(where.start - 3, where.start)
            swung = -crossed(v[k + 3 : k + 6], turned[k : k + 3])
            result[place] += from_quaternion(_quaternion(model, q, k)) @ swung
    return result
