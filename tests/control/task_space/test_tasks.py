"""Tasks have exact rates."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    AttitudeTask,
    CenterOfMassTask,
    CentroidalMomentumTask,
    JointTask,
    PointTask,
    PoseTask,
)
from spatialops.errors import ArgumentError


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
        AttitudeTask(so.Node(robot.feet[2]), attitude=[0.0, 0.0, 0.6, 0.8]),
        CenterOfMassTask(),
        CentroidalMomentumTask(axes=(3, 5)),
        JointTask(("lf_hip", "rh_knee")),
    )
    for task in tasks:
        here = task.motion(model, so.State(q, v))
        ends = [
            task.motion(model, so.State(so.integrate(model, q, s * h * v), v)) for s in (1.0, -1.0)
        ]
        assert np.allclose((ends[0].x - ends[1].x) / (2 * h), here.J @ v, atol=1e-8)
        assert np.allclose((ends[0].J @ v - ends[1].J @ v) / (2 * h), here.drift, atol=1e-7)


def test_momentum_has_an_exact_rate(robot):
    """Angular momentum is the rate of nothing: its Jacobian times v, and the change of that."""
    model, rng = robot.model, np.random.default_rng(7)
    q = so.integrate(model, robot.state.q, 0.4 * rng.normal(size=model.nv))
    v, h = rng.normal(size=model.nv), 1e-5
    task = CentroidalMomentumTask()
    here = task.motion(model, so.State(q, v))
    about = so.centroidal_momentum_matrix(model, q)[:3] @ v
    assert np.allclose(here.J @ v, about, atol=1e-12)
    ends = [
        task.motion(model, so.State(so.integrate(model, q, s * h * v), v)).J @ v
        for s in (1.0, -1.0)
    ]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), here.drift, atol=1e-7)


def test_the_centre_of_mass_of_an_arm_on_the_ground():
    """No free joint is needed."""
    arm = so.models.pendulum(3)
    rng = np.random.default_rng(8)
    state = so.State(rng.normal(size=3), rng.normal(size=3))
    motion = CenterOfMassTask(axes=(0, 2)).motion(arm.model, state)
    assert np.allclose(motion.x, so.center_of_mass(arm.model, state.q)[[0, 2]])
    moved = so.momentum(arm.model, state.q, state.v)[3:] / arm.model.mass
    assert np.allclose(motion.J @ state.v, moved[[0, 2]])


@pytest.mark.parametrize("axes", [(3,), (-1,), (0, 0), (0.5,), "z", None, [np.nan]])
def test_axes_that_are_none_are_refused(axes):
    """A kernel would read past its tables."""
    for make in (lambda: PointTask(so.Node("base"), axes), lambda: CenterOfMassTask(axes)):
        with pytest.raises(ArgumentError, match="axes"):
            make()
    assert PointTask(so.Node("base"), np.array([0.0, 2.0])).axes == (0, 2)
    assert CentroidalMomentumTask([5, 0]).axes == (5, 0)
    with pytest.raises(ArgumentError, match="names"):
        JointTask("lf_hip")
