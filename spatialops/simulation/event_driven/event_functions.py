"""Event functions: values on the way that are negative once an event has passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.laws.law import Law, is_rigid
from spatialops.simulation.event_driven.constrained_motion import REACH, Motion
from spatialops.simulation.event_driven.contact_modes import Modes
from spatialops.simulation.event_driven.contacts import ContactDetector

STILL = 1e-9  # m/s, times 1 + the largest velocity: normal speeds that count as none
_SLACK = 1e-11  # of the largest force
_TURNS = 1e-12  # m/s: a slip that begins at nothing has not turned round
_OPEN = 1e-16  # m: a gap of nothing that opens has not closed
Mark: TypeAlias = tuple[str, Any]  # kind of event, and the contact or pair it is about


def still(v: Array) -> float:
    """Normal speed, m/s, that counts as none at these velocities."""
    return STILL * (1.0 + float(np.abs(v).max(initial=0.0)))


def evaluate_events(
    detector: ContactDetector,
    law: Law,
    modes: Modes,
    q: Array,
    v: Array,
    motion: Motion,
    holds: Callable[[], bool],
) -> dict[Mark, float]:
    """Slips along their directions, forces relative to the largest, and gaps.

    Where forces do not follow from the accelerations none of them tells of an event; there the law
    is asked whether the modes still hold: `holds`.
    """
    if not is_rigid(law):
        return {}
    event_values: dict[Mark, float] = {}
    contacts, forces = motion.contacts, motion.forces
    largest = float(np.abs(forces).max(initial=0.0))
    limits = detector.stops.friction(contacts.pairs)
    for i, (key, mode) in enumerate(modes.items()):
        if not mode.sticks and mode.direction.any():
            along = float(contacts.frames[i, 1:] @ mode.direction @ contacts.velocities[i, 1:])
            event_values["stick", key] = along + _TURNS
        if not motion.determined or largest == 0.0:
            continue
        dry = float(limits[i])
        if dry == 0.0:
            event_values["separation", key] = float(forces[i, 0]) / largest + _SLACK
        if mode.sticks and np.isfinite(contacts.friction[i]):
            limit = float(contacts.friction[i] * forces[i, 0]) + dry
            event_values["slip", key] = (limit - float(np.hypot(*forces[i, 1:]))) / largest + _SLACK
    if modes and not motion.determined:
        event_values["doubt", None] = 1.0 if holds() else -1.0
    event_values.update(_gaps(detector, modes, q, v))
    return event_values


def _gaps(detector: ContactDetector, modes: Modes, q: Array, v: Array) -> dict[Mark, float]:
    """Lowest gap of the open contacts of each pair that is near; what leaves counts as open."""
    found, gaps = detector.detect_at(q, v, REACH), dict[Mark, float]()
    for key, gap, speed in zip(found.keys, found.gaps.tolist(), found.velocities[:, 0].tolist()):
        if key in modes:
            continue
        value = gap if gap > 0.0 or speed < -still(v) else abs(gap) + _OPEN
        mark = ("impact", key[0])
        gaps[mark] = min(value, gaps.get(mark, value))
    return gaps
