"""Khatib's controller against the projection, and at a singularity."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContacts,
    JointTask,
    Motors,
    OperationalSpaceController,
    PointTask,
    PoseTask,
    Tracking,
    WholeBodyController,
)
from spatialops.errors import ArgumentError


def test_khatib_on_an_arm_is_the_projection_without_constraints():
    model = so.models.dual_arm().model
    rng = np.random.default_rng(5)
    state = so.State(so.models.dual_arm().state.q, 0.3 * rng.normal(size=model.nv))
    left, right = PoseTask(so.Node("left_palm")), PointTask(so.Node("right_palm"))
    tasks = [
        Tracking(left, left.motion(model, state).x + 0.05 * rng.normal(size=6)),
        Tracking(right, right.motion(model, state).x + 0.05 * rng.normal(size=3)),
    ]
    controller = OperationalSpaceController(model, tasks, damping=10.0)
    tau = controller(0.0, state)
    a = so.forward_dynamics(model, state.q, state.v, tau - model.damping * state.v)
    for tracking in tasks:
        motion = tracking.task.motion(model, state)
        assert np.allclose(
            motion.J @ a + motion.drift, tracking.goal(0.0, motion, state.v)[0], atol=1e-8
        )
    assert controller.explain().status == "solved"
    assert controller.explain().slack < 1e-8
    motors = Motors(Actuation(model))
    motors.actuation.limits[:] = np.inf
    other = FrictionConeController(model, tasks, motors, contacts=HeldContacts(model, []))
    assert np.allclose(
        other(0.0, state), tau, atol=1e-8
    )  # the same null-space law: -10 v in the metric of M


def test_a_singular_arm_gives_way_and_says_so():
    """Two links in a straight line: the tip cannot go along them."""
    arm = so.models.pendulum(2)
    model = arm.model
    tip = PointTask(so.Node(model.body_names[-1], (0.0, 0.0, -1.0)))
    state = so.State(np.zeros(2), np.zeros(2))
    here = tip.motion(model, state)
    controller = OperationalSpaceController(model, [Tracking(tip, here.x)])
    with pytest.raises(ArgumentError, match="no command"):
        controller.explain()
    tau = controller(0.0, state)
    told = controller.explain()
    assert np.isfinite(tau).all()
    assert told.status == "nearest"
    assert "singular" in told.notes[0]


def test_only_points_and_poses_are_taken():
    model = so.models.pendulum(2).model
    joint = Tracking(JointTask(model.joint_names[:1]), [0.0])
    for tasks in ([], [joint]):
        with pytest.raises(ArgumentError, match="points and poses"):
            OperationalSpaceController(model, tasks)
    for tasks in ("tip", None, [1.0]):
        with pytest.raises(ArgumentError, match="tasks: expected"):
            OperationalSpaceController(model, tasks)
    with pytest.raises(ArgumentError, match="expected a Model"):
        OperationalSpaceController(None, [Tracking(PointTask(so.Node("link1")), np.zeros(3))])


def test_motors_limits_cut_the_command_and_that_is_said():
    arms = so.models.dual_arm()
    model, state = arms.model, so.State(arms.state.q, np.zeros(arms.model.nv))
    palm = PoseTask(so.Node("left_palm"))
    here = palm.motion(model, state).x
    path = here, np.zeros(6), np.full(6, 1e6)
    controller = OperationalSpaceController(model, [Tracking(palm, lambda time: path)])
    tau = controller(0.0, state)
    assert (np.abs(tau) <= model.effort_limit).all()
    told = controller.explain()
    assert told.status == "nearest"
    assert told.notes == ("limits of motors bind",)
    assert told.slack > 1e3


def test_what_is_not_finite_gives_a_braking_command():
    model = so.models.pendulum(2).model
    tip = PointTask(so.Node(model.body_names[-1], (0.0, 0.0, -1.0)))
    rest = so.State(np.array([0.1, 0.2]), np.zeros(2))
    controller = OperationalSpaceController(model, [Tracking(tip, tip.motion(model, rest).x)])
    tau = controller(0.0, so.State(np.array([np.nan, 0.0]), np.array([1.0, 0.0])))
    assert tau[0] < 0.0
    assert controller.explain().status == "damped"


def _dry_arm():
    """Three hinges with dry friction."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.5)
    for i, axis in enumerate("zyy"):
        joint = so.Joint("revolute", axis=axis, dry_friction=1.0 + i)
        where = {"parent": f"rod{i - 1}", "position": (0.0, 0.0, 0.4)} if i else {}
        builder.add_body(f"rod{i}", joint=joint, inertia=rod, **where)
    return builder.build()


@pytest.mark.parametrize("v", [(0.5, -0.3, 0.2), (0.0, 0.0, 0.0), (1e-5, -0.3, 0.0)])
@pytest.mark.parametrize("kind", ["operational", "cone", "whole body"])
def test_dry_friction_of_joints_that_move_or_start_is_counted_on(kind, v):
    model = _dry_arm()
    state = so.State(np.array([0.1, 0.6, 0.8]), np.array(v))
    tip = PointTask(so.Node("rod2", (0.0, 0.0, 0.3)))
    path = tip.motion(model, state).x, np.zeros(3), np.array([2.0, 1.0, -1.0])
    tasks = [Tracking(tip, lambda time: path)]
    motors, contacts = Motors(Actuation(model)), HeldContacts(model, [])
    if kind == "operational":
        controller = OperationalSpaceController(model, tasks)
    else:
        maker = FrictionConeController if kind == "cone" else WholeBodyController
        controller = maker(model, tasks, motors, contacts=contacts)
    tau = controller(0.0, state)
    told = controller.explain()
    assert told.slack < 1e-6
    after, _ = so.Simulator(so.Scene(model), dt=1e-5).step(state, tau)
    assert np.allclose((after.v - state.v) / 1e-5, told.predicted, atol=2e-2)
    goal = tasks[0].goal(0.0, tip.motion(model, state), state.v)[0]
    J, drift = tip.motion(model, state).J, tip.motion(model, state).drift
    assert np.allclose(J @ (after.v - state.v) / 1e-5 + drift, goal, atol=2e-2)
