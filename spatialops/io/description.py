"""What a robot file says, in one form for URDF and MJCF, and a list of what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, Vec3
from spatialops.algebra.inertia import Inertia
from spatialops.errors import AssetError
from spatialops.forces.actuators import Actuator
from spatialops.forces.tendons import Tendon
from spatialops.tree.joint import Joint
from spatialops.tree.loop import Loop

# A length or mass beyond these is one in other units, or a mistake: SI units are expected.
MAX_LENGTH = 1e5
MAX_MASS = 1e9

Condim: TypeAlias = Literal[1, 3, 4, 6]
Color: TypeAlias = tuple[float, float, float]
SensorKind: TypeAlias = Literal[
    "touch",
    "accelerometer",
    "gyroscope",
    "velocimeter",
    "force",
    "torque",
    "rangefinder",
    "position",
    "quaternion",
    "x axis",
    "y axis",
    "z axis",
    "linear velocity",
    "angular velocity",
    "joint position",
    "joint velocity",
    "joint torque",
    "length",
    "rate",
    "actuator force",
    "subtree centre",
    "subtree velocity",
    "subtree spin",
    "distance",
]

# Dimensions of a shape by kind; `MeshFile` and arrays stand in `ShapeSpec.mesh`.
SHAPE_KINDS: dict[str, int] = {
    "sphere": 1,  # radius
    "capsule": 2,  # radius, length of the cylinder
    "cylinder": 2,  # radius, length
    "box": 3,  # full edges
    "ellipsoid": 3,  # semi-axes
    "half_space": 0,  # outward normal: z
    "mesh": 0,
    "height_field": 4,  # half width x, half width y, highest z, depth of the base
}


def _identity() -> Array:
    return np.eye(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class BodySpec:
    """A body, what it hangs on, and the joint between: what `TreeBuilder.add_body` takes."""

    name: str
    parent: str
    joint: Joint
    inertia: Inertia | None = None
    position: Array | Vec3 = (0.0, 0.0, 0.0)
    rotation: Array = field(default_factory=_identity)
    gravity_compensation: float = 0.0


@dataclass(frozen=True, kw_only=True)
class MeshFile:
    """A mesh that is not read yet: its name in the file, the scale, and the line that names it."""

    uri: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    line: int = 0


# A mesh in its file, its vertices and faces, or the heights of a height field.
MeshData: TypeAlias = MeshFile | tuple[Array, IntArray] | Array


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapeSpec:
    """A shape on a body.

    Attributes
    ----------
    name, body, kind : str
        `SHAPE_KINDS` has the kinds.
    sizes : tuple of float
        m; see `SHAPE_KINDS`.
    position, rotation
        Pose in the body's frame.
    mesh : MeshFile, or (vertices, faces), or heights, or None
    friction : tuple of 3 floats, or None
        Sliding (mu), torsional (m), rolling (m); None where the file does not say.
    mixing : {"mean", "maximum"}
    priority, condim : int
        What pairs make of friction, see `Geom`.
    restitution : float
    group, collides_with : int
        Bit masks; two shapes may touch where the group of either is among those that the other
        collides with.
    collides : bool
        False for what is only drawn.
    visible : bool
        Whether the file wants it drawn.
    color : tuple of 3 floats, or None
        Red, green, blue in [0, 1]; None where the file does not say.
    """

    name: str
    body: str
    kind: str
    sizes: tuple[float, ...] = ()
    position: Array | Vec3 = (0.0, 0.0, 0.0)
    rotation: Array = field(default_factory=_identity)
    mesh: Any = None
    friction: tuple[float, float, float] | None = None
    restitution: float = 0.0
    mixing: Literal["mean", "maximum"] = "mean"
    priority: int = 0
    condim: Condim | None = None
    group: int = 1
    collides_with: int = 1
    collides: bool = True
    visible: bool = False
    color: Color | None = None


@dataclass(frozen=True, kw_only=True)
class PairSpec:
    """Two shapes that the file pairs itself, with a friction of their own.

    They may touch whatever their masks say.
    """

    first: str
    second: str
    friction: float | None = None
    torsion: float | None = None
    rolling: float | None = None


@dataclass(frozen=True, kw_only=True)
class ActuatorSpec:
    """An actuator as the file has it.

    Attributes
    ----------
    made : Actuator or None
        What is simulated; None where nothing here does what it says.
    """

    name: str
    kind: str
    target: str
    gear: tuple[float, ...] = (1.0,)
    control_range: tuple[float, float] | None = None
    force_range: tuple[float, float] | None = None
    gain: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    made: Actuator | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SensorSpec:
    """A sensor as the file has it; `spatialops.sensors.file_sensors` makes sensors of them.

    Attributes
    ----------
    name, kind : str
    body, position, rotation
        Where it sits, if it does.
    targets : tuple of str
        Names of what it measures: a joint, an actuator or tendon, a body, or two geoms or bodies.
    zone, sizes : str, tuple of float
        Of one that feels touch within a shape, see `SHAPE_KINDS`.
    noise : float
        Standard deviation that the file gives.
    """

    name: str
    kind: SensorKind
    body: str = ""
    position: Array | Vec3 = (0.0, 0.0, 0.0)
    rotation: Array = field(default_factory=_identity)
    targets: tuple[str, ...] = ()
    zone: str = ""
    sizes: tuple[float, ...] = ()
    noise: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Keyframe:
    """A named state of the file: coordinates and velocities by joint, in our conventions.

    Controls and activations are by actuator.
    """

    name: str
    time: float
    q: dict[str, Array]
    v: dict[str, Array]
    ctrl: dict[str, float] = field(default_factory=dict)
    activation: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Description:
    """A robot file, read.

    Parameters
    ----------
    name : str
        What the file calls the robot.
    path : Path, optional
        The file; default: none.
    bodies : tuple of BodySpec
        Each after the one it hangs on.
    shapes : tuple of ShapeSpec
        Collision shapes, and those that are only drawn.
    loops : tuple of Loop
        Mimic joints and equality constraints.
    actuators : tuple of ActuatorSpec
        With what is simulated of each.
    tendons : tuple of Tendon
        Springs, stops and paths along several joints or through space.
    sensors : tuple of SensorSpec
        What it measures.
    keyframes : tuple of Keyframe
        Named states.
    start : dict of str to array
        Coordinates of joints in the file's own initial configuration, where they are not zero.
    ignore : tuple of (str, str)
        Pairs of bodies that never touch.
    pairs : tuple of PairSpec
        Pairs of shapes that may touch in any case.
    gravity : tuple of 3 floats
        m/s^2, world axes; default: (0, 0, -9.81).
    options : dict of str to float or str
        What the file wants of a simulation: timestep (s) and integrator. Kept as data.
    contacts : bool
        Whether things may touch at all.
    warnings : tuple of str
        What was repaired, or what changes the motion and could not be taken over.
    left_out : tuple of str
        What the file says beside that and nothing here is made of.
    packages : dict of str to Path
        Folders of packages that were given.
    """

    name: str
    path: Path | None = None
    bodies: tuple[BodySpec, ...] = ()
    shapes: tuple[ShapeSpec, ...] = ()
    loops: tuple[Loop, ...] = ()
    actuators: tuple[ActuatorSpec, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    sensors: tuple[SensorSpec, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    start: dict[str, Array] = field(default_factory=dict)
    ignore: tuple[tuple[str, str], ...] = ()
    pairs: tuple[PairSpec, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    options: dict[str, float | str] = field(default_factory=dict)
    contacts: bool = True
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    packages: dict[str, Path] = field(default_factory=dict)

    @property
    def masked(self) -> bool:
        """Whether the file says by masks which of its own shapes may touch, as MJCF does."""
        return self.path is not None and self.path.suffix.lower() not in (".urdf", ".sdf")

    @property
    def moving_joints(self) -> tuple[str, ...]:
        """Names of the joints that are not fixed."""
        return tuple(
            body.joint.name or body.name for body in self.bodies if body.joint.kind != "fixed"
        )

    @property
    def mass(self) -> float:
        """Mass of all bodies together, of those fixed to the world too, kg."""
        return sum(body.inertia.mass for body in self.bodies if body.inertia is not None)


class Notes:
    """Findings while a file is read: equal ones are counted, not repeated."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, str]] = {}

    def add(self, text: str, where: str = "") -> None:
        """Add a finding; of equal ones, only the first place is told."""
        count, first = self._counts.get(text, (0, where))
        self._counts[text] = count + 1, first

    def texts(self) -> tuple[str, ...]:
        """The findings in the order in which they were made."""
        result = []
        for text, (count, where) in self._counts.items():
            more = f"{count} times, first " if count > 1 else ""
            result.append(
                f"{text} ({more}{where})"
                if where
                else text + (f" ({count} times)" if count > 1 else "")
            )
        return tuple(result)


def check_length(values: ArrayLike, where: str, *, maximum: float = MAX_LENGTH) -> None:
    """Refuse what cannot be metres."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest <= maximum:
        raise AssetError(
            f"{where}: {largest:g} m is beyond {maximum:g} m; are the units wrong? Metres are "
            "expected"
        )
