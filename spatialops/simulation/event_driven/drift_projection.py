"""Drift held off: the nearest state, in the metric of M, at which what is closed is closed."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.law import is_rigid
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation.event_driven.constrained_motion import Mechanics
from spatialops.simulation.event_driven.contact_modes import Modes, held_rows
from spatialops.simulation.event_driven.contacts import Contacts
from spatialops.simulation.event_driven.minimum_forces import held_forces
from spatialops.tree.state import integrate_kernel, transport

_CLOSED = 1e-14  # m or rad
_MOST = 4  # steps of Newton's method: errors of a step of the integrator need one or two


def project(mechanics: Mechanics, q: Array, v: Array, modes: Modes) -> tuple[Array, Array]:
    """Positions until gaps and errors of closures are rounding, then velocities."""
    modes = modes if is_rigid(mechanics.law) else {}
    if not modes and not mechanics.n_b:
        return q, v
    model, n_b = mechanics.scene.model, mechanics.n_b
    for _ in range(_MOST):
        contacts = _factored(mechanics, q, v, modes)
        errors = (
            np.concatenate([mechanics.span.errors(q)[mechanics.kept], contacts.gaps])
            if n_b
            else contacts.gaps
        )
        if np.abs(errors).max(initial=0.0) <= _CLOSED:
            break
        L = mechanics.jacobian(contacts)[1]
        move, ahead = (
            _least(mechanics, L, [*mechanics.kept, *range(n_b, len(L), 3)], errors),
            np.empty(model.nq),
        )
        integrate_kernel(model.tree, q, move, 1.0, ahead)
        v = v.copy()
        transport(model.tree, q, ahead, v)
        q = ahead
    contacts = _factored(mechanics, q, v, modes)
    G, L = mechanics.jacobian(contacts)
    held = held_rows(mechanics.kept, n_b, list(modes.values()), contacts.kinds)
    return q, v + _least(mechanics, L, held, G[held] @ v)


def _factored(mechanics: Mechanics, q: Array, v: Array, modes: Modes) -> Contacts:
    """Closed contacts at a state, with the factors of the tree and terms of closures made ready."""
    model = mechanics.scene.model
    poses_kernel(model.tree, model.links, q, mechanics.work)
    velocities_kernel(model.tree, model.links, v, mechanics.work)
    factor_kernel(model.tree, model.links, mechanics.work)
    if mechanics.n_b:
        mechanics.span.put_terms()
    return mechanics.closed(q, v, modes)


def _least(mechanics: Mechanics, L: Array, held: list[int], errors: Array) -> Array:
    """The least motion (nv,) that takes errors of rows away."""
    p = np.zeros(len(L))
    p[held] = held_forces(L[held], L[held], errors, [False] * len(held))[0]
    return mechanics.push(L, p)
