"""A quadruped walks with the exact cone: foot after foot, stood on once it is felt to rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.secondary_tasks import Rest
from spatialops.control.task_space.tasks import PointTask, PoseTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.jacobian import node_positions
from spatialops.experiments.aghili.states import grips, motors_of
from spatialops.experiments.aghili.watch import CAUTION, LEAST, Watch, ease, hop
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator
from spatialops.tree.node import Node
from spatialops.tree.state import State

_ROUNDING = 1e-9  # of a phase that is over

_LAND = 0.02  # m/s, how fast a foot comes down


class Crawl:
    """One foot after another: the base leans off the foot that is to lift and swing ahead.

    A foot counts as standing again when its contact is felt: pressed while it is still a micrometre
    up, it slips.

    Parameters
    ----------
    robot : Quadruped
    friction : float
        That the controller counts on.
    step : float
        m.
    lean, swing : float
        Seconds on four feet, and on three, of each quarter of the gait.
    height : float
        Of a lifted foot, m.
    """

    order = (2, 0, 3, 1)  # left hind, left front, right hind, right front

    def __init__(
        self,
        robot: Quadruped,
        *,
        friction: float,
        step: float = 0.03,
        lean: float = 0.4,
        swing: float = 0.25,
        height: float = 0.015,
    ) -> None:
        self.robot = robot
        self.friction = friction
        self.step = step
        self.lean = lean
        self.swing = swing
        self.height = height
        self.phase = lean + swing
        self.task = PoseTask(Node("base"))
        self.start = self.task.motion(robot.model, robot.state).x
        self.feet = node_positions(robot.model, robot.state.q, [Node(foot) for foot in robot.feet])
        self.landed = 0  # quarters whose foot stands again
        self._steady = np.ones(4, dtype=bool)

    def feel(self, time: float, steady: BoolArray) -> None:
        """Take notice of the feet that rest; one that came down and rests twice has landed."""
        done, since = self._quarter(time)
        both, self._steady = steady & self._steady, steady
        swinging = self._lifted(done, since)
        if swinging is not None and both[swinging] and since > self.lean + 0.5 * self.swing:
            self.landed = done + 1
        elif self.landed < done and both[self.order[(done - 1) % 4]]:
            self.landed = done

    def _lifted(self, done: int, since: float) -> int | None:
        """The foot that is up, or None."""
        if self.landed < done:  # the last one has not found the ground yet
            return self.order[(done - 1) % 4]
        return self.order[done % 4] if since >= self.lean and self.landed == done else None

    def _places(self, done: int) -> Array:
        """Where feet stand after `done` steps."""
        places = self.feet.copy()
        for k, foot in enumerate(self.order):
            places[foot, 0] += self.step * ((done + 3 - k) // 4)
        return places

    def _quarter(self, time: float) -> tuple[int, float]:
        done = int(time // self.phase + _ROUNDING)
        return done, time - done * self.phase

    def held(self, time: float, state: State) -> HeldContacts:
        """Feet that stand."""
        lifted = self._lifted(*self._quarter(time))
        return grips(
            self.robot, [foot for foot in range(4) if foot != lifted], self.friction, least=LEAST
        )

    def _goal(self, done: int) -> Array:
        """The base over the middle of the feet that will stand."""
        places = self._places(done)
        stands = [foot for foot in range(4) if foot != self.order[done % 4]]
        goal = self.start.copy()
        goal[3:5] = 0.5 * places[stands, :2].mean(axis=0) + 0.5 * places[:, :2].mean(axis=0)
        return goal

    def base(self, time: float) -> tuple[Array, Array, Array]:
        """Path of the base: to the next goal while all feet stand, still otherwise."""
        done, since = self._quarter(time)
        before = self._goal(done - 1) if done else self.start
        return ease(before, self._goal(done), since, self.lean)

    def foot(self, time: float) -> tuple[Array, Array, Array]:
        """Path of the foot that is up: a step ahead, and down until it touches."""
        done, since = self._quarter(time)
        if self.landed < done:
            done, since = done - 1, since + self.phase
        foot, swing = self.order[done % 4], self.swing - 0.01
        x, v, a = ease(
            self._places(done)[foot], self._places(done + 1)[foot], since - self.lean, swing
        )
        z, dz, ddz = hop(self.height, since - self.lean, swing, _LAND)
        up = np.array([0.0, 0.0, 1.0])
        return x + z * up, v + dz * up, a + ddz * up

    def tasks(self, time: float, state: State) -> Sequence[Tracking]:
        """The base, and the foot that is up."""
        base, lifted = (
            Tracking(self.task, self.base, stiffness=400.0, name="base"),
            self._lifted(*self._quarter(time)),
        )
        if lifted is None:
            return [base]
        foot = PointTask(Node(self.robot.feet[lifted]))
        return [base, Tracking(foot, self.foot, stiffness=900.0, name="foot")]


def walking(quarters: int = 12, friction: float = 0.6, dt: float = 1e-3) -> PlainData:
    """Walk with one foot in the air at a time; feet that stand may not slip."""
    robot = quadruped()
    crawl = Crawl(robot, friction=CAUTION * friction)
    controller = FrictionConeController(
        robot.model,
        crawl.tasks,
        motors_of(robot),
        contacts=crawl.held,
        posture=Rest(q=robot.state.q),
    )
    watch = Watch(controller, robot, crawl.base, friction, crawl)
    duration = quarters * crawl.phase
    record = Simulator(robot.scene(friction=friction), law="cone", dt=dt).run(
        robot.state, duration, controller=watch
    )
    feet = [Node(foot) for foot in robot.feet]
    ways = (node_positions(robot.model, record.q[-1], feet) - crawl.feet)[:, 0]
    return {
        "duration": duration,
        "steps": quarters,
        **watch.found(),
        "way of the base, m": float(record.q[-1, 0] - robot.state.q[0]),
        "way of the feet, m": [float(way) for way in ways],
    }
