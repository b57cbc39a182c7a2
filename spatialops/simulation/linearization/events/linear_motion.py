"""The linearised motion with contacts that stay closed.

With the held rows H, pushes C and multipliers of the motion,

    M a = F - bias + C lambda,    H a + h_q v = 0,

changes of it obey H dv + h_q dq = 0, which holds them for all time: its own derivative would need
second derivatives of the rows. So M dv = W + C sigma is split: sigma is what that asks for at every
instant, sigma' is the change of lambda, and W goes by

    W' = M' dv + [dF - ID_q dq - ID_v dv + d(C) lambda] - C' sigma

with inverse dynamics ID at q, v and a, and d(C) of changes at fixed multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.mass_matrix import mass_matrix_derivative
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.simulation.linearization.dense.explicit_forces import JointForces
from spatialops.simulation.linearization.dense.raw_coordinates import (
    from_tangent,
    on_tangent,
    rate_changes,
    rates_of,
)
from spatialops.simulation.linearization.events.closed_contacts import Closed
from spatialops.simulation.linearization.events.held_closures import HeldClosures
from spatialops.tree.model import Model
from spatialops.tree.state import integrate

_EXACT = 1e-12  # of the integrated changes
REDUNDANT = 1e-10  # of the largest: rows that say nothing


class Flow(NamedTuple):
    """A state, and its changes (nv, 3 nv) by [q; v; forces] of the start of the step."""

    q: Array
    v: Array
    dq: Array
    dv: Array


Forces = Callable[[float, Array, Array], JointForces]
Rows = Sequence[Closed | HeldClosures]
Contacts = Callable[[Array, Array], Rows]


class Instant:
    """Accelerations at a state, with what contacts hold and push there."""

    def __init__(self, model: Model, acts: JointForces, q: Array, v: Array, own: Rows) -> None:
        n = model.nv
        self.model = model
        self.acts = acts
        self.own = own
        self.q = q
        self.v = v
        self.M = mass_matrix(model, q)
        held = [one.held() for one in own]
        self.H = np.concatenate([np.zeros((0, n)), *(rows for rows, _ in held)])
        self.by_q = np.concatenate([np.zeros((0, n)), *(rows for _, rows in held)])
        columns = [one.pushes() @ one.G for one in own]
        self.C = np.concatenate([np.zeros((0, n)), *columns]).T
        self.reply = np.linalg.solve(self.M, self.C)
        free = forward_dynamics(model, q, v, acts.forces)
        self.multipliers = self.multipliers_for(self.H @ free + self.by_q @ v)
        self.a: Array = free + self.reply @ self.multipliers

    def multipliers_for(self, rates: Array) -> Array:
        """What takes rates of the held rows away; the least where rows are redundant."""
        if not len(self.H):
            return np.zeros((0, *rates.shape[1:]))
        return np.asarray(np.linalg.lstsq(self.H @ self.reply, -rates, rcond=REDUNDANT)[0])

    def change_of_velocity(self, W: Array, dq: Array) -> tuple[Array, Array]:
        """Dv and sigma."""
        free = np.linalg.solve(self.M, W)
        sigma = self.multipliers_for(self.H @ free + self.by_q @ dq)
        return free + self.reply @ sigma, sigma

    def rate(self, dq: Array, dv: Array, sigma: Array) -> Array:
        """W'."""
        model = self.model
        q, v = self.q, self.v
        by = inverse_dynamics_derivatives(model, q, v, self.a)
        change = mass_matrix_derivative(model, q, v) @ dv - by.dq @ dq - by.dv @ dv
        change += self.acts.by_q @ dq + self.acts.by_v @ dv
        change[:, 2 * model.nv :] += np.eye(model.nv)
        row = 0
        for one in self.own:
            pushes = one.pushes()
            rows = slice(row, row + len(pushes))
            row = rows.stop
            force = self.multipliers[rows] @ pushes
            change += np.einsum("c,cij->ij", force, one.bends) @ dq
            moved = np.einsum("cij,j->ci", one.bends, v)
            change -= (pushes @ moved).T @ sigma[rows]
            if not isinstance(one, Closed) or one.sticks:
                continue
            velocity, normal = one.G @ dv + one.by_q @ dq, one.turns @ dq
            change += self.multipliers[rows.start] * one.G.T @ one.turned(velocity, normal)[0]
            velocity, normal = one.G @ self.a + one.by_q @ v, one.turns @ v
            turned = one.turned(velocity[:, None], normal[:, None])[0]
            change -= (one.G.T @ turned) @ sigma[rows]
        return change


def flown(model: Model, forces: Forces, contacts: Contacts, flow: Flow, span: Array) -> Flow:
    """The flow from one time to another."""
    if span[1] <= span[0]:
        return flow
    n, nq = model.nv, model.nq
    first = mass_matrix(model, flow.q) @ flow.dv
    parts = flow.q, flow.v, from_tangent(model, flow.q, flow.dq), first
    places = np.cumsum([nq, n, 3 * n * nq])

    def at(time: float, x: Array) -> tuple[Instant, Array, Array, Array]:
        q, v, raw, W = np.split(x, places)
        raw = raw.reshape(nq, 3 * n)
        unit = integrate(model, q, np.zeros(n))
        moment = Instant(model, forces(time, unit, v), unit, v, contacts(unit, v))
        return moment, q, raw, W.reshape(n, 3 * n)

    def rates(time: float, x: Array) -> Array:
        moment, q, raw, W = at(time, x)
        dq = on_tangent(model, q, raw)
        dv, sigma = moment.change_of_velocity(W, dq)
        v = moment.v
        parts = (
            rates_of(model, q, v[:, None]),
            moment.a,
            rate_changes(model, q, v, raw, dv),
            moment.rate(dq, dv, sigma),
        )
        return np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([part.ravel() for part in parts])
    found = scipy.integrate.solve_ivp(
        rates, (span[0], span[1]), start, method="DOP853", rtol=_EXACT, atol=_EXACT
    )
    moment, q, raw, W = at(span[1], found.y[:, -1])
    dq = on_tangent(model, q, raw)
    dv, _ = moment.change_of_velocity(W, dq)
    return Flow(moment.q, moment.v.copy(), dq, dv)
