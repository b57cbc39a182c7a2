"""How closed contacts move: they stick, or slide in a direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.constraint_rows import DRY
from spatialops.simulation.event_driven.contacts import Contacts, Key

STOPPED = 1e-9  # m/s: a slip that has no direction
SLOW = 1e-5  # m/s: one that has no time to change it


class Mode(NamedTuple):
    """How a closed contact moves: it sticks, or slides along a unit direction (3,), world axes."""

    sticks: bool
    direction: Array


Modes = dict[Key, Mode]


def slip_direction(contacts: Contacts, i: int, last: Array) -> Array:
    """Unit direction (2,) of the slip along the tangents, on the side of where it went before.

    Where the slip has just passed zero it points backwards; friction goes on as before, so that the
    motion is smooth in the step in which it stops, and its end can be found. A slip slower than
    `SLOW` keeps the direction it had or began with: what is across it would die down at the rate mu
    g / |slip|, faster than steps could follow.
    """
    before = contacts.frames[i, 1:] @ last
    slip = contacts.velocities[i, 1:]
    speed = float(np.hypot(*slip))
    if speed <= SLOW:
        size = float(np.hypot(*before))
        return np.asarray(before / size if size > 0.0 else before)
    return np.asarray(slip / speed if slip @ before >= 0.0 else -slip / speed)


def held_rows(closures: list[int], n_b: int, modes: list[Mode], kinds: IntArray) -> list[int]:
    """Rows whose accelerations are zero: independent ones of n_b closures' rows, then contacts'.

    Of a stop the normal alone, of dry friction that sticks the first tangent alone.
    """
    held = list(closures)
    for i, mode in enumerate(modes):
        r = n_b + 3 * i
        if kinds[i] == DRY:
            held += [r + 1] if mode.sticks else []
        else:
            held += [r, r + 1, r + 2] if mode.sticks else [r]
    return held
