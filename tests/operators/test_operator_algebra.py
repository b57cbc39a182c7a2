"""Inverses, projections and blocks of the operators, and terms of velocities, on random trees."""

import numpy as np
import pytest

import spatialops as so
from spatialops.operators import SpatialOperators, dense, identity
from tests.support.trees import relative_error

TIGHT = 1e-13


@pytest.fixture
def op(model, state):
    return SpatialOperators(model, state[0], state[1])


def close(left, right, tolerance=TIGHT):
    left, right = (x if isinstance(x, np.ndarray) else dense(x) for x in (left, right))
    return relative_error(left, right) < tolerance


def test_one_minus_a_step_inverts_to_the_propagation(op):
    assert close((1 - op.E_phi).inv, op.phi)
    assert close((1 - op.E_psi).inv, op.psi)
    assert close(op.phi.inv @ op.phi, identity(op.phi.shape[0]))
    assert close((1 - op.E_psi.H).inv, op.psi.H)


def test_inverses_of_products_adjoints_and_inverses(op):
    product = op.phi @ op.psi.H
    assert close(product.inv @ product, identity(product.shape[0]), 1e-12)
    assert close(op.psi.H.inv @ op.psi.H, identity(product.shape[0]))
    assert op.phi.inv.inv is op.phi
    assert close(op.innovation.inv @ op.innovation, op.identity, 1e-12)


def test_strictly_triangular_parts(op):
    eye = np.eye(op.phi.shape[0])
    assert close(op.phi_tilde, dense(op.phi) - eye)
    assert close(op.psi_tilde, dense(op.psi) - eye, 1e-12)


def test_joints_answer_all_but_their_armature(op):
    kept = np.eye(op.model.nv) - dense(op.armature @ op.D_inverse)
    assert close(op.H @ op.G, kept, 1e-12)
    assert close(op.E_psi, op.E_phi @ op.tau_bar, 1e-12)


def test_joints_without_armature_project():
    op = SpatialOperators(so.models.pendulum(3).model, [0.3, -0.2, 0.1])
    assert close(op.tau @ op.tau, op.tau, 1e-12)
    assert close(op.tau_bar @ op.tau_bar, op.tau_bar, 1e-12)
    assert np.abs(dense(op.H @ op.tau_bar)).max() < 1e-12


def test_articulated_inertias_obey_the_riccati_equation(op):
    E = dense(op.E_psi)
    right = dense(op.M) + E @ dense(op.P) @ dense(op.E_phi).T
    P = dense(op.P)
    n = len(P) // 6
    for k in range(n):
        at = slice(6 * k, 6 * k + 6)
        assert np.abs(P[at, at] - right[at, at]).max() <= 1e-12 * np.abs(P).max()
    hinges = dense(op.H @ op.P @ op.H.H).diagonal() + dense(op.armature).diagonal()
    assert close(np.diag(hinges), op.D, 1e-12)
    assert close(op.G @ op.D, op.P @ op.H.H, 1e-12)


def test_the_square_root_of_the_mass_matrix(op, model, state):
    mass = so.mass_matrix(model, state[0])
    assert close(op.square_root @ op.square_root.H, mass, 1e-12)
    rates = op.square_root.H @ state[1]
    assert 0.5 * rates @ rates == pytest.approx(so.energy(model, *state[:2]).kinetic, rel=1e-12)
    assert close(op.square_root.inv @ op.square_root, op.identity, 1e-12)


def test_inverses_of_the_mass_matrix_and_of_inertias(op, model, rng):
    x = rng.normal(size=model.nv)
    innovation = op.identity - op.H @ op.psi @ op.K
    factors = innovation.H @ (op.D_inverse @ (innovation @ x))
    assert np.abs(op.mass_matrix.inv @ x - factors).max() <= 1e-11 * np.abs(factors).max()
    assert close(op.D.inv, op.D_inverse)
    assert op.mass_matrix_inverse.inv is op.mass_matrix


def test_blocks_of_propagation(op, model):
    for name in ("phi", "psi"):
        matrix = dense(getattr(op, name))
        one = getattr(op, f"{name}_block")
        for i in range(model.nv):
            for j in range(model.nv):
                expected = matrix[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
                assert np.abs(one(i, j) - expected).max() <= 1e-12 * np.abs(matrix).max()


def test_terms_of_velocities_make_the_bias_forces(op, model, state):
    q, v, _ = state
    lifted = np.zeros((model.nv, 6))
    lifted[model.tree[:, 0] < 0, 3:] = -model.gravity
    accelerations = op.phi.H @ (op.a + lifted).ravel()
    forces = op.H @ (op.phi @ (op.M @ accelerations + op.b.ravel()))
    expected = so.bias(model, q, v)
    assert np.abs(forces - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def test_inverses_without_a_formula_are_refused(op):
    with pytest.raises(so.errors.ArgumentError, match="no formula for the inverse"):
        _ = op.Omega.inv
    with pytest.raises(so.errors.ArgumentError, match="no formula"):
        _ = (op.phi @ op.Omega).inv
    with pytest.raises(TypeError):
        _ = 2 - op.E_phi
    with pytest.raises(TypeError):
        _ = 2 + op.E_phi


def test_links_without_inertia_have_none():
    builder = so.TreeBuilder()
    builder.add_body("a", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    op = SpatialOperators(builder.build(), [0, 0, 0, 1, 0, 0, 0])
    with pytest.raises(so.errors.ModelError, match="M has no inverse"):
        _ = op.M.inv


def test_inertias_of_single_links_invert():
    op = SpatialOperators(so.models.pendulum(3).model, [0.3, -0.2, 0.1])
    assert close(op.M.inv @ op.M, identity(18), 1e-12)
    assert close(op.P.inv @ op.P, identity(18), 1e-11)


def test_bad_velocities_are_refused(model, state):
    with pytest.raises(so.errors.ArgumentError, match="v"):
        SpatialOperators(model, state[0], np.full(model.nv, np.nan))
