"""Where things are at the end of the step: frames, and the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.algebra.rotation import to_quaternion
from spatialops.dynamics.energy import center_of_mass
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor, mounted
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import NodeLike


@dataclass(frozen=True, eq=False)
class FramePose(NamedSensor):
    """Position (m) and quaternion (x, y, z, w; w >= 0) of a frame in the world.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        Its origin.
    rotation : (3, 3) or (4,) array_like, optional
        Of its axes in the body's frame. Default: the body's.
    noise : Noise, optional
        Default: none. The quaternion is not made a unit one afterwards.
    """

    node: NodeLike
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its seven columns."""
        return Channels(("x", "y", "z", "qx", "qy", "qz", "qw"), ("m",) * 3 + ("1",) * 4)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        mount = mounted(scene.model, self.node, self.rotation, self.name)

        def read(step: ObservedStep) -> Array:
            position, turn = mount.pose(step.end_poses)
            quaternion = to_quaternion(turn)
            return np.concatenate([position, quaternion if quaternion[3] >= 0.0 else -quaternion])

        return read


@dataclass(frozen=True, eq=False)
class FrameAxis(NamedSensor):
    """One axis of a frame, a unit vector in world axes.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    node : Node
        On the body of the frame.
    axis : {"x", "y", "z"}
        Which.
    rotation : (3, 3) or (4,) array_like, optional
        Of the frame in the body's. Default: the body's.
    noise : Noise, optional
        Default: none.
    """

    node: NodeLike
    axis: Literal["x", "y", "z"]
    rotation: ArrayLike | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its three columns."""
        if self.axis not in ("x", "y", "z"):
            raise self.fault(f"axis: expected 'x', 'y' or 'z', got {self.axis!r}")
        return Channels(("x", "y", "z"), ("1",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        mount = mounted(scene.model, self.node, self.rotation, self.name)
        column = ("x", "y", "z").index(self.axis)
        return lambda step: mount.pose(step.end_poses)[1][:, column]


@dataclass(frozen=True, eq=False)
class CenterOfMass(NamedSensor):
    """The centre of mass of all moving bodies in the world, m.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    noise : Noise, optional
        Default: none.
    """

    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its three columns."""
        return Channels(("x", "y", "z"), ("m",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        return lambda step: center_of_mass(scene.model, step.end.q)
