"""Tangents of contacts that do not slip, along the forces that hold them.

A polygon of friction reaches the circle at its corners alone: of four, 0.7 of it between them. What
slides has a corner along its slip. What is held had one where its free motion would take it, and
where that has no tangential part along the world's axes: legs that spread stood or slipped by how
they were turned about the vertical, and what slipped in one step, a corner along its slip, was held
in the next, for ever.

Coulomb's law is p = proj(p - r u), on the disc of radius mu p_n, for any r > 0. So what hardly
slips, and bears more friction than every polygon holds, has a corner along p - r u, with forces and
slips as they were last and r = p_n / |u_n|, as if each contact were alone.
"""

from __future__ import annotations

import math

from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, merged
from spatialops.algebra.vectors import dot, plus_scaled, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.contact.friction import put_tangents
from spatialops.contact.newton._layout import POLYGON
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.impulse_memory import remembered

_HARDLY = 0.5  # of the limit: below, a square whose corners lie anywhere holds
_AT_REST = 1e-4  # slip, relative to what friction stops, that is none


@merged
def follow_forces(t: Tables, m: int) -> None:
    """Turn the tangents of those of the first m acting contacts that friction holds, and speeds."""
    if t.control[at.LAW] != POLYGON:
        return
    for i in range(m):
        s = remembered(t, i)
        if s >= 0:
            follow_force(t, i, vec3(t.forces, s, 0))


@inlined
def follow_force(t: Tables, i: int, force: Vec3) -> None:
    """First tangent of contact i along r u - p, where friction is near its limit and u is small."""
    normal, slip = vec3(t.floats, i, col.NORMAL), vec3(t.floats, i, col.SLIP)
    pressing = dot(normal, force)
    held = plus_scaled(force, -pressing, normal)
    friction = math.sqrt(dot(held, held))
    if not (pressing > 0.0 and friction > _HARDLY * t.friction[i] * pressing):
        return
    stopped = abs(t.u[3 * i]) * friction / pressing
    if not dot(slip, slip) <= (_AT_REST * stopped) ** 2 or stopped == 0.0:
        return
    first = plus_scaled(scaled(-1.0 / friction, held), 1.0 / stopped, slip)
    # Corners lie in pairs: of two directions that which hardly turns the tangents.
    side = math.copysign(1.0, dot(first, vec3(t.floats, i, col.TANGENT)))
    put_tangents(t.floats, i, scaled(side, first), velocity_of(t, i))
    for j in range(3):
        t.u[3 * i + j] = t.floats[i, col.APPROACH + j]


@inlined
def velocity_of(t: Tables, i: int) -> Vec3:
    """Relative velocity of contact i, world axes."""
    velocity = scaled(t.u[3 * i], vec3(t.floats, i, col.NORMAL))
    velocity = plus_scaled(velocity, t.u[3 * i + 1], vec3(t.floats, i, col.TANGENT))
    return plus_scaled(velocity, t.u[3 * i + 2], vec3(t.floats, i, col.SECOND))
