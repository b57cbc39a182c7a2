"""Force and torque through a joint: all that a body's parent does to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.sensors.merged import fixed_group, fixed_wrench
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import Mount, NamedSensor, mounted
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class ForceTorque(NamedSensor):
    """Wrench that a body's parent exerts on it through the joint between them.

    Constraint forces and the motor's together, mean over the step, taken at a node of the body and
    along its axes, as MuJoCo's `force` and `torque`. It is what balances the body's (and all that
    hangs on it) weight, inertia, contacts, closures, outer wrenches and what pulls along paths at
    the instant that the step states its equation of motion at.

    A body of a robot file that is fixed to its parent, as a foot or a gripper, has no joint: what
    is read there is what holds it and all that it carries, by the inertias that the file gives.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        On the body whose joint is meant; also the point that the torque is taken about.
    rotation : (3, 3) or (4,) array_like, optional
        Of the axes in the body's frame: matrix or quaternion (x, y, z, w). Default: the body's.
    noise : Noise, optional
        Default: none.

    Examples
    --------
    A pendulum hangs at rest:

    >>> import spatialops as so
    >>> pendulum = so.models.pendulum(2, angle=0.0, rate=0.0)
    >>> pin = so.sensors.ForceTorque("pin", "link1")
    >>> scene = so.Scene(pendulum.model, state=pendulum.state)
    >>> record = so.Simulator(scene, sensors=[pin]).run(duration=0.01)
    >>> float(round(record.sensors["pin"][-1, 2] / pendulum.model.mass, 6))
    9.8
    """

    needs_step: ClassVar[bool] = True
    node: NodeLike
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its six columns."""
        return Channels(("fx", "fy", "fz", "tx", "ty", "tz"), ("N",) * 3 + ("N m",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        model = scene.model
        mount = mounted(model, self.node, self.rotation, self.name)
        body = self.node if isinstance(self.node, (str, int)) else self.node[0]
        if mount.body < 0 or (isinstance(body, str) and body not in model.body_names):
            group = fixed_group(scene, str(body))
            if group is None:
                raise self.fault(
                    f"the body {body!r} is fixed to its parent and merged with it, and no file "
                    "says what it weighs (or a closure is at it): take a body of "
                    "`model.body_names`"
                )
            return lambda step: _along(
                mount, step, *fixed_wrench(step, group, mount.pose(step.poses)[0])
            )

        def read(step: ObservedStep) -> Array:
            wrench = step.joint_wrenches[mount.body]
            lever = step.poses.positions[mount.body] - mount.pose(step.poses)[0]
            return _along(mount, step, wrench[3:], wrench[:3] + np.cross(lever, wrench[3:]))

        return read


def _along(mount: Mount, step: ObservedStep, force: Array, torque: Array) -> Array:
    """Force and torque along the axes of a sensor."""
    turn = mount.pose(step.poses)[1]
    return np.concatenate([turn.T @ force, turn.T @ torque])
