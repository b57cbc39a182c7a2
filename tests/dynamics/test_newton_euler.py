"""Newton-Euler against the mass matrix, the articulated body, power and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from tests.support.trees import central_difference, random_tree, relative_error

SEEDS = st.integers(0, 2**32 - 1)


def test_columns_are_the_mass_matrix(model, state):
    q, rest = state[0], np.zeros(model.nv)
    gravity = so.inverse_dynamics(model, q, rest, rest)
    columns = [so.inverse_dynamics(model, q, rest, unit) - gravity for unit in np.eye(model.nv)]
    assert relative_error(np.transpose(columns), so.mass_matrix(model, q)) < 1e-12


@given(SEEDS)
def test_inverse_of_forward_dynamics(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    q = model.random(rng)
    v = rng.normal(size=model.nv)
    tau = rng.normal(size=model.nv)
    wrench = rng.normal(size=(model.n_bodies, 6))
    a = so.forward_dynamics(model, q, v, tau, wrench)
    scale = np.abs(so.mass_matrix(model, q)).max() * np.abs(a).max()
    assert np.abs(so.inverse_dynamics(model, q, v, a, wrench) - tau).max() < 1e-11 * max(scale, 1.0)


def test_bias_is_what_no_acceleration_needs(model, state):
    q, v, a = state
    tau = so.inverse_dynamics(model, q, v, a)
    assert relative_error(so.mass_matrix(model, q) @ a + so.bias(model, q, v), tau) < 1e-12


def test_external_wrench_is_the_transposed_jacobian(model, state, rng):
    q, v, a = state
    wrench = rng.normal(size=(model.n_bodies, 6))
    J = so.jacobian(model, q, [so.Node(b) for b in range(model.n_bodies)])
    expected = so.inverse_dynamics(model, q, v, a) - J.T @ wrench.ravel()
    assert relative_error(so.inverse_dynamics(model, q, v, a, wrench), expected) < 1e-12


def test_power_is_the_rate_of_energy(model, state):
    q, v, a = state
    tau, h = so.inverse_dynamics(model, q, v, a), 1e-4

    def total(t):  # along a motion with this velocity and acceleration
        return so.energy(model, so.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a).total

    rate = (total(-2 * h) - 8 * total(-h) + 8 * total(h) - total(2 * h)) / (12 * h)
    assert rate == pytest.approx(tau @ v, rel=1e-6, abs=1e-6)


def test_gravity_is_the_gradient_of_potential_energy(model, state):
    q, rest = state[0], np.zeros(model.nv)
    slope = [
        central_difference(lambda x: so.energy(model, x, rest).potential, model, q, unit)
        for unit in np.eye(model.nv)
    ]
    assert relative_error(np.array(slope), so.bias(model, q, rest)) < 1e-8


def test_gyroscopic_torque_of_a_free_body():
    tensor, w = np.diag([1.0, 2.0, 2.5]), np.array([0.3, -0.7, 1.1])
    body = so.Inertia(2.0, tensor=tensor)
    model = so.TreeBuilder(gravity=(0, 0, 0)).add_body("a", joint="free", inertia=body).build()
    tau = so.bias(model, model.neutral(), np.concatenate([w, np.zeros(3)]))
    assert np.allclose(tau, np.concatenate([np.cross(w, tensor @ w), np.zeros(3)]))


def test_output_may_be_given(model, state):
    out = np.empty(model.nv)
    assert so.inverse_dynamics(model, *state, out=out) is out
    assert np.array_equal(out, so.inverse_dynamics(model, *state))
