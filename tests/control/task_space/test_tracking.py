"""Paths and gains: the law of a task's error in closed form."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import JointTask, PoseTask, Tracking
from spatialops.control.task_space.tasks import Motion
from spatialops.errors import ArgumentError

TASK = JointTask(("a", "b"))
HERE = Motion(np.array([1.0, 2.0]), np.eye(2), np.zeros(2))
V = np.array([0.5, 0.0])


def test_a_fixed_place_draws_with_critical_damping():
    tracking = Tracking(TASK, [1.1, 2.0], stiffness=[100.0, 25.0])
    wanted, error, rate = tracking.goal(0.0, HERE, V)
    assert error == pytest.approx([0.1, 0.0])
    assert rate == pytest.approx([-0.5, 0.0])
    assert wanted == pytest.approx([100.0 * 0.1 - 20.0 * 0.5, 0.0])
    assert tracking.damping == pytest.approx(np.diag([20.0, 10.0]))


def test_a_path_is_followed_with_its_accelerations():
    path = lambda t: ([1.0, 2.0], [0.5, t], [0.0, 7.0])  # noqa: E731
    wanted, error, _ = Tracking(TASK, path, stiffness=9.0, damping=2.0).goal(3.0, HERE, V)
    assert not error.any()
    assert wanted == pytest.approx([0.0, 7.0 + 2.0 * 3.0])


def test_coupled_gains_have_a_root():
    K = np.array([[5.0, 2.0], [2.0, 3.0]])
    D = Tracking(TASK, [0.0, 0.0], stiffness=K).damping
    assert 0.25 * D @ D == pytest.approx(K)


def test_names():
    assert Tracking(TASK, [0.0, 0.0]).name == "JointTask"
    assert Tracking(TASK, [0.0, 0.0], name="knees").name == "knees"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stiffness": -1.0}, "stiffness: expected gains"),
        ({"stiffness": np.nan}, "stiffness: expected a number"),
        ({"damping": np.ones((3, 3))}, "damping: expected a number"),
        ({"path": [1.0]}, "path: expected shape"),
        ({"path": [np.inf, 0.0]}, "path: holds NaN"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        Tracking(TASK, **({"path": [0.0, 0.0]} | options))


@pytest.mark.parametrize("yaw", [3.13, 3.15, 5.0, 9.5])
def test_a_turn_goes_on_beyond_half_a_turn(yaw):
    """Beside its path, turning as it turns, a body is asked for nothing but to come nearer."""
    model = so.models.quadruped().model
    task = PoseTask(so.Node("base"))
    rate = 0.7

    def path(time):
        x = np.array([0.0, 0.0, yaw + rate * time, 0.0, 0.0, 0.0])
        return x, rate * np.eye(6)[2], np.zeros(6)

    q, behind = model.neutral(), yaw - 0.02
    q[5:7] = np.sin(0.5 * behind), np.cos(0.5 * behind)
    v = rate * np.eye(18)[2]
    acceleration, error, slower = Tracking(task, path).goal(
        0.0, task.motion(model, so.State(q, v)), v
    )
    assert error == pytest.approx(0.02 * np.eye(6)[2], abs=1e-12)
    assert slower == pytest.approx(np.zeros(6), abs=1e-12)
    assert acceleration == pytest.approx(100.0 * error, abs=1e-9)
