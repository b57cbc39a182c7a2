"""Points in one pass of kinematics are those of the public functions."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.task_space.points import Points


def test_rows_are_those_of_the_public_functions():
    robot = so.models.quadruped()
    model, rng = robot.model, np.random.default_rng(0)
    q, v = model.random(rng), rng.normal(size=model.nv)
    nodes = [so.Node(robot.feet[2]), so.Node("base", (0.1, -0.2, 0.3))]
    found = Points(model, nodes).rows(q, v)
    assert found.points == pytest.approx(so.node_positions(model, q, nodes))
    assert found.J.reshape(12, -1) == pytest.approx(so.jacobian(model, q, nodes))
    assert found.velocities == pytest.approx(so.node_velocities(model, q, v, nodes))
    assert found.drift.ravel() == pytest.approx(so.jacobian_drift(model, q, v, nodes))


def test_results_are_new_at_each_call():
    robot = so.models.quadruped()
    points = Points(robot.model, [so.Node(robot.feet[0])])
    first = points.rows(robot.state.q, np.zeros(18))
    kept = first.J.copy()
    points.rows(robot.model.random(np.random.default_rng(1)), np.ones(18))
    assert np.array_equal(first.J, kept)
