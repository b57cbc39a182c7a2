"""Two hands take a wheel off its hub, carry it back, hold it, and set it on a bench."""

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
from spatialops.control.manipulation.grasp_force import Grip, Open, Squeeze
from spatialops.control.manipulation.motions import (
    arrived,
    back_off,
    is_free,
    lets_go,
    object_to,
    palm_pose,
    presses,
    remember,
    rests,
    slips_less,
    to_object,
    turned_less,
)
from spatialops.control.manipulation.observation import Observation
from spatialops.control.manipulation.task_script import Guard, Phase
from spatialops.control.trajectory import Bounds, Pose, turned_by
from spatialops.models.dual_arm import SIDES, DualArm, dual_arm
from spatialops.models.wheel_on_hub import GRIP_RADIUS, wheel_on_hub
from spatialops.simulation.scene.composition import Part, compose
from spatialops.tree.state import State

# m, the hub's middle: the wheel comes off towards the robot, along -x
HUB = np.array([0.69, 0.0, 1.05])
MASS = 7.0  # kg, what the controller takes the wheel for
SQUEEZE = 60.0  # N
PULL = 0.10  # m
LIFT = 0.05  # m
BACK = 0.20  # m
BENCH_HEIGHT = 0.80  # m
_WEIGHT = GRAVITY * MASS  # N
_HOLD = 2.0  # s
_START = (0.14, 0.137)  # m in front of the grasps and back from them, where hands begin
_BACK = 0.13  # m back from a grasp, where a hand retires to
_THERE = 0.005  # m from a grasp, from where fingers may close
_TOUCH = 4.0  # N, with which fingers close, and
_TOUCHES = 0.8  # N, with which each then presses
_HELD = 2.0  # N, with which each finger must press all the time
_TURNED = 0.15  # rad that the wheel may turn in the hands
_INTO_BENCH = 0.19  # m above the bench: the wheel's middle when it is a little in it
# Of its weight, with which the wheel rests on the bench: when it comes down, and when it stands.
_TOUCHES_DOWN = 0.25
_STANDS = 0.6
_FRICTION = 0.8
_HUB_FRICTION = 0.2
# What is asked of a run, beside `KEPT` and `_HOLD`.
_OFF_THE_HUB = 0.25  # m
_UPRIGHT = 5.0  # degrees
_ROUNDING = 1e-9  # s
_OUT = {"left": 1.0, "right": -1.0}
# An arm with its elbow out and below, the hand beside the wheel and pointing inward; axes along the
# arm (every other) turn the other way on the right.
_SEED = (0.87, 0.91, -1.06, 1.61, 0.85, 1.16, -0.40)
_CALM = Bounds(speed=0.15, acceleration=0.5, jerk=5.0)
_SLOW = Bounds(speed=0.08, acceleration=0.3, jerk=3.0)


def grasps() -> dict[str, Pose]:
    """Palms in the wheel's frame: at its sides, inward, fingers before the tyre, thumbs behind."""
    return {
        side: palm_pose(
            np.array([0.0, out * GRIP_RADIUS, 0.0]), (0.0, -out, 0.0), (-1.0, 0.0, 0.0), REACH
        )
        for side, out in _OUT.items()
    }


def phases() -> list[Phase[Observation]]:
    """The task, from hands beside the hub to hands beside the bench."""
    return [*_gripped(), *_taken_off(), *_set_down()]


def _gripped() -> list[Phase[Observation]]:
    """Hands come to the sides of the wheel and press."""
    return [
        Phase(
            name="approach",
            move=to_object(grasps(), _START[1]),
            grips=_both(Open(OPENED)),
            until=[arrived()],
        ),
        Phase(name="enclose", move=to_object(grasps()), until=[arrived(_THERE)]),
        Phase(
            name="close",
            grips=_both(Squeeze(_TOUCH)),
            until=[presses(side, _TOUCHES) for side in SIDES],
            hold=0.1,
        ),
        Phase(
            name="squeeze",
            grips=_both(Squeeze(SQUEEZE)),
            loads=lambda _: dict.fromkeys(SIDES, 0.5 * _WEIGHT),
            until=[presses(side, FIRM * SQUEEZE) for side in SIDES],
            hold=0.3,
        ),
    ]


def _taken_off() -> list[Phase[Observation]]:
    """The wheel comes off its hub, back towards the robot, and is held there."""
    free = [*_kept(), is_free()]
    return [
        Phase(
            name="pull",
            move=object_to(SIDES, _pulled),
            bounds=_CALM,
            until=[arrived(), is_free()],
            during=_kept(),
        ),
        Phase(
            name="lift",
            move=object_to(SIDES, _lifted),
            bounds=_CALM,
            until=[arrived()],
            during=free,
        ),
        Phase(
            name="carry",
            move=object_to(SIDES, _carried),
            bounds=_CALM,
            until=[arrived()],
            during=free,
        ),
        Phase(
            name="hold",
            move=remember(SIDES),
            until=[slips_less(side, KEPT) for side in SIDES],
            during=free,
            hold=_HOLD,
        ),
    ]


def _set_down() -> list[Phase[Observation]]:
    """The wheel is set on the bench, and hands let go of it."""
    return [
        Phase(
            name="lower",
            move=object_to(SIDES, _lowered),
            bounds=_SLOW,
            until=[rests(_TOUCHES_DOWN * _WEIGHT)],
            during=_kept(),
        ),
        Phase(
            name="unload",
            loads=lambda _: dict.fromkeys(SIDES, 0.0),
            until=[rests(_STANDS * _WEIGHT)],
            hold=0.3,
        ),
        Phase(
            name="open",
            grips=_both(Open(OPENED)),
            until=[lets_go(side) for side in SIDES],
            hold=0.3,
        ),
        Phase(
            name="retract",
            move=back_off(SIDES, _BACK),
            until=[arrived(), rests(_STANDS * _WEIGHT)],
            hold=0.2,
        ),
    ]


def _kept() -> list[Guard[Observation]]:
    """What must be true while hands hold the wheel."""
    return [*[presses(side, _HELD) for side in SIDES], turned_less(_TURNED)]


def wheel_removal(variation: Variation | None = None) -> Task:
    """The task: robot, wheel on its hub, bench.

    Parameters
    ----------
    variation : Variation, optional
        How the wheel, the hub's place and friction differ from what the controller expects.
    """
    varied, robot = variation or Variation(), dual_arm()
    wheel = wheel_on_hub(mass=MASS * varied.mass)
    friction = _FRICTION * varied.friction
    bench = Geom(
        "bench",
        "world",
        Box((0.30, 0.50, 0.04)),
        position=(0.37, 0.0, BENCH_HEIGHT - 0.02),
        friction=friction,
    )
    parts = [
        Part(source=robot.scene([bench], friction=friction)),
        Part(
            source=wheel.scene(friction=friction, hub_friction=_HUB_FRICTION * varied.friction),
            position=HUB + varied.shift,
            rotation=turned_by(np.array(varied.turn)),
        ),
    ]
    scene, nominal = compose(parts), Pose(HUB, np.eye(3))
    start, posture = (arms(robot, nominal, grasps(), back) for back in (_START, (_START[0], 0.0)))
    scene.state = _beginning(scene.state, start)
    return Task("wheel removal", robot, scene, "wheel", posture, phases(), varied)


def arms(robot: DualArm, held: Pose, hold: dict[str, Pose], away: tuple[float, float]) -> Array:
    """Joints of the robot with open hands before what it is to hold.

    Parameters
    ----------
    robot : DualArm
        The robot.
    held : Pose
        What it is to hold, in the world.
    hold : dict of str to Pose
        Palms in the frame of what is held.
    away : tuple of float
        So far in front of it (towards the robot), and so far back along the way palms point, m.

    Returns
    -------
    (nq,) array
        Coordinates of the robot.
    """
    q = robot.state.q.copy()
    for side, out in _OUT.items():
        for i, angle in enumerate(_SEED):
            q[robot.model.q_slice(f"{side}_arm{i + 1}")] = angle if i % 2 else out * angle
    forward = Pose(np.array([-away[0], 0.0, 0.0]), np.eye(3))
    back = Pose(np.array([0.0, 0.0, -away[1]]), np.eye(3))
    q = robot.reach({side: forward @ held @ hold[side] @ back for side in hold}, q)
    for side in SIDES:
        for name in ("finger1", "finger2", "thumb"):
            q[robot.model.q_slice(f"{side}_{name}")] = OPENED
    return q


def judge(run: Run) -> dict[str, Any]:
    """What must hold of a wheel's removal, from the record; "faults" says what does not."""
    if not run.succeeded:
        return {"succeeded": False, "faults": [run.reason]}
    begin, end = run.span("hold")
    poses = run.task.object_poses(run.record)
    held = [poses[row] for row in run.rows("hold")]
    hub = np.asarray(HUB) + run.task.variation.shift
    figures = {
        "distance_from_hub": float(min(np.linalg.norm(pose.position - hub) for pose in held)),
        "tilt": float(np.degrees(max(lean(pose) for pose in [*held, poses[-1]]))),
        "held": end - begin,
        "slip": run.slip("hold"),
        "supported": run.supported(begin, end),
        "set_down_height": float(poses[-1].position[2]),
    }
    faults = []
    if figures["distance_from_hub"] < _OFF_THE_HUB:
        faults.append(f"only {figures['distance_from_hub']:.3f} m off the hub, 0.25 m are wanted")
    if figures["tilt"] > _UPRIGHT:
        faults.append(f"leans by {figures['tilt']:.1f} degrees, at most 5 are wanted")
    if figures["held"] < _HOLD - _ROUNDING or figures["supported"]:
        faults.append(f"not held for 2 s without support ({figures['held']:.2f} s)")
    if figures["slip"] > KEPT:
        faults.append(f"slipped by {1e3 * figures['slip']:.2f} mm, at most 2 are wanted")
    return {"succeeded": not faults, **figures, "faults": faults}


def lean(pose: Pose) -> float:
    """Angle between the axle and the horizontal, rad."""
    return float(abs(np.arcsin(np.clip(pose.rotation[2, 0], -1.0, 1.0))))


def _both(grip: Grip) -> dict[str, Grip]:
    return dict.fromkeys(SIDES, grip)


def _pulled(observation: Observation) -> Pose:
    """Off the hub along its axis."""
    return observation.begin @ Pose(np.array([-PULL, 0.0, 0.0]), np.eye(3))


def _lifted(observation: Observation) -> Pose:
    off = _pulled(observation)
    return Pose(off.position + (0.0, 0.0, LIFT), off.rotation)


def _carried(observation: Observation) -> Pose:
    """Back towards the robot, and as level as the world."""
    return Pose(HUB + (-PULL - BACK, 0.0, LIFT), np.eye(3))


def _lowered(observation: Observation) -> Pose:
    """A little into the bench, which ends the motion."""
    level = Pose(observation.object.position, np.eye(3))
    return Pose(np.array([*level.position[:2], BENCH_HEIGHT + _INTO_BENCH]), np.eye(3))


def _beginning(state: State, arms: Array) -> State:
    q = state.q.copy()
    q[: len(arms)] = arms
    return State(q, state.v)
