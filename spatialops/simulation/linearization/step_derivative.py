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
from spatialops.dynamics.articulated_body import forward_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.contact_directions import (
    closed_directions,
    nearly_other,
    turning_edges,
    turning_friction,
)
from spatialops.simulation.linearization.contact_speeds import speed_derivatives
from spatialops.simulation.linearization.fitted_damping import armature_by_q
from spatialops.simulation.linearization.made_step import Moves, Step
from spatialops.simulation.linearization.statuses import OPEN
from spatialops.simulation.linearization.touch import Touch, Toucher
from spatialops.tree.model import Model


def step_derivative(step: Step) -> tuple[Array, Array, tuple[str, ...]]:
    """A (2 nv, 2 nv), B (2 nv, nv) of a step, and contacts where only one side was taken."""
    model = step.model
    s = step.length
    nv = step.model.nv
    inputs = np.eye(3 * nv)
    dq = inputs[:nv]
    dv = inputs[nv : 2 * nv]
    dtau = inputs[2 * nv :]
    start = integrate_derivatives(model, step.state.q, step.state.v, step.half * s)
    dq_e, dv_e = start.dq @ dq + start.dv @ dv, start.carried @ dv
    q_e = step.t.vectors[at.Q_E, : model.nq].copy()
    v_e = step.vector(at.V_E)
    change = step.vector(at.DV)
    answer = step.vector(at.DVC)
    end = v_e + change + answer
    v_m, damping = v_e + step.half * (change + answer), model.links[:, layout.DAMPING]
    forces, fit = step.tau - damping * v_e, armature_by_q(model, q_e, s)
    by = forward_dynamics_derivatives(step.damped, q_e, v_m, forces, step.external)
    a = forward_dynamics(step.damped, q_e, v_m, forces, step.external)
    drag = s * (by.dv + convection(model, v_m))
    pushed = dtau - damping[:, None] * dv_e - a[:, None] * (fit @ dq_e)
    side = s * (by.dq @ dq_e + by.dtau @ pushed) + drag @ dv_e
    matrix = np.eye(nv) - step.half * drag
    switching = step.statuses.switching
    if len(step.contacts) > 0:
        points = step.t.floats[step.contacts.rows, col.POINT : col.POINT + 3]
        toucher = Toucher(model, q_e, step.contacts, points)
        at_end = toucher.at(q_e, end, step.contacts.gaps)
        switching += nearly_other(step, at_end.velocity)
    if set(step.statuses.names) <= {OPEN}:
        dend = dv_e + np.linalg.solve(matrix, side)
    else:
        smooth = Smooth(matrix, side, step.half * drag, by.dtau)
        dend, more = with_contacts(step, smooth, Moves(dq, dv, dq_e, dv_e), toucher, at_end)
        switching += more
    last = integrate_derivatives(model, q_e, end, (1.0 - step.half) * s)
    rows = np.concatenate([last.dq @ dq_e + last.dv @ dend, last.carried @ dend])
    return rows[:, : 2 * nv], rows[:, 2 * nv :], switching


class Smooth(NamedTuple):
    """matrix d(dv) = side + coupling d(dw), and the inverse of the mass matrix."""

    matrix: Array
    side: Array
    coupling: Array
    inverse: Array


def with_contacts(
    step: Step, smooth: Smooth, moves: Moves, toucher: Toucher, at_end: Touch
) -> tuple[Array, tuple[str, ...]]:
    """Change of the velocity at the end, and contacts where only one side was taken."""
    nv = step.model.nv
    contacts = step.contacts
    inverse = smooth.inverse
    q_e = step.t.vectors[at.Q_E, : step.model.nq].copy()
    v_e = step.vector(at.V_E)
    change = step.vector(at.DV)
    answer = step.vector(at.DVC)
    at_free = toucher.at(q_e, v_e + change, contacts.gaps)
    G = at_end.rows
    speeds, switching = speed_derivatives(step, toucher, moves, q_e)
    targets = at_end.by_q @ moves.q_e + G @ moves.v_e + speeds
    force_by_v, force_by_q = turning_friction(step, at_free)
    closed, pushed = closed_directions(step, G)
    turned_by_v, turned_by_q = turning_edges(step, at_free, at_end.velocity, closed)
    fixed = force_by_q - force_derivative(step, at_end, q_e, answer)
    fixed -= answer[:, None] * armature_by_q(step.model, q_e, step.length)
    answer_side = inverse @ (fixed @ moves.q_e + force_by_v @ moves.v_e)
    goal = -np.concatenate([rows @ targets[i] for i, rows in closed])
    goal -= turned_by_q @ moves.q_e + turned_by_v @ moves.v_e
    lines = np.concatenate([rows @ G[i] for i, rows in closed])
    columns = np.concatenate(pushed, axis=1)
    zero = np.zeros((len(goal), len(goal)))
    whole = np.block(
        [
            [smooth.matrix, -smooth.coupling, np.zeros_like(columns)],
            [-inverse @ force_by_v, np.eye(nv), -inverse @ columns],
            [lines + turned_by_v, lines, zero],
        ]
    )
    found = solved(whole, np.concatenate([smooth.side, answer_side, goal]), lines, inverse)
    return moves.v_e + found[:nv] + found[nv : 2 * nv], switching


def solved(whole: Array, side: Array, lines: Array, inverse: Array) -> Array:
    """The linearised equations; of redundant contacts the smallest change of impulses."""
    weights = np.linalg.eigvalsh(lines @ inverse @ lines.T)
    if weights[0] > 1e-11 * weights[-1]:
        return np.asarray(np.linalg.solve(whole, side))
    return np.asarray(np.linalg.lstsq(whole, side, rcond=1e-12)[0])


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
