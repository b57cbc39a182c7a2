"""Inertia at nodes, the dynamically consistent inverse and null spaces, also without full rank."""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import random_nodes, random_tree, relative_error


@pytest.fixture
def nodes(model, rng):
    return random_nodes(rng, model, 2)


def test_the_inertia_inverts_lambda_where_nodes_are_free(rng):
    model = random_tree(rng, 3, kinds=("free",), branching=1.0)
    q = model.random(rng)
    nodes = random_nodes(rng, model, 1)
    product = so.operational_space_inertia(model, q, nodes) @ so.compliance(model, q, nodes)
    assert np.abs(product - np.eye(6)).max() < 1e-9


def test_the_inverse_of_the_jacobian_is_dynamically_consistent(model, state, nodes):
    q = state[0]
    J = so.jacobian(model, q, nodes)
    inverse = so.dynamically_consistent_inverse(model, q, nodes)
    assert np.abs(J @ inverse @ J - J).max() < 1e-8 * max(1.0, np.abs(J).max())
    # Forces that act through it are symmetric in the metric of M: M J_bar J is.
    carried = so.mass_matrix(model, q) @ inverse @ J
    assert relative_error(carried, carried.T) < 1e-8


def test_motions_of_the_null_space_do_not_move_nodes(model, state, nodes):
    q, v, tau = state
    N = so.null_space_projector(model, q, nodes)
    J = so.jacobian(model, q, nodes)
    assert np.abs(J @ N).max() < 1e-8 * max(1.0, np.abs(J).max())
    assert relative_error(N @ N, N) < 1e-7 or np.abs(N).max() < 1e-7
    push = so.forward_dynamics(model, q, 0.0 * v, N.T @ tau)
    rest = so.forward_dynamics(model, q, 0.0 * v, 0.0 * tau)
    assert np.abs(J @ (push - rest)).max() < 1e-7 * max(1.0, np.abs(push - rest).max())


def test_no_nodes_hold_nothing(model, state):
    q = state[0]
    assert so.operational_space_inertia(model, q, []).shape == (0, 0)
    assert so.dynamically_consistent_inverse(model, q, []).shape == (model.nv, 0)
    assert (so.null_space_projector(model, q, []) == np.eye(model.nv)).all()


def test_nodes_of_the_world_have_no_inertia(model, state):
    assert not so.operational_space_inertia(model, state[0], [so.Node("world")]).any()


def test_bad_coordinates_are_refused(model, nodes):
    for function in (so.operational_space_inertia, so.dynamically_consistent_inverse):
        with pytest.raises(so.errors.ArgumentError, match="q"):
            function(model, np.full(model.nq, np.nan), nodes)
