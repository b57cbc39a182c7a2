"""No slip: feet that stay, demands that they cannot follow, and feet in the air."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import NoSlipController, NoSlipDissipationController
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.control.inverse_dynamics.no_slip import PressedNoSlip
from tests.control.cases import MOTORS, prediction, quadruped_simulator


def test_feet_of_a_consistent_demand_neither_slip_nor_part():
    _, _, ahead = prediction(friction=10.0, law="no-slip")
    problem = inverse_problem(ahead, MOTORS, np.zeros(12))
    answer = PressedNoSlip().solve(problem)
    assert answer.solved
    feet = problem.jacobian @ problem.after(answer.impulses.ravel())
    assert np.abs(feet).max() < 1e-9
    assert (answer.impulses[:, 0] >= 0.0).all()
    assert np.isclose(answer.impulses[:, 0].sum(), 1e-3 * 9.81 * ahead.model.mass)


@pytest.mark.parametrize("kind", [NoSlipController, NoSlipDissipationController])
def test_legs_that_splay_get_the_nearest_motion(kind):
    """On feet that do not slip hips cannot all turn outwards: what they can do is less."""
    robot, sim = quadruped_simulator("no-slip", friction=10.0)
    splay = np.tile([5.0, 0.0, 0.0], 4)
    control = kind(sim, lambda time, state: splay)
    control(0.0, robot.state)
    told = control.explain()
    assert told.status == "nearest"
    assert "contacts cannot follow the demand: the nearest that they can" in told.notes
    assert 0.0 < np.linalg.norm(told.predicted[MOTORS] - splay) < 2.0 * np.linalg.norm(splay)
    assert np.isfinite(told.tau).all()


@pytest.mark.parametrize("kind", [NoSlipController, NoSlipDissipationController])
def test_in_the_air_nothing_is_held(kind):
    robot, sim = quadruped_simulator("no-slip")
    q = robot.state.q.copy()
    q[2] += 1.0
    control = kind(sim, lambda time, state: np.zeros(12))
    tau = control(0.0, so.State(q, robot.state.v))
    assert control.explain().forces.shape == (0, 3)
    assert np.abs(tau).max() < 1e-10


@pytest.mark.parametrize(
    ("seed", "note"), [(3, "contacts that held without pressing"), (319, "the law prefers")]
)
def test_a_command_that_the_law_answers_otherwise_is_not_solved(seed, note):
    """What is predicted of it is what comes in the step that follows."""
    robot, sim = quadruped_simulator("no-slip", friction=10.0)
    rng = np.random.default_rng(seed)
    wanted = 20.0 * rng.normal(size=12)
    state = so.State(robot.state.q, 0.02 * rng.normal(size=robot.model.nv))
    control = NoSlipController(sim, lambda time, state: wanted, horizon=sim.dt, within_limits=False)
    after, _ = sim.step(state, control(0.0, state))
    told = control.explain()
    gained = (after.v - state.v) / sim.dt
    assert any(line.startswith(note) for line in told.notes)
    assert told.status == control.status == "nearest"
    assert np.allclose(told.predicted, gained, atol=1e-2)
    assert np.isclose(told.slack, np.abs(gained[MOTORS] - wanted).max(), atol=1e-2)


def test_no_foot_may_be_named_as_standing():
    robot, sim = quadruped_simulator("no-slip")
    for none in ([], (), np.array([])):
        control = NoSlipController(
            sim, lambda time, state: np.zeros(12), standing=lambda time, none=none: none
        )
        control(0.0, robot.state)
        assert control.explain().status == "solved"


@pytest.mark.parametrize("wrong", [[99], [-2], [True, False], ["lf_foot"], None])
def test_what_names_no_standing_links_is_said(wrong):
    """A mask of feet would be the links 0 and 1, and a link below the world another one."""
    robot, sim = quadruped_simulator("no-slip")
    control = NoSlipController(sim, lambda time, state: np.zeros(12), standing=lambda time: wrong)
    control(0.0, robot.state)
    told = control.explain()
    assert told.status == "damped"
    assert "standing: expected links from -1 to 17" in told.notes[0]
