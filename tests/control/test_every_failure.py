"""One contract for all controllers: whatever they meet, a finite command and a status."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.control import ConeController, Explanation
from tests.control.cases import quadruped_simulator
from tests.trust.fuzz_commands import fuzz, judged
from tests.trust.wild_commands import (
    EVERY,
    PREDICTIVE,
    Demand,
    controller,
    faults,
    misexplained,
)


def made(name, demand):
    if name == "mpc-trot":
        pytest.importorskip("daqp")
    robot, sim = quadruped_simulator("coulomb")
    return robot, controller(name, demand, robot, sim)


@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_whatever_comes_there_is_a_finite_command_within_limits(name):
    if name == "mpc-trot":
        pytest.importorskip("daqp")
    found = set()
    for seed in range(4):
        statuses, wrong = judged(name, seed, 1)
        assert not wrong
        found.update(statuses)
    assert "damped" in found
    assert found & {"solved", "nearest"}


@pytest.mark.slow
@pytest.mark.compiled
def test_hundreds_of_wild_states_and_demands():
    pytest.importorskip("daqp")
    found = fuzz(300 * len(EVERY), 100)
    assert not found.failures
    for statuses in found.statuses.values():
        assert statuses.total() == 300


def test_commands_that_break_the_contract_are_found():
    tau = np.zeros(2)
    assert not faults("solved", tau, True)
    assert not faults("damped", tau, False)
    assert faults("solved", np.array([0.0, np.nan]), True)
    assert faults("solved", tau, False)  # from what is not finite
    assert faults("fine", tau, True)


def test_explanations_of_another_command_or_of_none_are_found():
    tau = np.zeros(2)
    good = Explanation(tau=tau, demanded=np.ones(2), predicted=np.ones(2))
    assert not misexplained(good, tau, "solved")
    assert misexplained(good, np.ones(2), "solved")
    assert misexplained(good, tau, "nearest")
    for status, change in (
        ("held", {"status": "held"}),  # for no reason
        ("solved", {"slack": 1.0}),
        ("solved", {"predicted": np.full(2, np.inf)}),
    ):
        assert misexplained(replace(good, **change), tau, status)


@pytest.mark.compiled
@pytest.mark.parametrize("name", PREDICTIVE)
def test_nothing_is_remembered_of_a_command_that_went_wild(name):
    """What Coriolis forces counted on made each later step overflow: damped ever after."""
    demand = Demand()
    robot, control = made(name, demand)
    tau = control(0.0, robot.state, None)
    demand.joints = np.full(12, 1e9)
    control(1e-3, so.State(robot.state.q, np.full(18, 1e5)), None)
    demand.joints = np.zeros(12)
    again = control(2e-3, robot.state, None)
    assert control.explain().status in ("solved", "nearest")
    assert again == pytest.approx(tau, abs=1e-3)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "hands"])
def test_how_long_there_has_been_no_answer_is_told(name):
    demand = Demand()
    robot, control = made(name, demand)
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


@pytest.mark.parametrize("name", ["pid", "measured", "least-norm"])
def test_what_limits_cut_is_not_said_to_be_solved(name):
    demand = Demand()
    robot, control = made(name, demand)
    demand.joints = np.full(12, 1e4)
    demand.base = np.full(6, 1e4)
    tau = control(0.0, robot.state, None)
    told = control.explain()
    limits = control.actuation.limits
    assert np.abs(tau[control.actuation.rows]).max() == limits[np.isfinite(limits)].max()
    assert told.status == "nearest"
    if name == "measured":
        assert told.slack > 100.0
