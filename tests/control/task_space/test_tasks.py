"""Tasks have exact rates."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    CenterOfMassTask,
    JointTask,
    PointTask,
    PoseTask,
)


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_tasks_have_exact_rates(robot):
    model, rng = robot.model, np.random.default_rng(6)
    q = so.integrate(model, robot.state.q, 0.4 * rng.normal(size=model.nv))
    v, h = rng.normal(size=model.nv), 1e-5
    tasks = (
        PointTask(so.Node(robot.feet[1]), axes=(0, 2)),
        PoseTask(so.Node("base", (0.1, 0.0, 0.0))),
        CenterOfMassTask(),
        JointTask(("lf_hip", "rh_knee")),
    )
    for task in tasks:
        here = task.motion(model, so.State(q, v))
        ends = [
            task.motion(model, so.State(so.integrate(model, q, s * h * v), v)) for s in (1.0, -1.0)
        ]
        assert np.allclose((ends[0].x - ends[1].x) / (2 * h), here.J @ v, atol=1e-8)
        assert np.allclose((ends[0].J @ v - ends[1].J @ v) / (2 * h), here.drift, atol=1e-7)
