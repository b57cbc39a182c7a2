"""The left hand takes an impact driver from a bench and hands it over to the right."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops.collision.shapes import Box, Geom
from spatialops.control.manipulation.dual_arm.run import Run
from spatialops.control.manipulation.dual_arm.task import REACH, Task, Variation
from spatialops.control.manipulation.dual_arm.wheel_removal import arms
from spatialops.control.manipulation.grasp_force import Open, Squeeze
from spatialops.control.manipulation.motions import (
    arrived,
    back_off,
    is_free,
    lets_go,
    object_to,
    palm_pose,
    presses,
    remember,
    slips_less,
    to_object,
    turned_less,
)
from spatialops.control.manipulation.observation import Observation
from spatialops.control.manipulation.task_script import Phase
from spatialops.control.trajectory import Bounds, Pose, turned_by
from spatialops.models.dual_arm import dual_arm
from spatialops.models.impact_driver import BOTTOM, HOUSING_HEIGHT, impact_driver
from spatialops.simulation.scene.composition import Part, compose
from spatialops.tree.state import State

PLACE = np.array([0.48, 0.0, 0.86])  # m, where the driver stands: a bench before the robot
MASS = 1.8  # kg, what the controller takes the driver for
SQUEEZE = 40.0  # N
LIFT = 0.15  # m
_CALM = Bounds(speed=0.15, acceleration=0.5, jerk=5.0)


def grasps() -> dict[str, Pose]:
    """Palms in the driver's frame: left at the grip, right at the housing with its thumb below."""
    grip, housing = np.array([0.0, 0.0, -0.025]), np.array([0.045, 0.0, HOUSING_HEIGHT])
    return {
        "left": palm_pose(grip, (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0), REACH),
        "right": palm_pose(housing, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), REACH),
    }


def phases() -> list[Phase[Observation]]:
    """The task, from hands beside the driver to the driver in the right hand."""
    left = ("left",)
    right = ("right",)
    weight = 9.81 * MASS
    hold = grasps()
    giver, taker = {"left": hold["left"]}, {"right": hold["right"]}
    in_left = [presses("left", 1.0), turned_less(0.3)]
    in_right = [presses("right", 1.0), turned_less(0.3)]
    opened = {"left": Open(-0.35), "right": Open(-0.35)}
    return [
        Phase(name="approach", move=to_object(giver, 0.13), grips=opened, until=[arrived()]),
        Phase(name="enclose", move=to_object(giver), until=[arrived(0.005)]),
        Phase(name="close", grips={"left": Squeeze(3.0)}, until=[presses("left", 0.6)], hold=0.1),
        Phase(
            name="squeeze",
            grips={"left": Squeeze(SQUEEZE)},
            loads=lambda _: {"left": weight},
            until=[presses("left", 0.15 * SQUEEZE)],
            hold=0.3,
        ),
        Phase(
            name="lift",
            move=object_to(left, _lifted),
            bounds=_CALM,
            until=[arrived(), is_free()],
            during=in_left,
        ),
        Phase(
            name="present",
            move=remember(left),
            until=[slips_less("left", 2e-3)],
            during=[*in_left, is_free()],
            hold=0.5,
        ),
        Phase(
            name="meet",
            move=to_object(taker, 0.13),
            until=[arrived()],
            during=[*in_left, is_free()],
        ),
        Phase(
            name="reach",
            move=to_object(taker),
            bounds=_CALM,
            until=[arrived(0.005)],
            during=[*in_left, is_free()],
        ),
        Phase(
            name="second closes",
            grips={"right": Squeeze(3.0)},
            until=[presses("right", 0.6)],
            during=[*in_left, is_free()],
            hold=0.1,
        ),
        Phase(
            name="second squeezes",
            grips={"right": Squeeze(SQUEEZE)},
            until=[presses("right", 0.15 * SQUEEZE)],
            during=[*in_left, is_free()],
            hold=0.3,
        ),
        Phase(
            name="hand over",
            loads=lambda _: {"left": 0.0, "right": weight},
            until=[presses("right", 0.15 * SQUEEZE)],
            during=[*in_left, *in_right, is_free()],
            hold=0.4,
        ),
        Phase(
            name="first opens",
            grips={"left": Open(-0.35)},
            until=[lets_go("left")],
            during=[*in_right, is_free()],
            hold=0.3,
        ),
        Phase(
            name="retract",
            move=back_off(left, 0.15),
            until=[arrived()],
            during=[*in_right, is_free()],
        ),
        Phase(
            name="hold",
            move=remember(right),
            until=[slips_less("right", 2e-3), lets_go("left")],
            during=[*in_right, is_free()],
            hold=1.0,
        ),
    ]


def driver_handoff(variation: Variation | None = None) -> Task:
    """The task: robot, bench, and the driver that stands on it."""
    varied = variation or Variation()
    robot = dual_arm()
    driver = impact_driver(mass=MASS * varied.mass)
    friction = 0.8 * varied.friction
    yaw = turned_by(np.array([0.0, 0.0, varied.turn[2]]))
    bench = Geom(
        "bench",
        "world",
        Box((0.30, 0.30, 0.04)),
        position=PLACE - (0.0, 0.0, 0.02),
        friction=friction,
    )
    shift = np.array([*varied.shift[:2], 0.0])  # it stands on the bench wherever it is put
    parts = [
        Part(source=robot.scene([bench], friction=friction)),
        Part(
            source=driver.scene(friction=0.7 * varied.friction),
            position=PLACE + shift,
            rotation=yaw,
        ),
    ]
    scene, nominal = compose(parts), Pose(PLACE + (0.0, 0.0, BOTTOM + LIFT), np.eye(3))
    start, posture = (arms(robot, nominal, grasps(), (0.0, back)) for back in (0.15, 0.0))
    q = scene.state.q.copy()
    q[: len(start)] = start
    scene.state = State(q, scene.state.v)
    return Task("driver handoff", robot, scene, "driver", posture, phases(), varied)


def judge(run: Run) -> dict[str, Any]:
    """What must hold of a handover, measured from the record; "faults" says what does not."""
    if not run.succeeded:
        return {"succeeded": False, "faults": [run.reason]}
    lifted, end = run.span("lift")[1], run.span("hold")[1]
    poses = run.task.object_poses(run.record)
    rows = run.rows("hold")
    figures = {
        "held": end - run.span("hold")[0],
        "slip": run.slip("hold", ("right",)),
        "slip_while_presented": run.slip("present", ("left",)),
        "supported": run.supported(lifted, end),
        "height": float(min(poses[row].position[2] for row in rows) - PLACE[2] - BOTTOM),
    }
    faults = []
    if figures["supported"]:
        faults.append("the driver touched the bench or the ground after it was lifted")
    slip = max(figures["slip"], figures["slip_while_presented"])
    if slip > 2e-3:
        faults.append(f"slipped by {1e3 * slip:.2f} mm, at most 2 are wanted")
    return {"succeeded": not faults, **figures, "faults": faults}


def _lifted(observation: Observation) -> Pose:
    """Straight up and level, where both hands reach it."""
    return Pose(PLACE + (0.0, 0.0, BOTTOM + LIFT), np.eye(3))
