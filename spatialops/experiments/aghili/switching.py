"""A quadruped is told at random, every 60 to 200 ms, on which feet it may stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.task_space.secondary_tasks import Rest
from spatialops.control.task_space.tasks import PointTask, PoseTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.jacobian import node_positions
from spatialops.experiments.aghili.states import grips, motors_of
from spatialops.experiments.aghili.watch import CAUTION, LEAST, Watch, hop, shift
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.simulator import Simulator
from spatialops.tree.node import Node
from spatialops.tree.state import State

# All four feet, three of them, or two across: there nothing but legs in the air turns the base
# about the feet's line.
SETS = ((0, 1, 2, 3), (1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2), (0, 3), (1, 2))
_LAND = 0.02  # m/s, how fast a foot comes down
_EARLY = 0.01  # s before the next set, when it is to have landed
_WORTH = 0.03  # s left of a set of feet, for which a foot is lifted
_HASTE = 10.0  # m/s^2, the most that a foot is lifted with


class RandomStances:
    """Sets of feet for random times; a foot that is up comes down until it is felt to touch.

    Parameters
    ----------
    robot : Quadruped
    friction : float
        That the controller counts on.
    duration : float
        s.
    seed : int
    """

    def __init__(self, robot: Quadruped, *, friction: float, duration: float, seed: int) -> None:
        self.robot = robot
        self.friction = friction
        rng = np.random.default_rng(seed)
        times = rng.uniform(0.06, 0.2, size=int(duration / 0.06) + 2)
        self.ends, self.sets = np.cumsum(times), rng.integers(0, len(SETS), size=len(times))
        self.task = PoseTask(Node("base"))
        start = self.task.motion(robot.model, robot.state).x
        self.base = shift(start, np.array([0.0, 0.0, 0.05, 0.01, 0.01, 0.0]), 3.0)
        self.places = node_positions(
            robot.model, robot.state.q, [Node(foot) for foot in robot.feet]
        )
        # Of a foot: when it lifted, for how long, from where.
        self.up: dict[int, tuple[float, float, Array]] = {}
        self._steady, self._feet = np.ones(4, dtype=bool), self.places

    def feel(self, time: float, steady: BoolArray) -> None:
        """Lift feet that may not be stood on; stand on those that came down and rest twice."""
        both, self._steady = steady & self._steady, steady
        for foot, (since, span, _) in list(self.up.items()):
            if both[foot] and time > since + 0.5 * span:
                del self.up[foot]
        k = int(np.searchsorted(self.ends, time, side="right"))
        left = self.ends[k] - time - _EARLY
        for foot in range(4):
            if foot not in SETS[self.sets[k]] and foot not in self.up and left > _WORTH:
                self.up[foot] = (time, left, self._feet[foot].copy())

    def held(self, time: float, state: State) -> HeldContacts:
        """Feet that stand."""
        return grips(
            self.robot,
            [foot for foot in range(4) if foot not in self.up],
            self.friction,
            least=LEAST,
        )

    def tasks(self, time: float, state: State) -> Sequence[Tracking]:
        """The base, and the feet that are up."""
        self._feet = node_positions(
            self.robot.model, state.q, [Node(foot) for foot in self.robot.feet]
        )
        base = Tracking(self.task, self.base, stiffness=200.0, name="base")
        feet = [
            Tracking(
                PointTask(Node(self.robot.feet[foot])),
                partial(self._path, foot),
                stiffness=900.0,
                name="foot",
            )
            for foot in sorted(self.up)
        ]
        return [base, *feet]

    def _path(self, foot: int, time: float) -> tuple[Array, Array, Array]:
        since, span, start = self.up[foot]
        s = min((time - since) / span, 1.0)
        way = self.places[foot] - start
        z, dz, ddz = hop(_HASTE / 32.0 * span * span, time - since, span, _LAND)
        up = np.array([0.0, 0.0, 1.0])
        x = start + way * s * s * (3.0 - 2.0 * s)
        v, a = way * 6.0 * s * (1.0 - s) / span, way * 6.0 * (1.0 - 2.0 * s) / span**2 * (s < 1.0)
        return x + z * up, v + dz * up, a + ddz * up


def switching(
    duration: float = 60.0, friction: float = 0.6, seed: int = 0, dt: float = 1e-3
) -> PlainData:
    """Stand, as far as that goes, on sets of feet that change at random."""
    robot = quadruped()
    stances = RandomStances(robot, friction=CAUTION * friction, duration=duration, seed=seed)
    controller = FrictionConeController(
        robot.model,
        stances.tasks,
        motors_of(robot),
        contacts=stances.held,
        posture=Rest(q=robot.state.q),
    )
    watch = Watch(controller, robot, stances.base, friction, stances)
    Simulator(robot.scene(friction=friction), law="cone", dt=dt).run(
        robot.state, duration, controller=watch, record_every=50
    )
    return {
        "duration": duration,
        "switches": int(np.searchsorted(stances.ends, duration)),
        **watch.found(),
    }
