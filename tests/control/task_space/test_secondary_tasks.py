"""Rest, joint limits and manipulability."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    JointLimits,
    PointTask,
    Rest,
)
from spatialops.control.task_space.secondary_tasks import AwayFromSingularity


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_secondary_tasks(robot):
    model = robot.model
    push = JointLimits(margin=0.1, stiffness=100.0, damping=0.0)
    assert not push(model, robot.state).any()  # limits are far, or there are none
    pull = Rest(q=robot.state.q, stiffness=4.0, damping=1.0)
    moved = so.integrate(model, robot.state.q, 0.1 * np.ones(model.nv))
    assert np.allclose(pull(model, so.State(moved, np.zeros(18))), -0.4, atol=1e-9)
    arm = so.models.dual_arm()
    low = arm.state.q.copy()
    at = arm.model.q_slice("left_arm2")
    low[at] = arm.model.lower[arm.model.v_slice("left_arm2")] + 0.02
    a = push(arm.model, so.State(low, np.zeros(arm.model.nv)))
    assert np.isclose(a[arm.model.v_slice("left_arm2")][0], 8.0)
    assert np.count_nonzero(a) == 1
    away = AwayFromSingularity(task=PointTask(so.Node("left_palm")), enough=10.0, gain=1.0)
    here = away.manipulability(arm.model, arm.state.q)
    step = away(arm.model, arm.state)
    assert away.manipulability(arm.model, so.integrate(arm.model, arm.state.q, 1e-3 * step)) > here
