"""Where feet go against a base that walks, one step on: splines of [Z] 7.2.1, compiled."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel

_AIMED = 0.7  # part of a swing from which on its end stays where it is
Pair = tuple[float, float]


class Strides(NamedTuple):
    """What a gait asks of a step."""

    dt: float  # s
    stance_time: float  # s
    swing_time: float  # s
    step_height: float  # m
    pace: Vec3  # forward, sideways, turning, m/s and rad/s


@inlined
def hermite(
    s: float, duration: float, start: float, end: float, v_start: float, v_end: float
) -> Pair:
    """Position and velocity of a clamped cubic at the part s of its duration."""
    h = s * s * (3.0 - 2.0 * s)
    a = s * (1.0 - s) ** 2 * duration
    b = s * s * (s - 1.0) * duration
    rate = 6.0 * s * (1.0 - s) / duration
    v = rate * (end - start) + (1.0 - s) * (1.0 - 3.0 * s) * v_start + s * (3.0 * s - 2.0) * v_end
    return start + h * (end - start) + a * v_start + b * v_end, v


@inlined
def lift(s: float, duration: float, height: float) -> Pair:
    """Height of a foot at the part s of its swing, and its rate.

    Two clamped cubics, at rest at both ends and on top.
    """
    part = 2.0 * s if s < 0.5 else 2.0 - 2.0 * s
    sign = 1.0 if s < 0.5 else -1.0
    z = height * part * part * (3.0 - 2.0 * part)
    return z, sign * height * 12.0 * part * (1.0 - part) / duration


@inlined
def ground(pace: Vec3, x: float, y: float) -> Pair:
    """Velocity of the ground against the base at a point."""
    return pace[2] * y - pace[0], -pace[2] * x - pace[1]


@kernel
def feet_ahead(
    n: Strides, swing: Array, rest: Array, ends: Array, feet: Array, velocities: Array
) -> None:
    """Feet and velocities (legs, 3 or more) against the base, one step on, in place.

    `swing` (legs,) is how much of its swing each will have done, negative where it will stand;
    `ends` (legs, 2) is where swings end.
    """
    for i in range(swing.size):
        x = feet[i, 0]
        y = feet[i, 1]
        if swing[i] < 0.0:  # with the ground, by the midpoint rule
            u, v = ground(n.pace, x, y)
            u, v = ground(n.pace, x + 0.5 * n.dt * u, y + 0.5 * n.dt * v)
            feet[i, 0] = x + n.dt * u
            feet[i, 1] = y + n.dt * v
            feet[i, 2] = rest[i, 2]
            velocities[i, 0], velocities[i, 1] = ground(n.pace, feet[i, 0], feet[i, 1])
            velocities[i, 2] = 0.0
            continue
        if swing[i] < _AIMED:
            u, v = ground(n.pace, rest[i, 0], rest[i, 1])
            ends[i, 0] = rest[i, 0] - 0.5 * n.stance_time * u
            ends[i, 1] = rest[i, 1] - 0.5 * n.stance_time * v
        left = (1.0 - swing[i]) * n.swing_time + n.dt  # s from now to touchdown
        landing = ground(n.pace, ends[i, 0], ends[i, 1])
        for c in range(2):
            feet[i, c], velocities[i, c] = hermite(
                n.dt / left, left, feet[i, c], ends[i, c], velocities[i, c], landing[c]
            )
        z, velocities[i, 2] = lift(swing[i], n.swing_time, n.step_height)
        feet[i, 2] = rest[i, 2] + z
