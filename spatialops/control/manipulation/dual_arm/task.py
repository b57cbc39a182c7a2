"""A task made ready: a scene, a robot, an object and a script; and how it may vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops.control.manipulation.controller import ManipulationController, palms
from spatialops.control.manipulation.grasp_force import GraspForce
from spatialops.control.manipulation.impedance import Impedance
from spatialops.control.manipulation.observation import Observation, object_pose
from spatialops.control.manipulation.task_script import Phase, Script
from spatialops.control.trajectory import Pose
from spatialops.models.dual_arm import FINGERS, SIDES, DualArm
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.free_frames import FreeFrame

DT = 5e-4  # s
REACH = 0.158  # m from a palm to where its fingertips meet
GRAVITY = 9.81  # m/s^2
OPENED = -0.35  # rad, of the finger joints of an open hand
FIRM = 0.15  # of what a hand squeezes with: each finger of a firm grip presses with so much
KEPT = 2e-3  # m that an object may slip in a hand that holds it


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How a run differs from the nominal one, about which the controller is not told.

    Attributes
    ----------
    mass, friction : float
        Factors.
    shift : (3,) tuple
        Of the object and what holds it, m.
    turn : (3,) tuple
        Rotation vector of the same, rad.
    torque_noise : float
        Standard deviation of the factor 1 + noise on every motor's torque, anew in every step.
    seed : int
        Of that noise.
    """

    mass: float = 1.0
    friction: float = 1.0
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    torque_noise: float = 0.0
    seed: int = 0

    @classmethod
    def random(cls, seed: int) -> Variation:
        """Mass within 15 %, friction 20 %, place 5 mm an axis, a turn of 2 degrees, 1 % noise."""
        rng = np.random.default_rng(seed)
        axis = rng.normal(size=3)
        turn = np.radians(2.0) * rng.uniform() * axis / np.linalg.norm(axis)
        return cls(
            mass=1.0 + 0.15 * rng.uniform(-1.0, 1.0),
            friction=1.0 + 0.20 * rng.uniform(-1.0, 1.0),
            shift=_three(0.005 * rng.uniform(-1.0, 1.0, 3)),
            turn=_three(turn),
            torque_noise=0.01,
            seed=seed,
        )


def _three(vector: Array) -> Vec3:
    x, y, z = vector.tolist()
    return x, y, z


@dataclass(frozen=True, eq=False)
class Task:
    """A scene, a robot in it, the object that it handles, and the phases that it goes through."""

    name: str
    robot: DualArm
    scene: Scene
    body: str
    posture: Array
    phases: Sequence[Phase[Observation]]
    variation: Variation = Variation()

    def controller(self, dt: float = DT) -> ManipulationController:
        """A fresh controller at the beginning of the script."""
        model = self.robot.model
        hands = {
            side: GraspForce(
                model,
                f"{side}_palm",
                [f"{side}_{name}" for name in FINGERS[:-1]],
                f"{side}_{FINGERS[-1]}",
                held=[f"{side}_spread"],
                dt=dt,
            )
            for side in SIDES
        }
        impedance = Impedance(model, palms(SIDES), self.posture)
        script = Script(self.phases)
        return ManipulationController(
            self.scene,
            model,
            self.body,
            impedance=impedance,
            hands=hands,
            script=script,
            dt=dt,
            reach=REACH,
        )

    def object_poses(self, record: Record) -> list[Pose]:
        """The object at every recorded row."""
        at = self.scene.model.q_slice(self.body)
        home = FreeFrame.of(self.scene.model, self.body)
        return [object_pose(q[at], home) for q in record.q]

    def palm_poses(self, record: Record, side: str, rows: IntArray) -> list[Pose]:
        """A palm at some recorded rows."""
        model, name = self.robot.model, f"{side}_palm"
        palm = Impedance(model, [name], self.posture)
        return [palm.observe(record.q[row, : model.nq])[0] for row in rows]
