"""Distances along rays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops._arrays import array as checked
from spatialops.errors import ArgumentError
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor, mounted
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.ray_casting import cast_rays
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class Rangefinder(NamedSensor):
    """Distances (m) from a node to the first surfaces along rays, at the end of the step.

    Infinite where nothing is met. Geoms of its own body do not count.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        Where the rays begin.
    directions : (3,) or (n, 3) array_like
        In the sensor's axes. Default: along z.
    rotation : (3, 3) or (4,) array_like, optional
        Of its axes in the body's frame: matrix or quaternion (x, y, z, w). Default: the body's.
    noise : Noise, optional
        Default: none.
    """

    node: NodeLike
    directions: ArrayLike = (0.0, 0.0, 1.0)
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """A column a ray."""
        count = len(self._rays())
        return Channels(tuple(f"ray{i}" for i in range(count)), ("m",) * count)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        mount = mounted(scene.model, self.node, self.rotation, self.name)
        rays = self._rays()
        own = [geom.name for geom, body in zip(scene.geoms, scene.bodies) if body == mount.body]
        ignore = own if mount.body >= 0 else []

        def read(step: ObservedStep) -> Array:
            origin, turn = mount.pose(step.end_poses)
            return cast_rays(scene, step.end.q, origin, rays @ turn.T, ignore=ignore).distances

        return read

    def _rays(self) -> Array:
        try:
            rays = checked(np.atleast_2d(np.asarray(self.directions)), (None, 3), "directions")
        except ArgumentError as error:
            raise self.fault(str(error)) from None
        if not len(rays) or not (np.linalg.norm(rays, axis=1) > 0.0).all():
            raise self.fault("directions: expected directions that are not zero")
        return rays
