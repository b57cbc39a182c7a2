"""Legs and their inverse kinematics."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Legs, PointTask
from spatialops.errors import ArgumentError


def test_inverse_kinematics_and_out_of_reach():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    angles = robot.state.q[legs.angles]
    wanted = legs.positions(angles) + np.random.default_rng(1).uniform(-0.02, 0.02, (4, 3))
    found, left = legs.inverse(wanted, angles)
    assert left < 1e-13
    assert legs.positions(found) == pytest.approx(wanted, abs=1e-12)
    far, left = legs.inverse(wanted + [0.0, 0.0, -0.5], angles)
    assert left > 0.1
    assert np.isfinite(far).all()


def test_jacobians_are_derivatives_and_rates_invert_them():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    angles, h = robot.state.q[legs.angles], 1e-6
    step = np.random.default_rng(2).normal(size=(4, 3))
    moved = (legs.positions(angles + h * step) - legs.positions(angles - h * step)) / (2 * h)
    J = legs.jacobians(angles)
    assert np.einsum("lij,lj->li", J, step) == pytest.approx(moved, abs=1e-8)
    assert legs.rates(J, moved) == pytest.approx(step, abs=1e-6)


def test_a_straight_leg_keeps_its_rates_bounded():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    singular = np.array([np.diag([1.0, 1.0, 0.0])] * 4)
    found = legs.rates(singular, np.array([[0.1, 0.2, 0.3]] * 4))
    assert found == pytest.approx(np.array([[0.1, 0.2, 0.0]] * 4), abs=1e-6)


def test_what_is_no_leg_is_refused():
    robot = so.models.quadruped()
    with pytest.raises(ArgumentError, match="joints of its own"):
        Legs(robot.model, ["base", *robot.feet[1:]])
    with pytest.raises(ArgumentError, match="joints of its own"):
        Legs(robot.model, [robot.feet[0], robot.feet[0]])
    legs = Legs(robot.model, robot.feet)
    with pytest.raises(ArgumentError, match="angles: expected shape"):
        legs.positions(np.zeros(12))


def legged(counts, rng):
    """A free base with serial legs of so many revolute and prismatic joints about any axes."""
    build = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    build.add_body("base", joint=so.Joint("free"), inertia=ball)
    for i, count in enumerate(counts):
        parent = "base"
        for j in range(count):
            kind = "prismatic" if rng.random() < 0.3 else "revolute"
            joint = so.Joint(kind, axis=rng.normal(size=3))
            name = f"leg{i}_{j}"
            build.add_body(
                name, parent=parent, joint=joint, inertia=ball, position=rng.normal(size=3)
            )
            parent = name
    feet = [so.Node(f"leg{i}_{n - 1}", rng.normal(size=3)) for i, n in enumerate(counts)]
    return build.build(), feet


@pytest.mark.parametrize("counts", [(6, 6), (7, 7, 7), (3, 5, 4), (4, 4, 3, 6)])
def test_legs_of_any_joints_find_what_they_were_asked_for(counts):
    rng = np.random.default_rng(len(counts))
    for _ in range(5):
        model, feet = legged(counts, rng)
        legs = Legs(model, feet)
        assert legs.joints.size == sum(counts)
        angles = rng.normal(size=legs.joints.shape)
        near = angles + 0.05 * rng.normal(size=angles.shape)
        wanted = legs.positions(near)
        q = model.neutral()
        q[legs.angles] = near
        state = so.State(q, np.zeros(model.nv))
        places = [PointTask(node).motion(model, state).x for node in legs.nodes]
        assert wanted == pytest.approx(np.array(places), abs=1e-13)
        found, left = legs.inverse(wanted, angles)
        assert left < 1e-12
        assert legs.positions(found) == pytest.approx(wanted, abs=1e-12)


def test_soles_keep_attitude_as_well():
    rng = np.random.default_rng(5)
    model, feet = legged((6, 6), rng)
    legs = Legs(model, feet, soles=True)
    angles = rng.normal(size=(2, 6))
    near = angles + 0.05 * rng.normal(size=(2, 6))
    found, left = legs.inverse(legs.positions(near), angles, legs.attitudes(near))
    assert left < 1e-12
    assert found == pytest.approx(near, abs=1e-9)
    raised = legs.positions(angles) + [0.0, 0.0, 0.01]
    found, left = legs.inverse(raised, angles)
    assert left < 1e-12
    assert legs.attitudes(found) == pytest.approx(legs.attitudes(angles), abs=1e-12)
    J = legs.jacobians(found)
    v = rng.normal(size=(2, 6))
    assert legs.rates(J, np.einsum("lij,lj->li", J, v)) == pytest.approx(v, abs=1e-6)


def test_attitudes_are_those_of_bodies():
    rng = np.random.default_rng(8)
    model, feet = legged((6, 6), rng)
    legs = Legs(model, feet, soles=True)
    q = model.random(rng)
    q[:7] = model.neutral()[:7]
    bodies = [model.body_names.index(foot.body) for foot in feet]
    expected = so.body_poses(model, q).rotations[bodies]
    assert legs.attitudes(q[legs.angles]) == pytest.approx(expected, abs=1e-13)


def test_surplus_joints_move_least():
    rng = np.random.default_rng(6)
    model, feet = legged((7,), rng)
    legs = Legs(model, feet)
    J = legs.jacobians(rng.normal(size=(1, 7)))
    velocity = rng.normal(size=(1, 3))
    expected = np.linalg.pinv(J[0]) @ velocity[0]
    assert legs.rates(J, velocity)[0] == pytest.approx(expected, abs=1e-9)


def test_jacobians_are_those_of_the_model():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    q = robot.model.neutral()
    q[legs.angles] = robot.state.q[legs.angles] + 0.1
    J = so.jacobian(robot.model, q, legs.nodes).reshape(4, 6, 18)[:, 3:]
    own = np.stack([J[i][:, joints] for i, joints in enumerate(legs.joints)])
    assert legs.jacobians(q[legs.angles]) == pytest.approx(own, abs=1e-15)


def test_what_is_not_finite_is_refused():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    with pytest.raises(ArgumentError, match="NaN or infinity"):
        legs.inverse(np.full((4, 3), np.nan), np.zeros((4, 3)))
