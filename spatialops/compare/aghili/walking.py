"""A quadruped in the simulator with the exact cone: standing, shifting its weight, walking; contacts that switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.compare.aghili.states import grips, motors_of
from spatialops.control.friction_cone import FrictionConeController
from spatialops.control.projection_contacts import HeldContacts
from spatialops.control.projection_secondary import Rest
from spatialops.control.projection_tasks import PointTask, PoseTask, Tracking
from spatialops.dynamics.closed import constrained_dynamics
from spatialops.dynamics.jacobian import node_positions
from spatialops.models.quadruped import Quadruped, quadruped
from spatialops.simulation.simulator import Simulator
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State

Path = Callable[[float], tuple[Array, Array, Array]]


def _shift(start: Array, swing: Array, rate: float) -> Path:
    """Start + swing (1 - cos(rate t)) / 2: from rest to rest."""
    zero = np.zeros_like(start)

    def path(time: float) -> tuple[Array, Array, Array]:
        angle = rate * max(time, 0.0)
        wave = (0.5 * (1.0 - np.cos(angle)), 0.5 * rate * np.sin(angle), 0.5 * rate * rate * np.cos(angle))
        return start + swing * wave[0], zero + swing * wave[1], zero + swing * wave[2]

    return path


class Watch:
    """Runs a controller in a simulation, and keeps what it said and what the contacts did."""

    def __init__(self, controller: FrictionConeController, friction: float) -> None:
        self.controller, self.friction = controller, friction
        self.statuses: Counter[str] = Counter()
        self.least_margin, self.slip, self.energy, self.used, self.residual = np.inf, 0.0, 0.0, 0.0, 0.0

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The controller's command."""
        tau = self.controller(time, state, contacts)
        self.statuses[self.controller.status] += 1
        program, x = self.controller.answer
        if len(program.mu) and self.controller.status != "held":
            self.least_margin = min(self.least_margin, float(program.margins(x)[-len(program.mu) :].min()))
        at = self.controller.at
        if len(at.held):
            self.slip = max(self.slip, float(np.abs(at.held.jacobian(state.q) @ state.v).max()))
        loaded = contacts.impulses[:, 0] > 1e-9
        if loaded.any():
            p = contacts.impulses[loaded]
            self.used = max(self.used, float((np.hypot(p[:, 1], p[:, 2]) / (self.friction * p[:, 0])).max()))
        return tau


def shifting(duration: float = 2.0, friction: float = 0.6, dt: float = 1e-3) -> dict[str, Any]:
    """Stand on four feet and move the base about; nothing may slip."""
    robot = quadruped()
    task = PoseTask(Node("base"))
    start = task.motion(robot.model, robot.state).x
    path = _shift(start, np.array([0.06, 0.06, 0.15, 0.025, 0.02, -0.015]), 2.0 * np.pi)
    controller = FrictionConeController(
        robot.model,
        [Tracking(task, path, stiffness=400.0)],
        motors_of(robot),
        contacts=grips(robot, range(4), friction),
    )
    watch = Watch(controller, friction)
    feet = [Node(foot) for foot in robot.feet]
    before = node_positions(robot.model, robot.state.q, feet)
    record = Simulator(robot.scene(friction=friction), law="cone", dt=dt).run(robot.state, duration, controller=watch)
    final = State(record.q[-1], record.v[-1], float(record.times[-1]))
    error = task.motion(robot.model, final).x - path(final.time)[0]
    return {
        "duration": duration,
        "commands": dict(watch.statuses),
        "least margin of commanded forces to a cone, N": watch.least_margin,
        "fastest motion at a held contact, m/s": watch.slip,
        "largest share of the cone used in the simulation": watch.used,
        "feet moved, m": float(np.abs(node_positions(robot.model, final.q, feet) - before).max()),
        "final error of the base, m or rad": float(np.abs(error).max()),
    }


class Crawl:
    """One foot after another: the base leans off the foot that is to lift, which then swings a step ahead.

    Parameters
    ----------
    robot : Quadruped
    step : float
        m.
    lean, swing : float
        Seconds on four feet, and on three, of each quarter of the gait.
    height : float
        Of a lifted foot, m.
    """

    order = (2, 0, 3, 1)  # left hind, left front, right hind, right front

    def __init__(
        self, robot: Quadruped, *, friction: float, step: float = 0.03, lean: float = 0.4, swing: float = 0.25,
        height: float = 0.015,
    ) -> None:  # fmt: skip
        self.robot, self.friction, self.step, self.lean, self.swing, self.height = (
            robot,
            friction,
            step,
            lean,
            swing,
            height,
        )
        self.task = PoseTask(Node("base"))
        self.start = self.task.motion(robot.model, robot.state).x
        self.feet = node_positions(robot.model, robot.state.q, [Node(foot) for foot in robot.feet])
        self.phase = lean + swing

    def _places(self, done: int) -> Array:
        """Where feet stand after `done` steps."""
        places = self.feet.copy()
        for k, foot in enumerate(self.order):
            places[foot, 0] += self.step * ((done + 3 - k) // 4)
        return places

    def _quarter(self, time: float) -> tuple[int, float]:
        done = int(time // self.phase + 1e-9)
        return done, time - done * self.phase

    def held(self, time: float, state: State) -> HeldContacts:
        """Feet that stand."""
        done, since = self._quarter(time)
        lifted = self.order[done % 4] if since >= self.lean else -1
        return grips(self.robot, [foot for foot in range(4) if foot != lifted], self.friction)

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
        return _ease(before, self._goal(done), since, self.lean)

    def foot(self, time: float) -> tuple[Array, Array, Array]:
        """Path of the foot that swings."""
        done, since = self._quarter(time)
        foot = self.order[done % 4]
        x, v, a = _ease(self._places(done)[foot], self._places(done + 1)[foot], since - self.lean, self.swing)
        angle, rate = 2.0 * np.pi * np.clip((since - self.lean) / self.swing, 0.0, 1.0), 2.0 * np.pi / self.swing
        up = np.array([0.0, 0.0, 0.5 * self.height])
        return x + up * (1 - np.cos(angle)), v + up * rate * np.sin(angle), a + up * rate * rate * np.cos(angle)

    def tasks(self, time: float, state: State) -> Sequence[Tracking]:
        """The base, and the foot that swings."""
        base = Tracking(self.task, self.base, stiffness=400.0, name="base")
        done, since = self._quarter(time)
        if since < self.lean:
            return [base]
        foot = PointTask(Node(self.robot.feet[self.order[done % 4]]))
        return [base, Tracking(foot, self.foot, stiffness=900.0, name="foot")]


def _ease(start: Array, end: Array, time: float, duration: float) -> tuple[Array, Array, Array]:
    """From rest to rest by a polynomial of degree 5."""
    s = float(np.clip(time / duration, 0.0, 1.0))
    way = end - start
    shape = (
        s**3 * (10.0 - 15.0 * s + 6.0 * s * s),
        30.0 * s * s * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )
    return start + way * shape[0], way * shape[1] / duration, way * shape[2] / duration**2


def walking(quarters: int = 8, friction: float = 0.6, dt: float = 1e-3) -> dict[str, Any]:
    """Walk with one foot in the air at a time; feet that stand may not slip."""
    robot = quadruped()
    crawl = Crawl(robot, friction=friction)
    controller = FrictionConeController(
        robot.model, crawl.tasks, motors_of(robot), contacts=crawl.held, posture=Rest(q=robot.state.q)
    )
    watch = Watch(controller, friction)
    duration = quarters * crawl.phase
    record = Simulator(robot.scene(friction=friction), law="cone", dt=dt).run(robot.state, duration, controller=watch)
    final = State(record.q[-1], record.v[-1], duration)
    error = crawl.task.motion(robot.model, final).x - crawl.base(duration - 1e-9)[0]
    return {
        "duration": duration,
        "commands": dict(watch.statuses),
        "way of the base, m": float(final.q[0] - robot.state.q[0]),
        "least margin of commanded forces to a cone, N": watch.least_margin,
        "fastest motion at a held contact, m/s": watch.slip,
        "largest share of the cone used in the simulation": watch.used,
        "final error of the base, m or rad": float(np.abs(error).max()),
    }


def switching(duration: float = 60.0, friction: float = 0.6, seed: int = 0, dt: float = 1e-3) -> dict[str, Any]:
    """Contacts that the controller may use switch at random, any set of two to four feet, for 30 to 150 ms each.

    Feet that it may not use stay on the ground, without load if it can be; sets of four come every other time.
    """
    robot, rng = quadruped(), np.random.default_rng(seed)
    sets: list[HeldContacts] = []
    ends: list[float] = []
    time = 0.0
    while time < duration + 1.0:
        count = 4 if len(sets) % 2 == 0 else int(rng.integers(2, 4))
        sets.append(grips(robot, np.sort(rng.choice(4, size=count, replace=False)), friction))
        time += float(rng.uniform(0.03, 0.15))
        ends.append(time)
    task = PoseTask(Node("base"))
    start = task.motion(robot.model, robot.state).x
    tracking = Tracking(task, _shift(start, np.array([0.0, 0.0, 0.05, 0.01, 0.01, 0.0]), 3.0), stiffness=200.0)
    controller = FrictionConeController(
        robot.model,
        [tracking],
        motors_of(robot),
        contacts=lambda time, state: sets[int(np.searchsorted(ends, time, side="right"))],
        posture=Rest(q=robot.state.q),
    )
    watch = Watch(controller, friction)
    record = Simulator(robot.scene(friction=friction), dt=dt).run(
        robot.state, duration, controller=watch, record_every=50
    )
    errors = [
        np.abs(task.motion(robot.model, State(q, v)).x - tracking.path(t)[0]).max()
        for q, v, t in zip(record.q, record.v, record.times, strict=True)
    ]
    return {
        "duration": duration,
        "switches": int(np.searchsorted(ends, duration)),
        "commands": dict(watch.statuses),
        "failed solves": watch.statuses["held"],
        "least margin of commanded forces to a cone, N": watch.least_margin,
        "largest error of the base, m or rad": float(max(errors)),
    }


def decay(duration: float = 0.5, dt: float = 1e-3) -> dict[str, float]:
    """Error of the base in closed loop with the engine's constrained dynamics, beside the designed law's solution.

    Feet are pinned, which the controller is told; the motion is integrated by Runge-Kutta's method with the controller
    in every stage. e'' + K_D e' + K_P e = 0 with a double root -w: e = (e0 + (e0' + w e0) t) exp(-w t).
    """
    robot, w = quadruped(), 10.0
    model = robot.model
    held = HeldContacts(model, [replace(contact, radius=0.0) for contact in grips(robot, range(4), 0.9).contacts])
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
        return _coordinate_rates(model, q, v), constrained_dynamics(model, loops, q, v, tau).accelerations

    q, v, worst, share = robot.state.q.copy(), robot.state.v.copy(), 0.0, 0.0
    for i in range(round(duration / dt)):
        stages = [rates(q, v)]
        for h in (0.5 * dt, 0.5 * dt, dt):
            stages.append(rates(q + h * stages[-1][0], v + h * stages[-1][1]))
        weights = (1.0, 2.0, 2.0, 1.0)
        q = q + dt / 6.0 * sum(s * part[0] for s, part in zip(weights, stages, strict=True))
        v = v + dt / 6.0 * sum(s * part[1] for s, part in zip(weights, stages, strict=True))
        q[3:7] /= np.linalg.norm(q[3:7])
        t = (i + 1) * dt
        law = offset * (1.0 + w * t) * np.exp(-w * t)
        error = start + offset - task.motion(model, State(q, v)).x
        worst = max(worst, float(np.abs(error - law).max()))
        share = max(share, float(np.abs(error).max() / np.abs(offset).max()))
    return {
        "duration": duration,
        "largest deviation from the designed law, m or rad": worst,
        "error left": float(np.abs(error).max()),
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
    spin = 0.5 * np.array([s * a + y * c - z * b, s * b + z * a - x * c, s * c + x * b - y * a, -x * a - y * b - z * c])
    return np.concatenate([turn @ v[3:6], spin, v[6:]])
