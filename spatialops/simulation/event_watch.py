"""What is watched on the way: values that are negative once an event has passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.compliant import Compliant
from spatialops.simulation.event_motion import REACH, Motion
from spatialops.simulation.event_sight import Sight
from spatialops.simulation.event_slip import Modes

STILL = 1e-9  # m/s, times 1 + the largest velocity: normal speeds that count as none
_SLACK = 1e-11  # of the largest force
Mark = tuple[str, Any]  # kind of event, and the contact or pair it is about


def still(v: Array) -> float:
    """Normal speed, m/s, that counts as none at these velocities."""
    return STILL * (1.0 + float(np.abs(v).max(initial=0.0)))


def watch(
    sight: Sight, law: Any, modes: Modes, q: Array, v: Array, motion: Motion, holds: Callable[[], bool]
) -> dict[Mark, float]:
    """Slips along their directions, forces relative to the largest, and gaps.

    Where forces do not follow from the accelerations none of them tells of an event; there the law is asked whether
    the modes still hold: `holds`.
    """
    if isinstance(law, Compliant):
        return {}
    watched: dict[Mark, float] = {}
    contacts, forces = motion.contacts, motion.forces
    largest = float(np.abs(forces).max(initial=0.0))
    limits = sight.stops.friction(contacts.pairs)
    for i, (key, mode) in enumerate(modes.items()):
        if not mode.sticks and mode.direction.any():
            along = float(contacts.frames[i, 1:] @ mode.direction @ contacts.velocities[i, 1:])
            watched["stick", key] = along + 1e-12
        if not motion.determined or largest == 0.0:
            continue
        dry = float(limits[i])
        if dry == 0.0:
            watched["separation", key] = float(forces[i, 0]) / largest + _SLACK
        if mode.sticks and np.isfinite(contacts.friction[i]):
            limit = float(contacts.friction[i] * forces[i, 0]) + dry
            watched["slip", key] = (limit - float(np.hypot(*forces[i, 1:]))) / largest + _SLACK
    if modes and not motion.determined:
        watched["doubt", None] = 1.0 if holds() else -1.0
    watched.update(_gaps(sight, modes, q, v))
    return watched


def _gaps(sight: Sight, modes: Modes, q: Array, v: Array) -> dict[Mark, float]:
    """Lowest gap of the open contacts of each pair in sight; what is leaving counts as open."""
    found, gaps = sight.look(q, v, REACH), dict[Mark, float]()
    for key, gap, speed in zip(found.keys, found.gaps.tolist(), found.velocities[:, 0].tolist()):
        if key in modes:
            continue
        value = gap if gap > 0.0 or speed < -still(v) else abs(gap) + 1e-16
        mark = ("impact", key[0])
        gaps[mark] = min(value, gaps.get(mark, value))
    return gaps
