"""The left hand takes an impact driver from a bench and hands it over to the right."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.shapes import Box, Geom
from spatialops.control.manipulation.dual_arm.run import Run
from spatialops.control.manipulation.dual_arm.task import (
    FIRM,
    GRAVITY,
    KEPT,
    OPENED,
    REACH,
    Task,
    Variation,
)
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
from spatialops.control.manipulation.task_script import Guard, Phase
from spatialops.control.trajectory import Bounds, Pose, turned_by
from spatialops.models.dual_arm import dual_arm
from spatialops.models.impact_driver import BOTTOM, HOUSING_HEIGHT, impact_driver
from spatialops.simulation.scene.composition import Part, compose
from spatialops.tree.state import State

PLACE = np.array([0.48, 0.0, 0.86])  # m, where the driver stands: a bench before the robot
MASS = 1.8  # kg, what the controller takes the driver for
SQUEEZE = 40.0  # N
LIFT = 0.15  # m
_LEFT = ("left",)
_RIGHT = ("right",)
_WEIGHT = GRAVITY * MASS  # N
_BESIDE = 0.13  # m before a grasp, where an open hand waits
_BACK = 0.15  # m back from a grasp, where the task begins and where a hand retires to
_THERE = 0.005  # m from a grasp, from where fingers may close
_TOUCH = 3.0  # N, with which fingers close, and
_TOUCHES = 0.6  # N, with which each then presses
_HELD = 1.0  # N, with which each finger must press all the time
_TURNED = 0.3  # rad that the driver may turn in a hand
_FRICTION = 0.8  # of fingers and bench, and
_DRIVER_FRICTION = 0.7
_CALM = Bounds(speed=0.15, acceleration=0.5, jerk=5.0)


def grasps() -> dict[str, Pose]:
    """Palms in the driver's frame: left at the grip, right at the housing with its thumb below."""
    grip, housing = np.array([0.0, 0.0, -0.025]), np.array([0.045, 0.0, HOUSING_HEIGHT])
    return {
        "left": palm_pose(grip, (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0), REACH),
        "right": palm_pose(housing, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), REACH),
    }


def phases(place: Array = PLACE) -> list[Phase[Observation]]:
    """The task, from hands beside the driver, which stands at `place`, to it in the right hand."""
    return [*_taken(place), *_in_both_hands(), *_handed_over()]


def _taken(place: Array) -> list[Phase[Observation]]:
    """The left hand takes the driver, and presents it."""
    giver = {"left": grasps()["left"]}
    opened = {"left": Open(OPENED), "right": Open(OPENED)}
    return [
        Phase(name="approach", move=to_object(giver, _BESIDE), grips=opened, until=[arrived()]),
        Phase(name="enclose", move=to_object(giver), until=[arrived(_THERE)]),
        Phase(
            name="close",
            grips={"left": Squeeze(_TOUCH)},
            until=[presses("left", _TOUCHES)],
            hold=0.1,
        ),
        Phase(
            name="squeeze",
            grips={"left": Squeeze(SQUEEZE)},
            loads=lambda _: {"left": _WEIGHT},
            until=[presses("left", FIRM * SQUEEZE)],
            hold=0.3,
        ),
        Phase(
            name="lift",
            move=object_to(_LEFT, lambda _: lifted(place)),
            bounds=_CALM,
            until=[arrived(), is_free()],
            during=_held_by("left"),
        ),
        Phase(
            name="present",
            move=remember(_LEFT),
            until=[slips_less("left", KEPT)],
            during=[*_held_by("left"), is_free()],
            hold=0.5,
        ),
    ]


def _in_both_hands() -> list[Phase[Observation]]:
    """The right hand comes and takes hold, too."""
    taker, kept = {"right": grasps()["right"]}, [*_held_by("left"), is_free()]
    return [
        Phase(name="meet", move=to_object(taker, _BESIDE), until=[arrived()], during=kept),
        Phase(
            name="reach",
            move=to_object(taker),
            bounds=_CALM,
            until=[arrived(_THERE)],
            during=kept,
        ),
        Phase(
            name="second closes",
            grips={"right": Squeeze(_TOUCH)},
            until=[presses("right", _TOUCHES)],
            during=kept,
            hold=0.1,
        ),
        Phase(
            name="second squeezes",
            grips={"right": Squeeze(SQUEEZE)},
            until=[presses("right", FIRM * SQUEEZE)],
            during=kept,
            hold=0.3,
        ),
    ]


def _handed_over() -> list[Phase[Observation]]:
    """The left hand lets go, and the right one keeps the driver."""
    kept = [*_held_by("right"), is_free()]
    return [
        Phase(
            name="hand over",
            loads=lambda _: {"left": 0.0, "right": _WEIGHT},
            until=[presses("right", FIRM * SQUEEZE)],
            during=[*_held_by("left"), *kept],
            hold=0.4,
        ),
        Phase(
            name="first opens",
            grips={"left": Open(OPENED)},
            until=[lets_go("left")],
            during=kept,
            hold=0.3,
        ),
        Phase(
            name="retract",
            move=back_off(_LEFT, _BACK),
            until=[arrived()],
            during=kept,
        ),
        Phase(
            name="hold",
            move=remember(_RIGHT),
            until=[slips_less("right", KEPT), lets_go("left")],
            during=kept,
            hold=1.0,
        ),
    ]


def _held_by(side: str) -> list[Guard[Observation]]:
    """What must be true while a hand holds the driver."""
    return [presses(side, _HELD), turned_less(_TURNED)]


def driver_handoff(variation: Variation | None = None) -> Task:
    """The task: robot, bench, and the driver that stands on it."""
    varied = variation or Variation()
    robot = dual_arm()
    driver = impact_driver(mass=MASS * varied.mass)
    friction = _FRICTION * varied.friction
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
            source=driver.scene(friction=_DRIVER_FRICTION * varied.friction),
            position=PLACE + shift,
            rotation=yaw,
        ),
    ]
    scene = compose(parts)
    start, posture = (arms(robot, lifted(PLACE), grasps(), (0.0, back)) for back in (_BACK, 0.0))
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
    if slip > KEPT:
        faults.append(f"slipped by {1e3 * slip:.2f} mm, at most 2 are wanted")
    return {"succeeded": not faults, **figures, "faults": faults}


def lifted(place: Array) -> Pose:
    """The driver straight up from `place` and level, where both hands reach it."""
    return Pose(place + (0.0, 0.0, BOTTOM + LIFT), np.eye(3))
