"""Springs and actuators as one law: a force along a length, affine in the length and its rate.

An element has a length l = sum of c_j q_j over joints of one coordinate, or that of a path through
space, whose arms c_j = dl/dv_j change (`forces.path_length`). It pulls with

    f = (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l',      tau_j += c_j f,

cut to its range; u is its control or, where it has dynamics of its own, its activation. A spring
has u = 0, b0 = k l0, b1 = -k. This is the general actuator of MJCF (E. Todorov et al., MuJoCo's
documentation, "Actuation model"), and all of servos, motors and fixed tendons are cases of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.forces._layout import (
    BIAS,
    CONTROL,
    CONTROL_HIGH,
    CONTROL_LOW,
    COORDINATE,
    COUNT,
    DYNAMICS,
    FIRST,
    FORCE_HIGH,
    FORCE_LOW,
    GAIN,
    INTEGRATOR,
    LINK,
    POINTS,
    STATE,
    STATE_HIGH,
    STATE_LOW,
    TIME_CONSTANT,
)
from spatialops.forces.path_length import Placed, path_length


class Elements(NamedTuple):
    """Tables of elements: actuators in their order, then springs.

    Attributes
    ----------
    ints : (n, ELEMENT_INTS) int array
    floats : (n, ELEMENT_FLOATS) array
    joints : (k, JOINT_INTS) int array
        Link and coordinate of every joint of an element; behind them the points of paths.
    arms : array
        Its factor c_j, (k,); behind them numbers of the points of paths.
    n_controls, n_states : int
    """

    ints: IntArray
    floats: Array
    joints: IntArray
    arms: Array
    n_controls: int
    n_states: int


@inlined
def clamped(value: float, low: float, high: float) -> float:
    """The value, cut to a range."""
    return min(max(value, low), high)


@kernel
def element_motion(
    ints: IntArray, joints: IntArray, arms: Array, e: int, q: Array, v: Array
) -> tuple[float, float]:
    """Length of element e and its rate."""
    length = rate = 0.0
    for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
        length += arms[i] * q[joints[i, COORDINATE]]
        rate += arms[i] * v[joints[i, LINK]]
    return length, rate


@kernel
def activation_after(
    ints: IntArray, floats: Array, e: int, ctrl: Array, activation: Array, x: float
) -> float:
    """Activation of element e a time x later, under a constant control: exact."""
    u = clamped(ctrl[ints[e, CONTROL]], floats[e, CONTROL_LOW], floats[e, CONTROL_HIGH])
    now = activation[ints[e, STATE]]
    if ints[e, DYNAMICS] == INTEGRATOR:
        now += x * u
    elif floats[e, TIME_CONSTANT] > 0.0:
        now += (u - now) * (1.0 - math.exp(-x / floats[e, TIME_CONSTANT]))
    else:
        now = u
    return clamped(now, floats[e, STATE_LOW], floats[e, STATE_HIGH])


@kernel
def signal(
    ints: IntArray, floats: Array, e: int, ctrl: Array, activation: Array, x: float
) -> float:
    """What drives element e a time x after the activations: its control or its activation."""
    if ints[e, CONTROL] < 0:
        return 0.0
    if ints[e, STATE] >= 0:
        return activation_after(ints, floats, e, ctrl, activation, x)
    return clamped(ctrl[ints[e, CONTROL]], floats[e, CONTROL_LOW], floats[e, CONTROL_HIGH])


@inlined
def affine(floats: Array, e: int, column: int, length: float, rate: float) -> float:
    """Gain or bias of element e."""
    return floats[e, column] + floats[e, column + 1] * length + floats[e, column + 2] * rate


@inlined
def slope(floats: Array, e: int, u: float, order: int) -> float:
    """How much the force of element e falls with its length (1) or its rate (2); never negative.

    What rises with them pushes the mechanism away, and is left explicit.
    """
    return max(-(floats[e, GAIN + order] * u + floats[e, BIAS + order]), 0.0)


@kernel
def path_rate(ints: IntArray, joints: IntArray, e: int, own_arms: Array, v: Array) -> float:
    """Rate of the length of element e, a path, from its moment arms."""
    rate = 0.0
    for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
        k = joints[i, LINK]
        rate += own_arms[k] * v[k]
    return rate


@kernel
def add_element_forces(
    ints: IntArray,
    floats: Array,
    joints: IntArray,
    arms: Array,
    placed: Placed,
    v: Array,
    ctrl: Array,
    signals: Array,
    x: float,
    tau: Array,
) -> None:
    """Add forces of all elements, with velocities v, a time x after the activations, to `tau`."""
    for e in range(ints.shape[0]):
        if ints[e, POINTS] > 0:
            length = path_length(ints, joints, arms, e, placed)
            rate = path_rate(ints, joints, e, placed.arms, v)
        else:
            length, rate = element_motion(ints, joints, arms, e, placed.q, v)
        u = signal(ints, floats, e, ctrl, signals, x)
        force = affine(floats, e, GAIN, length, rate) * u + affine(floats, e, BIAS, length, rate)
        force = clamped(force, floats[e, FORCE_LOW], floats[e, FORCE_HIGH])
        for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
            k = joints[i, LINK]
            tau[k] += (placed.arms[k] if ints[e, POINTS] > 0 else arms[i]) * force


@kernel
def advance_activations(
    ints: IntArray, floats: Array, ctrl: Array, activation: Array, x: float
) -> bool:
    """Activations a time x later; whether any is another."""
    changed = False
    for e in range(ints.shape[0]):
        if ints[e, STATE] >= 0:
            after = activation_after(ints, floats, e, ctrl, activation, x)
            changed = changed or after != activation[ints[e, STATE]]
            activation[ints[e, STATE]] = after
    return changed


@kernel
def spring_energy(
    ints: IntArray,
    floats: Array,
    joints: IntArray,
    arms: Array,
    placed: Placed,
) -> float:
    """Energy of the elements that are springs, k (l - l0)^2 / 2; none on the side that is slack."""
    total = 0.0
    for e in range(ints.shape[0]):
        stiffness = -floats[e, BIAS + 1]
        if ints[e, CONTROL] < 0 and stiffness > 0.0:
            stretch = -floats[e, BIAS] / stiffness
            if ints[e, POINTS] > 0:
                stretch += path_length(ints, joints, arms, e, placed)
            else:
                for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
                    stretch += arms[i] * placed.q[joints[i, COORDINATE]]
            pull = -stiffness * stretch
            if floats[e, FORCE_LOW] <= pull <= floats[e, FORCE_HIGH]:
                total += 0.5 * stiffness * stretch * stretch
    return total
