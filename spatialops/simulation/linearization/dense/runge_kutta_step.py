"""The derivative of a piece of a step by the classical fourth-order rule.

Contacts act where the step begins, as in a step of semi-implicit Euler, which would change the
velocity by M dv / s = F - ... alike. Of that step's equations only the smooth part is another:
with E the derivative of dv by the rule's four evaluations less that by one,

    M dx - P dp = side + M E,    L dx = goal,

and tangents that follow a slip turn with E too. Closures answer to contacts there: with w of dx
what contacts alone do, and lambda of that,

    M dx - P dp - G* dlambda = side + M E + d(G* lambda) dq,    G dx = G dv - d(G w) dq.

The end is half a step of contacts' velocities away from that without them:

    q_end = q_smooth moved by s / 2 (x - dv).

Linear velocities of free bodies are along axes that turn; dv is along those of the start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import BY_Q, BY_V, turning
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_piece import convection
from spatialops.simulation.linearization.dense.closed_slips import reaction
from spatialops.simulation.linearization.dense.closing import Closures, End, placed
from spatialops.simulation.linearization.dense.pieces import flow_blocks
from spatialops.simulation.linearization.dense.raw_coordinates import crossed, frames, is_free
from spatialops.simulation.linearization.dense.runge_kutta_stages import (
    Pushed,
    Smooth,
    smooth_end,
)
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.parameters import friction_of_mu, gains_of
from spatialops.simulation.stepping.integrators.joint_forces import external_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import integrate

_REDUNDANT = 1e-11  # as in `step_equations`


class Axes(NamedTuple):
    """Of a free joint that begins with a velocity: from axes of the start to those at the end."""

    first: int
    ahead: Array


def runge_kutta_end(
    t: Tables, room: Room, start: Start, x: float, given: Pushed, closures: Closures
) -> End:
    """The fraction x of a piece whose equations are in the room, before closures are closed again.

    Behind the columns of changes comes one by x.
    """
    model, s = closures.loops.model, float(t.monitor[at.PIECE])
    pushed = t.vectors[at.DVC, : model.nv].copy()
    whole = smooth_end(t, start, s, given, closures)
    by_rule = at_start(model, start, whole, given.q) - given.v
    by_push = contact_changes(t, room, (start, given), by_rule, closures) - by_rule
    by_push = np.column_stack([by_push, np.zeros(model.nv)])
    given = to_fraction(given, x, s)
    smooth = smooth_end(t, start, x * s, given, closures)
    longer = np.append(x * given.longer[:-1], 0.0)
    move = 0.5 * x * x * s * pushed
    flow = flow_blocks(t.tree, room.spans, move, pushed)
    moved = 0.5 * x * x * s * by_push
    moved += np.outer(0.5 * x * pushed, longer)
    moved[:, -1] += x * s * pushed
    dq = flow[BY_Q] @ smooth.dq + flow[BY_V] @ moved
    dv = at_start(model, start, smooth, given.q) + x * by_push
    dv[:, -1] += pushed
    v = along_start(model, start, smooth) + x * pushed
    end = integrate(model, smooth.q, move)
    axes = end_axes(model, start.q, end)
    return End(end, along(axes, v), dq, at_end(axes, v, dv, (given.q, dq)))


def to_fraction(given: Pushed, x: float, s: float) -> Pushed:
    """Changes of what the fraction x of a piece begins with and takes; last come those by x."""
    q, v, forces = (np.column_stack([part, 0.0 * part[:, 0]]) for part in given[:3])
    return Pushed(q, v, forces, np.append(x * given.longer, s), None)


def end_axes(model: Model, start: Array, end: Array) -> list[Axes]:
    """How axes of free joints turn from one state to another."""
    before, after = frames(model, start), frames(model, end)
    return [Axes(k, after[k].T @ before[k]) for k in before if is_free(model, k)]


def along(axes: list[Axes], v: Array) -> Array:
    """A velocity along axes of the start, along those at the end."""
    result = v.copy()
    for k, ahead in axes:
        result[k + 3 : k + 6] = ahead @ v[k + 3 : k + 6]
    return result


def along_start(model: Model, start: Start, end: Smooth) -> Array:
    """The velocity at the end, along axes of the start."""
    return along(end_axes(model, end.q, start.q), end.v)


def at_start(model: Model, start: Start, end: Smooth, dq: Array) -> Array:
    """Changes of the velocity at the end, along axes of the start, which turns with dq."""
    return at_end(end_axes(model, end.q, start.q), end.v, end.dv, (end.dq, dq))


def at_end(axes: list[Axes], v: Array, dv: Array, turns: tuple[Array, Array]) -> Array:
    """Changes of a velocity v, dv along the first axes, along the last; both turn, as given."""
    result = dv.copy()
    for k, ahead in axes:
        spin, linear = slice(k, k + 3), slice(k + 3, k + 6)
        swung = dv[linear] - crossed(v[linear], turns[0][spin])
        result[linear] = ahead @ swung + crossed(ahead @ v[linear], turns[1][spin])
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


def contact_changes(
    t: Tables, room: Room, begun: tuple[Start, Pushed], by_rule: Array, closures: Closures
) -> Array:
    """Changes (nv, columns) of the whole change of the velocity."""
    start, given = begun
    n, m = t.v.size, int(room.results[of.HELD])
    changes = np.concatenate([given.q, given.v, given.forces, given.longer[None]])
    mass, more = room.squares[of.MASS], by_rule - once(t, start, closures.loops.model) @ changes
    side, goal = (part[:, : 3 * n + 1] @ changes for part in (room.side, room.goal[:m]))
    if given.own is not None:
        more -= np.linalg.solve(mass, float(t.monitor[at.PIECE]) * given.own.forces)
        side, goal = side + given.own.side, goal + given.own.goal
    side = side + mass @ more
    for k, ints in enumerate(room.point_ints[: room.results[of.COUNT]]):
        if ints[of.STATUS] != of.SLIDING or ints[of.SLIP] != 1:
            continue
        turned = room.slips[of.SLIP_BY_V, k] @ more
        rows = room.found[of.LATE, k, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
        side += np.outer(rows.T @ friction_of_mu(t, room, k)[1], turned)
        for line, gain in gains_of(room, k):
            goal[ints[of.FIRST_LINE] + line] -= gain * turned
    lines, pushes = room.lines[:m], room.pushes[:m].T
    if len(closures.loops):
        free, reply = _held(t, room, (side, pushes), (given.q, by_rule), closures)
    else:
        free, reply = np.linalg.solve(mass, side), np.linalg.solve(mass, pushes)
    W = lines @ reply + np.diag(room.resistances[:m])
    dx: Array = free + reply @ np.linalg.lstsq(W, goal - lines @ free, rcond=_REDUNDANT)[0]
    return dx


def _held(
    t: Tables, room: Room, given: tuple[Array, Array], by: tuple[Array, Array], closures: Closures
) -> tuple[Array, Array]:
    """Changes for right-hand sides and answers to pushes, closures answering.

    By changes of q, and of what the smooth part does.
    """
    q, pushed = t.vectors[at.Q_E, : t.q.size].copy(), t.vectors[at.DVC, : t.v.size].copy()
    span = placed(closures.loops, q)
    answer = ClosureAnswer(span, room.squares[of.MASS])
    forces = reaction(t, room, span, answer)
    stiffness, turned, _ = closure_changes(span, q, np.zeros_like(pushed), pushed, forces)
    free = answer.of(given[0] + stiffness @ by[0], answer.G @ by[1] - turned @ by[0])[0]
    reply = answer.of(given[1], np.zeros((len(answer.G), given[1].shape[1])))[0]
    return free, reply
