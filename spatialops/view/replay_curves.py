"""What a replay plots in step with its slider: sensors, contact forces, energies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import IntArray
from spatialops.view.frame_forces import frame_geom_forces
from spatialops.view.replay import Curves

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record


def replay_curves(record: Record, rows: IntArray) -> list[Curves]:
    """Curves of a run at the rows that are frames.

    A sensor whose channels have several units has a plot a unit.
    """
    energies = np.column_stack([record.kinetic, record.potential, record.energy])[rows]
    curves = [*_sensor_curves(record, rows), *_force_curves(record, rows)]
    return [*curves, Curves("energy", "J", ("kinetic", "potential", "total"), energies)]


def _sensor_curves(record: Record, rows: IntArray) -> list[Curves]:
    readings = record.sensors
    curves = []
    for sensor in record.metadata.get("sensors", ()):
        units = np.array(sensor["units"])
        labels = np.array(sensor["labels"])
        values = readings[sensor["name"]][rows]
        for unit in dict.fromkeys(sensor["units"]):
            own = units == unit
            curves.append(Curves(sensor["name"], unit, labels[own].tolist(), values[:, own]))
    return curves


def _force_curves(record: Record, rows: IntArray) -> list[Curves]:
    """Sizes of the contact forces on geoms, means over frames as the arrows."""
    found = frame_geom_forces(record, record.times[rows])
    if not found.names:
        return []
    return [Curves("contact force", "N", found.names, np.linalg.norm(found.forces, axis=2))]
