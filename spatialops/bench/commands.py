"""What whole commands cost: every controller as it is called, on a robot that moves.

A robot is simulated under one of the controllers. The others are asked in each step what they would
do in the same state, in turns, and each call is timed by itself: planner, checks, prediction and
solver, with the collector of garbage as it comes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.bench.command_times import CommandRow, row_of
from spatialops.bench.humanoid import humanoid
from spatialops.bench.measure import BenchError, Effort
from spatialops.bench.walkers import Walker, walker
from spatialops.collision.contact_set import ContactSet
from spatialops.control.actuation import Actuation
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.inverse_dynamics.base import ContactInverseDynamics
from spatialops.control.inverse_dynamics.coulomb import ConeController, CoulombController
from spatialops.control.inverse_dynamics.dissipation import DissipationController
from spatialops.control.inverse_dynamics.no_slip import NoSlipController
from spatialops.control.joint_tracking import JointTracking, Reference
from spatialops.control.locomotion.trot import Trot
from spatialops.control.motors import Motors
from spatialops.control.task_space.momentum_tasks import CenterOfMassTask
from spatialops.control.task_space.secondary_tasks import Rest
from spatialops.control.task_space.tasks import JointTask
from spatialops.control.task_space.tracking import Tracking
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.control.whole_body.mpc_trot import MpcTrotController
from spatialops.simulation.simulator import Simulator
from spatialops.tree.model import Model
from spatialops.tree.state import State

Command = Callable[[float, State, ContactSet | None], Array]

COUNT = 3000  # commands of each controller
QUICK = 300
_WARM = 50  # commands before time is taken: compiling, and tables that are made once
_FRICTION = 0.8
_QUADRUPED = (0.3e-3, 1e-3)  # bars of the median and of the 99.9th percentile, s
_LIMP = 0.6  # of the height at rest, below which a robot has fallen
_INVERSES: dict[str, type[ContactInverseDynamics]] = {
    "cone": ConeController,
    "no slip": NoSlipController,
    "QP": DissipationController,
    "LCP": CoulombController,
}


class Timed(NamedTuple):
    """Seconds of single commands (n,), and how often each status was among them."""

    seconds: Array
    statuses: Counter[str]


@dataclass(frozen=True, eq=False)
class Trial:
    """Controllers of one robot.

    Attributes
    ----------
    name : str
        What the robot does.
    simulator : Simulator
        That moves it, and that controllers have for their model.
    controllers : dict
        By name; the first one moves the robot.
    bars : tuple of float
        Of the median and of the 99.9th percentile, s.
    """

    name: str
    simulator: Simulator
    controllers: Mapping[str, Command]
    bars: tuple[float, float]

    def times(self, count: int) -> dict[str, Timed]:
        """Times and statuses of `count` commands of each controller, a millisecond of motion apart.

        Raises
        ------
        BenchError
            If the robot falls.
        """
        state = self.simulator.scene.state
        height = _LIMP * state.q[2]
        contacts: ContactSet | None = self.simulator.step(state)[1].contacts
        found = {name: Timed(np.empty(count), Counter()) for name in self.controllers}
        for k in range(-_WARM, count):
            taus = []
            for name, controller in self.controllers.items():
                begin = thread_time()
                taus.append(controller(state.time, state, contacts))
                if k >= 0:
                    found[name].seconds[k] = thread_time() - begin
                    found[name].statuses[getattr(controller, "status", "")] += 1
            state, info = self.simulator.step(state, taus[0])
            contacts = info.contacts
            if not state.q[2] > height:
                raise BenchError(f"{self.name}: the robot fell at {state.time:.3f} s")
        return found


def run(effort: Effort, *, quick: bool = False, count: int | None = None) -> Iterator[CommandRow]:
    """Rows of all controllers of a quadruped that trots, and one and a humanoid that stand.

    `count` is of commands; of `effort` nothing is used.
    """
    asked = (QUICK if quick else COUNT) if count is None else count
    for make in (partial(trotting, "solo12"), partial(resting, "solo12"), standing):
        trial = make()
        for name, timed in trial.times(asked).items():
            yield row_of(name, trial.name, timed.seconds, *trial.bars, timed.statuses)


class Circle:
    """A point that goes round, and the velocity with which a robot follows it, heading ahead.

    Parameters
    ----------
    center : (3,) array
        Where it begins, m.
    radius : float, default 0.1
        m.
    speed : float, default 0.1
        m/s.
    """

    def __init__(self, center: Array, *, radius: float = 0.1, speed: float = 0.1) -> None:
        self.center = center
        self.radius = radius
        self.rate = speed / radius

    def path(self, time: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of the point (3,)."""
        sine, cosine = math.sin(self.rate * time), math.cos(self.rate * time)
        x, y, z = self.center.tolist()
        r, rate = self.radius, self.rate
        place = x + r * sine, y + r * (1.0 - cosine), z
        speed, pull = r * rate, r * rate**2
        rows = place, (speed * cosine, speed * sine, 0.0), (-pull * sine, pull * cosine, 0.0)
        path = np.array(rows)
        return path[0], path[1], path[2]

    def command(self, time: float, state: State) -> tuple[float, float, float]:
        """Velocities (forward, sideways, turning) that lead a base after the point."""
        sine, cosine = math.sin(self.rate * time), math.cos(self.rate * time)
        place = state.q[:7].tolist()
        center = self.center.tolist()
        speed = self.rate * self.radius
        u = speed * cosine + center[0] + self.radius * sine - place[0]
        v = speed * sine + center[1] + self.radius * (1.0 - cosine) - place[1]
        x, y, z, w = place[3:]
        ahead = 1.0 - 2.0 * (y * y + z * z)  # the base's x axis on the ground
        aside = 2.0 * (x * y + z * w)
        return ahead * u + aside * v, ahead * v - aside * u, -math.atan2(aside, ahead)


def trotting(robot: str) -> Trial:
    """A quadruped of `walkers.ROBOTS` trots round a circle."""
    own = walker(robot)
    model = own.model
    sim = Simulator(own.scene(_FRICTION), impact_threshold=100.0, certify="off")
    circle = Circle(own.state.q[:3].copy())

    def track() -> tuple[Trot, JointTracking]:
        trot = Trot(own.legs, own.stance, circle.command, dt=sim.dt, gait=own.gait)
        return trot, JointTracking(model, trot, dt=sim.dt)

    controllers: dict[str, Command] = {}
    for name, kind in _INVERSES.items():
        trot, tracking = track()
        controllers[name] = kind(sim, tracking, standing=trot.standing)
    motors = Motors(Actuation(model))
    tasks = _tasks(own, circle)
    rest = Rest(q=own.state.q)
    controllers |= _programs(model, tasks, motors, rest)
    controllers["whole body"] = WholeBodyController(model, tasks, motors, posture=rest)
    controllers["MPC trot"] = MpcTrotController(
        model,
        own.feet,
        motors,
        own.state,
        circle.command,
        gait=own.gait,
        base=model.joint_names[0],
    )
    return Trial(f"{robot} trots", sim, controllers, _QUADRUPED)


def resting(robot: str) -> Trial:
    """A quadruped of `walkers.ROBOTS` stands where it is, under [Z]'s controllers."""
    own = walker(robot)
    sim = Simulator(own.scene(_FRICTION), impact_threshold=100.0, certify="off")
    links = own.legs.links

    def standing(time: float) -> IntArray:
        return links

    stay = _staying(own.stance.ravel())
    controllers: dict[str, Command] = {
        name: kind(sim, JointTracking(own.model, stay, dt=sim.dt), standing=standing)
        for name, kind in _INVERSES.items()
    }
    return Trial(f"{robot} stands", sim, controllers, _QUADRUPED)


def _staying(posture: Array) -> Callable[[float, State], Reference]:
    """Joints stay as they are."""
    still = np.zeros(len(posture))

    def reference(time: float, state: State) -> Reference:
        return Reference(posture, still, still)

    return reference


def _tasks(own: Walker, circle: Circle) -> list[Tracking]:
    """The centre of mass follows the point."""
    center = CenterOfMassTask()
    lift = center.motion(own.model, own.state).x - circle.center

    def path(time: float) -> tuple[Array, Array, Array]:
        x, v, a = circle.path(time)
        return x + lift, v, a

    return [Tracking(center, path, stiffness=60.0)]


def _programs(
    model: Model, tasks: list[Tracking], motors: Motors, posture: Rest
) -> dict[str, Command]:
    """[A]'s controllers, of the contacts that the last step had."""
    return {
        "[A] least norm": FrictionConeController(
            model, tasks, motors, posture=posture, minimum_norm=True
        ),
        "[A] friction cones": FrictionConeController(model, tasks, motors, posture=posture),
    }


def standing() -> Trial:
    """A humanoid stands on two flat feet of four corners each."""
    robot = humanoid()
    model = robot.model
    sim = Simulator(robot.scene(_FRICTION), impact_threshold=100.0, certify="off")
    plan = robot.footsteps(0)
    whole = robot.controller(plan, plan.center_of_mass(robot.height))
    joints = JointTask(tuple(name for name in model.joint_names if name != "root_joint"))
    reference = _staying(joints.motion(model, robot.state).x)
    controllers: dict[str, Command] = {"whole body": whole}
    for name, kind in _INVERSES.items():
        controllers[name] = kind(sim, JointTracking(model, reference, dt=sim.dt))
    controllers["whole body, apart"] = robot.controller(
        plan, plan.center_of_mass(robot.height), clearance=robot.clearance()
    )
    center = CenterOfMassTask()
    stay = Tracking(center, center.motion(model, robot.state).x, stiffness=60.0)
    controllers |= _programs(model, [stay], Motors(Actuation(model)), Rest(q=robot.state.q))
    return Trial("g1 stands", sim, controllers, (0.6e-3, 1.5e-3))
