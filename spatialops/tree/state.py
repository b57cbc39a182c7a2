"""The state of a mechanism: coordinates, velocities, time; and moving about on their manifold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    IntArray,
    Vec3,
    array,
    not_finite,
    output,
    scalar,
    vector,
)
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import (
    is_finite,
    minus,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, not_a_model

_NO_LENGTH = 1e-9  # of a quaternion that is taken for zero
UNIT = 1e-12  # error of a length whose quaternion keeps its bits
# What `make_units` says where it is not the index of a zero quaternion.
_UNITS = -1
_NOT_FINITE = -2
_SERIES = 1e-8  # rad^2, below which sin(a) / (2 a) loses digits, and its series is exact
_SMALL = 1e-9  # tangent of half a turn that is the angle


@dataclass(frozen=True, eq=False)
class State:
    """The state of a mechanism at one time.

    Parameters
    ----------
    q : (nq,) array
        Coordinates, rad and m; quaternions (x, y, z, w) of unit length.
    v : (nv,) array
        Velocities, rad/s and m/s.
    time : float
        s; default: 0.
    activation : (n,) array
        Of actuators that have dynamics, see `Actuator`; default: none, which stands for zeros.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> pendulum = so.models.pendulum(2).model
    >>> at_rest = so.State(pendulum.neutral(), np.zeros(pendulum.nv))
    >>> at_rest.time
    0.0
    """

    q: Array
    v: Array
    time: float = 0.0
    activation: Array = field(default_factory=lambda: np.zeros(0))

    def checked(self, model: Model) -> State:
        """The same with shapes checked, values copied, and quaternions of unit length.

        Parameters
        ----------
        model : Model
            The mechanism whose state it is.

        Returns
        -------
        State
            With arrays of its own.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN, infinity or a zero quaternion.
        """
        q, v = (
            vector(self.q, model.nq, "state.q").copy(),
            vector(self.v, model.nv, "state.v").copy(),
        )
        place = make_units(model.tree, q, v)
        if place == _NOT_FINITE:
            raise ArgumentError("state: q, v and time must be finite")
        if place != _UNITS:
            raise ArgumentError(f"state.q: the quaternion at index {place} is zero")
        time = scalar(self.time, "state.time")
        activation = self.activation
        if type(activation) is not np.ndarray or activation.size:
            activation = array(activation, (None,), "state.activation", finite=True).copy()
        return State(q, v, time, activation)


def checked_state(state: object, model: Model, name: str = "state") -> State:
    """`state.checked(model)`, or the error that says that it is not a State."""
    if not isinstance(state, State):
        raise ArgumentError(f"{name}: expected a State(q, v, time), got {type(state).__name__}")
    return state.checked(model)


@kernel
def make_units(tree: IntArray, q: Array, v: Array) -> int:
    """Make all quaternions of q unit, but for those that are; index of the first that is zero."""
    if not (is_finite(q) and is_finite(v)):
        return _NOT_FINITE
    for k in range(tree.shape[0]):
        frame = tree[k, layout.FRAME]
        if frame != layout.ATTITUDE and frame != layout.POSE:
            continue
        i = tree[k, layout.FIRST_Q] + (3 if frame == layout.POSE else 0)
        length = math.hypot(math.hypot(q[i], q[i + 1]), math.hypot(q[i + 2], q[i + 3]))
        if length < _NO_LENGTH:
            return i
        if abs(length - 1.0) > UNIT:
            for c in range(4):
                q[i + c] /= length
    return _UNITS


@kernel
def both_finite(a: Array, b: Array) -> bool:
    """Whether two vectors have neither NaN nor infinity."""
    return is_finite(a) and is_finite(b)


@kernel
def turn_quaternion(q: Array, i: int, x: float, y: float, z: float) -> None:
    """Turn q[i:i+4] by the rotation vector (x, y, z) in its own axes, to unit length."""
    square = x * x + y * y + z * z
    half = 0.5 * math.sqrt(square)
    # sin(a) / (2 a), or its series.
    s = 0.5 - square / 48.0 if square < _SERIES else math.sin(half) / (2.0 * half)
    c = math.cos(half)
    x = s * x
    y = s * y
    z = s * z
    a = q[i]
    b = q[i + 1]
    d = q[i + 2]
    w = q[i + 3]
    nx = w * x + a * c + b * z - d * y
    ny = w * y + b * c + d * x - a * z
    nz = w * z + d * c + a * y - b * x
    nw = w * c - a * x - b * y - d * z
    length = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    q[i] = nx * length
    q[i + 1] = ny * length
    q[i + 2] = nz * length
    q[i + 3] = nw * length


@kernel
def integrate_kernel(tree: IntArray, q: Array, v: Array, step: float, out: Array) -> None:
    """Write q moved by step * v to `out`.

    A free body goes straight along its velocity while it turns about its axis.
    """
    for i in range(q.size):
        out[i] = q[i]
    for k in range(tree.shape[0]):
        frame, i = tree[k, layout.FRAME], tree[k, layout.FIRST_Q]
        if frame == layout.ATTITUDE:
            turn_quaternion(out, i, step * v[k], step * v[k + 1], step * v[k + 2])
        elif frame == layout.POSE:
            rotation = rotation_from_quaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6])
            x, y, z = rotate(rotation, (v[k + 3], v[k + 4], v[k + 5]))
            out[i] = q[i] + step * x
            out[i + 1] = q[i + 1] + step * y
            out[i + 2] = q[i + 2] + step * z
            turn_quaternion(out, i + 3, step * v[k], step * v[k + 1], step * v[k + 2])
        elif frame != layout.SAME:
            out[i] = q[i] + step * v[k]


@kernel
def transport(tree: IntArray, q_from: Array, q_to: Array, v: Array) -> None:
    """Turn linear velocities of free bodies from axes at `q_from` to those at `q_to`, in place."""
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] != layout.POSE:
            continue
        i = tree[k, layout.FIRST_Q] + 3
        old = rotation_from_quaternion(q_from[i], q_from[i + 1], q_from[i + 2], q_from[i + 3])
        new = rotation_from_quaternion(q_to[i], q_to[i + 1], q_to[i + 2], q_to[i + 3])
        v[k + 3], v[k + 4], v[k + 5] = rotate_back(new, rotate(old, (v[k + 3], v[k + 4], v[k + 5])))


@kernel
def quaternion_difference(a: Array, b: Array, i: int) -> Vec3:
    """Rotation vector in a's axes that turns quaternion a[i:i+4] to b[i:i+4] by the shorter way."""
    x = a[i + 3] * b[i] - a[i] * b[i + 3] - a[i + 1] * b[i + 2] + a[i + 2] * b[i + 1]
    y = a[i + 3] * b[i + 1] - a[i + 1] * b[i + 3] - a[i + 2] * b[i] + a[i] * b[i + 2]
    z = a[i + 3] * b[i + 2] - a[i + 2] * b[i + 3] - a[i] * b[i + 1] + a[i + 1] * b[i]
    w = a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3]
    if w < 0.0:
        x = -x
        y = -y
        z = -z
        w = -w
    s = math.sqrt(x * x + y * y + z * z)
    f = 2.0 / w if s < _SMALL * w else 2.0 * math.atan2(s, w) / s
    return f * x, f * y, f * z


@kernel
def difference_kernel(tree: IntArray, q0: Array, q1: Array, out: Array) -> None:
    """The v for which integrate(q0, v) is q1."""
    for k in range(tree.shape[0]):
        frame, i = tree[k, layout.FRAME], tree[k, layout.FIRST_Q]
        if frame == layout.ATTITUDE:
            out[k], out[k + 1], out[k + 2] = quaternion_difference(q0, q1, i)
        elif frame == layout.POSE:
            rotation = rotation_from_quaternion(q0[i + 3], q0[i + 4], q0[i + 5], q0[i + 6])
            move = minus((q1[i], q1[i + 1], q1[i + 2]), (q0[i], q0[i + 1], q0[i + 2]))
            out[k], out[k + 1], out[k + 2] = quaternion_difference(q0, q1, i + 3)
            out[k + 3], out[k + 4], out[k + 5] = rotate_back(rotation, move)
        elif frame != layout.SAME:
            out[k] = q1[i] - q0[i]


def integrate(model: Model, q: ArrayLike, dv: ArrayLike, *, out: Array | None = None) -> Array:
    """Coordinates after a small motion, on the manifold of the joints.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates before the motion, rad and m.
    dv : (nv,) array_like
        The motion, velocity times time: rad and m, in the axes that velocities have. A free
        body's position moves by R(q) dv_linear.
    out : (nq,) array, optional
        Where to write the result.

    Returns
    -------
    (nq,) array
        Coordinates after the motion, with unit quaternions.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> inertia = so.Inertia.sphere(0.1, mass=1.0)
    >>> model = so.TreeBuilder().add_body("ball", joint="ball", inertia=inertia).build()
    >>> so.integrate(model, model.neutral(), [0.0, 0.0, np.pi]).round(6)
    array([0., 0., 1., 0.])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    dv = vector(dv, model.nv, "dv")
    result = output(out, (model.nq,))
    if not both_finite(q, dv):
        raise not_finite(q=q, dv=dv)
    integrate_kernel(model.tree, q, dv, 1.0, result)
    return result


def difference(model: Model, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
    """The motion that `integrate` takes from one configuration to another.

    Parameters
    ----------
    model : Model
        The mechanism.
    q0 : (nq,) array_like
        Coordinates before the motion, rad and m.
    q1 : (nq,) array_like
        Coordinates after it.
    out : (nv,) array, optional
        Where to write the result.

    Returns
    -------
    (nv,) array
        dv with integrate(model, q0, dv) = q1, rad and m, in the axes that velocities have; by the
        shorter way round where it turns.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> so.difference(model, [0.1, 0.2], [0.3, 0.0]).round(6)
    array([ 0.2, -0.2])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q0 = vector(q0, model.nq, "q0")
    q1 = vector(q1, model.nq, "q1")
    result = output(out, (model.nv,))
    if not both_finite(q0, q1):
        raise not_finite(q0=q0, q1=q1)
    difference_kernel(model.tree, q0, q1, result)
    return result
