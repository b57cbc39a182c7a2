"""The dual-arm robot lifts and tilts a box between its palms: a closed chain, the box unmotored."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import from_quaternion
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Box, Coefficients, Geom, Sphere
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.secondary_tasks import Rest
from spatialops.control.task_space.tasks import PoseTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.dynamics.jacobian import node_positions
from spatialops.experiments.aghili.watch import CAUTION, LOADED, Path, shift
from spatialops.models.dual_arm import dual_arm
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.forest import Planted, forest
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

MASS = 2.0  # kg
FRICTION = 0.6
TORSION = 0.02  # m
LEAST = 1.0  # N, what a palm presses with at least
PALM = 0.05  # m, radius of a palm
_PALMS = {"left_palm": 1.0, "right_palm": -1.0}  # the box is to the right of the left palm
_MIDDLE = (0.0, 0.0, 0.02)  # m, of a palm, in its frame
_SWING = np.array([0.1, 0.15, -0.05, 0.03, 0.02, 0.05])  # rad, m


class Grasp:
    """Robot and box, which just fits between two round, soft palms.

    Soft palms resist spinning about their normals, so that 8 rows hold the box in all directions;
    two points alone would leave it free to turn about the line between them.
    """

    def __init__(self, *, friction: float) -> None:
        robot, self.friction = dual_arm(), friction
        middles = node_positions(
            robot.model, robot.state.q, [Node(name, _MIDDLE) for name in _PALMS]
        )
        self.edges = np.array([0.15, middles[0, 1] - middles[1, 1] - 2.0 * PALM, 0.15])
        builder = TreeBuilder()
        inertia = Inertia.box(tuple(self.edges), mass=MASS)
        builder.add_body("box", joint=Joint("free", name="box"), inertia=inertia)
        self.model: Model = forest([Planted(robot.model), Planted(builder.build())])
        q = np.concatenate([robot.state.q, middles.mean(axis=0), [0.0, 0.0, 0.0, 1.0]])
        self.state = State(q, np.zeros(self.model.nv))
        self.start = self.touches(q)

    def touches(self, q: Array) -> Array:
        """Where the palms are nearest the box (2, 3), m, in its frame."""
        turn, palms = (
            from_quaternion(q[-4:]),
            node_positions(self.model, q, [Node(name, _MIDDLE) for name in _PALMS]),
        )
        result: Array = (palms - q[-7:-4]) @ turn
        result[:, 1] = 0.5 * self.edges[1] * np.array(list(_PALMS.values()))
        return result

    def grips(self, time: float, state: State) -> HeldContacts:
        """The palms on the box, as it is turned now; forces are those on the palms, outwards."""
        turn, touches = from_quaternion(state.q[-4:]), self.touches(state.q)
        return HeldContacts(
            self.model,
            [
                HeldContact(
                    node=Node(name, _MIDDLE),
                    other=Node("box", tuple(touch)),
                    normal=side * turn[:, 1],
                    radius=PALM,
                    tangent=turn[:, 0],
                    friction=CAUTION * self.friction,
                    torsion=CAUTION * TORSION,
                    least=LEAST,
                    name=name,
                )
                for touch, (name, side) in zip(touches, _PALMS.items(), strict=True)
            ],
        )

    def scene(self) -> Scene:
        """Palms and box; nothing else collides."""
        pair: Coefficients = {"friction": self.friction, "restitution": 0.0, "torsion": TORSION}
        palms = [Geom(name, name, Sphere(PALM), position=_MIDDLE, **pair) for name in _PALMS]
        return Scene(
            self.model,
            [*palms, Geom("box", "box", Box(tuple(self.edges)), **pair)],
            state=self.state,
        )


class _Hands:
    """Runs a controller, and keeps its power and what palms and box did."""

    def __init__(
        self, grasp: Grasp, controller: Controller, motors: Motors, task: PoseTask, path: Path
    ) -> None:
        self.grasp = grasp
        self.controller = controller
        self.motors = motors
        self.task = task
        self.path = path
        self.samples: list[tuple[float, ...]] = []

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The controller's command."""
        tau: Array = self.controller(time, state, contacts)
        p = contacts.impulses[contacts.impulses[:, 0] > LOADED]
        used = (np.hypot(p[:, 1], p[:, 2]) / (self.grasp.friction * p[:, 0])).max(initial=0.0)
        error = np.abs(self.task.motion(self.grasp.model, state).x - self.path(time)[0]).max()
        A = self.grasp.grips(time, state).jacobian(state.q)
        slid = np.abs((A @ state.v).reshape(2, 4)[:, :3]).max()
        power = self.motors.power(tau[self.motors.actuation.rows])
        self.samples.append(
            (time, power, used, float(error), float(slid), self._margin(), *state.q[-7:-4])
        )
        return tau

    def _margin(self) -> float:
        """Of the commanded forces to the cones that the controller was given, N."""
        forces = self.controller.explain().forces
        cones = CAUTION * self.grasp.friction * forces[:, 0] - np.hypot(forces[:, 1], forces[:, 2])
        return float(cones.min())


def lifting(duration: float = 2.0, dt: float = 1e-3) -> PlainData:
    """Lift the box by 5 cm, move and tilt it, by three controllers.

    Least norm knows no cones and lets the box go, so that its power says little; it is stopped
    after a tenth.
    """
    grasp = Grasp(friction=FRICTION)
    model, start = grasp.model, grasp.state
    motors = Motors(Actuation(model), torque_constant=0.1, resistance=0.5, gear=80.0)
    task = PoseTask(Node("box"))
    path = shift(task.motion(model, start).x, _SWING, np.pi / duration)
    tasks = [Tracking(task, path, stiffness=400.0)]
    rest, held = Rest(q=start.q, stiffness=4.0, damping=4.0), grasp.grips
    controllers: dict[str, Controller] = {
        "least norm": FrictionConeController(
            model, tasks, motors, contacts=held, posture=rest, minimum_norm=True
        ),
        "pyramid QP": WholeBodyController(
            model, tasks, motors, contacts=held, posture=rest, posture_weight=1e3
        ),
        "exact cone QCQP": FrictionConeController(
            model, tasks, motors, contacts=held, posture=rest
        ),
    }
    found: PlainData = {"duration": duration}
    series: PlainData = {}
    for name, controller in controllers.items():
        hands = _Hands(grasp, controller, motors, task, path)
        length = 0.1 * duration if name == "least norm" else duration
        Simulator(grasp.scene(), law="cone", dt=dt).run(start, length, controller=hands)
        table = np.array(hands.samples)
        series[name] = table
        found[name] = {
            "for, s": length,
            "power at the start, W": float(table[0, 1]),
            "mean power, W": float(table[:, 1].mean()),
            "largest error of the box, mm or mrad": float(1e3 * table[:, 3].max()),
            "fastest motion at a held contact, m/s": float(table[:, 4].max()),
            "least margin of commanded forces to a cone, N": float(table[:, 5].min()),
            "largest share of the cone used in the simulation": float(table[:, 2].max()),
        }
    return {**found, "series": series}
