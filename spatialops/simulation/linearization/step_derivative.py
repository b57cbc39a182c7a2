"""The derivative of one step, by implicit differentiation of the equations that it solves.

A step from (q, v) evaluates the dynamics at q_e, reached in s/2 of the velocity v (Moreau's rule;
semi-implicit Euler: q_e = q), where v has become v_e, and solves for the velocity changes dv of the
smooth part and dw of contacts with the impulses p,

    dv = s f(q_e, v_e + (dv + dw) / 2, tau)       (semi-implicit: f(q_e, v_e, tau)),
    M(q_e) dw = G* p,                             p in the closed directions,
    G (v_e + dv + dw) + d + o N = 0               in those directions,

with the drift d and the free opening speed o of `stepping/contact_drift.py`, N the normals. f is
`forward_dynamics` with w x v added for free bodies (`integrators/accelerations.py`). It ends at the
velocity v_e + dv + dw, with which it moves on for s/2 (semi-implicit: s). All terms of the
linearised equations are closed forms; statuses of contacts stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import integrate_derivatives, skew, turning
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.contact_points import ContactPoints
from spatialops.simulation.linearization.contact_speeds import speed_derivatives
from spatialops.simulation.linearization.statuses import OPEN, SLIDING, Statuses
from spatialops.simulation.linearization.touch import Touch, Toucher
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import State


class Step(NamedTuple):
    """A step that was made.

    Parameters
    ----------
    model, weightless : Model
        The mechanism, and without gravity.
    state : State
        Where it began.
    tau : (nv,) array
    t : Tables
        As the step left them.
    contacts : ContactPoints
    statuses : Statuses
    names : tuple of str
        Of all contacts in the loop's table.
    """

    model: Model
    weightless: Model
    state: State
    tau: Array
    t: Tables
    contacts: ContactPoints
    statuses: Statuses
    names: tuple[str, ...]

    @property
    def external(self) -> Array | None:
        """Wrenches on bodies, if any."""
        return self.t.external.copy() if len(self.t.external) else None

    @property
    def length(self) -> float:
        """S."""
        return float(self.t.monitor[at.PIECE])

    @property
    def half(self) -> float:
        """1/2 where q_e is in the middle, 0 where it is the beginning."""
        return 0.5 if self.t.control[at.SCHEME] == at.MOREAU else 0.0

    def vector(self, row: int) -> Array:
        """One of the loop's vectors of velocities."""
        return self.t.vectors[row, : self.model.nv].copy()


def step_derivative(step: Step) -> tuple[Array, Array, tuple[str, ...]]:
    """A (2 nv, 2 nv), B (2 nv, nv) of a step, and contacts where only one side was taken."""
    model, s, nv = step.model, step.length, step.model.nv
    inputs = np.eye(3 * nv)
    dq, dv, dtau = inputs[:nv], inputs[nv : 2 * nv], inputs[2 * nv :]
    start = integrate_derivatives(model, step.state.q, step.state.v, step.half * s)
    dq_e, dv_e = start.dq @ dq + start.dv @ dv, start.carried @ dv
    q_e = step.t.vectors[at.Q_E, : model.nq].copy()
    v_e, change, answer = step.vector(at.V_E), step.vector(at.DV), step.vector(at.DVC)
    end = v_e + change + answer
    by = forward_dynamics_derivatives(
        model, q_e, v_e + step.half * (change + answer), step.tau, step.external
    )
    drag = s * (by.dv + convection(model, v_e + step.half * (change + answer)))
    smooth = s * (by.dq @ dq_e + by.dtau @ dtau) + drag @ dv_e
    matrix, side = np.eye(nv) - step.half * drag, smooth
    switching = step.statuses.switching
    dend = dv_e
    if len(step.contacts) == 0 or set(step.statuses.names) == {OPEN}:
        dend = dv_e + np.linalg.solve(matrix, side)
    else:
        moves = Moves(dq, dv, dq_e, dv_e)
        dend, more = with_contacts(step, (matrix, side, step.half * drag), by.dtau, moves, q_e)
        switching += more
    last = integrate_derivatives(model, q_e, end, (1.0 - step.half) * s)
    rows = np.concatenate([last.dq @ dq_e + last.dv @ dend, last.carried @ dend])
    return rows[:, : 2 * nv], rows[:, 2 * nv :], switching


class Moves(NamedTuple):
    """Changes (nv, c) of coordinates and velocities at the beginning and where contacts are."""

    q: Array
    v: Array
    q_e: Array
    v_e: Array


def with_contacts(
    step: Step, smooth: tuple[Array, Array, Array], inverse: Array, moves: Moves, q_e: Array
) -> tuple[Array, tuple[str, ...]]:
    """Change of the velocity at the end, and contacts where only one side was taken."""
    nv, contacts = step.model.nv, step.contacts
    v_e, change, answer = step.vector(at.V_E), step.vector(at.DV), step.vector(at.DVC)
    points = step.t.floats[contacts.rows, col.POINT : col.POINT + 3]
    toucher = Toucher(step.model, q_e, contacts, points)
    at_end = toucher.at(q_e, v_e + change + answer, contacts.gaps)
    at_free = toucher.at(q_e, v_e + change, contacts.gaps)
    G = at_end.rows
    speeds, switching = speed_derivatives(step, toucher, moves, q_e)
    targets = at_end.by_q @ moves.q_e + G @ moves.v_e + speeds
    force_by_v, force_by_q = turning_friction(step, at_free)
    closed, pushed = closed_directions(step, G)
    turned_by_v, turned_by_q = turning_edges(step, at_free, at_end.velocity, closed)
    matrix, side, coupling = smooth
    fixed = force_by_q - force_derivative(step, at_end, q_e, answer)
    answer_side = inverse @ (fixed @ moves.q_e + force_by_v @ moves.v_e)
    goal = -np.concatenate([rows @ targets[i] for i, rows in closed])
    goal -= turned_by_q @ moves.q_e + turned_by_v @ moves.v_e
    lines = np.concatenate([rows @ G[i] for i, rows in closed])
    columns = np.concatenate(pushed, axis=1)
    zero = np.zeros((len(goal), len(goal)))
    whole = np.block(
        [
            [matrix, -coupling, np.zeros_like(columns)],
            [-inverse @ force_by_v, np.eye(nv), -inverse @ columns],
            [lines + turned_by_v, lines, zero],
        ]
    )
    found = solved(whole, np.concatenate([side, answer_side, goal]), lines, inverse)
    return moves.v_e + found[:nv] + found[nv : 2 * nv], switching


def solved(whole: Array, side: Array, lines: Array, inverse: Array) -> Array:
    """The linearised equations; of redundant contacts the smallest change of impulses."""
    weights = np.linalg.eigvalsh(lines @ inverse @ lines.T)
    if weights[0] > 1e-11 * weights[-1]:
        return np.asarray(np.linalg.solve(whole, side))
    return np.asarray(np.linalg.lstsq(whole, side, rcond=1e-12)[0])


def closed_directions(step: Step, G: Array) -> tuple[list[tuple[int, Array]], list[Array]]:
    """Of every closed contact: the directions that hold, and G* along those that push."""
    closed, pushed = [], []
    for i, status in enumerate(step.statuses.names):
        if status == OPEN:
            continue
        normal = step.contacts.normals[i]
        if status != SLIDING:
            closed.append((i, np.eye(3)))
            pushed.append(G[i].T)
            continue
        row = step.t.floats[step.contacts.rows[i]]
        tangents = step.contacts.sides[i] * row[col.TANGENT : col.TANGENT + 6].reshape(2, 3)
        holds, pushes = [normal], [normal + step.statuses.directions[i] @ tangents]
        if step.statuses.edges[i].any():
            edge = step.statuses.edges[i] @ tangents
            holds.append(edge)
            pushes.append(edge)
        closed.append((i, np.stack(holds)))
        pushed.append(G[i].T @ np.stack(pushes, axis=1))
    return closed, pushed


def turning_edges(
    step: Step, free: Touch, velocity: Array, closed: list[tuple[int, Array]]
) -> tuple[Array, Array]:
    """What rows along edges gain as they turn with the slip without contacts: by v and by q.

    `velocity` is that of the contacts' points at the end; what drift adds is put to it here.
    """
    nv, count = step.model.nv, sum(len(rows) for _, rows in closed)
    by_v, by_q = np.zeros((count, nv)), np.zeros((count, nv))
    last = -1
    for i, rows in closed:
        last += len(rows)
        row, side = step.t.floats[step.contacts.rows[i]], step.contacts.sides[i]
        normal, first = row[col.NORMAL : col.NORMAL + 3], row[col.TANGENT : col.TANGENT + 3]
        slip = side * float(first @ free.velocity[i])
        edge = step.statuses.edges[i]
        if not edge.any() or slip <= _SLIP:
            continue
        across, end = np.cross(normal, first), velocity[i] + side * row[col.DRIFT : col.DRIFT + 3]
        # d t1 = across (across . dw) / |w| and d t2 = -t1 (across . dw) / |w|.
        gain = float(edge[0] * across @ end - edge[1] * first @ end) / slip
        by_v[last] = gain * across @ free.rows[i]
        by_q[last] = gain * across @ free.by_q[i]
    return by_v, by_q


def turning_friction(step: Step, free: Touch) -> tuple[Array, Array]:
    """Change of G* p as tangents turn with the slip w without contacts: by velocities and by q.

    The first tangent is w / |w|; friction along c1 t1 + c2 t2 turns with it.
    """
    nv = step.model.nv
    by_v, by_q = np.zeros((nv, nv)), np.zeros((nv, nv))
    for i, status in enumerate(step.statuses.names):
        row = step.t.floats[step.contacts.rows[i]]
        normal, first = row[col.NORMAL : col.NORMAL + 3], row[col.TANGENT : col.TANGENT + 3]
        slip = step.contacts.sides[i] * float(first @ free.velocity[i])
        if status != SLIDING or slip <= _SLIP:
            continue
        c, pressed = step.statuses.directions[i], float(row[col.IMPULSE])
        across = np.cross(normal, first)
        # d t1 = across (across . dw) / |w|, with dw of A against B, and d t2 = normal x d t1.
        turned = np.outer(c[0] * across - c[1] * first, across) * (pressed / slip)
        by_v += free.rows[i].T @ turned @ free.rows[i]
        by_q += free.rows[i].T @ turned @ free.by_q[i]
    return by_v, by_q


_SLIP = 1e-9  # m/s below which tangents do not follow the slip: `contact/friction.py`


def force_derivative(step: Step, touching: Touch, q_e: Array, answer: Array) -> Array:
    """D (M dw - G* p) / dq for the dw and p of the step."""
    contacts = step.contacts
    wrenches, extra = np.zeros((step.model.n_bodies, 6)), np.zeros((step.model.nv,) * 2)
    for i, k in enumerate(contacts.links):
        p = contacts.impulses[i]
        pressed = skew(p)
        wrench = wrenches[step.model.tree[k, layout.BODY]]
        wrench[:3] -= pressed @ touching.levers[i]
        wrench[3:] += p
        extra -= touching.turn_by_q[i].T @ (pressed @ touching.lever_by_q[i])
    zero = np.zeros(step.model.nv)
    return inverse_dynamics_derivatives(step.weightless, q_e, zero, answer, wrenches).dq - extra


def convection(model: Model, v: Array) -> Array:
    """Derivative by v of w x v of free bodies' linear velocities."""
    result = np.zeros((model.nv, model.nv))
    for k in turning(model):
        if model.tree[k, layout.FRAME] == layout.POSE:
            result[k + 3 : k + 6, k : k + 3] = -skew(v[k + 3 : k + 6])
            result[k + 3 : k + 6, k + 3 : k + 6] = skew(v[k : k + 3])
    return result
