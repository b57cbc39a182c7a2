"""The dual-arm robot lifts and tilts a box between its palms: a closed chain with an object that has no motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import from_quaternion
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Box, Geom, Sphere
from spatialops.compare.aghili.watch import CAUTION, Path, shift
from spatialops.control.actuation import Actuation
from spatialops.control.friction_cone import FrictionConeController
from spatialops.control.motors import Motors
from spatialops.control.projection_contacts import HeldContact, HeldContacts
from spatialops.control.projection_secondary import Rest
from spatialops.control.projection_tasks import PoseTask, Tracking
from spatialops.control.whole_body import WholeBodyController
from spatialops.dynamics.jacobian import body_poses, node_positions
from spatialops.models.dual_arm import dual_arm
from spatialops.simulation.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.forest import Planted, forest
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State

MASS, FRICTION, LEAST = 2.0, 0.6, 1.0  # kg; 1; N, what a pad is pressed with at least
_PAD, _REACH = 0.008, 0.05  # m: radius of a pad, from a palm's middle to the box
_PADS = ((0.03, 0.03), (0.03, -0.03), (-0.04, 0.0))  # m, forward and up of a palm's middle
_SIDES = {"left_palm": 1.0, "right_palm": -1.0}  # the box is to the right of the left palm
_SWING = np.array([0.1, 0.15, -0.05, 0.03, 0.02, 0.05])  # rad, m


class Grasp:
    """Robot and box, and three round pads on each palm that touch the box: 18 rows of rank 12 hold it.

    Two points alone would leave the box free to turn about the line between them.
    """

    def __init__(self, *, friction: float) -> None:
        robot, self.friction = dual_arm(), friction
        poses = body_poses(robot.model, robot.state.q)
        frames = {name: robot.model.frame(name) for name in _SIDES}
        middles = node_positions(robot.model, robot.state.q, [Node(name, (0.0, 0.0, 0.02)) for name in _SIDES])
        middle = middles.mean(axis=0)
        self.edges = np.array([0.15, middles[0, 1] - middles[1, 1] - 2.0 * _REACH, 0.15])
        builder = TreeBuilder()
        inertia = Inertia.box(tuple(self.edges), mass=MASS)
        builder.add_body("box", joint=Joint("free", name="box"), inertia=inertia)
        self.model: Model = forest([Planted(robot.model), Planted(builder.build())])
        q = np.concatenate([robot.state.q, middle, [0.0, 0.0, 0.0, 1.0]])
        self.state = State(q, np.zeros(self.model.nv))
        self.pads: list[tuple[str, Array, Array, float]] = []  # palm, pad's centre and touching point on it, side
        self.places: list[Array] = []  # on the box
        for place, (name, side) in zip(middles, _SIDES.items(), strict=True):
            frame = frames[name]
            turn = poses.rotations[frame.body] @ frame.rotation
            origin = poses.positions[frame.body] + poses.rotations[frame.body] @ frame.position
            for forward, up in _PADS:
                on_box = np.array([place[0] + forward, middle[1] + 0.5 * side * self.edges[1], place[2] + up])
                center = on_box + np.array([0.0, side * _PAD, 0.0])
                self.pads.append((name, turn.T @ (center - origin), turn.T @ (on_box - origin), side))
                self.places.append(on_box - middle)

    def grips(self, time: float, state: State) -> HeldContacts:
        """The pads on the box, as it is turned now; forces are those on the palms, outwards."""
        turn = from_quaternion(state.q[-4:])
        contacts = [
            HeldContact(
                node=Node(name, tuple(point)), other=Node("box", tuple(place)), normal=turn @ np.array([0.0, side, 0.0]),
                tangent=turn[:, 0], friction=CAUTION * self.friction, least=LEAST, name=f"{name} pad {i % 3}",
            )
            for i, ((name, _, point, side), place) in enumerate(zip(self.pads, self.places, strict=True))
        ]  # fmt: skip
        return HeldContacts(self.model, contacts)

    def scene(self) -> Scene:
        """Pads and box; nothing else collides."""
        pair = {"friction": self.friction, "restitution": 0.0}
        pads = [
            Geom(f"pad{i}", name, Sphere(_PAD), position=tuple(center), **pair)
            for i, (name, center, _, _) in enumerate(self.pads)
        ]
        return Scene(self.model, [*pads, Geom("box", "box", Box(tuple(self.edges)), **pair)], state=self.state)

    def offsets(self, q: Array) -> Array:
        """Where the pads' points are on the box (6, 3), from where they belong, m."""
        turn = from_quaternion(q[-4:])
        points = node_positions(self.model, q, [Node(name, tuple(point)) for name, _, point, _ in self.pads])
        result: Array = (points - q[-7:-4]) @ turn - np.array(self.places)
        return result


class _Hands:
    """Runs a controller, and keeps its power and what pads and box did."""

    def __init__(self, grasp: Grasp, controller: Any, motors: Motors, task: PoseTask, path: Path) -> None:
        self.grasp, self.controller, self.motors, self.task, self.path = grasp, controller, motors, task, path
        self.samples: list[tuple[float, ...]] = []

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The controller's command."""
        tau: Array = self.controller(time, state, contacts)
        p = contacts.impulses[contacts.impulses[:, 0] > 1e-9]
        used = (np.hypot(p[:, 1], p[:, 2]) / (self.grasp.friction * p[:, 0])).max(initial=0.0)
        error = np.abs(self.task.motion(self.grasp.model, state).x - self.path(time)[0]).max()
        slid = np.linalg.norm(self.grasp.offsets(state.q), axis=1).max()
        power = self.motors.power(tau[self.motors.actuation.rows])
        self.samples.append((time, power, used, float(error), float(slid), self._margin(), *state.q[-7:-4]))
        return tau

    def _margin(self) -> float:
        """Of the commanded forces to the cones that the controller was given, N."""
        forces = self.controller.explain().forces
        cones = CAUTION * self.grasp.friction * forces[:, 0] - np.hypot(forces[:, 1], forces[:, 2])
        return float(cones.min())


def lifting(duration: float = 2.0, dt: float = 1e-3) -> dict[str, Any]:
    """Lift the box by 5 cm, move and tilt it, by three controllers. Least norm knows no cones, and need not hold it."""
    grasp = Grasp(friction=FRICTION)
    model, start = grasp.model, grasp.state
    motors = Motors(Actuation(model), torque_constant=0.1, resistance=0.5, gear=80.0)
    task = PoseTask(Node("box"))
    path = shift(task.motion(model, start).x, _SWING, np.pi / duration)
    tasks, rest = [Tracking(task, path, stiffness=400.0)], Rest(q=start.q, stiffness=4.0, damping=4.0)
    options: dict[str, Any] = {"contacts": grasp.grips}
    controllers = {
        "least norm": FrictionConeController(model, tasks, motors, posture=rest, minimum_norm=True, **options),
        "pyramid QP": WholeBodyController(model, tasks, motors, **options),
        "exact cone QCQP": FrictionConeController(model, tasks, motors, posture=rest, **options),
    }
    found: dict[str, Any] = {"duration": duration}
    series: dict[str, Any] = {}
    for name, controller in controllers.items():
        hands = _Hands(grasp, controller, motors, task, path)
        length = 0.1 * duration if name == "least norm" else duration
        Simulator(grasp.scene(), law="cone", dt=dt).run(start, length, controller=hands)
        table = np.array(hands.samples)
        series[name] = table
        found[name] = {
            "for, s": length,
            "mean power, W": float(table[:, 1].mean()),
            "largest error of the box, mm or mrad": float(1e3 * table[:, 3].max()),
            "pads moved on the box, mm": float(1e3 * table[:, 4].max()),
            "least margin of commanded forces to a cone, N": float(table[:, 5].min()),
            "largest share of the cone used in the simulation": float(table[:, 2].max()),
        }
    return {**found, "series": series}
