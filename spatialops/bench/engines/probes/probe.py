"""A probe: a world, how long it runs, and what of the end is compared with a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.engines.engine import Engine, Motion
from spatialops.bench.engines.world import World

Error: TypeAlias = Callable[[Engine], float]


@dataclass(frozen=True)
class Probe:
    """A scene with a known answer.

    Attributes
    ----------
    name : str
    answer : str
        The closed form, in a line.
    world : World
    duration : float
        s, a multiple of 10 ms.
    errors : mapping of name to callable
        What is off at the end, not negative; the name says of what, and its unit if it has one. A
        metric that an engine cannot give raises `LeftOut`.
    """

    name: str
    answer: str
    world: World
    duration: float
    errors: Mapping[str, Error]


def relative(found: float, expected: float) -> float:
    """Error relative to what was expected."""
    return abs(found - expected) / abs(expected)


def travel(world: World, engine: Engine, body: int = 0) -> Array:
    """How far a body's centre has come (3,), m."""
    return np.subtract(engine.motion().positions[body], world.bodies[body].position)


def energy(world: World, motion: Motion) -> float:
    """Kinetic and potential energy, J; the latter is 0 at the origin."""
    total = 0.0
    for i, body in enumerate(world.bodies):
        spin = body_spin(motion, i)
        speed = motion.velocities[i]
        total += 0.5 * float(spin @ (body.moments * spin) + body.mass * speed @ speed)
        total -= body.mass * float(np.dot(world.gravity, motion.positions[i]))
    return total


def start(world: World) -> Motion:
    """The motion that a world begins with."""
    return Motion(
        np.array([body.position for body in world.bodies]),
        np.array([body.quaternion for body in world.bodies]),
        np.array([body.spin for body in world.bodies]),
        np.array([body.velocity for body in world.bodies]),
    )


def turned(quaternion: Array, vector: Array) -> Array:
    """A vector (3,) turned by a quaternion (x, y, z, w)."""
    axis, w = quaternion[:3], quaternion[3]
    once = 2.0 * np.cross(axis, vector)
    return np.asarray(vector + w * once + np.cross(axis, once))


def body_spin(motion: Motion, body: int) -> Array:
    """Angular velocity of a body along its own axes (3,), rad/s."""
    back = motion.quaternions[body] * [-1.0, -1.0, -1.0, 1.0]
    return turned(back, motion.spins[body])
