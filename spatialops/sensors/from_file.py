"""The sensors that a robot file has, as sensors of its scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from spatialops.collision import Box, Capsule, Cylinder, Ellipsoid, Sphere
from spatialops.collision.shapes import Shape
from spatialops.errors import ArgumentError
from spatialops.io.description import SensorKind, SensorSpec
from spatialops.sensors.actuation import ActuatorForces, Length
from spatialops.sensors.columns import Columns
from spatialops.sensors.distance import Distance
from spatialops.sensors.force_torque import ForceTorque
from spatialops.sensors.frames import FrameAxis, FramePose
from spatialops.sensors.imu import IMU
from spatialops.sensors.joints import JointPositions, JointTorques, JointVelocities
from spatialops.sensors.motion import FrameVelocity
from spatialops.sensors.noise import Noise
from spatialops.sensors.rangefinder import Rangefinder
from spatialops.sensors.sensor import NamedSensor
from spatialops.sensors.subtree import SubtreeMotion
from spatialops.sensors.zone import TouchZone
from spatialops.simulation.scene.loader import LoadedScene
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import Node

_LINEAR, _ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")


def file_sensors(scene: Scene, *, noise_seed: int | None = None) -> list[NamedSensor]:
    """Sensors of a robot file, for `Simulator(scene, sensors=...)`.

    Parameters
    ----------
    scene : LoadedScene
        Of `load_scene`.
    noise_seed : int, optional
        Of the noise whose deviation the file gives. Default: no noise, as MuJoCo has it.

    Returns
    -------
    list of NamedSensor
        By the names of the file. What it has and nothing here measures, and what does not fit the
        scene, is left out; `scene.description.left_out` lists the former.

    Raises
    ------
    ArgumentError
        For a scene that is not of one file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spatialops as so
    >>> text = '''<mujoco><worldbody><body name="rod"><joint name="pin" axis="0 1 0"/>
    ... <inertial pos="0 0 0.5" mass="1" diaginertia="0.1 0.1 0.01"/><site name="tip"/></body>
    ... </worldbody><sensor><gyro name="gyro" site="tip"/><jointpos name="angle" joint="pin"/>
    ... </sensor></mujoco>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rod.xml")
    ...     _ = path.write_text(text)
    ...     scene = so.load_scene(path)
    >>> [sensor.name for sensor in so.sensors.file_sensors(scene)]
    ['gyro', 'angle']
    """
    description = scene.description if isinstance(scene, LoadedScene) else None
    if description is None:
        raise ArgumentError(f"scene: expected that of a robot file, got {type(scene).__name__}")
    found = []
    parents = {body.name: body.parent for body in description.bodies}
    for spec in description.sensors:
        noise = None if noise_seed is None or not spec.noise else Noise(spec.noise, 0.0, noise_seed)
        one = _MADE[spec.kind](_Told(scene, parents, spec, noise))
        try:
            one.channels(scene)
            one.reader(scene)
        except ArgumentError:  # of what the scene does not have, as actuators that were left out
            continue
        found.append(one)
    return found


class _Told(NamedTuple):
    """A sensor of a file, on its scene, parents of the bodies of the file, and its noise."""

    scene: Scene
    parents: dict[str, str]
    spec: SensorSpec
    noise: Noise | None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def target(self) -> str:
        return self.spec.targets[0]

    @property
    def node(self) -> Node:
        """Where it sits."""
        return Node(self.spec.body, np.asarray(self.spec.position, dtype=np.float64))

    @property
    def imu(self) -> IMU:
        return IMU(self.name, self.node, self.spec.rotation, self.noise)

    @property
    def pose(self) -> FramePose:
        return FramePose(self.name, self.node, self.spec.rotation, self.noise)

    def velocity(self, axes: Literal["own", "world"]) -> FrameVelocity:
        """Of its frame."""
        return FrameVelocity(self.name, self.node, self.spec.rotation, axes, self.noise)

    @property
    def wrench(self) -> ForceTorque:
        """Through the joint of its body, which a body without mass may carry, or what fixes it."""
        node, turn = self.node, self.spec.rotation
        if self.parents[self.spec.body].startswith(f"{self.spec.body}@"):
            frame = self.scene.model.frame(self.spec.body)
            node = Node(frame.body, frame.position + frame.rotation @ np.asarray(node.position))
            turn = frame.rotation @ turn
        return ForceTorque(self.name, node, turn, self.noise)

    def axis(self, label: Literal["x", "y", "z"]) -> FrameAxis:
        """One of its axes."""
        return FrameAxis(self.name, self.node, label, self.spec.rotation, self.noise)

    @property
    def subtree(self) -> SubtreeMotion:
        return SubtreeMotion(self.name, self.target, self.noise)

    @property
    def zone(self) -> TouchZone:
        shape = _SHAPES[self.spec.zone](*self.spec.sizes)
        return TouchZone(self.name, self.node, shape, self.spec.rotation, self.noise)

    def some(self, sensor: NamedSensor, *labels: str) -> Columns:
        """Columns of a sensor under the file's name."""
        return Columns(self.name, sensor, labels)


_SHAPES: dict[str, Callable[..., Shape]] = {
    "sphere": Sphere,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "box": lambda *sizes: Box(sizes),
    "ellipsoid": lambda *sizes: Ellipsoid(sizes),
}
_PLACE, _TURN = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
_LINEAR, _ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")
_MADE: dict[SensorKind, Callable[[_Told], NamedSensor]] = {
    "touch": lambda told: told.zone,
    "accelerometer": lambda told: told.some(told.imu, "ax", "ay", "az"),
    "gyroscope": lambda told: told.some(told.imu, *_ANGULAR),
    "velocimeter": lambda told: told.some(told.velocity("own"), *_LINEAR),
    "force": lambda told: told.some(told.wrench, "fx", "fy", "fz"),
    "torque": lambda told: told.some(told.wrench, "tx", "ty", "tz"),
    "rangefinder": lambda told: Rangefinder(
        told.name, told.node, rotation=told.spec.rotation, noise=told.noise
    ),
    "position": lambda told: told.some(told.pose, *_PLACE),
    "quaternion": lambda told: told.some(told.pose, *_TURN),
    "x axis": lambda told: told.axis("x"),
    "y axis": lambda told: told.axis("y"),
    "z axis": lambda told: told.axis("z"),
    "linear velocity": lambda told: told.some(told.velocity("world"), *_LINEAR),
    "angular velocity": lambda told: told.some(told.velocity("world"), *_ANGULAR),
    "joint position": lambda told: JointPositions(told.name, [told.target], told.noise),
    "joint velocity": lambda told: JointVelocities(told.name, [told.target], told.noise),
    "joint torque": lambda told: JointTorques(told.name, [told.target], told.noise),
    "length": lambda told: told.some(Length(told.name, told.target, told.noise), "length"),
    "rate": lambda told: told.some(Length(told.name, told.target, told.noise), "rate"),
    "actuator force": lambda told: ActuatorForces(told.name, [told.target], told.noise),
    "subtree centre": lambda told: told.some(told.subtree, *_PLACE),
    "subtree velocity": lambda told: told.some(told.subtree, *_LINEAR),
    "subtree spin": lambda told: told.some(told.subtree, "lx", "ly", "lz"),
    "distance": lambda told: Distance(told.name, told.target, told.spec.targets[1], told.noise),
}
