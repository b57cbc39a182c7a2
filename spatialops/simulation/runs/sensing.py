"""Sensors of a simulation: what they are to offer, and their readings as rows of the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import ArgumentError
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.scene.scene import Scene

Reader: TypeAlias = Callable[[ObservedStep], Array]


class Channels(NamedTuple):
    """Columns that a sensor fills: their labels, and their units."""

    labels: tuple[str, ...]
    units: tuple[str, ...]


@runtime_checkable
class Sensor(Protocol):
    """What a simulator reads after every recorded step; see `spatialops.sensors`."""

    @property
    def name(self) -> str:
        """One of a kind among the sensors of a simulator."""

    @property
    def needs_step(self) -> bool:
        """Whether it reads what happened in a step, not only the state at its end."""

    def channels(self, scene: Scene) -> Channels:
        """Its columns on a scene; raises ArgumentError where it does not fit."""

    def reader(self, scene: Scene) -> Reader:
        """What reads them, (k,), names looked up once."""


class Sensing:
    """The sensors of a simulator on its scene.

    Raises
    ------
    ArgumentError
        For what is no sensor, two of one name, and sensors that do not fit the scene.
    """

    def __init__(self, scene: Scene, sensors: Sequence[Sensor]) -> None:
        self._scene = scene
        self.sensors = _checked(sensors)
        self._channels = [sensor.channels(scene) for sensor in self.sensors]
        self._readers = [sensor.reader(scene) for sensor in self.sensors]
        ends = list(accumulate((len(one.labels) for one in self._channels), initial=0))
        names = [sensor.name for sensor in self.sensors]
        self._columns = dict(zip(names, map(slice, ends, ends[1:])))
        self.width = ends[-1]

    def __reduce__(self) -> tuple[type[Sensing], tuple[Scene, Sequence[Sensor]]]:
        return Sensing, (self._scene, self.sensors)  # readers are functions made for the scene

    def __bool__(self) -> bool:
        return bool(self.sensors)

    def read(self, step: ObservedStep) -> Array:
        """Readings (width,) after a step; before any, NaN for those that need one."""
        row = np.full(self.width, np.nan)
        first = 0
        for sensor, channels, reader in zip(self.sensors, self._channels, self._readers):
            last = first + len(channels.labels)
            if step.index > 0 or not sensor.needs_step:
                row[first:last] = reader(step)
            first = last
        return row

    def by_name(self, readings: Array) -> dict[str, Array]:
        """Readings (..., width) of every sensor by its name, as views."""
        return {name: readings[..., own] for name, own in self._columns.items()}

    @property
    def columns(self) -> tuple[tuple[str, Channels], ...]:
        """What the columns are, sensor by sensor."""
        return tuple((one.name, own) for one, own in zip(self.sensors, self._channels))

    def to_data(self) -> PlainData:
        """What the columns are, for the record; of no sensors nothing."""
        if not self:
            return {}
        return {
            "sensors": [
                {"name": sensor.name, "labels": list(one.labels), "units": list(one.units)}
                for sensor, one in zip(self.sensors, self._channels)
            ]
        }


def _checked(sensors: Sequence[Sensor]) -> tuple[Sensor, ...]:
    try:
        found = tuple(sensors)
    except TypeError:
        raise ArgumentError(f"sensors: expected a list of sensors, got {sensors!r}") from None
    names: set[str] = set()
    for i, sensor in enumerate(found):
        if isinstance(sensor, type) or not isinstance(sensor, Sensor):
            raise ArgumentError(
                f"sensors[{i}]: expected a sensor of `spatialops.sensors`, got {sensor!r}"
            )
        name: object = sensor.name
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"sensors[{i}]: name: expected a text, got {name!r}")
        if sensor.name in names:
            raise ArgumentError(f"sensors[{i}]: the name {sensor.name!r} is taken")
        names.add(sensor.name)
    return found
