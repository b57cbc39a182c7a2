"""What accelerations and contact forces must satisfy: the mechanism, its contacts, its motors.

Unknowns are x = (a, f), accelerations and contact forces; motor forces follow, u = U x + w, from
the actuated rows of M a + h = B u + A^T f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.control.actuation import Actuation
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.whole_body.hierarchy import Constraints
from spatialops.control.whole_body.joint_bounds import JointBounds
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.newton_euler import bias
from spatialops.forces.passive import passive_forces
from spatialops.tree.state import State


class Equations(NamedTuple):
    """Constraints of accelerations and contact forces, and the motor forces that go with them.

    Parameters
    ----------
    M : (nv, nv) array
        Mass matrix.
    U : (p, nv + m) array
        Motor forces u = U x + w.
    w : (p,) array
        The same.
    E : (k, nv + m) array
        E x = e: rows without motors, contacts that are held, forces that are given.
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

    def constraints(
        self, bounds: JointBounds | None, state: State, actuation: Actuation
    ) -> Constraints:
        """All of them, with those of joints where bounds are given."""
        if bounds is None:
            return Constraints(self.E, self.e, self.C, self.low, self.high)
        rows, low, high = bounds.accelerations(actuation.model, state)
        moved = actuation.moves[rows]  # what has no motor goes where it goes
        rows = rows[moved]
        chosen = np.zeros((len(rows), self.C.shape[1]))
        chosen[np.arange(len(rows)), rows] = 1.0
        return Constraints(
            self.E,
            self.e,
            np.vstack([self.C, chosen]),
            np.concatenate([self.low, low[moved]]),
            np.concatenate([self.high, high[moved]]),
        )


def equations(state: State, grip: HeldContacts, actuation: Actuation, sides: int) -> Equations:
    """The equations at a state.

    Parameters
    ----------
    state : State
        Configuration and velocity.
    grip : HeldContacts
        Contacts that hold.
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
    load = bias(model, q, v) - passive_forces(model, q, v)
    if grip.sliding:
        load = load - grip.sliding_friction(q)
    M = mass_matrix(model, q)
    moved = np.hstack([M, -A.T])
    left = ~actuation.moves
    held = np.hstack([A, np.zeros((len(A), len(A)))])
    pressed = np.zeros((len(grip.pressed), moved.shape[1]))
    pressed[np.arange(len(grip.pressed)), model.nv + grip.pressed_rows] = 1.0
    U, w = moved[actuation.rows], load[actuation.rows]
    forces, offsets = _force_bounds(grip, sides, model.nv)
    limits = actuation.limits
    return Equations(
        M,
        U,
        w,
        np.vstack([moved[left], held, pressed]),
        np.concatenate([-load[left], -drift, grip.pressed]),
        np.vstack([U, forces]),
        np.concatenate([-limits - w, -offsets]),
        np.concatenate([limits - w, np.full(len(forces), np.inf)]),
    )


def _force_bounds(grip: HeldContacts, sides: int, n: int) -> tuple[Array, Array]:
    """Rows F and offsets f with F x + f >= 0: sides of pyramids, bounds of contact forces.

    A pyramid is inscribed in its cone: mu cos(pi / s) f_n >= c_k . f_t for each side k.
    """
    angles = 2.0 * np.pi * (np.arange(sides) + 0.5) / sides
    normals = np.column_stack(
        [np.full(sides, np.cos(np.pi / sides)), -np.cos(angles), -np.sin(angles)]
    )
    rows, offsets, _ = grip.limits
    result = np.zeros((sides * len(grip.mu) + len(rows), n + grip.n_rows))
    for i, first in enumerate(grip.force_rows[::3]):
        block = result[sides * i : sides * (i + 1), n + first : n + first + 3]
        block[:] = normals
        block[:, 0] *= grip.mu[i]
    result[sides * len(grip.mu) :, n:] = rows
    return result, np.concatenate([np.zeros(sides * len(grip.mu)), offsets])
