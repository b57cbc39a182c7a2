"""The derivative of a step by the classical fourth-order rule.

Contacts act where the step begins, as in a step of semi-implicit Euler, which would change the
velocity by M dv / s = F - ... alike. Of that step's equations only the smooth part is another:
with E the derivative of dv by the rule's four evaluations less that by one,

    M dx - P dp = side + M E,    L dx = goal,

and tangents that follow a slip turn with E too. The end is half a step of contacts' velocities
away from that without them:

    q_end = q_smooth moved by s / 2 (x - dv).

Evaluations are at coordinates that are added up as plain numbers (`raw_coordinates`). Linear
velocities of free bodies are along axes that turn; dv is along those of the start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import BY_Q, BY_V, turning
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.forces.elements import Elements
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_step import convection
from spatialops.simulation.linearization.dense.explicit_forces import Given, joint_forces
from spatialops.simulation.linearization.dense.pieces import flow_blocks, piece_held
from spatialops.simulation.linearization.dense.raw_coordinates import (
    crossed,
    frames,
    from_tangent,
    is_free,
    on_tangent,
    rate_changes,
    rates_of,
)
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.parameters import friction_of_mu, gains_of
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.integrators.joint_forces import external_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import integrate

_WHOLE = 1e-12  # s: as in `step_derivative`
_REDUNDANT = 1e-11  # as in `step_equations`
_WEIGHTS = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0
_AHEAD = 0.5, 0.5, 1.0  # of the step, of the second evaluation and those after it


class Smooth(NamedTuple):
    """Where the rule ends without contacts.

    Attributes
    ----------
    q, v : (nq,), (nv,) arrays
        Velocities along the axes there.
    dq, dv : (nv, 3 nv + 1) arrays
        Their changes by [q; v; forces; time].
    """

    q: Array
    v: Array
    dq: Array
    dv: Array


def differentiate_runge_kutta(
    loop: HeldLoop, held_start: Held, held_room: Held
) -> tuple[int, Array, Array]:
    """A status, A and B of the step that the loop has made from a start."""
    t, room = loop.tables, held_room.tables
    start: Start = held_start.tables
    n, s = start.v.size, float(t.monitor[at.PIECE])
    nothing = np.empty((2 * n, 2 * n)), np.empty((2 * n, n))
    if t.control[at.EVENT_ROWS] > 0 or abs(s - t.settings[at.DT]) > _WHOLE:
        return of.SEVERAL, *nothing
    status = piece_held(loop.address, held_start.address, held_room.address)
    if status != of.KNOWN:
        return status, *nothing
    whole = np.concatenate(piece_end(loop.stepping.scene.model, t, room, start, 1.0))
    return of.KNOWN, whole[:, : 2 * n].copy(), whole[:, 2 * n : 3 * n].copy()


def piece_end(model: Model, t: Tables, room: Room, start: Start, x: float) -> tuple[Array, Array]:
    """Changes of q and v at the fraction x of a piece whose equations are in the room.

    Columns are q, v and forces at its start, the time that it takes, and x.
    """
    n, s = start.v.size, float(t.monitor[at.PIECE])
    pushed = t.vectors[at.DVC, :n].copy()
    ahead = np.zeros((n, 3 * n + 2))
    ahead[:, n : 2 * n] = np.eye(n)
    whole = smooth_end(model, t, start, s)
    by_rule = at_start(model, start, whole) - ahead[:, :-1]
    by_one = once(t, start, model)
    by_push = np.zeros((n, 3 * n + 2))
    by_push[:, :-1] = contact_changes(t, room, by_rule, by_one) - by_rule
    smooth = whole if x == 1.0 else smooth_end(model, t, start, x * s)
    dq, dv = (_at_fraction(change, x, s) for change in (smooth.dq, at_start(model, start, smooth)))
    move = 0.5 * x * x * s * pushed
    flow = flow_blocks(t.tree, room.spans, move, pushed)
    moved = 0.5 * x * x * s * by_push
    moved[:, -2] += move / s
    moved[:, -1] += x * s * pushed
    dq = flow[BY_Q] @ dq + flow[BY_V] @ moved
    dv += x * by_push
    dv[:, -1] += pushed
    v = along_start(model, start, smooth) + x * pushed
    end = integrate(model, smooth.q, move)
    return dq, at_end(model, (start.q, end), v, dv, dq)


def _at_fraction(change: Array, x: float, s: float) -> Array:
    """Changes by a piece's time and by x, of those by the time x s."""
    return np.hstack([change[:, :-1], x * change[:, -1:], s * change[:, -1:]])


def smooth_end(model: Model, t: Tables, start: Start, s: float) -> Smooth:
    """After the time s, by the rule's four evaluations."""
    n = start.v.size
    one = np.eye(3 * n, 3 * n + 1)
    q, v = start.q, start.v
    first = at_q, at_v = from_tangent(model, q, one[:n]), one[n : 2 * n]
    ends = [q.copy(), v.copy(), at_q.copy(), at_v.copy()]
    own = Elements(t.element_ints, t.elements, t.element_joints, t.arms, 0, 0)
    given = Given(start.tau, t.ctrl, start.activation, 0.5 * float(t.settings[at.DT]))
    for i, weight in enumerate(_WEIGHTS):
        acts = joint_forces(model, own, given, q, v)
        a = forward_dynamics(model, q, v, acts.forces)
        rates = rates_of(model, q, v[:, None])[:, 0]
        by = forward_dynamics_derivatives(model, q, v, acts.forces)
        moved = on_tangent(model, q, at_q)
        pulled = one[2 * n :] + acts.by_q @ moved + acts.by_v @ at_v
        da = by.dq @ moved + by.dv @ at_v + by.dtau @ pulled
        steps = rates, a, rate_changes(model, q, v, at_q, at_v), da
        for end, step in zip(ends, steps, strict=True):
            end += s * weight * step
        ends[2][:, -1] += weight * rates
        ends[3][:, -1] += weight * a
        if i < len(_AHEAD):
            ahead = s * _AHEAD[i]
            q, v = start.q + ahead * rates, start.v + ahead * a
            at_q, at_v = (x + ahead * dx for x, dx in zip(first, steps[2:], strict=True))
            at_q[:, -1] += _AHEAD[i] * rates
            at_v[:, -1] += _AHEAD[i] * a
    q, v, dq, dv = ends
    unit = integrate(model, q, np.zeros(n))
    return Smooth(unit, v, on_tangent(model, q, dq), dv)


def along_start(model: Model, start: Start, end: Smooth) -> Array:
    """The velocity at the end, along axes of the start."""
    v = end.v.copy()
    before, after = frames(model, start.q), frames(model, end.q)
    for k in before:
        if is_free(model, k):
            v[k + 3 : k + 6] = before[k].T @ (after[k] @ v[k + 3 : k + 6])
    return v


def at_start(model: Model, start: Start, end: Smooth) -> Array:
    """Changes of the velocity at the end, along axes of the start."""
    result = end.dv.copy()
    before, after = frames(model, start.q), frames(model, end.q)
    for k in before:
        if is_free(model, k):
            spin, linear = slice(k, k + 3), slice(k + 3, k + 6)
            back = before[k].T @ after[k]
            result[linear] = back @ (end.dv[linear] - crossed(end.v[linear], end.dq[spin]))
            moved = back @ end.v[linear]
            result[linear, spin] += crossed(moved, np.eye(3))
    return result


def at_end(model: Model, ends: tuple[Array, Array], v: Array, dv: Array, dq: Array) -> Array:
    """Changes of a velocity v, dv along axes of the first of two coordinates, along the other's."""
    result = dv.copy()
    before, after = (frames(model, q) for q in ends)
    for k in before:
        if is_free(model, k):
            spin, linear = slice(k, k + 3), slice(k + 3, k + 6)
            ahead = after[k].T @ before[k]
            turned = dv[linear].copy()
            turned[:, spin] -= crossed(v[linear], np.eye(3))
            result[linear] = ahead @ turned + crossed(ahead @ v[linear], dq[spin])
    return result


def once(t: Tables, start: Start, model: Model) -> Array:
    """Change (nv, 3 nv + 1) of the velocity by one evaluation, with accelerations of the piece."""
    n, s = start.v.size, float(t.monitor[at.PIECE])
    accelerations = t.vectors[at.DV, :n] / s
    bend = convection(t, start.v)
    for k in turning(model):
        if is_free(model, k):
            linear = slice(k + 3, k + 6)
            accelerations[linear] -= np.cross(start.v[k : k + 3], start.v[linear])
    wrenches = external_of(t) if len(external_of(t)) else None
    by = inverse_dynamics_derivatives(model, start.q, start.v, accelerations, wrenches)
    sides = np.hstack([-by.dq, -(by.dv - by.da @ bend), np.eye(n)])
    rate = t.vectors[at.DV, :n, None] / s
    return np.hstack([s * np.linalg.solve(by.da, sides), rate])


def contact_changes(t: Tables, room: Room, by_rule: Array, by_one: Array) -> Array:
    """Change (nv, 3 nv + 1) of the whole change of the velocity."""
    n, m = t.v.size, int(room.results[of.HELD])
    mass, more = room.squares[of.MASS], by_rule - by_one
    columns = 3 * n + 1
    side, goal = room.side[:, :columns] + mass @ more, room.goal[:m, :columns].copy()
    for k, ints in enumerate(room.point_ints[: room.results[of.COUNT]]):
        if ints[of.STATUS] != of.SLIDING or ints[of.SLIP] != 1:
            continue
        turned = room.slips[of.SLIP_BY_V, k] @ more
        rows = room.found[of.LATE, k, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
        side += np.outer(rows.T @ friction_of_mu(t, room, k)[1], turned)
        for line, gain in gains_of(room, k):
            goal[ints[of.FIRST_LINE] + line] -= gain * turned
    lines, pushes = room.lines[:m], room.pushes[:m]
    free, reply = np.linalg.solve(mass, side), np.linalg.solve(mass, pushes.T)
    W = lines @ reply + np.diag(room.resistances[:m])
    dx: Array = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    return dx
