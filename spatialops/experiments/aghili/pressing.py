"""An arm that presses on a frictional surface, and slides along it, under three controllers."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Coefficients, Geom, HalfSpace, Sphere
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Controller
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.tasks import JointTask, PointTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.dynamics.jacobian import node_positions
from spatialops.experiments.aghili.watch import CAUTION
from spatialops.simulation.options import LawName
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

_LOADED = 1e-6  # N

RADIUS = 0.02  # m, of the tip
FRICTION = 0.35
LEAST = 10.0  # N
_LINKS = (
    ("z", 0.20, 4.0, 1),
    ("y", 0.35, 3.0, 2),
    ("x", 0.05, 1.5, 2),
    ("y", 0.30, 2.0, 1),
    ("x", 0.05, 1.0, 1),
    ("y", 0.20, 1.0, 1),
)
_START = (0.2, 0.5, 0.15, 1.6, -0.1, 0.8)
TIP = Node("link6", (0.0, 0.0, 0.20))


def arm() -> tuple[Model, Motors, State]:
    """An arm of six joints over a table, its round tip 2 cm across touching it."""
    builder = TreeBuilder()
    parent = "world"
    length = 0.0
    for i, (axis, reach, mass, strength) in enumerate(_LINKS):
        rod = Inertia.capsule(0.03, reach, mass=mass).shifted((0.0, 0.0, 0.5 * reach))
        joint = Joint(
            "revolute", axis=axis, effort_limit=60.0 * strength, armature=0.05, name=f"joint{i + 1}"
        )
        builder.add_body(
            f"link{i + 1}", parent=parent, joint=joint, inertia=rod, position=(0.0, 0.0, length)
        )
        parent, length = f"link{i + 1}", reach
    model = builder.build()
    motors = Motors(
        Actuation(model),
        torque_constant=[0.12, 0.12, 0.08, 0.08, 0.05, 0.05],
        resistance=[0.4, 0.4, 0.7, 0.7, 1.2, 1.2],
        gear=[50.0, 80.0, 50.0, 50.0, 30.0, 30.0],
    )
    return model, motors, State(np.array(_START), np.zeros(6))


def _table(model: Model, state: State, friction: float) -> Scene:
    height = float(node_positions(model, state.q, [TIP])[0, 2]) - RADIUS
    pair: Coefficients = {"friction": friction, "restitution": 0.0}
    geoms = [
        Geom("tip", str(TIP.body), Sphere(RADIUS), position=TIP.position, **pair),
        Geom("table", "world", HalfSpace((0.0, 0.0, 1.0)), position=(0.0, 0.0, height), **pair),
    ]
    return Scene(model, geoms, state=state)


class _Meter:
    """Keeps the power of a controller's commands, and what the simulated contact did."""

    def __init__(self, controller: Controller, motors: Motors, dt: float) -> None:
        self.controller = controller
        self.motors = motors
        self.dt = dt
        self.power: list[float] = []
        self.forces: list[Array] = []

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The controller's command."""
        tau: Array = self.controller(time, state, contacts)
        self.power.append(self.motors.power(tau[self.motors.actuation.rows]))
        self.forces.append(contacts.impulses[0] / self.dt if len(contacts) else np.zeros(3))
        return tau


def pressing(duration: float = 1.0, dt: float = 1e-3, law: LawName = "cone") -> PlainData:
    """The tip stays where it presses, by 10 N or more, while three joints move the arm about it."""
    model, motors, start = arm()
    grip = HeldContact(
        node=TIP, radius=RADIUS, friction=CAUTION * FRICTION, least=LEAST, name="tip"
    )
    held = HeldContacts(model, [grip])
    task = JointTask(("joint1", "joint3", "joint5"))
    x0 = np.array(_START)[[0, 2, 4]]
    swing = np.array([0.06, 0.08, -0.1])
    rate = 2.0 * np.pi

    def path(time: float) -> tuple[Array, Array, Array]:
        return (
            x0 + swing * 0.5 * (1 - np.cos(rate * time)),
            swing * 0.5 * rate * np.sin(rate * time),
            swing * 0.5 * rate**2 * np.cos(rate * time),
        )

    tasks = [Tracking(task, path, stiffness=400.0)]
    controllers: dict[str, Controller] = {
        "least norm": FrictionConeController(
            model, tasks, motors, contacts=held, minimum_norm=True
        ),
        "pyramid QP": WholeBodyController(model, tasks, motors, contacts=held),
        "exact cone QCQP": FrictionConeController(model, tasks, motors, contacts=held),
    }
    result: PlainData = {"duration": duration, "series": {}}
    for name, controller in controllers.items():
        meter = _Meter(controller, motors, dt)
        record = Simulator(_table(model, start, FRICTION), law=law, dt=dt).run(
            start, duration, controller=meter
        )
        forces = np.array(meter.forces[2:])
        result["series"][name] = np.column_stack([meter.power, meter.forces])
        final = State(record.q[-1], record.v[-1])
        result[name] = {
            "mean power, W": float(np.mean(meter.power)),
            "normal force, N": [float(forces[:, 0].min()), float(forces[:, 0].max())],
            "largest |t| / (mu n)": float(_share(forces)),
            "fastest motion of the tip, m/s": float(_speed(held, record)),
            "final error, rad": float(
                np.abs(task.motion(model, final).x - path(duration)[0]).max()
            ),
        }
    return result


def _speed(held: HeldContacts, record: Record) -> float:
    """The fastest that the point of contact moves, m/s."""
    motions = [held.jacobian(q) @ v for q, v in zip(record.q, record.v, strict=True)]
    return float(np.linalg.norm(motions, axis=1).max())


def _share(forces: Array) -> float:
    loaded = forces[:, 0] > _LOADED
    if not loaded.any():
        return float("inf")
    return float(
        (np.hypot(forces[loaded, 1], forces[loaded, 2]) / (FRICTION * forces[loaded, 0])).max()
    )


def sliding(
    duration: float = 1.0, dt: float = 1e-3, speed: float = 0.1, force: float = 20.0
) -> PlainData:
    """The tip slides along the table at a steady speed, pressed by a regulated force ([A] 35)."""
    model, motors, start = arm()
    away = np.array([0.0, 1.0, 0.0])
    held = HeldContacts(
        model,
        [
            HeldContact(
                node=TIP, radius=RADIUS, friction=FRICTION, slide=away, pressed=force, name="tip"
            )
        ],
    )
    task, joints = PointTask(TIP, axes=(0, 1)), JointTask(("joint3", "joint5"))
    x0 = task.motion(model, start).x
    ramp = 0.1  # s, to come up to speed

    def path(time: float) -> tuple[Array, Array, Array]:
        s = min(time / ramp, 1.0)
        way = speed * (0.5 * ramp * s * s + max(time - ramp, 0.0))
        acceleration = speed / ramp if time < ramp else 0.0
        return x0 + way * away[:2], speed * s * away[:2], acceleration * away[:2]

    tasks = [
        Tracking(task, path, stiffness=400.0),
        Tracking(joints, np.array(_START)[[2, 4]], stiffness=100.0),
    ]
    controllers: dict[str, Controller] = {
        "pyramid QP": WholeBodyController(
            model,
            tasks,
            motors,
            contacts=held,
            posture=lambda _, state: -10.0 * state.v,
            posture_weight=1e3,
        ),
        "exact cone QCQP": FrictionConeController(model, tasks, motors, contacts=held),
    }
    result: PlainData = {"duration": duration, "series": {}}
    for name, controller in controllers.items():
        meter = _Meter(controller, motors, dt)
        record = Simulator(_table(model, start, FRICTION), law="cone", dt=dt).run(
            start, duration, controller=meter
        )
        final = State(record.q[-1], record.v[-1])
        forces = np.array(meter.forces)[len(meter.forces) // 2 :]
        error = np.abs(task.motion(model, final).x - path(duration)[0])
        result["series"][name] = np.column_stack([meter.power, meter.forces])
        result[name] = {
            "mean power, W": float(np.mean(meter.power)),
            "normal force once steady, N": [float(forces[:, 0].min()), float(forces[:, 0].max())],
            "error along the way, mm": float(1e3 * error.max()),
        }
    return result
