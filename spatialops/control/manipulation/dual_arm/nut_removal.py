"""The driver that was handed over turns four lug nuts off their studs, by contact alone.

While a nut is on its thread it is a screw joint; from the end of the thread on it is a free body,
in another scene that begins with the same poses and velocities.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Box, Geom
from spatialops.control.manipulation.controller import ManipulationController
from spatialops.control.manipulation.dual_arm import driver_handoff
from spatialops.control.manipulation.dual_arm.task import DT, Task
from spatialops.control.manipulation.dual_arm.wheel_removal import HUB, arms
from spatialops.control.manipulation.motions import arrived, object_to, presses
from spatialops.control.manipulation.observation import Observation
from spatialops.control.manipulation.task_script import Guard, Phase
from spatialops.control.trajectory import Bounds, Pose, turned_by
from spatialops.models.dual_arm import dual_arm
from spatialops.models.impact_driver import HOUSING_HEIGHT
from spatialops.models.lug_nut import HEIGHT, PITCH, SIDES, lug_nut
from spatialops.models.nut_runner import LENGTH, SPINDLE, nut_runner
from spatialops.models.wheel_on_hub import (
    DISC_THICKNESS,
    STUD_CIRCLE,
    STUD_END,
    wheel_on_hub,
)
from spatialops.simulation.scene.composition import Part, compose
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State

N_NUTS = 4
PLACE = np.array([0.40, 0.0, 0.72])  # m, where the driver stands to begin with
THREAD_TORQUE = 0.3  # N m, of friction
TURN_OFF = "turn off nut"  # phases of this name run the spindle
_SEAT = 2e-4  # m between a nut and the disc
TRAVEL = -STUD_END - 0.5 * DISC_THICKNESS - _SEAT  # m, of a nut to the end of its thread
_SPEED = 30.0  # rad/s, of the spindle under no load
_DROOP, _STALL = 0.1, 0.8  # N m s, N m
_HOLDING = (1.0, 0.02)  # N m/rad, N m s/rad: the spindle where it is not run
_BEFORE, _OVER = 0.020, 0.008  # m of the socket's mouth before a nut, and over it
_AWAY = 0.06  # m back from a stud
_TIP = 1.2  # rad that the socket is tipped by, so that its nut falls out
_HELD = 1.0  # N, with which each finger must press all the time
_SLOW = Bounds(speed=0.04, acceleration=0.3, jerk=3.0)
_CALM = Bounds(speed=0.15, acceleration=0.5, jerk=5.0)
_RATE = PITCH * (_SPEED - THREAD_TORQUE / _DROOP)  # m/s, of a nut under the thread's friction
# A motion of least jerk has 15/8 of its mean speed in its middle.
_FEED = Bounds(speed=1.875 * _RATE, acceleration=1.0, jerk=10.0)


def nut_angle(i: int) -> float:
    """How nut i stands on its seat, rad about x; not all alike."""
    return 0.2 + 0.25 * i


def seat(i: int) -> Array:
    """Middle of nut i on its seat, m."""
    angle = 0.5 * math.pi * i
    out = -0.5 * DISC_THICKNESS - _SEAT - 0.5 * HEIGHT
    y, z = STUD_CIRCLE * math.cos(angle), STUD_CIRCLE * math.sin(angle)
    return HUB + np.array([out, y, z])


def phases() -> list[Phase[Observation]]:
    """Hand-over, then nut after nut."""
    found = driver_handoff.phases(PLACE)
    for i in range(N_NUTS):
        found += [*_onto(i), *_off(i)]
    return found


def _onto(i: int) -> list[Phase[Observation]]:
    """The socket comes over the nut; where it stands before it is corrected once."""
    before, on = _driver(i, -_BEFORE), _driver(i, _OVER)
    return [
        _phase(f"to nut {i}", before, _CALM, [arrived()]),
        _phase(f"align with nut {i}", before, _SLOW, [arrived()], hold=0.3),
        _phase(f"onto nut {i}", on, _SLOW, [arrived(0.005)]),
    ]


def _off(i: int) -> list[Phase[Observation]]:
    """The spindle turns the nut off, the hand gives way, and the nut falls out of the socket."""
    back, away = _driver(i, _OVER - TRAVEL), _driver(i, -_AWAY - TRAVEL)
    tipped = Pose(away.position, turned_by(np.array([0.0, _TIP, 0.0])))
    return [
        _phase(f"{TURN_OFF} {i}", back, _FEED, [arrived()], hold=0.3),
        _phase(f"leave stud {i}", away, _CALM, [arrived()]),
        _phase(f"tip nut {i} out", tipped, Bounds(turn_speed=1.5), [arrived(0.02)], hold=0.3),
        _phase(f"level after nut {i}", away, Bounds(turn_speed=1.5), [arrived(0.02)]),
    ]


def _phase(
    name: str, goal: Pose, bounds: Bounds, until: list[Guard[Observation]], hold: float = 0.05
) -> Phase[Observation]:
    kept = [presses("right", _HELD)]
    move = object_to(("right",), lambda _: goal)
    return Phase(
        name=name, move=move, bounds=bounds, until=until, during=kept, hold=hold, timeout=12.0
    )


def _driver(i: int, over: float) -> Pose:
    """The driver, level, with the socket's mouth so far over nut i on its seat, m."""
    mouth = seat(i) - np.array([0.5 * HEIGHT - over, 0.0, 0.0])
    return Pose(mouth - np.array([SPINDLE[0] + LENGTH, 0.0, HOUSING_HEIGHT]), np.eye(3))


def nut_scene(threaded: tuple[bool, ...] = (True,) * N_NUTS) -> Scene:
    """Robot, driver, wheel on its hub, and nuts, some of which may be off their threads."""
    bench = Geom(
        "bench",
        "world",
        Box((0.30, 0.30, 0.04)),
        position=PLACE - (0.0, 0.0, 0.02),
        friction=0.8,
    )
    parts = [
        Part(source=dual_arm().scene([bench])),
        Part(source=nut_runner().scene(), position=PLACE),
        Part(source=wheel_on_hub().scene(), position=HUB),
    ]
    for i, held in enumerate(threaded):
        nut = lug_nut(f"nut{i}", threaded=held, torque=THREAD_TORQUE)
        turn = turned_by(np.array([nut_angle(i), 0.0, 0.0]))
        parts.append(Part(source=nut.scene(), position=seat(i), rotation=turn))
    return compose(parts)


def nut_removal() -> Task:
    """The task: the robot beside the driver on its bench, the wheel held by four nuts."""
    robot, scene = dual_arm(), nut_scene()
    lifted, grasps = driver_handoff.lifted(PLACE), driver_handoff.grasps()
    start, posture = (arms(robot, lifted, grasps, (0.0, back)) for back in (0.15, 0.0))
    q = scene.state.q.copy()
    q[: len(start)] = start
    scene.state = State(q, scene.state.v)
    return Task("nut removal", robot, scene, "driver", posture, phases())


class NutRunnerController:
    """The hands' controller, and the driver's own: its trigger, and what holds its spindle."""

    def __init__(self, task: Task, dt: float = DT) -> None:
        self.hands: ManipulationController = task.controller(dt)
        self.begins = False  # a stretch of the run begins: its first contacts are not known yet
        self._contacts: ContactSet | None = None
        self.go_on_in(task.scene, (True,) * N_NUTS)

    def go_on_in(self, scene: Scene, threaded: tuple[bool, ...]) -> None:
        """Go on in a scene in which other nuts are off their threads."""
        self.hands.go_on_in(scene)
        model = scene.model
        self._at, self._row = model.q_slice("socket").start, model.v_slice("socket").start
        self._nuts = [model.q_slice(f"nut{i}").start if on else -1 for i, on in enumerate(threaded)]

    @property
    def turning(self) -> int:
        """The nut that the spindle is run for; -1: it is not."""
        phase = self.hands.script.phase
        running = phase is not None and phase.name.startswith(TURN_OFF)
        return int(phase.name[len(TURN_OFF) :]) if phase is not None and running else -1

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """Torques of the robot, and of the spindle against the driver."""
        if self.begins and self._contacts is not None:
            contacts = self._contacts  # pairs have the same numbers in all scenes of the nuts
        self.begins, self._contacts = False, contacts
        tau = self.hands(time, state, contacts)
        angle, rate = state.q[self._at], state.v[self._row]
        nut = self.turning
        if nut >= 0 and self._nuts[nut] >= 0:
            tau[self._row] = np.clip(_DROOP * (-_SPEED - rate), -_STALL, _STALL)
            return tau
        stiffness, damping = _HOLDING
        tau[self._row] = stiffness * self._to_flats(state, angle) - damping * rate
        return tau

    def _to_flats(self, state: State, angle: float) -> float:
        """From the socket's flats to those of the next nut on a thread, rad; 0 without any."""
        nut = next((i for i, at in enumerate(self._nuts) if at >= 0), -1)
        if nut < 0:
            return 0.0
        sector = 2.0 * math.pi / SIDES
        apart = nut_angle(nut) - state.q[self._nuts[nut]] - angle
        return math.remainder(apart, sector)
