"""Balance: legs that push where the base is low, and only there."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.control import Balance, Legs
from tests.support.homes import elsewhere


def posed(roll=0.0, drop=0.0, v=None):
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    rest = legs.positions(robot.state.q[legs.angles])
    q = robot.state.q.copy()
    q[3:7] = Rotation.from_euler("x", roll).as_quat()
    q[2] -= drop
    return legs, rest, so.State(q, np.zeros(18) if v is None else v)


def balance(legs, rest, down=(True, True, True, True)):
    return Balance(legs, rest, lambda time: np.array(down), frequency=10.0)


def test_at_rest_and_while_rising_nothing_is_pushed():
    legs, rest, state = posed()
    assert np.abs(balance(legs, rest)(0.0, state)).max() < 1e-12
    rising = so.State(state.q, np.eye(18)[5] * 0.3)
    assert not balance(legs, rest)(0.0, rising).any()


def test_a_sinking_base_is_pushed_up_alike_by_all_that_stand():
    legs, rest, state = posed(v=-0.1 * np.eye(18)[5])
    control = balance(legs, rest, (True, False, True, True))
    assert control.pushes(0.0, state) == pytest.approx(
        2.0 * 10.0 * 0.1 * np.array([1.0, 0.0, 1.0, 1.0])
    )


def test_the_low_side_of_a_rolling_base_extends_its_legs():
    legs, rest, state = posed(v=0.5 * np.eye(18)[0])  # rolls about x: the right side sinks
    a = balance(legs, rest).pushes(0.0, state)
    left, right = rest[:, 1] > 0.0, rest[:, 1] < 0.0
    assert (a[right] > 0.0).all()
    assert not a[left].any()
    qdd = balance(legs, rest)(0.0, state)
    feet = np.einsum("lij,lj->li", legs.jacobians(state.q[legs.angles]), qdd.reshape(4, 3))
    assert feet[:, 2] == pytest.approx(-a, abs=1e-9)
    assert np.abs(feet[:, :2]).max() < 1e-9


def test_nobody_stands():
    legs, rest, state = posed(drop=0.02)
    assert not balance(legs, rest, (False,) * 4)(0.0, state).any()


def test_where_the_bases_joint_is_at_home_changes_nothing():
    legs, rest, state = posed(roll=0.1, drop=0.01, v=-0.1 * np.ones(18))
    model, there = elsewhere(legs.model, state)
    other = Legs(model, so.models.quadruped().feet)
    pushed = balance(other, rest)(0.0, there)
    assert np.abs(pushed).max() > 1.0
    assert pushed == pytest.approx(balance(legs, rest)(0.0, state), abs=1e-10)
