"""Fingers push with the force that was asked for, against each other, and stay in the middle."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.manipulation.grasp_force import FingerGains, GraspForce, Open, Squeeze
from spatialops.control.manipulation.impedance import Impedance

NAMES = ("left_finger1", "left_finger2", "left_thumb")


@pytest.fixture(scope="module")
def robot():
    return so.models.dual_arm()


def _hand(robot, **gains):
    return GraspForce(
        robot.model,
        "left_palm",
        NAMES[:2],
        NAMES[2],
        held=["left_spread"],
        gains=FingerGains(**gains),
        dt=0.01,
    )


def _torques(hand, robot, q, v, calls=1):
    pose = Impedance(robot.model, ["left_palm"], q).observe(q)[0]
    for _ in range(calls):
        tau = np.zeros(26)
        hand.observe(q, pose)
        hand.torques(q, v, tau)
    return tau, pose


def test_a_squeeze_is_balanced_by_forces_at_the_tips(robot):
    """Torques are J^T f with forces along the palm's x axis that add up to nothing."""
    model, q = robot.model, robot.state.q.copy()
    hand = _hand(robot)
    hand.command(Squeeze(30.0, rate=1e4))
    tau, pose = _torques(hand, robot, q, np.zeros(26))
    axis = pose.rotation[:, 0]
    expected = np.zeros(26)
    total = np.zeros(3)
    for name, force in zip(
        NAMES, (-15.0, -15.0, 30.0), strict=True
    ):  # fingers stand on the side of +x
        J = so.jacobian(model, q, [so.Node(f"{name}_tip")])[3:]
        rows = model.v_slice(name)
        expected[rows] = J[:, rows].T @ (force * axis)
        total += force * axis
    assert np.allclose(tau, expected, rtol=0.0, atol=1e-12)
    assert np.allclose(total, 0.0)
    assert all(tau[model.v_slice(name)] > 0.0 for name in NAMES)  # closing is positive


def test_force_comes_at_its_rate(robot):
    hand = _hand(robot)
    hand.command(Squeeze(50.0, rate=100.0))
    _torques(hand, robot, robot.state.q, np.zeros(26), calls=7)
    assert np.isclose(hand.force, 7.0)
    hand.command(Open())
    _torques(hand, robot, robot.state.q, np.zeros(26))
    assert hand.force == 0.0


def test_the_middle_and_the_fingers_are_kept(robot):
    model, q = robot.model, robot.state.q.copy()
    hand = _hand(robot, damping=0.0)
    hand.command(Squeeze(0.0))
    for name, angle in zip(NAMES, (0.1, 0.2, 0.35), strict=True):
        q[model.q_slice(name)] = angle
    tau, _ = _torques(hand, robot, q, np.zeros(26))
    first, second, thumb = (float(tau[model.v_slice(name)][0]) for name in NAMES)
    assert np.isclose(first + second + thumb, 0.0)  # nothing is squeezed
    assert thumb < 0.0 < first + second  # the thumb has come too far
    assert first - second > 0.0  # the first finger lags behind the second


def test_opening_is_a_motion_at_a_rate(robot):
    model, q = robot.model, robot.state.q.copy()
    hand = _hand(robot, stiffness=10.0, damping=0.0)
    hand.command(Open(-0.5, rate=1.0))
    tau, _ = _torques(hand, robot, q, np.zeros(26), calls=3)  # 0.03 rad on the way
    there = [float(tau[model.v_slice(name)][0]) for name in NAMES]
    assert np.allclose(there, 10.0 * -0.03)
