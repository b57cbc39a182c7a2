"""One contract for all controllers: whatever they meet, a finite command and a status."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    ConeController,
    CoulombController,
    DissipationController,
    FrictionConeController,
    MeasuredForcesController,
    NoSlipController,
    NoSlipDissipationController,
    PIDController,
    PoseTask,
    Reference,
    Tracking,
    WholeBodyController,
)
from spatialops.experiments.aghili.states import grips, motors_of
from tests.control.cases import quadruped_simulator

STATUSES = {"solved", "nearest", "held", "damped"}
PREDICTIVE = {
    "cone": ConeController,
    "lcp": CoulombController,
    "qp": DissipationController,
    "no-slip": NoSlipController,
    "qp-no-slip": NoSlipDissipationController,
    "measured": MeasuredForcesController,
}
PROGRAMS = {"friction-cone": FrictionConeController, "whole-body": WholeBodyController}
EVERY = ("pid", *PREDICTIVE, *PROGRAMS)


class Demand:
    """What a controller is asked for, set anew for every command."""

    def __init__(self):
        self.joints, self.base = np.zeros(12), np.zeros(6)

    def __call__(self, time, state):
        return self.joints

    def reference(self, time, state):
        return Reference(self.joints, np.zeros(12), np.zeros(12))

    def path(self, time):
        return np.zeros(6), np.zeros(6), self.base


def controller(name, demand):
    robot, sim = quadruped_simulator("coulomb")
    if name == "pid":
        return robot, PIDController(robot.model, demand.reference)
    if name in PREDICTIVE:
        return robot, PREDICTIVE[name](sim, demand)
    if name == "whole-body":
        pytest.importorskip("daqp")
    tasks = [Tracking(PoseTask(so.Node("base")), demand.path)]
    schedule = lambda time, state: grips(robot, demand.feet, 0.6)  # noqa: E731
    return robot, PROGRAMS[name](robot.model, tasks, motors_of(robot), contacts=schedule)


def wild(robot, rng, demand):
    """A state near the stance or anywhere, straight legs, in the air or sunk, maybe broken."""
    q, v = robot.state.q.copy(), np.zeros(18)
    kind = rng.integers(6)
    if kind > 0:
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        q = so.integrate(robot.model, q, 0.1 * size * rng.normal(size=18))
        v = size * rng.normal(size=18)
    if kind == 2:
        q[7:] = 0.0  # singular
    if kind == 3:
        q[2] += rng.choice([-0.05, 0.05, 1.0])
    if kind == 4:
        (q if rng.random() < 0.5 else v)[rng.integers(18)] = rng.choice([np.nan, np.inf])
    demand.joints = 10.0 ** rng.uniform(-3.0, 6.0) * rng.normal(size=12)
    demand.base = 10.0 ** rng.uniform(-3.0, 6.0) * rng.normal(size=6)
    if rng.random() < 0.1:
        demand.joints = demand.joints * np.nan
        demand.base = demand.base * np.nan
    demand.feet = np.flatnonzero(rng.random(4) < 0.7)
    return so.State(q, v)


def answers(name, count, seed):
    rng, demand = np.random.default_rng(seed), Demand()
    robot, control = controller(name, demand)
    found = set()
    for k in range(count):
        state = wild(robot, rng, demand)
        tau = control(1e-3 * k, state, None)
        told = control.explain() if name not in PROGRAMS else None
        status = control.status if name == "friction-cone" else control._explanation.status
        assert status in STATUSES
        assert np.isfinite(tau).all()
        assert (np.abs(tau[6:]) <= 4.0 * (1.0 + 1e-9)).all()
        assert not tau[:6].any()
        if told is not None and status in ("held", "damped"):
            assert told.notes
        found.add(status)
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_whatever_comes_there_is_a_finite_command_within_limits(name):
    assert {"solved", "damped"} <= answers(name, 25, 0)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_hundreds_of_wild_states_and_demands(name):
    answers(name, 300, 1)


@pytest.mark.parametrize("name", EVERY)
def test_how_long_there_has_been_no_answer_is_told(name):
    demand = Demand()
    demand.feet = range(4)
    robot, control = controller(name, demand)
    broken = so.State(np.full(19, np.nan), np.full(18, np.nan))
    told = []
    for time, state in ((0.0, robot.state), (0.1, broken), (0.3, broken), (0.4, robot.state)):
        control(time, state, None)
        told.append(control.explain().unanswered)
    assert told == pytest.approx([0.0, 0.0, 0.2, 0.0])
    control(0.5, broken, None)
    assert control.explain().status == "damped"
    assert control.explain().notes[0].startswith("no command")


def test_a_cut_by_the_simulator_is_said_and_its_miss():
    robot, sim = quadruped_simulator("cone")
    control = ConeController(
        sim, lambda time, state: np.full(12, 3e3), within_limits=False, horizon=sim.dt
    )
    tau = control(0.0, robot.state)
    assert np.abs(tau).max() > 4.0
    told = control.explain()
    assert told.status == "nearest"
    assert "limits of motors bind" in told.notes
    after, _ = sim.step(robot.state, tau)
    missed = np.abs((after.v - robot.state.v)[6:] / sim.dt - 3e3).max()
    assert missed > 100.0
    assert told.slack == pytest.approx(missed, rel=1e-6)
