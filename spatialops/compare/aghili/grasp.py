"""The dual-arm robot lifts a box between its palms: a closed chain with an object that has no motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Box, Geom, Sphere
from spatialops.control.actuation import Actuation
from spatialops.control.friction_cone import FrictionConeController
from spatialops.control.motors import Motors
from spatialops.control.projection_contacts import HeldContact, HeldContacts
from spatialops.control.projection_secondary import Rest
from spatialops.control.projection_tasks import PointTask, Tracking
from spatialops.control.whole_body import WholeBodyController
from spatialops.dynamics.jacobian import body_poses
from spatialops.models.dual_arm import dual_arm
from spatialops.simulation.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.forest import Planted, forest
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State

MASS, FRICTION, PALM = 2.0, 0.6, 0.05  # kg, 1, m
_PALMS = (Node("left_palm", (0.0, 0.0, 0.02)), Node("right_palm", (0.0, 0.0, 0.02)))


def setting() -> tuple[Model, State, Array]:
    """Robot and box, where they stand, and the box's edges (3,), m: it just fits between the palms."""
    robot = dual_arm()
    poses = body_poses(robot.model, robot.state.q)
    places = []
    for node in _PALMS:
        frame = robot.model.frame(str(node.body))
        offset = frame.position + frame.rotation @ np.asarray(node.position)
        places.append(poses.positions[frame.body] + poses.rotations[frame.body] @ offset)
    edges = np.array([0.15, places[0][1] - places[1][1] - 2.0 * PALM, 0.15])
    builder = TreeBuilder()
    builder.add_body("box", joint=Joint("free", name="box"), inertia=Inertia.box(tuple(edges), mass=MASS))
    model = forest([Planted(robot.model), Planted(builder.build())])
    q = np.concatenate([robot.state.q, 0.5 * (places[0] + places[1]), [0.0, 0.0, 0.0, 1.0]])
    return model, State(q, np.zeros(model.nv)), edges


def grips(model: Model, edges: Array, *, friction: float = FRICTION) -> HeldContacts:
    """Palms on the box; forces are those on the palms, outwards."""
    return HeldContacts(
        model,
        [
            HeldContact(
                node=node, other=Node("box", (0.0, 0.5 * side * edges[1], 0.0)), normal=(0.0, side, 0.0), radius=PALM,
                friction=friction, name=str(node.body),
            )
            for node, side in zip(_PALMS, (1.0, -1.0), strict=True)
        ],
    )  # fmt: skip


def lifting(duration: float = 1.0, dt: float = 1e-3) -> dict[str, Any]:
    """Lift the box by 4 cm and move it by 3 cm, by three controllers."""
    model, start, edges = setting()
    held = grips(model, edges)
    motors = Motors(Actuation(model), torque_constant=0.1, resistance=0.5, gear=80.0)
    task = PointTask(Node("box"))
    x0, swing, rate = task.motion(model, start).x, np.array([0.03, 0.0, 0.04]), np.pi / duration

    def path(time: float) -> tuple[Array, Array, Array]:
        s = rate * time
        return (
            x0 + swing * 0.5 * (1.0 - np.cos(s)),
            swing * 0.5 * rate * np.sin(s),
            swing * 0.5 * rate * rate * np.cos(s),
        )

    tasks, rest = [Tracking(task, path, stiffness=400.0)], Rest(q=start.q, stiffness=4.0, damping=4.0)
    controllers = {
        "least norm": FrictionConeController(model, tasks, motors, contacts=held, posture=rest, minimum_norm=True),
        "pyramid QP": WholeBodyController(model, tasks, motors, contacts=held),
        "exact cone QCQP": FrictionConeController(model, tasks, motors, contacts=held, posture=rest),
    }
    pair = {"friction": FRICTION, "restitution": 0.0}
    geoms = [Geom(str(node.body), str(node.body), Sphere(PALM), position=node.position, **pair) for node in _PALMS]
    scene = Scene(model, [*geoms, Geom("box", "box", Box(tuple(edges)), **pair)], state=start)
    result = {}
    for name, controller in controllers.items():
        spent: list[float] = []

        def command(
            time: float, state: State, contacts: ContactSet, controller: Any = controller, spent: list[float] = spent
        ) -> Array:
            tau: Array = controller(time, state, contacts)
            spent.append(motors.power(tau[motors.actuation.rows]))
            return tau

        record = Simulator(scene, law="cone", dt=dt).run(start, duration, controller=command)
        final = State(record.q[-1], record.v[-1])
        error = task.motion(model, final).x - path(duration)[0]
        result[name] = {
            "mean power, W": float(np.mean(spent)),
            "final error of the box, mm": float(1e3 * np.linalg.norm(error)),
            "held": bool(np.linalg.norm(error) < 0.005),
        }
    return result
