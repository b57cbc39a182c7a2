"""Whole-body commands: pyramids of friction beside cones, and levels that change."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    CenterOfMassTask,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    Motors,
    PoseTask,
    Tracking,
    WholeBodyController,
)
from tests.control.cases import controller_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_pyramids_cost_more_and_approach_the_cone(robot):
    # Hard enough for the cones to bind, and between the corners of the pyramids.
    asked = np.array([0.0, 0.0, 0.0, 1.6, 1.0, 0.0])
    exact = controller_of(robot, asked, friction=0.3)
    exact(0.0, robot.state)
    powers = []
    for sides in (4, 8, 64):
        linear = controller_of(robot, asked, friction=0.3, kind=WholeBodyController, sides=sides)
        linear(0.0, robot.state)
        told = linear.explain()
        assert told.residual < 1e-9
        powers.append(told.power)
    best = exact.explain().power
    assert powers[0] > powers[1] > powers[2] >= best * (1.0 - 1e-6)
    assert powers[2] < best * (1.0 + 2e-3)


def test_levels_may_change_between_commands(robot):
    """As many rows in the largest level, more in all: what a command works in grows."""
    feet = HeldContacts(robot.model, [HeldContact(node=so.Node(name)) for name in robot.feet])
    base, center = PoseTask(so.Node("base")), CenterOfMassTask(axes=(0, 1))
    upright = Tracking(base, base.motion(robot.model, robot.state).x)
    middle = Tracking(center, center.motion(robot.model, robot.state).x + 0.01)

    def controller(levels):
        motors = Motors(Actuation(robot.model))
        return WholeBodyController(robot.model, levels, motors, contacts=feet)

    changed = controller([[upright]])
    changed(0.0, robot.state)
    for levels in ([[middle], [upright]], [[upright], [middle]], [[upright]]):
        fresh = controller(levels)
        changed.levels = fresh.levels
        assert np.array_equal(changed(0.0, robot.state), fresh(0.0, robot.state))


@pytest.mark.parametrize("kind", [FrictionConeController, WholeBodyController])
def test_legs_with_dry_friction_move_as_predicted(robot, kind):
    """From rest, in closed chains: a leg that sticks for want of force would hold the others."""
    given = robot.model.to_arrays()
    given["dry_friction"] = np.where(np.arange(18) < 6, 0.0, 0.1)
    model = so.Model.from_arrays(given)
    contacts = [
        HeldContact(node=so.Node(foot), friction=0.6, radius=robot.foot_radius)
        for foot in robot.feet
    ]
    base = PoseTask(so.Node("base"))
    path = base.motion(model, robot.state).x, np.zeros(6), np.array([0, 0.5, 0, 0.3, 0, -0.3])
    controller = kind(
        model,
        [Tracking(base, lambda time: path)],
        Motors(Actuation(model)),
        contacts=HeldContacts(model, contacts),
    )
    scene = so.Scene(model, robot.scene().geoms, state=robot.state)
    simulator = so.Simulator(scene, dt=1e-3, law="cone", impact_threshold=100.0)
    state = robot.state
    for _ in range(3):
        after, _ = simulator.step(state, controller(state.time, state))
        told = controller.explain()
        assert told.status == "solved"
        assert np.allclose((after.v - state.v) / 1e-3, told.predicted, atol=2e-2)
        state = after
    assert np.abs(state.v).max() > 1e-3
