"""An inertial measurement unit: accelerometer and gyroscope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.dynamics.jacobian import node_accelerations, node_velocities
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import Mount, NamedSensor, mounted
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class IMU(NamedSensor):
    """Accelerometer and gyroscope at a node.

    The accelerometer reads proper acceleration, R^T (a - g): 9.81 m/s^2 upwards at rest, 0 in free
    fall. It is the mean over the step that ends where it is read, impacts included. The gyroscope
    reads the angular velocity at the step's end.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        Where it sits.
    rotation : (3, 3) or (4,) array_like, optional
        Of its axes in the body's frame: matrix or quaternion (x, y, z, w). Default: the body's.
    noise : Noise, optional
        Of its six columns. Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> scene = so.Scene(so.models.pendulum(1).model)
    >>> imu = so.sensors.IMU("imu", so.Node("link1", (0.0, 0.0, -0.5)))
    >>> record = so.Simulator(scene, sensors=[imu]).run(duration=0.01)
    >>> record.sensors["imu"].shape
    (11, 6)
    """

    needs_step: ClassVar[bool] = True
    node: NodeLike
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its six columns."""
        return Channels(("ax", "ay", "az", "wx", "wy", "wz"), ("m/s^2",) * 3 + ("rad/s",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        model = scene.model
        mount = mounted(model, self.node, self.rotation, self.name)

        def read(step: ObservedStep) -> Array:
            end = step.end
            proper = -model.gravity
            spin = np.zeros(3)
            if mount.body >= 0:
                proper = proper + _rate(step, mount)
                spin = node_velocities(model, end.q, end.v, [mount.node])[0, :3]
            _, turn = mount.pose(step.poses)
            _, turn_end = mount.pose(step.end_poses)
            return np.concatenate([turn.T @ proper, turn_end.T @ spin])

        return read


def _rate(step: ObservedStep, mount: Mount) -> Array:
    """Mean rate of a node's velocity, (3,), m/s^2, world axes.

    An impact changes velocities where it happens, not at the instant of the step: then the rate is
    that of the velocities at the step's ends.
    """
    model, now = step.scene.model, step.instant
    if not step.has_impact:
        return node_accelerations(model, now.q, now.v, step.accelerations, [mount.node])[0, 3:]
    before, after = (
        node_velocities(model, state.q, state.v, [mount.node])[0, 3:]
        for state in (step.start, step.end)
    )
    return np.asarray((after - before) / step.dt)
