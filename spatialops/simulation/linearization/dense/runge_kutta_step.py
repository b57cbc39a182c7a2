"""The derivative of a step by the classical fourth-order rule.

Contacts act where the step begins, as in a step of semi-implicit Euler, which would change the
velocity by M dv / s = F - ... alike. Of that step's equations only the smooth part is another:
with E the derivative of dv by the rule's four evaluations less that by one,

    M dx - P dp = side + M E,    L dx = goal,

and tangents that follow a slip turn with E too. The end has half a step of contacts' velocities:

    q_end = q_smooth + s / 2 (x - dv).

Coordinates are plain numbers here: joints have one degree of freedom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.impacts.step_parts import piece_held
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.parameters import friction_of_mu
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

_WHOLE = 1e-12  # s: as in `step_derivative`
_REDUNDANT = 1e-11  # as in `step_equations`
_WEIGHTS = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0
_AHEAD = 0.5, 0.5, 1.0  # of the step, of the second evaluation and those after it


class Smooth(NamedTuple):
    """Changes (nv, 3 nv) of the end without contacts, by [q; v; forces]."""

    q: Array
    v: Array


def differentiate_runge_kutta(
    loop: HeldLoop, held_start: Held, held_room: Held
) -> tuple[int, Array, Array]:
    """A status, A and B of the step that the loop has made from a start."""
    t, room = loop.tables, held_room.tables
    start: Start = held_start.tables
    n, s = start.v.size, float(t.monitor[at.PIECE])
    nothing = np.empty((2 * n, 2 * n)), np.empty((2 * n, n))
    if t.control[at.EVENT_ROWS] > 0 or abs(s - t.settings[at.DT]) > _WHOLE:
        return of.CUT_BY_RK4, *nothing
    status = piece_held(loop.address, held_start.address, held_room.address)
    if status != of.KNOWN:
        return status, *nothing
    model = loop.stepping.scene.model
    smooth = smooth_changes(model, start, s)
    given = np.eye(3 * n)
    by_rule = smooth.v - given[n : 2 * n]
    by_one = once(model, start, t.vectors[at.DV, :n] / s, s)
    dx = contact_changes(t, room, by_rule, by_one)
    v = given[n : 2 * n] + dx
    whole = np.concatenate([smooth.q + 0.5 * s * (dx - by_rule), v])
    return of.KNOWN, whole[:, : 2 * n].copy(), whole[:, 2 * n :].copy()


def smooth_changes(model: Model, start: Start, s: float) -> Smooth:
    """Of the rule's four evaluations."""
    n = start.v.size
    one, forces = np.eye(3 * n), np.eye(3 * n)[2 * n :]
    q, v = start.q, start.v
    at_q, at_v = one[:n], one[n : 2 * n]
    dq, dv = at_q.copy(), at_v.copy()
    for i, weight in enumerate(_WEIGHTS):
        by = forward_dynamics_derivatives(model, q, v, start.tau)
        a = forward_dynamics(model, q, v, start.tau)
        da = by.dq @ at_q + by.dv @ at_v + by.dtau @ forces
        dq += s * weight * at_v
        dv += s * weight * da
        if i < len(_AHEAD):
            ahead = s * _AHEAD[i]
            q, v = start.q + ahead * v, start.v + ahead * a
            at_q, at_v = one[:n] + ahead * at_v, one[n : 2 * n] + ahead * da
    return Smooth(dq, dv)


def once(model: Model, start: Start, accelerations: Array, s: float) -> Array:
    """Change (nv, 3 nv) of the velocity by one evaluation with given accelerations."""
    by = inverse_dynamics_derivatives(model, start.q, start.v, accelerations)
    sides = np.hstack([-by.dq, -by.dv, np.eye(start.v.size)])
    return np.asarray(s * np.linalg.solve(by.da, sides))


def contact_changes(t: Tables, room: Room, by_rule: Array, by_one: Array) -> Array:
    """Change (nv, 3 nv) of the whole change of the velocity."""
    n, m = t.v.size, int(room.results[of.HELD])
    mass, more = room.squares[of.MASS], by_rule - by_one
    side, goal = room.side[:, : 3 * n] + mass @ more, room.goal[:m, : 3 * n].copy()
    for k, ints in enumerate(room.point_ints[: room.results[of.COUNT]]):
        if ints[of.STATUS] != of.SLIDING or ints[of.SLIP] != 1:
            continue
        turned = room.slips[of.SLIP_BY_V, k] @ more
        rows = room.found[of.LATE, k, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
        side += np.outer(rows.T @ friction_of_mu(t, room, k)[1], turned)
        if ints[of.LINES] == 2:
            goal[ints[of.FIRST_LINE] + 1] -= room.points[k, of.GAIN] * turned
    lines, pushes = room.lines[:m], room.pushes[:m]
    free, reply = np.linalg.solve(mass, side), np.linalg.solve(mass, pushes.T)
    W = lines @ reply + np.diag(room.resistances[:m])
    dx: Array = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    return dx
