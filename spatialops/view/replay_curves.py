"""What a replay plots in step with its slider: sensors, contact forces, energies."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.simulation.records.acting_contacts import geom_forces
from spatialops.simulation.records.record import Record
from spatialops.view.replay import Curves


def replay_curves(record: Record, rows: IntArray) -> list[Curves]:
    """Curves of a run at the rows that are frames; of a contact force the largest between two.

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
    """Sizes of the contact forces on geoms: an impact between two frames is not lost."""
    dt = float(record.metadata["dt"])
    found = geom_forces(record.scene, record.times, record.contact_records, dt)
    if not found.names:
        return []
    sizes: Array = np.linalg.norm(found.forces, axis=2)
    starts = np.concatenate([[0], rows[:-1] + 1])
    largest = np.maximum.reduceat(sizes, np.minimum(starts, rows), axis=0)
    return [Curves("contact force", "N", found.names, largest)]
