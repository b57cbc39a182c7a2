"""Some of the columns of another sensor, by a name of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spatialops.errors import ArgumentError
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class Columns(NamedSensor):
    """Some columns of another sensor: an accelerometer alone, or a position without attitude.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    of : NamedSensor
        What has them; its own name does not show, its noise does.
    labels : sequence of str
        Which.
    noise : Noise, optional
        Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.sensors import IMU, Columns
    >>> gyro = Columns("gyro", IMU("imu", "link1"), ("wx", "wy", "wz"))
    >>> scene = so.models.pendulum(2).scene()
    >>> so.Simulator(scene, sensors=[gyro]).run(duration=0.01).sensors["gyro"].shape
    (11, 3)
    """

    of: NamedSensor
    labels: Sequence[str]
    noise: Noise | None = None

    @property
    def needs_step(self) -> bool:  # type: ignore[override]
        """Whether the other does."""
        return self._checked().needs_step

    def channels(self, scene: Scene) -> Channels:
        """Those of the other that were chosen."""
        all_of = self._checked().channels(scene)
        places = self._places(all_of)
        labels = (all_of.labels[i] for i in places)
        return Channels(tuple(labels), tuple(all_of.units[i] for i in places))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise of its own."""
        one = self._checked()
        read, places = one.reader(scene), self._places(one.channels(scene))
        return lambda step: read(step)[places]

    def _checked(self) -> NamedSensor:
        one: object = self.of
        if not isinstance(one, NamedSensor):
            raise ArgumentError(f"sensor {self.name!r}: of: expected a sensor, got {one!r}")
        return one

    def _places(self, given: Channels) -> list[int]:
        unknown = [label for label in self.labels if label not in given.labels]
        if unknown or not self.labels:
            raise self.fault(f"labels: expected some of {given.labels}, got {self.labels!r}")
        return [given.labels.index(label) for label in self.labels]
