"""A quadruped on four feet: its base follows the designed law, and moves about without a slip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.tasks import PoseTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.jacobian import node_positions
from spatialops.dynamics.loops.constrained_dynamics import constrained_dynamics
from spatialops.experiments.aghili.states import grips, motors_of
from spatialops.experiments.aghili.watch import CAUTION, LEAST, Watch, shift
from spatialops.models.quadruped import quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State


def shifting(duration: float = 2.0, friction: float = 0.6, dt: float = 1e-3) -> PlainData:
    """Stand on four feet and move the base about; nothing may slip."""
    robot = quadruped()
    task = PoseTask(Node("base"))
    start = task.motion(robot.model, robot.state).x
    path = shift(start, np.array([0.06, 0.06, 0.15, 0.025, 0.02, -0.015]), 2.0 * np.pi)
    tasks = [Tracking(task, path, stiffness=400.0)]
    grip = grips(robot, range(4), CAUTION * friction, least=LEAST)
    watch = Watch(
        FrictionConeController(robot.model, tasks, motors_of(robot), contacts=grip),
        robot,
        path,
        friction,
    )
    feet = [Node(foot) for foot in robot.feet]
    before = node_positions(robot.model, robot.state.q, feet)
    record = Simulator(robot.scene(friction=friction), law="cone", dt=dt).run(
        robot.state, duration, controller=watch
    )
    moved = np.abs(node_positions(robot.model, record.q[-1], feet) - before).max()
    return {"duration": duration, **watch.found(), "feet moved, m": float(moved)}


def decay(duration: float = 0.5, dt: float = 1e-3) -> PlainData:
    """Error of the base in closed loop with constrained dynamics, beside the designed law's.

    Feet are pinned, which the controller is told; the motion is integrated by Runge-Kutta's method
    with the controller in every stage. e'' + K_D e' + K_P e = 0 with a double root -w: e = (e0 +
    (e0' + w e0) t) exp(-w t).
    """
    robot, w = quadruped(), 10.0
    model = robot.model
    held = HeldContacts(
        model, [replace(contact, radius=0.0) for contact in grips(robot, range(4), 0.9).contacts]
    )
    feet = [Node(foot) for foot in robot.feet]
    places = node_positions(model, robot.state.q, feet)
    loops = Loops(
        model,
        [
            Loop(kind="ball", a=foot, b="world", position_b=place)
            for foot, place in zip(robot.feet, places, strict=True)
        ],
    )
    task = PoseTask(Node("base"))
    start = task.motion(model, robot.state).x
    offset = np.array([0.02, -0.015, 0.03, 0.004, 0.003, -0.005])
    tracking = Tracking(task, start + offset, stiffness=w * w)
    controller = FrictionConeController(model, [tracking], motors_of(robot), contacts=held)

    def rates(q: Array, v: Array) -> tuple[Array, Array]:
        tau = controller(0.0, State(q, v))
        return _coordinate_rates(model, q, v), constrained_dynamics(
            model, loops, q, v, tau
        ).accelerations

    q = robot.state.q.copy()
    v = robot.state.v.copy()
    errors = []
    laws = []
    for i in range(round(duration / dt)):
        stages = [rates(q, v)]
        for h in (0.5 * dt, 0.5 * dt, dt):
            stages.append(rates(q + h * stages[-1][0], v + h * stages[-1][1]))
        weights = (1.0, 2.0, 2.0, 1.0)
        q = q + dt / 6.0 * sum(s * part[0] for s, part in zip(weights, stages, strict=True))
        v = v + dt / 6.0 * sum(s * part[1] for s, part in zip(weights, stages, strict=True))
        q[3:7] /= np.linalg.norm(q[3:7])
        t = (i + 1) * dt
        laws.append(offset * (1.0 + w * t) * np.exp(-w * t))
        errors.append(start + offset - task.motion(model, State(q, v)).x)
    apart = np.abs(np.array(errors) - np.array(laws)).max()
    return {
        "duration": duration,
        "largest deviation from the designed law, m or rad": float(apart),
        "largest error at the beginning, m or rad": float(np.abs(offset).max()),
        "error left, m or rad": float(np.abs(errors[-1]).max()),
        "series": {
            "time": dt * np.arange(1, len(laws) + 1),
            "error": np.array(errors),
            "law": np.array(laws),
        },
    }


def _coordinate_rates(model: Model, q: Array, v: Array) -> Array:
    """Rates of coordinates of a free root and joints of one degree of freedom."""
    x, y, z, s = q[3:7]
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)],
            [2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)],
            [2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)],
        ]
    )
    a, b, c = v[:3]
    spin = 0.5 * np.array(
        [
            s * a + y * c - z * b,
            s * b + z * a - x * c,
            s * c + x * b - y * a,
            -x * a - y * b - z * c,
        ]
    )
    return np.concatenate([turn @ v[3:6], spin, v[6:]])
