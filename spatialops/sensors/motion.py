"""How frames move at the end of the step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.dynamics.jacobian import node_velocities
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor, mounted
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class FrameVelocity(NamedSensor):
    """Linear (m/s) and angular velocity (rad/s) of a frame, in its own axes or the world's.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        Its origin.
    rotation : (3, 3) or (4,) array_like, optional
        Of its axes in the body's frame: matrix or quaternion (x, y, z, w). Default: the body's.
    axes : {"own", "world"}
        Which axes the numbers are along. Default "own".
    noise : Noise, optional
        Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> scene = so.models.pendulum(2).scene()
    >>> tip = so.sensors.FrameVelocity("tip", so.Node("link1", (0.0, 0.0, -1.0)))
    >>> record = so.Simulator(scene, sensors=[tip]).run(duration=0.01)
    >>> record.sensors["tip"].shape
    (11, 6)
    """

    node: NodeLike
    rotation: ArrayLike | None = None
    axes: Literal["own", "world"] = "own"
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its six columns."""
        if self.axes not in ("own", "world"):
            raise self.fault(f"axes: expected 'own' or 'world', got {self.axes!r}")
        return Channels(("vx", "vy", "vz", "wx", "wy", "wz"), ("m/s",) * 3 + ("rad/s",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        model = scene.model
        mount = mounted(model, self.node, self.rotation, self.name)
        own = self.axes == "own"

        def read(step: ObservedStep) -> Array:
            if mount.body < 0:
                return np.zeros(6)
            omega, linear = np.split(
                node_velocities(model, step.end.q, step.end.v, [mount.node])[0], 2
            )
            turn = mount.pose(step.end_poses)[1] if own else np.eye(3)
            return np.concatenate([turn.T @ linear, turn.T @ omega])

        return read
