"""Friction polyhedra: tangent frames aligned with the slip, and the directions d_j of [J] 6."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3, whole
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, plus_scaled, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.detector import relative_velocity
from spatialops.errors import ArgumentError

_SLIP = 1e-9  # m/s below which there is no direction of slip
_ROUNDING = 1e-15  # of a unit direction's component that is zero
_LEVEL = 0.7  # z component below which a normal's first tangent lies level, as on an upright wall


def directions(n_f: int) -> Array:
    """(n_f, 2) unit directions in the tangent plane, in pairs, the first along the first tangent.

    Raises
    ------
    ArgumentError
        If `n_f` is not an even whole number >= 2.
    """
    count = whole(n_f, "n_f", low=2)
    if count % 2:
        raise ArgumentError(f"n_f: expected an even number of friction directions, got {n_f!r}")
    return _directions(count).copy()


@cache
def _directions(n_f: int) -> Array:
    angles = 2.0 * np.pi * np.arange(n_f) / n_f
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    table[np.abs(table) < _ROUNDING] = 0.0
    half = n_f // 2
    table[half:] = -table[:half]
    return table


@kernel
def put_frames(ints: IntArray, floats: Array, count: int, work: Array) -> None:
    """Tangents of all contacts, the first along the slip if any, and velocities along the frames.

    Sliding friction opposes the slip; with a direction of the polyhedron along it, its magnitude is
    mu F_n exactly. It is the slip in the middle of a step, which friction along it does not turn: a
    puck's path is of second order. What is held is turned once more, along the forces that do: see
    `simulation.stepping.warm.held_tangents`.
    """
    for i in range(count):
        if ints[i, col.CONTACT_FEATURE_A] < 0:  # of a joint, which has its directions
            continue
        normal, point = vec3(floats, i, col.NORMAL), vec3(floats, i, col.POINT)
        velocity = relative_velocity(work, ints[i, col.CONTACT_A], ints[i, col.CONTACT_B], point)
        speed = dot(normal, velocity)
        free = plus_scaled(velocity, -speed, normal)
        slip = plus_scaled(free, floats[i, col.MIDWAY], vec3(floats, i, col.SLIP))
        length = math.sqrt(dot(slip, slip))
        if length > _SLIP:
            first = scaled(1.0 / length, slip)
        elif abs(normal[2]) < _LEVEL:  # across the world's z
            first = cross((0.0, 0.0, 1.0), normal)
            first = scaled(1.0 / math.sqrt(dot(first, first)), first)
        else:
            first = cross(normal, (0.0, 1.0, 0.0))
            first = scaled(-1.0 / math.sqrt(dot(first, first)), first)
        put_tangents(floats, i, first, velocity)


@inlined
def put_tangents(floats: Array, i: int, first: Vec3, velocity: Vec3) -> None:
    """Tangents of contact i, the first along a direction, and a velocity along its frame."""
    normal = vec3(floats, i, col.NORMAL)
    # Once more perpendicular: a slip much smaller than the normal speed loses digits.
    first = plus_scaled(first, -dot(first, normal), normal)
    first = scaled(1.0 / math.sqrt(dot(first, first)), first)
    second = cross(normal, first)
    put3(floats, i, col.TANGENT, first)
    put3(floats, i, col.SECOND, second)
    speeds = dot(normal, velocity), dot(first, velocity), dot(second, velocity)
    put3(floats, i, col.APPROACH, speeds)
