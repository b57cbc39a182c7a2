"""The plain description of a scene that every engine is built from.

Nothing in it is of any engine: numbers in SI units, world axes, z up. Coefficients are those of
every pair of bodies that meet; an engine that keeps them by body sets what makes a pair have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array

Vec3: TypeAlias = tuple[float, float, float]
Vec4: TypeAlias = tuple[float, float, float, float]

GRAVITY = 9.81  # m/s^2


@dataclass(frozen=True)
class Ball:
    """A sphere about the shape's place; radius in m."""

    radius: float


@dataclass(frozen=True)
class Box:
    """A cuboid about the shape's place along the body's axes; whole edges in m."""

    size: Vec3


@dataclass(frozen=True)
class Hinge:
    """Holds a body to the world: a point, m, and an axis of length 1, world axes at the start."""

    point: Vec3
    axis: Vec3


@dataclass(frozen=True)
class Body:
    """A rigid body at the start.

    Attributes
    ----------
    mass : float
        kg.
    moments : (3,) tuple
        Moments of inertia about the centre of mass along the body's axes, kg m^2.
    position : (3,) tuple
        Of the centre of mass, which is the body's origin, m.
    shape : Ball or Box, optional
        None touches nothing.
    quaternion : (4,) tuple
        Attitude (x, y, z, w), from the body's axes to the world's.
    spin, velocity : (3,) tuple
        Angular, rad/s, and of the centre, m/s; world axes.
    hinge : Hinge, optional
        None leaves it free. Spin and velocity of a hinged body must agree with it.
    place : (3,) tuple
        Of the shape from the centre of mass along the body's axes, m.
    """

    mass: float
    moments: Vec3
    position: Vec3
    shape: Ball | Box | None = None
    quaternion: Vec4 = (0.0, 0.0, 0.0, 1.0)
    spin: Vec3 = (0.0, 0.0, 0.0)
    velocity: Vec3 = (0.0, 0.0, 0.0)
    hinge: Hinge | None = None
    place: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class World:
    """Bodies, and what surrounds them.

    Attributes
    ----------
    bodies : tuple of Body
    floor : bool
        Whether all below z = 0 is solid.
    friction, restitution : float
        Of every pair. Restitution is the ratio of the normal velocities after and before.
    gravity : (3,) tuple
        m/s^2. A slope is a level floor under gravity that leans.
    """

    bodies: tuple[Body, ...]
    floor: bool = True
    friction: float = 0.5
    restitution: float = 0.0
    gravity: Vec3 = (0.0, 0.0, -GRAVITY)


def ball(radius: float, mass: float, position: Vec3, velocity: Vec3 = (0.0, 0.0, 0.0)) -> Body:
    """A solid ball."""
    moment = 0.4 * mass * radius**2
    return Body(mass, (moment, moment, moment), position, Ball(radius), velocity=velocity)


def box(size: Vec3, mass: float, position: Vec3, velocity: Vec3 = (0.0, 0.0, 0.0)) -> Body:
    """A solid box along the world's axes."""
    x, y, z = size
    moments = (y * y + z * z, z * z + x * x, x * x + y * y)
    return Body(mass, scaled(moments, mass / 12.0), position, Box(size), velocity=velocity)


def scaled(vector: Vec3, factor: float) -> Vec3:
    """A vector times a number."""
    x, y, z = vector
    return factor * x, factor * y, factor * z


def slope(angle: float) -> Vec3:
    """Gravity as a slope feels it that falls along x by so many rad."""
    return GRAVITY * float(np.sin(angle)), 0.0, -GRAVITY * float(np.cos(angle))


def tensor(body: Body, turn: Array) -> Array:
    """Inertia (3, 3) about the centre in world axes, of a body with attitude `turn` (3, 3)."""
    return np.asarray(turn @ np.diag(body.moments) @ turn.T)
