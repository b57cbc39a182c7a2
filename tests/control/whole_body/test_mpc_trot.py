"""A robot that walks by forces of a short horizon."""

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import rotation_matrix
from spatialops.control import Actuation, Gait, Motors, MpcTrotController
from spatialops.errors import ArgumentError
from tests.support.homes import elsewhere

pytestmark = pytest.mark.compiled


def walked(command, duration, gait=None, push=None):
    robot = so.models.quadruped()
    simulator = so.Simulator(
        robot.scene(friction=0.8), dt=1e-3, impact_threshold=100.0, certify="off"
    )
    control = MpcTrotController(
        robot.model, robot.feet, Motors(Actuation(robot.model)), robot.state, command, gait=gait
    )
    state = robot.state
    states = []
    statuses = set()
    for k in range(round(duration / simulator.dt)):
        tau = control(state.time, state)
        statuses.add(control.explain().status)
        if push is not None and k == push[0]:
            v = state.v.copy()
            v[3:6] += push[1]
            state = so.State(state.q, v, state.time)
        state, _ = simulator.step(state, tau)
        states.append(state)
    return robot, states, statuses


def test_it_goes_and_turns_as_told():
    robot, states, statuses = walked(lambda time, state: (0.15, 0.0, 0.3), 2.4)
    assert statuses <= {"solved", "nearest"}
    late = states[900:2400]  # five periods
    v = np.mean(
        [
            rotation_matrix(s.q[3:7])[:2, :2].T @ (rotation_matrix(s.q[3:7]) @ s.v[3:6])[:2]
            for s in late
        ],
        axis=0,
    )
    assert v == pytest.approx([0.15, 0.0], abs=0.03)
    assert np.mean([s.v[2] for s in late]) == pytest.approx(0.3, abs=0.05)
    for s in states:
        R = rotation_matrix(s.q[3:7])
        assert R[2, 2] > np.cos(0.1)
        assert s.q[2] == pytest.approx(robot.state.q[2], abs=0.02)


def test_a_push_is_caught():
    """Half a metre a second to the side: feet are set down where they catch it."""
    robot, states, _ = walked(lambda time, state: (0.0, 0.0, 0.0), 2.0, push=(600, [0.0, 0.3, 0.0]))
    end = states[-1]
    assert np.abs(np.mean([s.v[3:5] for s in states[-300:]], axis=0)).max() < 0.05
    assert rotation_matrix(end.q[3:7])[2, 2] > 0.99
    assert end.q[2] > 0.9 * robot.state.q[2]
    assert end.q[1] > 0.02


def test_forces_are_those_of_the_feet_that_stand():
    robot = so.models.quadruped()
    gait = Gait()
    control = MpcTrotController(
        robot.model,
        robot.feet,
        Motors(Actuation(robot.model)),
        robot.state,
        lambda time, state: (0.0, 0.0, 0.0),
        gait=gait,
    )
    control(0.2, robot.state)
    plan = control.plan
    holds = gait.standing(0.2 + 0.5 * control.mpc.dt)
    assert np.abs(plan.forces[0][~holds]).max() == 0.0
    assert plan.forces[0][holds][:, 2].min() > 0.0
    weight = 9.81 * robot.model.mass
    assert plan.forces.sum(axis=1)[:, 2].mean() == pytest.approx(weight, rel=0.1)
    told = control.explain()
    assert told.status in ("solved", "nearest")


def test_a_broken_state_is_braked():
    robot = so.models.quadruped()
    control = MpcTrotController(
        robot.model,
        robot.feet,
        Motors(Actuation(robot.model)),
        robot.state,
        lambda time, state: (0.0, 0.0, 0.0),
    )
    q = robot.state.q.copy()
    q[2] = np.nan
    tau = control(0.0, so.State(q, robot.state.v))
    assert np.isfinite(tau).all()
    assert control.explain().status == "damped"
    tau = control(0.001, robot.state)
    assert control.explain().status in ("solved", "nearest")


def test_a_base_whose_joint_is_at_home_elsewhere_is_refused():
    robot = so.models.quadruped()
    model, state = elsewhere(robot.model, robot.state)
    motors = Motors(Actuation(model))
    with pytest.raises(ArgumentError, match="'base' must stand at the world's origin"):
        MpcTrotController(model, robot.feet, motors, state, lambda time, state: np.zeros(3))
