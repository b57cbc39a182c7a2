"""Controllers that meet what they should not: wild states and demands, one seed a course.

A course is one controller with options, friction and a law drawn from its seed, and a number of
commands, so that what it remembers of a wild one meets the next.
"""

from dataclasses import replace
from functools import cache

import numpy as np

import spatialops as so
from spatialops.control import (
    ConeController,
    CoulombController,
    DissipationController,
    FrictionConeController,
    Legs,
    MeasuredForcesController,
    MpcTrotController,
    NoSlipController,
    NoSlipDissipationController,
    OperationalSpaceController,
    PIDController,
    PoseTask,
    Reference,
    Tracking,
    WholeBodyController,
)
from spatialops.control.manipulation.dual_arm.driver_handoff import driver_handoff
from spatialops.experiments.aghili.states import grips, motors_of
from tests.control.cases import quadruped_simulator

STATUSES = {"solved", "nearest", "held", "damped"}
SAFE = {"held", "damped"}
PREDICTIVE = {
    "cone": ConeController,
    "lcp": CoulombController,
    "qp": DissipationController,
    "no-slip": NoSlipController,
    "qp-no-slip": NoSlipDissipationController,
}
PROGRAMS = {
    "friction-cone": FrictionConeController,
    "least-norm": FrictionConeController,
    "whole-body": WholeBodyController,
}
EVERY = ("pid", "measured", "operational-space", "hands", *PREDICTIVE, *PROGRAMS, "mpc-trot")
COMMANDS = 20  # of a course
_FRICTIONS = (0.0, 0.1, 0.8, 10.0)
_LAWS = ("coulomb", "cone", "no-slip", "max-dissipation")
_CHOICES = ("solver", "nearest", "least-torque")
_ROUNDING = 1e-9
_MET = 1e-5  # rad/s^2, relative: what a "solved" command may miss


class Demand:
    """What a controller is asked for, set anew for every command."""

    def __init__(self):
        self.joints = np.zeros(12)
        self.base = np.zeros(6)
        self.feet = np.arange(4)

    def __call__(self, time, state):
        return self.joints

    def reference(self, time, state):
        return Reference(self.joints, np.zeros(12), np.zeros(12))

    def path(self, time):
        return np.zeros(6), np.zeros(6), self.base

    def pace(self, time, state):
        return self.base[:3]

    def draw(self, rng):
        """Sizes from 1e-3 to 1e9; one in ten is not finite."""
        self.joints = 10.0 ** rng.uniform(-3.0, 9.0) * rng.normal(size=12)
        self.base = 10.0 ** rng.uniform(-3.0, 9.0) * rng.normal(size=6)
        if rng.random() < 0.1:
            self.joints[rng.integers(12)] = self.base[rng.integers(6)] = rng.choice(
                [np.nan, np.inf]
            )
        self.feet = np.flatnonzero(rng.random(4) < 0.7)


@cache
def simulators(law, friction):
    """The quadruped, its simulator, and contacts of four feet, of none, and broken ones."""
    robot, sim = quadruped_simulator(law, friction)
    stands = sim.step(robot.state)[1].contacts
    lifted = robot.state.q.copy()
    lifted[2] += 1.0
    flies = sim.step(so.State(lifted, np.zeros(18)))[1].contacts
    broken = replace(stands, impulses=np.full_like(stands.impulses, np.nan))
    return robot, sim, (stands, flies, broken)


def controller(name, demand, robot, sim, rng=None):
    """A controller by its name; with `rng` its options are drawn too."""
    if name == "pid":
        return PIDController(robot.model, demand.reference)
    if name == "measured":
        return MeasuredForcesController(sim, demand)
    if name == "mpc-trot":
        return MpcTrotController(
            robot.model, robot.feet, motors_of(robot), robot.state, demand.pace
        )
    if name in PREDICTIVE:
        return PREDICTIVE[name](sim, demand, **({} if rng is None else options(name, rng, robot)))
    tasks = [Tracking(PoseTask(so.Node("base")), demand.path)]
    if name == "operational-space":
        return OperationalSpaceController(robot.model, tasks)
    felt = rng is not None and rng.random() < 0.3
    schedule = None if felt else lambda time, state: grips(robot, demand.feet, 0.6)
    more = {"minimum_norm": True} if name == "least-norm" else {}
    return PROGRAMS[name](robot.model, tasks, motors_of(robot), contacts=schedule, **more)


def setting(name, demand, rng):
    """Model, coordinates at rest, contacts of a step before, and a controller."""
    if name == "hands":
        task, sets = handoff()
        return task.scene.model, task.scene.state.q, sets, task.controller()
    robot, sim, sets = simulators(str(rng.choice(_LAWS)), float(rng.choice(_FRICTIONS)))
    control = controller(name, demand, robot, sim, rng)
    felt = name == "measured" or getattr(control, "contacts", demand) is None
    return robot.model, robot.state.q, sets if felt else (None,), control


@cache
def handoff():
    """Two hands and a driver, and contacts of a step at rest, and broken ones."""
    task = driver_handoff()
    rests = so.Simulator(task.scene).step(task.scene.state)[1].contacts
    broken = replace(rests, impulses=np.full_like(rests.impulses, np.nan))
    return task, (rests, broken)


def options(name, rng, robot):
    """Options of a controller that predicts its forces."""
    found = {"choice": str(rng.choice(_CHOICES))}
    if rng.random() < 0.5:
        found["horizon"] = 1e-3
    if rng.random() < 0.5:
        links = Legs(robot.model, robot.feet).links
        found["standing"] = lambda time: links[rng.random(4) < 0.6]
    return found


def wild(model, rest, rng):
    """A state near rest or anywhere, straight limbs, in the air, sunk, turned or broken."""
    q = rest.copy()
    nv = model.nv
    v = np.zeros(nv)
    base = np.arange(model.nq)[model.q_slice(model.joint_names[model.joint_kinds.index("free")])]
    joints = np.delete(np.arange(model.nq), base)
    kind = rng.integers(9)
    if kind > 0:
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        q = so.integrate(model, q, 0.1 * size * rng.normal(size=nv))
        v = size * rng.normal(size=nv)
    if kind == 2:
        q[joints] = 0.0  # singular
    if kind == 3:
        q[base[2]] += rng.choice([-0.05, 0.05, 1.0, 1e6])
    if kind == 4:
        (q if rng.random() < 0.5 else v)[rng.integers(nv)] = rng.choice([np.nan, np.inf])
    if kind == 5:
        q[base[3:]] = half_turn(rng)
    if kind == 6:
        v = 10.0 ** rng.uniform(0.0, 6.0) * rng.normal(size=nv)
    if kind == 7:
        q[joints] = rng.choice([-np.pi, np.pi, 100.0, 1e6], len(joints))
    if kind == 8:
        q[base[3:]] *= rng.choice([0.0, 1e-200, 0.5, 1e200])
    return so.State(q, v)


def half_turn(rng):
    """A quaternion of half a turn about the vertical or any axis, or a hair off it."""
    axis = np.array([0.0, 0.0, 1.0]) if rng.random() < 0.5 else rng.normal(size=3)
    quaternion = np.append(axis / np.linalg.norm(axis), rng.choice([0.0, 1e-16, -1e-9, 1e-3]))
    return quaternion / np.linalg.norm(quaternion)


def is_finite(name, state, demand):
    """Whether what a command is made from is; feedback of joints asks for these alone."""
    if name == "pid":
        parts = (state.q[7:], state.v[6:], demand.joints)
    elif name in ("hands", "mpc-trot"):  # which asks for its pace at times only
        parts = (state.q, state.v)
    else:
        parts = (state.q, state.v, demand.joints, demand.base)
    return all(np.isfinite(part).all() for part in parts)


def faults(status, tau, fed):
    """What is wrong with a command; `fed`: what it was made from is finite."""
    if not np.isfinite(tau).all():
        return ["the command is not finite"]
    if status not in STATUSES:
        return [f"status {status!r}"]
    if not fed and status not in SAFE:
        return [f"{status!r} from what is not finite"]
    return []


def misexplained(told, tau, status):
    """What is wrong with the explanation of a command."""
    found = []
    if told.status != status:
        found.append(f"{status!r} became {told.status!r}")
    if told.status in SAFE and not told.notes:
        found.append(f"{told.status!r} without a reason")
    if told.status in ("solved", "nearest"):
        found += _unmeant(told)
    if not np.array_equal(told.tau, tau):
        found.append("explained another command")
    return found


def _unmeant(told):
    """Where "solved" or "nearest" say what is not so."""
    numbers = (told.predicted, told.demanded, told.forces, told.slack)
    if not all(np.isfinite(value).all() for value in numbers):
        return [f"{told.status!r} with a prediction that is not finite"]
    found = []
    size = max(1.0, np.abs(told.demanded).max())
    demands = told.demanded.any()  # of hands, which are springs, slack is how far they are off
    if told.status == "solved" and demands and told.slack > _MET * size:
        found.append(f"'solved' misses by {told.slack:.1e} of {size:.1e}")
    return found


def course(name, seed, commands=COMMANDS, explained=1):
    """Statuses of the commands of a course, and their faults with the number of the command.

    One of so many is `explained`, and the explanation judged; of the others status and forces are.
    """
    rng = np.random.default_rng([seed, EVERY.index(name)])
    demand = Demand()
    model, rest, sets, control = setting(name, demand, rng)
    limits = control.actuation.limits
    rows = control.actuation.rows
    statuses = []
    found = []
    for k in range(commands):
        state = wild(model, rest, rng)
        demand.draw(rng)
        contacts = sets[rng.integers(len(sets))]
        tau = control(1e-3 * k, state, contacts)
        status = control.status
        statuses.append(status)
        fed = is_finite(name, state, demand)
        wrong = faults(status, tau, fed)
        if (seed + k) % explained == 0 and not wrong:
            wrong = misexplained(control.explain(), tau, status)
        if (np.abs(tau[rows]) > limits * (1.0 + _ROUNDING)).any():
            wrong.append("beyond the motors' limits")
        if np.delete(tau, rows).any():
            wrong.append("forces where there is no motor")
        found += [f"command {k}: {text}" for text in wrong]
    return statuses, found
