"""Contacts of a run, put together from the rows of `Record.contact_records`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene

_ROUNDING = 1e-6  # of a step: instants are sums of times, and must not fall into the step before


class GeomForces(NamedTuple):
    """Mean contact forces on geoms in recorded steps: names of G geoms, and (T, G, 3), N."""

    names: list[str]
    forces: Array


def acting_together(contact_records: Array, dt: float) -> tuple[Array, IntArray]:
    """Instants (s, just within their steps) at which contacts pushed, and how many at each."""
    pushing = contact_records[np.any(contact_records[:, at.RECORD_IMPULSE :] != 0.0, axis=1)]
    if not len(pushing):
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    names = pushing[:, [at.RECORD_TIME, at.RECORD_KIND]]
    starts = np.flatnonzero(np.any(np.diff(names, axis=0, prepend=np.nan) != 0.0, axis=1))
    counts = np.diff(np.append(starts, len(pushing)))
    return pushing[starts, at.RECORD_TIME] + _ROUNDING * dt, counts


def geom_forces(scene: Scene, times: Array, contact_records: Array, dt: float) -> GeomForces:
    """Forces on every geom of a moving body that was touched: impulse / dt of the row's step."""
    instants = contact_records[:, at.RECORD_TIME] + _ROUNDING * dt
    rows = np.minimum(np.searchsorted(times, instants, side="left"), len(times) - 1)
    within = instants > times[rows] - dt
    rows = rows[within]
    impulses = contact_records[within, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3]
    sides = scene.pairs[contact_records[within, at.RECORD_PAIR].astype(np.int64)]
    forces = np.zeros((len(times), len(scene.geoms), 3))
    np.add.at(forces, (rows, sides[:, 0]), impulses / dt)
    np.add.at(forces, (rows, sides[:, 1]), -impulses / dt)
    moving = np.asarray(scene.bodies, dtype=np.int64) >= 0
    touched = np.flatnonzero(moving & forces.any(axis=(0, 2)))
    return GeomForces([scene.geoms[g].name for g in touched], forces[:, touched])
