"""The regressor, base parameters, and parameters of bodies that can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from spatialops.errors import ModelError
from tests.support.trees import random_tree, relative_error


@pytest.mark.parametrize("seed", range(4))
def test_the_regressor_gives_inverse_dynamics_to_rounding(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8, each=True, armature=False)
    q = model.random(rng)
    v = rng.normal(size=model.nv)
    a = rng.normal(size=model.nv)
    tau = so.inertial_regressor(model, q, v, a) @ so.inertial_parameters(model)
    assert relative_error(tau, so.inverse_dynamics(model, q, v, a)) < 1e-13


def test_parameters_are_in_the_axes_of_bodies():
    inertia = so.Inertia(2.0, (0.1, 0.2, 0.3), np.diag([0.2, 0.3, 0.4]))
    joint = so.Joint("revolute", axis=(1.0, 2.0, 3.0))
    model = so.TreeBuilder().add_body("body", joint=joint, inertia=inertia).build()
    found = so.inertial_parameters(model)
    c = np.array([0.1, 0.2, 0.3])
    about_origin = np.diag([0.2, 0.3, 0.4]) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    assert np.allclose(found[:4], [2.0, 0.2, 0.4, 0.6])
    assert np.allclose(found[4:], about_origin[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])


def test_base_parameters_give_all_forces_in_other_motions():
    rng = np.random.default_rng(7)
    model = random_tree(rng, 4, ("revolute",), each=True, armature=False)
    base = so.base_parameters(model)
    theta = so.inertial_parameters(model)
    assert len(base.columns) < theta.size
    for _ in range(5):
        q = model.random(rng)
        v = rng.normal(size=model.nv)
        a = rng.normal(size=model.nv)
        Y = so.inertial_regressor(model, q, v, a)
        assert relative_error(Y[:, base.columns] @ (base.map @ theta), Y @ theta) < 1e-9


def test_a_free_body_tells_all_ten():
    model = random_tree(np.random.default_rng(1), 1, ("free",), armature=False)
    assert len(so.base_parameters(model).columns) == 10


@given(st.lists(st.floats(-1.0, 1.0), min_size=10, max_size=10))
def test_free_numbers_and_parameters_are_one_to_one(numbers):
    theta, by = so.from_log_cholesky(numbers)
    assert np.allclose(so.to_log_cholesky(theta), numbers, atol=1e-9)
    step = 1e-5
    for i in range(10):
        e = step * np.eye(10)[i]
        ahead = so.from_log_cholesky(numbers + e)[0]
        back = so.from_log_cholesky(numbers - e)[0]
        assert np.allclose(by[:, i], (ahead - back) / (2.0 * step), rtol=1e-7, atol=1e-7)


def test_a_body_that_cannot_be_is_refused():
    with pytest.raises(ModelError, match="no body has them"):
        so.to_log_cholesky([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1, 0.0, 0.1])
