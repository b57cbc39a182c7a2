"""What the phases of an impact hold: directions, and pushes along them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.contact.newton._layout import NO_SLIP, POLYGON, VISCOUS
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.contact_points import (
    is_close,
    is_round,
    put_friction,
    put_round_friction,
)
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.tables import Tables

_SLIP = 1e-9  # m/s that is none
_NEAR = 1e-7  # as in `contact_points`
LEANING = (of.CONVEX, of.DISSIPATION)  # laws under which what slides parts


class Dynamics(NamedTuple):
    """What the equations of a phase have of the room.

    Attributes
    ----------
    inverse : (nv, nv) array
        Of the mass matrix, closures answering.
    by_q : (nv, nv) array
        Of impulses less momentum.
    jacobians : (m, 3, nv) array
    moving, before : (m, 3, nv) array
        Derivatives of contacts' velocities by q, after the phase and before the impact.
    after : (m, 3) array
        Velocities after the phase.
    normals : (m, 3, nv) array
        Derivatives of normals by q.
    parts : (m,) array
        Speeds at which contacts shall part along their normals, m/s.
    parting : (m, c) array
        Derivatives of these by [q; v], and by parameters if there are some.
    kept : (nv, nv) array
        Change of the velocity by q, by which closures stay closed.
    """

    inverse: Array
    by_q: Array
    jacobians: Array
    moving: Array
    before: Array
    after: Array
    normals: Array
    parts: Array
    parting: Array
    kept: Array


class Directions(NamedTuple):
    """Directions that a phase holds and pushes along, and what else its impulses change by.

    Attributes
    ----------
    lines : list of (contact, direction)
    pushes : list of (3,) array
        One for each.
    gains : list of float
        Change of d . G (v + y) by the angle that the slip turns.
    resistances : list of float
        Velocity over impulse, of what turns with the slip after the phase.
    given : (m, 3) array
        Impulse for each unit of theta.
    turned : (m, 3) array
        Change of the impulse by that angle.
    by_friction : (m, 3) array
        Impulse for each unit of mu, of what slides.
    leaning : list of float
        Change of d . G (v + y) for each unit of mu, of lines that lean as friction does.
    """

    lines: list[tuple[int, Array]]
    pushes: list[Array]
    gains: list[float]
    resistances: list[float]
    given: Array
    turned: Array
    by_friction: Array
    leaning: list[float]


def frame_of(t: Tables, room: Room, k: int) -> Array:
    """Normal and tangents of point k, towards its link."""
    frame = t.floats[room.point_ints[k, of.ROW], col.NORMAL : col.NORMAL + 9].reshape(3, 3)
    towards: Array = room.points[k, of.SIDE] * frame
    return towards


def hold(t: Tables, room: Room, phase: Dynamics, impulses: Array, prior: Array) -> Directions:
    """What a phase holds with its own impulses, beside those that press already."""
    count = int(room.results[of.COUNT])
    given, turned, by_friction = np.zeros((3, count, 3))
    held = Directions([], [], [], [], given, turned, by_friction, [])
    largest = np.abs(impulses).max(initial=0.0)
    bounces = prior.any()
    drag = float(t.settings[at.VISCOSITY_IN_IMPACTS]) if bounces or impulses.any() else 0.0
    for k in range(count):
        i = int(room.point_ints[k, of.ROW])
        frame, p = frame_of(t, room, k), impulses[i]
        closed = _is_closed(phase, k, _line(t, room, k, frame, p, prior[i]), p[0])
        pressed = (p[0] if closed else 0.0) + prior[i]
        room.point_ints[k, of.NOTES] = 0
        mu = drag if room.point_ints[k, of.LAW] == VISCOUS else float(t.friction[i])
        status, share, edge = _friction(t, room, k, p[1:], pressed, mu)
        if status == of.SLIDING and room.point_ints[k, of.KIND] == of.JOINT:
            status = of.STOPPED
        room.point_ints[k, of.STATUS] = status
        if closed and p[0] < _NEAR * largest:
            room.point_ints[k, of.NOTES] |= of.HARDLY_PRESSES
        if bounces and not closed and frame[0] @ phase.after[k] < _SLIP:
            room.point_ints[k, of.NOTES] |= of.NO_PARTING
        if status == of.OPEN:
            continue
        along = share @ frame[1:]
        held.given[k] = frame[0] + along
        if share.any():
            held.by_friction[k] = pressed * along / mu
        held.turned[k] = pressed * _turned(t, room, k, frame, share)
        law = room.point_ints[k, of.LAW]
        if closed and law in LEANING:
            _add(held, k, frame[0] + along, frame[0] + along, 0.0)
            held.gains[-1] = _turned(t, room, k, frame, share) @ phase.after[k]
            held.leaning[-1] = along @ phase.after[k] / max(mu, _SLIP)
        elif closed:
            _add(held, k, frame[0], frame[0] + along, 0.0)
        if status in (of.STICKING, of.DRAGGED):
            for tangent in frame[1:]:
                _add(held, k, tangent, tangent, 0.0)
                held.resistances[-1] = 1.0 / mu if status == of.DRAGGED else 0.0
        if edge.any():
            gain = _turned(t, room, k, frame, edge) @ phase.after[k]
            _add(held, k, edge @ frame[1:], edge @ frame[1:], gain)
            if is_round(law):  # as `contact_lines.resistance_of`
                slip = float(np.linalg.norm(frame[1:] @ phase.after[k]))
                held.resistances[-1] = slip / (pressed * mu)
    return held


def _line(t: Tables, room: Room, k: int, frame: Array, p: Array, prior: float) -> Array:
    """Along what point k is held where it presses."""
    normal: Array = frame[0]
    if room.point_ints[k, of.LAW] not in LEANING or not p[0] > 0.0:
        return normal
    mu = float(t.friction[room.point_ints[k, of.ROW]])
    return np.asarray(normal + _friction(t, room, k, p[1:], p[0] + prior, mu)[1] @ frame[1:])


def _is_closed(phase: Dynamics, k: int, line: Array, pressed: float) -> bool:
    """Whether point k is held along a line, of two numbers one of which is a rounding."""
    row = line @ phase.jacobians[k]
    speed = line @ phase.after[k] - phase.parts[k]
    return bool(pressed * (row @ phase.inverse @ row) > max(speed, 0.0))


def _add(held: Directions, k: int, line: Array, push: Array, gain: float) -> None:
    held.lines.append((k, line))
    held.pushes.append(push)
    held.gains.append(gain)
    held.resistances.append(0.0)
    held.leaning.append(0.0)


def _friction(
    t: Tables, room: Room, k: int, impulses: Array, pressed: float, mu: float
) -> tuple[int, Array, Array]:
    """Status of point k; friction for each unit that presses, where it slides; its edge.

    A drag mu acts on what does not press too.
    """
    nothing, law = np.zeros(2), room.point_ints[k, of.LAW]
    if law == VISCOUS and mu > 0.0:
        return of.DRAGGED, nothing, nothing
    if law == NO_SLIP and impulses.any():
        return of.STICKING, nothing, nothing
    if not pressed > 0.0:
        return of.OPEN, nothing, nothing
    if mu == 0.0:
        return of.SLIDING, nothing, nothing
    if law == NO_SLIP:
        return of.STICKING, nothing, nothing
    x, y = impulses / (pressed * mu)
    points = room.points
    points[k, of.SHARE : of.EDGE + 2] = 0.0
    if is_round(law):
        put_round_friction(x, y, mu, points, room.point_ints, k)
        status = int(room.point_ints[k, of.STATUS])
        return status, points[k, of.SHARE : of.EDGE].copy(), points[k, of.EDGE : of.EDGE + 2].copy()
    status = put_friction(t.facets, x, y, mu, points, k)
    edge = points[k, of.EDGE : of.EDGE + 2].copy()
    if is_close(t.facets, x, y, status, bool(edge.any())):
        room.point_ints[k, of.NOTES] |= of.AT_LIMIT
    return status, points[k, of.SHARE : of.SHARE + 2].copy(), edge


def _turned(t: Tables, room: Room, k: int, frame: Array, x: Array) -> Array:
    """Change of x along the tangents by their angle, as `slip_turning.turned_along`.

    Only a polygon turns with them.
    """
    if room.point_ints[k, of.LAW] not in (POLYGON, of.DISSIPATION):
        return np.zeros(3)
    across = np.cross(frame[0], frame[1])
    change: Array = x[0] * across - room.points[k, of.SIDE] * x[1] * frame[1]
    return change
