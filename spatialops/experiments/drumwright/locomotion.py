"""The locomotion experiments of [D] section VII-B, tables II and III: a quadruped on a terrain.

The same walk under Coulomb's law with mu = 100 and without slip (table II), and under viscous
friction only (table III), each law by several solvers. Where a step's time goes is told as well:
[D] compares whole simulations, of which the contact problem is a part.

The terrain is that of `experiments.zapolsky.course.bumps`, the controller tracks joints of a trot,
and steps are time steps; [D] has a terrain map, the controller of its authors, and an event-driven
method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time
from typing import Literal, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.viscous import Viscous
from spatialops.control.joint_tracking import PIDController
from spatialops.control.locomotion.leg_kinematics import Legs
from spatialops.control.locomotion.trot import Trot
from spatialops.control.locomotion.waypoints import Waypoints
from spatialops.errors import ContactError, SolverFailed
from spatialops.experiments.drumwright.cold_laws import Timed
from spatialops.experiments.zapolsky.course import bumps
from spatialops.models.quadruped import quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.profile import STAGES, stage_times
from spatialops.simulation.separation import separate
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State

DT = 1e-3  # s, the paper's
FRICTION, VISCOUS = 100.0, 0.1  # the paper's; the second in N s/m, and in N s per m/s of impacts
PAPER_CONTACTS = "6, 8, 1 to 30"  # mean, deviation, range
ALIKE = 1e-6  # m: two solvers of one law move the trunk alike over the first ALIKE_STEPS
ALIKE_STEPS = 300
_TURN = 100  # steps that a walk makes before it is the next one's turn
_SAMPLED = 200  # steps between two of which dynamics and collision are timed apart


class Method(NamedTuple):
    """A row of a table."""

    table: Literal["II", "III"]
    title: str
    law: Law
    paper_seconds: float = math.nan


def _viscous(solver: str) -> Viscous:
    return Viscous(coefficient=VISCOUS, impact=VISCOUS, solver=solver)


METHODS = {
    "coulomb-lemke": Method("II", "Coulomb, Lemke", Coulomb(solver="lemke"), 416.284),
    "coulomb-central": Method("II", "Coulomb, central answer", Coulomb()),
    "no-slip-lemke": Method("II", "no slip, Lemke", NoSlip(solver="lemke")),
    "no-slip-qp": Method("II", "no slip, active-set QP", NoSlip(solver="qp")),
    "no-slip-pivoting": Method("II", "no slip, principal pivoting", NoSlip(), 301.796),
    "viscous-lemke": Method("III", "viscous, Lemke", _viscous("lemke"), 2936.36),
    "viscous-qp": Method("III", "viscous, active-set QP", _viscous("qp")),
    "viscous-pivoting": Method("III", "viscous, principal pivoting", _viscous("pivoting"), 2139.73),
}
# What the paper compares: the slower and the faster method.
PAIRS = (("coulomb-lemke", "no-slip-pivoting"), ("viscous-lemke", "viscous-pivoting"))
PARTS = ("control", "dynamics", "collision", "contact law", "rest of the step")


@dataclass(frozen=True, eq=False)
class Walked:
    """What one method did.

    Attributes
    ----------
    method : str
        A key of `METHODS`.
    seconds : dict
        The thread's time of every part of `PARTS`, s, all steps together.
    contacts : (problems,) int array
        Of every contact problem.
    path : (steps, 3) array
        Of the trunk, m.
    residual : float
        Worst of all steps.
    fault : str
        Why it ended early, if it did.
    """

    method: str
    seconds: dict[str, float]
    contacts: IntArray
    path: Array
    residual: float
    fault: str = ""

    @property
    def total(self) -> float:
        """Seconds of all parts."""
        return sum(self.seconds.values())

    def to_data(self) -> PlainData:
        """Plain figures, the paper's among them: us a step for every part."""
        known, steps = METHODS[self.method], max(len(self.path), 1)
        many = self.contacts if self.contacts.size else np.zeros(1)
        return {
            "method": self.method,
            "table": known.table,
            "title": known.title,
            "simulated": DT * len(self.path),
            "seconds": self.total,
            "paper_seconds": None if math.isnan(known.paper_seconds) else known.paper_seconds,
            "microseconds": {part: 1e6 * spent / steps for part, spent in self.seconds.items()},
            "contacts_mean": float(many.mean()),
            "contacts_deviation": float(many.std()),
            "contacts_range": [int(many.min()), int(many.max())],
            "residual": self.residual,
            "fault": self.fault,
        }


class Walk:
    """A walk under way, some steps at a time so that methods can take turns.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    """

    def __init__(self, method: str) -> None:
        self.method = method
        self.fault = ""
        robot = quadruped()
        self._law = Timed(METHODS[method].law)
        scene = bumps(robot, friction=FRICTION)
        self._sim = Simulator(
            scene,
            law=self._law,
            dt=DT,
            impact_threshold=100.0,  # m/s: all contacts are the steps' own
            integrator="semi-implicit",
        )
        legs = Legs(robot.model, robot.feet)
        trot = Trot(legs, robot.state.q[legs.angles], Waypoints(), dt=DT)
        self._control = PIDController(robot.model, trot, dt=DT)
        self._state = separate(scene, robot.state)  # the ground is level but to 1 mm
        self._spent = np.zeros(2)  # s, of commands and of steps
        self._path: list[Array] = []
        self._samples: list[tuple[State, Array]] = []
        self._residual = 0.0

    def advance(self, steps: int) -> None:
        """Walk so many steps more, unless a problem was not solved."""
        for _ in range(0 if self.fault else steps):
            begin = thread_time()
            tau = self._control(self._state.time, self._state)
            commanded = thread_time()
            if len(self._path) % _SAMPLED == 0:
                self._samples.append((self._state, tau))
            try:
                self._state, info = self._sim.step(self._state, tau)
            except (SolverFailed, ContactError) as error:
                self.fault = str(error)
                return
            self._spent += commanded - begin, thread_time() - commanded
            self._residual = max(self._residual, info.residual)
            self._path.append(self._state.q[:3].copy())

    def result(self) -> Walked:
        """What was measured until now."""
        states, taus = zip(*self._samples, strict=True)
        stages = dict(
            zip(STAGES, stage_times(self._sim, states, taus, repeats=5).mean(axis=0), strict=True)
        )
        steps = len(self._path)
        control, step = (float(spent) for spent in self._spent)
        dynamics, collision = (steps * float(stages[name]) for name in ("dynamics", "collision"))
        law = float(sum(self._law.seconds))
        spent = control, dynamics, collision, law, step - dynamics - collision - law
        return Walked(
            self.method,
            dict(zip(PARTS, spent, strict=True)),
            np.array(self._law.contacts, dtype=np.int64),
            np.array(self._path).reshape(-1, 3),
            self._residual,
            self.fault,
        )


def walks(
    methods: tuple[str, ...],
    steps: int,
    tick: Callable[[int], object] = lambda count: None,
) -> list[Walked]:
    """Walk `steps` steps by every method, in turns, so that all meet the machine as it is."""
    for method in methods:
        Walk(method).advance(2)  # loads the kernels
    under_way = [Walk(method) for method in methods]
    for first in range(0, steps, _TURN):
        for walk in under_way:
            walk.advance(min(_TURN, steps - first))
            tick(min(_TURN, steps - first))
    return [walk.result() for walk in under_way]


def apart(walked: list[Walked]) -> float:
    """Largest difference, m, of the trunk between solvers of one law, in the first ALIKE_STEPS.

    Later on rounding grows, as it does in all that walks.
    """
    first: dict[str, Array] = {}
    largest = 0.0
    for walk in walked:
        law = walk.method.partition("-")[0]
        path = walk.path[:ALIKE_STEPS]
        other = first.setdefault(law, path)
        n = min(len(path), len(other))
        largest = max(largest, float(np.abs(path[:n] - other[:n]).max(initial=0.0)))
    return largest


def ratios(walked: list[Walked]) -> list[PlainData]:
    """How many times longer the slower of each of `PAIRS` takes, whole and law alone."""
    known = {walk.method: walk for walk in walked}
    return [
        {
            "slower": METHODS[slow].title,
            "faster": METHODS[fast].title,
            "whole": known[slow].total / known[fast].total,
            "law": known[slow].seconds["contact law"] / known[fast].seconds["contact law"],
            "paper": METHODS[slow].paper_seconds / METHODS[fast].paper_seconds,
        }
        for slow, fast in PAIRS
        if slow in known and fast in known and min(known[slow].total, known[fast].total) > 0.0
    ]
