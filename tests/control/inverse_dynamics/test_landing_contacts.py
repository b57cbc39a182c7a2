"""Feet that land, and horizons longer than a step."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Compliant
from spatialops.control import ConeController
from spatialops.control.inverse_dynamics.landing_contacts import landing, part, stretched
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead
from tests.control.cases import MOTORS, quadruped_simulator


def still(robot):
    q0 = robot.state.q[7:].copy()
    return lambda time, state: 900.0 * (q0 - state.q[7:]) - 60.0 * state.v[6:]


@pytest.mark.compiled
@pytest.mark.parametrize(("integrator", "height"), [("moreau", 3e-3), ("semi-implicit", 2e-3)])
def test_a_robot_that_is_dropped_lands_as_predicted_and_without_a_jump_of_torques(
    integrator, height
):
    robot, sim = quadruped_simulator(integrator=integrator)
    q = robot.state.q.copy()
    q[2] += height
    control, state = ConeController(sim, still(robot), horizon=sim.dt), so.State(q, np.zeros(18))
    landed = 0
    taus = []
    for _ in range(40):
        taus.append(control(state.time, state, None))
        said = control.explain()
        after, info = sim.step(state, taus[-1])
        seen = control.replay()
        measured = info.contacts.impulses[:, 0].sum() / sim.dt
        assert seen.forces[:, 0].sum() == pytest.approx(measured, rel=1e-6, abs=1e-9)
        reached = (after.v - state.v)[MOTORS] / sim.dt
        assert reached == pytest.approx(
            seen.accelerations[MOTORS], abs=1e-6 * max(1.0, np.abs(reached).max())
        )
        if "contacts land: passively" in said.notes:
            landed += 1
            assert said.status == control.status == "nearest"  # the ground stops the joints, too
            assert said.predicted == pytest.approx(seen.accelerations)
            missed = np.abs(seen.accelerations - said.demanded)[MOTORS].max()
            assert said.slack == pytest.approx(missed)
            assert said.forces[:, 0].sum() < 0.5 * measured  # it does not count on what lands
            assert measured > 0.0  # an impact, which motors do not meet
            assert np.abs(taus[-1] - taus[-2]).max() < 0.1
        state = after
    assert landed
    assert state.q[2] > 0.14


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_what_limits_leave_of_a_command_is_what_is_predicted(integrator):
    robot, sim = quadruped_simulator(integrator=integrator)
    jump = np.tile([0.0, -3000.0, 6000.0], 4)  # rad/s^2, which takes more than 4 N m
    control = ConeController(sim, lambda time, state: jump, horizon=sim.dt)
    state = robot.state
    for _ in range(5):
        tau = control(state.time, state, None)
        said = control.explain()
        assert said.notes == ("limits of motors bind",)
        assert said.status == "nearest"
        assert said.predicted == pytest.approx(control.replay().accelerations)
        state, _ = sim.step(state, tau)


def test_what_counts_as_landing():
    robot, sim = quadruped_simulator()
    resting = Lookahead(sim).predict(robot.state)
    assert not landing(resting).any()
    falls = Lookahead(sim).predict(so.State(robot.state.q, -0.1 * np.eye(18)[5]))
    assert landing(falls).all()
    some = part(falls, np.array([True, False, True, False]))
    assert some.problem.n_contacts == len(some.keys) == 2
    assert part(falls, np.zeros(4, dtype=bool)).problem is None


def test_a_longer_horizon_is_a_longer_step():
    robot, sim = quadruped_simulator()
    ahead = Lookahead(sim).predict(robot.state)
    longer = stretched(ahead, 20.0)
    assert longer.free - longer.before == pytest.approx(20.0 * (ahead.free - ahead.before))
    assert longer.problem.velocity is longer.free
    with pytest.raises(ArgumentError, match="horizon"):
        ConeController(sim, still(robot), horizon=0.5 * sim.dt)


@pytest.mark.compiled
def test_on_soft_ground_a_longer_horizon_stands_and_one_step_does_not():
    law = Compliant(stiffness=1.2e4, damping=60.0)
    tilts = []
    for horizon in (1e-3, None):  # one step, and the default
        robot, sim = quadruped_simulator(law, friction=1.0, integrator="semi-implicit")
        control, state = (
            ConeController(sim, still(robot), horizon=horizon, within_limits=False),
            robot.state,
        )
        worst = 0.0
        for _ in range(150):
            try:
                state, _ = sim.step(state, control(state.time, state, None))
            except so.errors.SpatialOpsError:
                worst = np.inf
                break
            worst = max(worst, float(np.abs(state.v[6:]).max()))
        tilts.append(worst)
    assert tilts[1] < 3.0  # it sinks into the ground at first
    assert tilts[0] > 10.0 * tilts[1]
