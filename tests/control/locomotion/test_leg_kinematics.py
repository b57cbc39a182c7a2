"""Legs and their inverse kinematics."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Legs
from spatialops.control.locomotion.leg_kernels import least_eigenvalue
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
    singular = np.diag([1.0, 1.0, 0.0])[None]
    found = Legs.rates(singular, np.array([[0.1, 0.2, 0.3]]))
    assert found == pytest.approx(np.array([[0.1, 0.2, 0.0]]), abs=1e-6)


def test_what_is_no_leg_is_refused():
    robot = so.models.quadruped()
    with pytest.raises(ArgumentError, match="three joints of its own"):
        Legs(robot.model, ["base", *robot.feet[1:]])
    with pytest.raises(ArgumentError, match="three joints of its own"):
        Legs(robot.model, [robot.feet[0], robot.feet[0]])
    legs = Legs(robot.model, robot.feet)
    with pytest.raises(ArgumentError, match="angles: expected shape"):
        legs.positions(np.zeros(12))


def test_the_least_eigenvalue_is_that_of_lapack():
    rng = np.random.default_rng(3)
    for rank in (0, 1, 2, 3, 3, 3):
        root = rng.normal(size=(3, rank))
        A = root @ root.T
        given = (A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2])
        size = 1.0 + np.abs(A).max()
        # Where two are equal the angle of the cubic has half of the digits.
        error = 1e-7 if rank < 2 else 1e-13
        assert abs(least_eigenvalue(*given) - np.linalg.eigvalsh(A)[0]) < error * size


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
