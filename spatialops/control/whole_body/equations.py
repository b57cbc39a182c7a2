"""What accelerations and contact forces must satisfy: the mechanism, its contacts, its motors.

Unknowns are x = (a, f, l), accelerations, contact forces and those of closures; motor forces
follow, u = U x + w, from the actuated rows of M a + h = B u + A^T f + G^T l.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.control.actuation import Actuation
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.whole_body.held_closures import HeldClosures
from spatialops.control.whole_body.hierarchy import Constraints
from spatialops.control.whole_body.joint_bounds import JointBounds
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.newton_euler import bias
from spatialops.forces.passive import passive_forces
from spatialops.tree.state import State


class AccelerationLimits(NamedTuple):
    """Bounds low <= J a <= high of accelerations.

    Parameters
    ----------
    J : (k, nv) array
        Rows.
    low, high : (k,) arrays
        The same; infinite where there is none.
    """

    J: Array
    low: Array
    high: Array


class Equations(NamedTuple):
    """Constraints of accelerations and forces, and the motor forces that go with them.

    m is the number of rows of contacts and closures.

    Parameters
    ----------
    M : (nv, nv) array
        Mass matrix.
    U : (p, nv + m) array
        Motor forces u = U x + w.
    w : (p,) array
        The same.
    E : (k, nv + m) array
        E x = e: rows without motors, contacts and closures that hold, forces that are given.
    e : (k,) array
        The same.
    C : (i, nv + m) array
        low <= C x <= high: motors, friction pyramids, bounds of contact forces.
    low, high : (i,) arrays
        The same.
    """

    M: Array
    U: Array
    w: Array
    E: Array
    e: Array
    C: Array
    low: Array
    high: Array

    def motors(self, x: Array) -> Array:
        """Motor forces, N m or N."""
        return np.asarray(self.U @ x + self.w)

    def constraints(self, limits: Sequence[AccelerationLimits]) -> Constraints:
        """All of them, and limits of accelerations."""
        free = self.C.shape[1] - len(self.M)
        rows = [np.hstack([own.J, np.zeros((len(own.J), free))]) for own in limits]
        return Constraints(
            self.E,
            self.e,
            np.vstack([self.C, *rows]),
            np.concatenate([self.low, *(own.low for own in limits)]),
            np.concatenate([self.high, *(own.high for own in limits)]),
        )


def joint_limits(bounds: JointBounds, state: State, actuation: Actuation) -> AccelerationLimits:
    """Bounds of joints with motors; what has none goes where it goes."""
    rows, low, high = bounds.accelerations(actuation.model, state)
    moved = actuation.moves[rows]
    rows = rows[moved]
    J = np.zeros((len(rows), actuation.model.nv))
    J[np.arange(len(rows)), rows] = 1.0
    return AccelerationLimits(J, low[moved], high[moved])


def equations(
    state: State, grip: HeldContacts, closures: HeldClosures, actuation: Actuation, sides: int
) -> Equations:
    """The equations at a state.

    Parameters
    ----------
    state : State
        Configuration and velocity.
    grip : HeldContacts
        Contacts that hold.
    closures : HeldClosures
        Closed loops.
    actuation : Actuation
        Motors.
    sides : int
        Of the friction pyramids.

    Returns
    -------
    Equations
        Of the model of `actuation`.
    """
    model = actuation.model
    q, v = state.q, state.v
    A, drift = grip.rows(q, v)
    G, turning = closures.rows(state)
    load = bias(model, q, v) - passive_forces(model, q, v)
    if grip.sliding:
        load = load - grip.sliding_friction(q)
    M = mass_matrix(model, q)
    moved = np.hstack([M, -A.T, -G.T])
    left = ~actuation.moves
    held = np.zeros((len(A) + len(G), moved.shape[1]))
    held[:, : model.nv] = np.vstack([A, G])
    pressed = np.zeros((len(grip.pressed), moved.shape[1]))
    pressed[np.arange(len(grip.pressed)), model.nv + grip.pressed_rows] = 1.0
    U, w = moved[actuation.rows], load[actuation.rows]
    bounds, offsets = _force_bounds(grip, sides)
    forces = np.zeros((len(bounds), moved.shape[1]))
    forces[:, model.nv : model.nv + grip.n_rows] = bounds
    limits = actuation.limits
    return Equations(
        M,
        U,
        w,
        np.vstack([moved[left], held, pressed]),
        np.concatenate([-load[left], -drift, -turning, grip.pressed]),
        np.vstack([U, forces]),
        np.concatenate([-limits - w, -offsets]),
        np.concatenate([limits - w, np.full(len(forces), np.inf)]),
    )


def _force_bounds(grip: HeldContacts, sides: int) -> tuple[Array, Array]:
    """Rows F and offsets o with F f + o >= 0: sides of pyramids, bounds of contact forces.

    A pyramid is inscribed in its cone: mu cos(pi / s) f_n >= c_k . f_t for each side k.
    """
    angles = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    normals = np.column_stack(
        [np.full(sides, np.cos(np.pi / sides)), -np.cos(angles), -np.sin(angles)]
    )
    rows, offsets, _ = grip.limits
    result = np.zeros((sides * len(grip.mu) + len(rows), grip.n_rows))
    for i, first in enumerate(grip.force_rows[::3]):
        block = result[sides * i : sides * (i + 1), first : first + 3]
        block[:] = normals
        block[:, 0] *= grip.mu[i]
    result[sides * len(grip.mu) :] = rows
    return result, np.concatenate([np.zeros(sides * len(grip.mu)), offsets])
