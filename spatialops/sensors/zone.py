"""Touch within a zone on a body, as of MJCF files: a patch of skin smaller than a geom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.collision.shapes import Geom, Shape
from spatialops.errors import ShapeError
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor, mounted
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.ray_casting import cast_rays
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class TouchZone(NamedSensor):
    """Sum of the normal forces (N) on a body of the contacts within a zone.

    A contact counts where its point lies in the zone, or the zone lies before it: where the line
    from the point outwards along the normal meets it.

    Parameters
    ----------
    name : str
        Begins the name of its column.
    node : Node
        Middle of the zone, on the body whose geoms feel.
    zone : Shape
        Sphere, box, capsule, cylinder or ellipsoid.
    rotation : (3, 3) or (4,) array_like, optional
        Of the zone in the body's frame: matrix or quaternion (x, y, z, w). Default: none.
    noise : Noise, optional
        Default: none.

    References
    ----------
    E. Todorov et al., *MuJoCo documentation*, "sensor/touch".
    """

    needs_step: ClassVar[bool] = True
    node: NodeLike
    zone: Shape
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its column."""
        return Channels(("force",), ("N",))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        mounted(scene.model, self.node, self.rotation, self.name)  # checks both
        body, place = self.node if not isinstance(self.node, (str, int)) else (self.node, (0, 0, 0))
        name = body if isinstance(body, str) else scene.model.body_names[body]
        try:
            geom = Geom("zone", name, self.zone, position=np.asarray(place), rotation=self.rotation)
            alone = Scene(scene.model, [geom])
        except ShapeError as error:
            raise self.fault(str(error)) from None
        own = np.array([one.body == name for one in scene.geoms], dtype=bool)

        def read(step: ObservedStep) -> Array:
            rows = step.contacts
            felt = own[scene.sides_of(step.pairs)]
            side = 1.0 * felt[:, 1] - 1.0 * felt[:, 0]  # normals point to geoms A
            normals = rows[:, at.RECORD_NORMAL : at.RECORD_NORMAL + 3]
            pushes = np.einsum("ij,ij->i", normals, step.forces)
            acting = (side != 0.0) & (pushes > 0.0)
            if not acting.any():
                return np.zeros(1)
            points = rows[acting, at.RECORD_POINT : at.RECORD_POINT + 3]
            lines = side[acting, None] * normals[acting]
            met = cast_rays(alone, step.instant.q, points, lines).geoms >= 0
            return np.array([pushes[acting] @ met])

        return read
