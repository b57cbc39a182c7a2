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


class GeomImpacts(NamedTuple):
    """Impacts on G geoms: names, and for each its times (s) and the sizes of its impulses (N s)."""

    names: list[str]
    times: list[Array]
    sizes: list[Array]


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
    sides = scene.sides_of(contact_records[within, at.RECORD_PAIR])
    forces = np.zeros((len(times), len(scene.geoms), 3))
    np.add.at(forces, (rows, sides[:, 0]), impulses / dt)
    np.add.at(forces, (rows, sides[:, 1]), -impulses / dt)
    moving = np.asarray(scene.bodies, dtype=np.int64) >= 0
    touched = np.flatnonzero(moving & forces.any(axis=(0, 2)))
    return GeomForces([scene.geoms[g].name for g in touched], forces[:, touched])


def geom_impacts(scene: Scene, contact_records: Array) -> GeomImpacts:
    """Impacts on every geom of a moving body, from the records of impacts alone."""
    sides = scene.sides_of(contact_records[:, at.RECORD_PAIR])
    times = contact_records[:, at.RECORD_TIME]
    impulses = contact_records[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3]
    found = GeomImpacts([], [], [])
    for g in np.unique(sides):
        if scene.bodies[g] < 0:
            continue
        on_a, on_b = sides[:, 0] == g, sides[:, 1] == g
        rows = np.flatnonzero(on_a | on_b)
        moments, which = np.unique(times[rows], return_inverse=True)
        totals = np.zeros((len(moments), 3))
        np.add.at(totals, which, np.where(on_a[rows, None], impulses[rows], -impulses[rows]))
        found.names.append(scene.geoms[g].name)
        found.times.append(moments)
        found.sizes.append(np.linalg.norm(totals, axis=1))
    return found
