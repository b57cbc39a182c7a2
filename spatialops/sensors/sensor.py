"""What sensors share: a name, noise, and where on a body they sit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.algebra.rotation import rotation_matrix
from spatialops.dynamics.jacobian import Poses
from spatialops.errors import ArgumentError, ModelError
from spatialops.sensors.noise import Noise
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.node import Node, NodeLike


@dataclass(frozen=True, eq=False)
class NamedSensor(ABC):
    """A sensor by name; a kind of its own says its columns and how it is read.

    Parameters
    ----------
    name : str
        One of a kind among the sensors of a simulator; begins the names of its columns.
    """

    name: str

    needs_step: ClassVar[bool] = False

    @property
    @abstractmethod
    def noise(self) -> Noise | None:
        """What is added to its readings."""

    @abstractmethod
    def channels(self, scene: Scene) -> Channels:
        """Its columns on a scene; raises ArgumentError where it does not fit."""

    @abstractmethod
    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""

    def reader(self, scene: Scene) -> Reader:
        """What reads it, names looked up once."""
        read, n = self.exact(scene), len(self.channels(scene).labels)
        if self.noise is None:
            return read
        if not isinstance(self.noise, Noise):
            raise ArgumentError(f"sensor {self.name!r}: noise: expected a Noise: {self.noise!r}")
        noise, name = self.noise.checked(self.name, n), self.name
        return lambda step: read(step) + noise.at(name, step.index, n, seed=step.seed)

    def fault(self, text: str) -> ArgumentError:
        """The error that says what is wrong with this sensor."""
        return ArgumentError(f"sensor {self.name!r}: {text}")


class Mount(NamedTuple):
    """Where a sensor sits.

    The moving body (-1: the world), its position (3,), m, and rotation (3, 3) in that body's frame.
    """

    body: int
    position: Array
    rotation: Array

    def pose(self, poses: Poses) -> tuple[Array, Array]:
        """Position (3,), m, and rotation (3, 3) in the world."""
        if self.body < 0:
            return self.position, self.rotation
        turn = poses.rotations[self.body]
        return poses.positions[self.body] + turn @ self.position, turn @ self.rotation

    @property
    def node(self) -> Node:
        """The point that it sits at."""
        return Node("world" if self.body < 0 else self.body, self.position)


def mounted(model: Model, node: NodeLike, rotation: ArrayLike | None, sensor: str) -> Mount:
    """Where a sensor at a node sits, its axes turned in the frame of the node's body.

    Raises
    ------
    ArgumentError
        For an unknown body, or what is no node or rotation.
    """
    try:
        name, position = node if not isinstance(node, (str, int)) else Node(node)
        model.resolve([Node(name, position)])  # checks both
        turn = rotation_matrix(rotation)
    except (ArgumentError, ModelError, TypeError, ValueError) as error:
        raise ArgumentError(f"sensor {sensor!r}: {error}") from None
    point = np.array(position, dtype=np.float64)
    if not isinstance(name, str):
        return Mount(int(name), point, turn)
    frame = model.frame(name)
    return Mount(frame.body, frame.position + frame.rotation @ point, frame.rotation @ turn)


def chosen_joints(model: Model, joints: Sequence[str] | None, sensor: str) -> tuple[str, ...]:
    """Names of joints, of all where none are given; ArgumentError for unknown ones."""
    if joints is None:
        return model.joint_names
    if isinstance(joints, str):
        raise ArgumentError(f"sensor {sensor!r}: joints: expected a list of names, got a text")
    for name in joints:
        model.v_slice(name)
    return tuple(joints)
