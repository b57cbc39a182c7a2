"""A humanoid, G1 of example-robot-data, and its whole-body controller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.walkers import robot_file
from spatialops.collision.shapes import Capsule, Geom, HalfSpace, Sphere
from spatialops.control.actuation import Actuation
from spatialops.control.locomotion.footsteps import Footstep, Footsteps
from spatialops.control.locomotion.pendulum_path import PendulumPath
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.task_space.attitude_task import AttitudeTask
from spatialops.control.task_space.momentum_tasks import CenterOfMassTask
from spatialops.control.task_space.tasks import JointTask, PointTask
from spatialops.control.task_space.tracking import Path, Tracking
from spatialops.control.whole_body.clearance import Clearance
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.dynamics.energy import center_of_mass
from spatialops.io import build, read
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
FILE = "g1_description/urdf/g1_29dof_rev_1_0.urdf"
# The file's soles are four spheres of 5 mm, m in the frame of the foot.
_CORNERS = ((-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03))
_RADIUS = 0.005
SOLE = (0.035, 0.0, -0.035)  # the middle of them, on the ground
HALF = (0.07, 0.02)  # of the rectangle for the centre of pressure, m: within the corners
_TORSION = 0.03  # m
_SINK = 5e-4  # m that soles begin in the ground: where contacts of MuJoCo carry the weight
# rad: knees bent, with the centre of mass over the soles.
_POSTURE = {
    "hip_pitch": -0.322,
    "knee": 0.7,
    "ankle_pitch": -0.378,
    "shoulder_pitch": 0.2,
    "left_shoulder_roll": 0.2,
    "right_shoulder_roll": -0.2,
    "elbow": 0.9,
}


@dataclass(frozen=True, eq=False)
class Humanoid:
    """A robot that stands on two flat feet.

    Attributes
    ----------
    model : Model
        The robot.
    state : State
        At rest on z = 0.
    """

    model: Model
    state: State

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The middle of each sole."""
        return tuple(Node(name, SOLE) for name in FEET)

    @property
    def height(self) -> float:
        """Of the centre of mass at rest, m."""
        return float(center_of_mass(self.model, self.state.q)[2])

    def soles(self, state: State) -> Array:
        """Where the soles are (2, 3), m."""
        return np.array([PointTask(node).motion(self.model, state).x for node in self.nodes])

    def scene(self, friction: float) -> Scene:
        """The corners of the robot's soles on level ground."""
        corners = [
            Geom(f"{foot}{i}", foot, Sphere(_RADIUS), position=(x, y, -0.03), friction=friction)
            for foot in FEET
            for i, (x, y) in enumerate(_CORNERS)
        ]
        ground = Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), friction=friction)
        return Scene(self.model, [*corners, ground], state=self.state)

    def footsteps(self, count: int, *, length: float = 0.0) -> Footsteps:
        """Steps of 0.5 s with 0.2 s on both feet, left foot first, each so far ahead of the other.

        The last one comes down beside the other foot.
        """
        feet = [
            HeldContact(
                node=node,
                friction=0.5,
                half_lengths=HALF,
                torsion=_TORSION,
                tangent=(1.0, 0.0, 0.0),
                name=name,
            )
            for name, node in zip(FEET, self.nodes, strict=True)
        ]
        places = self.soles(self.state)
        ahead = length * np.minimum(np.arange(count) + 1, count - 1)
        steps = [
            Footstep(
                foot=k % 2,
                start=1.0 + 0.7 * k,
                end=1.5 + 0.7 * k,
                place=places[k % 2] + [ahead[k], 0.0, 0.0],
            )
            for k in range(count)
        ]
        return Footsteps(self.model, feet, places, steps, ramp=0.15)

    def clearance(self) -> Clearance:
        """Hands keep clear of trunk, thighs and each other, and so do the shins: 6 pairs."""
        round_ = {"left_wrist_yaw_link": Sphere(0.06), "right_wrist_yaw_link": Sphere(0.06)}
        long = {
            "torso_link": (Capsule(0.11, 0.25), 0.15),
            "left_hip_yaw_link": (Capsule(0.06, 0.2), -0.1),
            "right_hip_yaw_link": (Capsule(0.06, 0.2), -0.1),
            "left_knee_link": (Capsule(0.05, 0.2), -0.15),
            "right_knee_link": (Capsule(0.05, 0.2), -0.15),
        }
        geoms = [Geom(name, name, shape) for name, shape in round_.items()]
        geoms += [
            Geom(name, name, shape, position=(0.0, 0.0, z)) for name, (shape, z) in long.items()
        ]
        left, right = round_
        pairs = [(left, right), (left, "torso_link"), (right, "torso_link")]
        pairs += [(left, "left_hip_yaw_link"), (right, "right_hip_yaw_link")]
        pairs += [("left_knee_link", "right_knee_link")]
        return Clearance(Scene(self.model, geoms, state=self.state), pairs)

    def controller(
        self,
        plan: Footsteps,
        path: PendulumPath,
        *,
        squat: float = 0.0,
        clearance: Clearance | None = None,
    ) -> WholeBodyController:
        """Feet first; then the centre of mass, the torso and the upper body by their weights.

        `path` is that of the centre of mass in the plane; `squat`, m, how far it goes down and up
        again in four seconds; `clearance`, what keeps bodies apart.
        """
        torso = AttitudeTask(Node("torso_link"))
        joints = JointTask(tuple(filter(is_above_legs, self.model.joint_names)))
        feet = []
        for i, node in enumerate(self.nodes):
            flat = AttitudeTask(node)
            place = PointTask(node)
            feet.append(Tracking(flat, np.zeros(3), stiffness=200.0, name=f"attitude of {FEET[i]}"))
            feet.append(Tracking(place, plan.foot(i), stiffness=200.0, name=FEET[i]))
        level = CenterOfMassTask(axes=(0, 1))
        up = CenterOfMassTask(axes=(2,))
        body = [
            Tracking(level, path, stiffness=60.0, weight=1000.0),
            Tracking(up, squatting(self.height, squat), stiffness=60.0, weight=1000.0),
            Tracking(torso, np.zeros(3), stiffness=100.0, weight=100.0),
            Tracking(joints, joints.motion(self.model, self.state).x, stiffness=60.0),
        ]
        motors = Motors(Actuation(self.model))
        return WholeBodyController(
            self.model, [feet, body], motors, contacts=plan.schedule, clearance=clearance
        )


def humanoid() -> Humanoid:
    """G1 with bent knees.

    Raises
    ------
    MissingLibraryError
        Without the package example-robot-data.
    """
    model = build(read(robot_file(FILE)), floating_base=True)
    q = model.neutral()
    for name in model.joint_names:
        for part, angle in _POSTURE.items():
            if part in name:
                q[model.q_slice(name)] = angle
    state = State(q, np.zeros(model.nv))
    sole = PointTask(Node(FEET[0], SOLE)).motion(model, state).x
    q[model.q_slice("root_joint").start + 2] -= sole[2] + _SINK
    return Humanoid(model, State(q, np.zeros(model.nv)))


def is_above_legs(joint: str) -> bool:
    """Whether it is of the waist or an arm: feet, torso and centre of mass decide the legs."""
    return any(part in joint for part in ("waist", "shoulder", "elbow", "wrist"))


def squatting(height: float, depth: float) -> Path:
    """Down and up again from the first second on, in four seconds."""
    rate = 0.5 * np.pi

    def path(time: float) -> tuple[Array, Array, Array]:
        phase = rate * min(max(time - 1.0, 0.0), 4.0)
        moves = 0.0 < phase < 2.0 * np.pi
        x = height - 0.5 * depth * (1.0 - np.cos(phase))
        v = -0.5 * depth * rate * np.sin(phase) * moves
        a = -0.5 * depth * rate**2 * np.cos(phase) * moves
        return np.array([x]), np.array([v]), np.array([a])

    return path
