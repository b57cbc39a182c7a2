"""Encoders, tachometers and motor torques of joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import IntArray
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor, chosen_joints
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.coordinate_names import coordinate_names, force_names, velocity_names


@dataclass(frozen=True, eq=False)
class JointSensor(NamedSensor):
    """A sensor of joints.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    joints : sequence of str, optional
        Default: all.
    noise : Noise, optional
        Default: none.
    """

    joints: Sequence[str] | None = None
    noise: Noise | None = None

    def chosen(self, scene: Scene) -> Sequence[str]:
        """Names of its joints."""
        return chosen_joints(scene.model, self.joints, self.name)

    def places(self, scene: Scene, where: Callable[[str], slice]) -> IntArray:
        """Indices of its joints' numbers."""
        found = [range(part.start, part.stop) for part in map(where, self.chosen(scene))]
        return np.array([i for part in found for i in part], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class JointPositions(JointSensor):
    """Coordinates of joints at the end of the step, rad and m.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    joints : sequence of str, optional
        Default: all.
    noise : Noise, optional
        Default: none.
    """

    def channels(self, scene: Scene) -> Channels:
        """A column a coordinate."""
        names = self.chosen(scene)
        return Channels(*coordinate_names(scene.model, names))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        places = self.places(scene, scene.model.q_slice)
        return lambda step: step.end.q[places]


@dataclass(frozen=True, eq=False)
class JointVelocities(JointSensor):
    """Velocities of joints at the end of the step, rad/s and m/s.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    joints : sequence of str, optional
        Default: all.
    noise : Noise, optional
        Default: none.
    """

    def channels(self, scene: Scene) -> Channels:
        """A column a velocity."""
        names = self.chosen(scene)
        return Channels(*velocity_names(scene.model, names))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        places = self.places(scene, scene.model.v_slice)
        return lambda step: step.end.v[places]


@dataclass(frozen=True, eq=False)
class JointTorques(JointSensor):
    """Forces of the motors in the step, N m and N: those given, and those of the actuators.

    What is given as `tau` is after effort limits. In a step that an impact cuts, the actuators' are
    those of its last piece.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    joints : sequence of str, optional
        Default: all.
    noise : Noise, optional
        Default: none.
    """

    needs_step: ClassVar[bool] = True

    def channels(self, scene: Scene) -> Channels:
        """A column a velocity."""
        names = self.chosen(scene)
        return Channels(*force_names(scene.model, names))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        places = self.places(scene, scene.model.v_slice)
        return lambda step: step.motors[places]
