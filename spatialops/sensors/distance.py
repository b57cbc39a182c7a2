"""Nearest distances."""

from __future__ import annotations

from dataclasses import dataclass

from spatialops.errors import ArgumentError
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.distances import distances
from spatialops.simulation.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class Distance(NamedSensor):
    """Nearest distance (m) between two bodies or geoms at the end of the step; below 0 a depth.

    Parameters
    ----------
    name : str
        Begins the name of its column.
    a, b : str
        Names of geoms, or of bodies, of which all geoms count.
    noise : Noise, optional
        Default: none.
    """

    a: str
    b: str
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its column."""
        return Channels(("distance",), ("m",))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        pair = [(self.a, self.b)]
        try:
            distances(scene, scene.state.q, pair)  # checks the names
        except ArgumentError as error:
            raise self.fault(str(error)) from None
        return lambda step: distances(scene, step.end.q, pair).distances
