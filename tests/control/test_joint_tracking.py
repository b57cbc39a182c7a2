"""Error feedback, as accelerations and as forces."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Gains, JointTracking, PIDController, Reference
from spatialops.errors import ArgumentError


def test_pid_is_error_feedback_within_limits():
    robot = so.models.quadruped()
    q = robot.state.q[7:]
    control = PIDController(
        robot.model, lambda time, state: Reference(q + 0.1, np.zeros(12), np.full(12, 50.0))
    )
    tau = control(0.0, robot.state)
    assert tau[6:] == pytest.approx(10.0 * 0.1 + 0.003 * 1e-3 * 0.1)
    far = PIDController(
        robot.model, lambda time, state: Reference(q + 10.0, np.zeros(12), np.zeros(12))
    )
    assert far(0.0, robot.state)[6:] == pytest.approx(4.0)


def pendulum(gains, **options):
    arm = so.models.pendulum(2)
    still = Reference(np.array([0.1, 0.0]), np.array([0.0, 0.2]), np.array([1.0, 2.0]))
    return JointTracking(arm.model, lambda time, state: still, gains=gains, **options)


def test_feedback_is_the_sum_of_its_terms():
    state = so.State(np.array([0.3, 0.0]), np.array([0.0, 0.5]))
    demand = pendulum(Gains(position=100.0, velocity=10.0))
    assert demand(0.0, state) == pytest.approx([1.0 - 20.0, 2.0 - 3.0])
    assert demand.errors == pytest.approx([0.2, 0.0])
    assert demand.rate_errors == pytest.approx([0.0, 0.3])
    more = pendulum(Gains(position=100.0, velocity=10.0), stabilize=lambda time, state: [5.0, 0.0])
    assert more(0.0, state) == pytest.approx([6.0 - 20.0, 2.0 - 3.0])


def test_the_integral_grows_with_calls():
    state = so.State(np.array([0.3, 0.0]), np.array([0.0, 0.2]))
    demand = pendulum(Gains(position=0.0, velocity=0.0, integral=50.0), dt=0.01)
    values = [demand(0.0, state)[0] for _ in range(3)]
    assert np.diff(values) == pytest.approx([-50.0 * 0.2 * 0.01] * 2)


def test_a_pid_controller_is_put_away_and_taken_up_again():
    arm = so.models.pendulum(2)

    def made():
        still = Reference(np.zeros(2), np.zeros(2), np.zeros(2))
        return PIDController(arm.model, lambda time, state: still, gains=Gains(integral=50.0))

    one, other = made(), made()
    state = so.State(np.array([0.1, -0.2]), np.zeros(2))
    for _ in range(3):
        one(0.0, state)
    assert not np.array_equal(one(0.0, state), other(0.0, state))
    other.restore(one.save())
    assert np.array_equal(one(0.0, state), other(0.0, state))
    for wrong in ({}, {"integral": np.zeros(3)}, {"integral": np.array([0.0, np.nan])}):
        with pytest.raises(ArgumentError, match="integral"):
            other.restore(wrong)


def test_pid_says_when_its_reference_is_not_finite():
    robot = so.models.quadruped()
    nowhere = Reference(np.full(12, np.nan), np.zeros(12), np.zeros(12))
    control = PIDController(robot.model, lambda time, state: nowhere)
    with pytest.raises(ArgumentError, match="no command"):
        control.explain()
    assert not control(0.0, robot.state).any()
    assert control.explain().status == "damped"


def test_joints_without_plain_coordinates_cannot_be_tracked():
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("shoulder", joint=so.Joint("ball"), inertia=ball)
    with pytest.raises(ArgumentError, match="plain numbers"):
        JointTracking(builder.build(), lambda time, state: None)


def test_references_of_any_shape_and_what_does_not_fit():
    arm = so.models.pendulum(2)
    state = so.State(np.array([0.1, -0.2]), np.array([0.3, 0.0]))
    rows = np.zeros((3, 2))
    shapes = {
        "lists": [[0, 0], [0, 0], [0, 0]],
        "columns": rows.reshape(3, 2, 1),
        "strided": np.zeros((2, 3)).T,
        "read-only": np.broadcast_to(0.0, (3, 2)),
    }
    expected = [-900.0 * 0.1 - 60.0 * 0.3, 900.0 * 0.2]
    for given in shapes.values():
        tracking = JointTracking(arm.model, lambda time, state, given=given: Reference(*given))
        assert tracking(0.0, state) == pytest.approx(expected)
        assert tracking.errors == pytest.approx([0.1, -0.2])
        assert tracking.rate_errors == pytest.approx([0.3, 0.0])
    short = Reference(np.zeros(3), np.zeros(2), np.zeros(2))
    with pytest.raises(ArgumentError, match="reference"):
        JointTracking(arm.model, lambda time, state: short)(0.0, state)
    still = Reference(*rows)
    with pytest.raises(ArgumentError, match=r"state\.q"):
        JointTracking(arm.model, lambda time, state: still)(0.0, so.State(np.zeros(3), np.zeros(2)))
