"""Contact forces of single geoms: their mean over the step, impulse / dt, impacts included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class ContactForce(NamedSensor):
    """Force (N, world axes) of contacts on a geom, by all others or by one.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    geom : str
        The geom that feels it.
    by : str, optional
        Name of the only other geom that counts. Default: all.
    noise : Noise, optional
        Default: none.
    """

    needs_step: ClassVar[bool] = True
    geom: str
    by: str | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its three columns."""
        return Channels(("fx", "fy", "fz"), ("N",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        signs = _signs(self, scene, self.by)
        return lambda step: signs(step.pairs) @ step.forces


@dataclass(frozen=True, eq=False)
class Touch(NamedSensor):
    """Sum of the normal forces (N) of a geom's contacts.

    Parameters
    ----------
    name : str
        Begins the name of its column.
    geom : str
        The geom.
    noise : Noise, optional
        Default: none.
    """

    needs_step: ClassVar[bool] = True
    geom: str
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its column."""
        return Channels(("force",), ("N",))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        signs = _signs(self, scene, None)

        def read(step: ObservedStep) -> Array:
            normals = step.contacts[:, at.RECORD_NORMAL : at.RECORD_NORMAL + 3]
            pushes = np.einsum("ij,ij->i", normals, step.forces)
            return np.array([np.abs(signs(step.pairs)) @ pushes])

        return read


def _signs(
    sensor: ContactForce | Touch, scene: Scene, by: str | None
) -> Callable[[ArrayLike], Array]:
    """What says of pairs: 1 where the geom is A, which normals point to, -1 where it is B, or 0."""
    number = {geom.name: i for i, geom in enumerate(scene.geoms)}
    for name in (sensor.geom, *(() if by is None else (by,))):
        if name not in number:
            raise sensor.fault(f"there is no geom {name!r}; there are {list(number)[:8]}")
    own = number[sensor.geom]

    def signs(pairs: ArrayLike) -> Array:
        sides = scene.sides_of(pairs)
        found = 1.0 * (sides[:, 0] == own) - 1.0 * (sides[:, 1] == own)
        return found if by is None else np.where((sides == number[by]).any(axis=1), found, 0.0)

    return signs
