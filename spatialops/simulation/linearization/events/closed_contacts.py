"""What contacts that stay closed hold in a motion, and how that changes with the state.

A contact that sticks holds its velocity, one that slides along the unit vector s its normal part:

    h = v_P = 0,    or    h = N . v_P = 0,    H = dh / dv,    h_q = dh / dq,    H a + h_q v = 0,

and pushes with f, or with d = N - mu s for each unit along the normal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.event_driven.constrained_motion import Mechanics
from spatialops.simulation.event_driven.contact_modes import SLOW, Mode, Modes
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.impacts.equations import differentiate_impact_held
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.held.held_loop import HeldLoop


class Closed(NamedTuple):
    """One contact, as its point's link sees it.

    Attributes
    ----------
    G : (3, nv) array
        Of its velocity, world axes.
    by_q : (3, nv) array
        Changes of that.
    velocity, normal : (3,) arrays
    turns : (3, nv) array
        Changes of the normal.
    gap : (nv,) array
        Of its gap.
    bends : (3, nv, nv) array
        Changes of G* along each axis.
    slip : (3,) array
        Unit direction; zero of what sticks.
    speed : float
        Of the slip; 0 where it is too slow to turn.
    mu : float
    """

    G: Array
    by_q: Array
    velocity: Array
    normal: Array
    turns: Array
    gap: Array
    bends: Array
    slip: Array
    speed: float
    mu: float
    sticks: bool

    def held(self) -> tuple[Array, Array]:
        """Rows H and h_q."""
        if self.sticks:
            return self.G, self.by_q
        row = self.normal @ self.by_q + self.velocity @ self.turns
        return (self.normal @ self.G)[None], row[None]

    def pushes(self) -> Array:
        """Directions (rows, 3) that it pushes along."""
        return np.eye(3) if self.sticks else (self.normal - self.mu * self.slip)[None]

    def turned(self, velocity: Array, normal: Array) -> Array:
        """Change (1, 3, columns) of that direction by changes (3, columns) of velocity, normal."""
        change = -np.outer(self.normal, self.slip @ normal)
        if self.speed > 0.0:
            across = np.eye(3) - np.outer(self.slip, self.slip)
            across -= np.outer(self.normal, self.normal)
            change += across @ velocity / self.speed
        return (normal - self.mu * change)[None]


def closed_contacts(
    mechanics: Mechanics, loop: HeldLoop, room: Held, state: tuple[Array, Array], modes: Modes
) -> tuple[int, list[Closed]]:
    """A status, and contacts that stay closed at a state, in the order of the modes.

    By the kernel that impacts are differentiated with, in a loop's tables and a room.
    """
    q, v = state
    found, k = mechanics.closed(q, v, modes), len(modes)
    if k == 0:
        return of.KNOWN, []
    t = loop.tables
    t.ints[:k] = found.ints
    t.floats[:k] = found.floats
    t.floats[:k, col.IMPULSE : col.IMPULSE + 3] = (1.0, 0.0, 0.0)
    t.friction[:k] = found.friction
    t.control[at.ACTING], t.control[at.MOMENTS] = k, 0
    t.q[:] = q
    t.vectors[at.V_X, : v.size] = v
    n, tables = v.size, room.tables
    bends = np.empty((k, 3, n, n))
    still = np.zeros(n)
    for i in range(k):
        for c in range(3):
            unit = np.zeros((k, 3))
            unit[i, c] = 1.0
            status = differentiate_impact_held(loop.address, room.address, still, v.copy(), unit)
            if status != of.KNOWN:
                return status, []
            bends[i, c] = tables.points[i, of.SIDE] * tables.side[:n, :n]
    own = [
        contact(tables, i, mode, float(found.friction[i]), bends[i])
        for i, mode in enumerate(modes.values())
    ]
    return of.KNOWN, own


def contact(room: Room, i: int, mode: Mode, mu: float, bends: Array) -> Closed:
    """Contact i of those that the room has."""
    found, arms = room.found[of.LATE, i], room.arms[of.LATE, i]
    normal = arms[of.NORMAL_THERE : of.NORMAL_THERE + 3].copy()
    velocity = arms[of.VELOCITY : of.VELOCITY + 3].copy()
    turns = found[of.NORMAL_BY_Q : of.NORMAL_BY_Q + 3].copy()
    if room.point_ints[i, of.KIND] == of.STILL:
        turns[:] = 0.0
    slip, speed = np.zeros(3), 0.0
    if not mode.sticks and 0.0 < mu < np.inf:
        before = room.points[i, of.SIDE] * mode.direction
        slip = velocity - normal * (normal @ velocity)
        speed = float(np.linalg.norm(slip))
        if speed > SLOW:
            slip = slip / speed if slip @ before >= 0.0 else -slip / speed
        else:
            slip = before - normal * (normal @ before)
            slip = slip / max(float(np.linalg.norm(slip)), 1e-300)
            speed = 0.0
    return Closed(
        found[of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3].copy(),
        found[of.VELOCITY_BY_Q : of.VELOCITY_BY_Q + 3].copy(),
        velocity,
        normal,
        turns,
        found[of.GAP_BY_Q].copy(),
        bends,
        slip,
        speed,
        0.0 if mode.sticks else mu,
        mode.sticks,
    )
