"""Quadrupeds that trot: that of [Z], and those of robot files where example-robot-data is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.shapes import Geom, HalfSpace, Sphere
from spatialops.control.locomotion.gait import Gait
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.io import build, read
from spatialops.models.quadruped import FOOT_RADIUS, quadruped
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.state import State


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """What a robot's file does not say.

    Parameters
    ----------
    path : str
        Below the robots of example-robot-data.
    feet : tuple of str
        Left front, right front, left hind, right hind: the order of a gait.
    radius : float
        Of the feet, m.
    stance : tuple
        Angles of the joints of each leg of `feet` at rest, rad.
    effort : float, optional
        Largest torque of the motors, N m; default: as the file says.
    gait : Gait
        How it trots.
    speed : float
        At which it trots, m/s.
    """

    path: str
    feet: tuple[str, ...]
    radius: float
    stance: tuple[tuple[float, ...], ...]
    gait: Gait
    speed: float
    effort: float | None = None


FILES = {
    "solo12": RobotFile(
        path="solo_description/robots/solo12.urdf",
        feet=("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
        radius=0.015,
        stance=((0.0, 0.8, -1.6),) * 4,
        gait=Gait(step_height=0.03),
        speed=0.2,
        effort=2.7,  # of its motors (Grimminger et al. 2020); the file says 1000
    ),
    "a1": RobotFile(
        path="a1_description/urdf/a1.urdf",
        feet=("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
        radius=0.02,
        stance=((0.0, 0.8, -1.6),) * 4,
        gait=Gait(step_height=0.04),
        speed=0.2,
    ),
    "go2": RobotFile(
        path="go2_description/urdf/go2.urdf",
        feet=("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
        radius=0.022,
        stance=((0.0, 0.8, -1.6),) * 4,
        gait=Gait(step_height=0.04),
        speed=0.2,
    ),
    "anymal": RobotFile(
        path="anymal_b_simple_description/robots/anymal.urdf",
        feet=("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
        radius=0.031,
        stance=((0.0, 0.6, -1.2), (0.0, 0.6, -1.2), (0.0, -0.6, 1.2), (0.0, -0.6, 1.2)),
        gait=Gait(period=0.4, step_height=0.05),
        speed=0.2,
    ),
}
ROBOTS = ("zapolsky", *FILES)


@dataclass(frozen=True, eq=False)
class Walker:
    """A quadruped that stands on its feet.

    Attributes
    ----------
    model : Model
        The robot.
    state : State
        At rest on z = 0.
    feet : tuple of str
        Left front, right front, left hind, right hind.
    legs : Legs
        Of these feet.
    radius : float
        Of the feet, m.
    gait : Gait
        How it trots.
    speed : float
        m/s.
    """

    model: Model
    state: State
    feet: tuple[str, ...]
    legs: Legs
    radius: float
    gait: Gait
    speed: float

    @property
    def stance(self) -> Array:
        """Joint angles (4, 3) at rest, rad."""
        return np.asarray(self.state.q[self.legs.angles])

    def scene(self, friction: float) -> Scene:
        """The robot's feet on level ground."""
        feet = [Geom(name, name, Sphere(self.radius), friction=friction) for name in self.feet]
        ground = Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), friction=friction)
        return Scene(self.model, [*feet, ground], state=self.state)


def walker(name: str) -> Walker:
    """A robot of `ROBOTS`.

    Raises
    ------
    ArgumentError
        For another name.
    MissingLibraryError
        For a robot of a file without the package example-robot-data.
    """
    if name == "zapolsky":
        robot = quadruped()
        legs = Legs(robot.model, robot.feet)
        return Walker(robot.model, robot.state, robot.feet, legs, FOOT_RADIUS, Gait(), 0.2)
    if name not in FILES:
        raise ArgumentError(f"robot: expected one of {', '.join(ROBOTS)}; got {name!r}")
    file = FILES[name]
    model = build(read(robot_file(file.path)), floating_base=True)
    base = model.joint_names[0]
    if file.effort is not None:
        model = replace(model, effort_limit=np.where(model.effort_limit > 0.0, file.effort, 0.0))
    legs = Legs(model, file.feet, base=base)
    q = model.neutral()
    q[legs.angles] = file.stance
    low = float(legs.positions(q[legs.angles])[:, 2].min())
    q[model.q_slice(base).start + 2] = file.radius - low
    state = State(q, np.zeros(model.nv))
    return Walker(model, state, file.feet, legs, file.radius, file.gait, file.speed)


def robot_file(path: str) -> Path:
    """A file below the robots of the package example-robot-data; importing it would need viewers.

    Raises
    ------
    MissingLibraryError
        Without the package.
    """
    try:
        found = distribution("example-robot-data")
    except PackageNotFoundError:
        raise MissingLibraryError(
            "robots of files need example-robot-data: pip install example-robot-data"
        ) from None
    folder = found.locate_file("cmeel.prefix/share/example-robot-data/robots")
    return Path(str(folder)) / path
