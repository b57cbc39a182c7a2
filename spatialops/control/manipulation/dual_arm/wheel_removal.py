"""Two hands take a wheel off its hub, carry it back, hold it, and set it on a bench."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.shapes import Box, Geom
from spatialops.control.manipulation.dual_arm.run import Run
from spatialops.control.manipulation.dual_arm.task import REACH, Task, Variation
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
from spatialops.control.manipulation.task_script import Phase
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
    both, weight = SIDES, 9.81 * MASS
    firm = [presses(side, 0.15 * SQUEEZE) for side in both]
    kept = [*[presses(side, 2.0) for side in both], turned_less(0.15)]
    return [
        Phase(
            name="approach",
            move=to_object(grasps(), 0.137),
            grips=_both(Open(-0.35)),
            until=[arrived()],
        ),
        Phase(name="enclose", move=to_object(grasps()), until=[arrived(0.005)]),
        Phase(
            name="close",
            grips=_both(Squeeze(4.0)),
            until=[presses(side, 0.8) for side in both],
            hold=0.1,
        ),
        Phase(
            name="squeeze",
            grips=_both(Squeeze(SQUEEZE)),
            loads=lambda _: dict.fromkeys(both, 0.5 * weight),
            until=firm,
            hold=0.3,
        ),
        Phase(
            name="pull",
            move=object_to(both, _pulled),
            bounds=_CALM,
            until=[arrived(), is_free()],
            during=kept,
        ),
        Phase(
            name="lift",
            move=object_to(both, _lifted),
            bounds=_CALM,
            until=[arrived()],
            during=[*kept, is_free()],
        ),
        Phase(
            name="carry",
            move=object_to(both, _carried),
            bounds=_CALM,
            until=[arrived()],
            during=[*kept, is_free()],
        ),
        Phase(
            name="hold",
            move=remember(both),
            until=[slips_less(side, 2e-3) for side in both],
            during=[*kept, is_free()],
            hold=2.0,
        ),
        Phase(
            name="lower",
            move=object_to(both, _lowered),
            bounds=_SLOW,
            until=[rests(0.25 * weight)],
            during=kept,
        ),
        Phase(
            name="unload",
            loads=lambda _: dict.fromkeys(both, 0.0),
            until=[rests(0.6 * weight)],
            hold=0.3,
        ),
        Phase(
            name="open", grips=_both(Open(-0.35)), until=[lets_go(side) for side in both], hold=0.3
        ),
        Phase(
            name="retract",
            move=back_off(both, 0.13),
            until=[arrived(), rests(0.6 * weight)],
            hold=0.2,
        ),
    ]


def wheel_removal(variation: Variation | None = None) -> Task:
    """The task: robot, wheel on its hub, bench.

    Parameters
    ----------
    variation : Variation, optional
        How the wheel, the hub's place and friction differ from what the controller expects.
    """
    varied, robot = variation or Variation(), dual_arm()
    wheel = wheel_on_hub(mass=MASS * varied.mass)
    friction = 0.8 * varied.friction
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
            source=wheel.scene(friction=friction, hub_friction=0.2 * varied.friction),
            position=HUB + varied.shift,
            rotation=turned_by(np.array(varied.turn)),
        ),
    ]
    scene, nominal = compose(parts), Pose(HUB, np.eye(3))
    start, posture = (arms(robot, nominal, grasps(), back) for back in ((0.14, 0.137), (0.14, 0.0)))
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
            q[robot.model.q_slice(f"{side}_{name}")] = -0.35
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
    if figures["distance_from_hub"] < 0.25:
        faults.append(f"only {figures['distance_from_hub']:.3f} m off the hub, 0.25 m are wanted")
    if figures["tilt"] > 5.0:
        faults.append(f"leans by {figures['tilt']:.1f} degrees, at most 5 are wanted")
    if figures["held"] < 2.0 - 1e-9 or figures["supported"]:
        faults.append(f"not held for 2 s without support ({figures['held']:.2f} s)")
    if figures["slip"] > 2e-3:
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
    return Pose(np.array([*level.position[:2], BENCH_HEIGHT + 0.19]), np.eye(3))


def _beginning(state: State, arms: Array) -> State:
    q = state.q.copy()
    q[: len(arms)] = arms
    return State(q, state.v)
