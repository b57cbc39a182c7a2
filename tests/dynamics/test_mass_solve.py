"""M^-1 x by one sweep each way, beside the dense mass matrix and forward dynamics."""

import numpy as np
import pytest

import spatialops as so
from spatialops._compile.fast_call import LONG
from spatialops.errors import ArgumentError, ModelError
from spatialops.operators import SpatialOperators
from tests.support.trees import relative_error


def test_on_trees_with_every_joint(model, state, rng):
    q, v, tau = state
    x = rng.normal(size=model.nv)
    a = so.mass_solve(model, q, x)
    assert relative_error(a, np.linalg.solve(so.mass_matrix(model, q), x)) < 1e-10
    assert relative_error(a, SpatialOperators(model, q).mass_matrix_inverse @ x) < 1e-12
    forward = so.forward_dynamics(model, q, v, tau)
    assert relative_error(so.mass_solve(model, q, tau - so.bias(model, q, v)), forward) < 1e-10


def test_room_is_kept_and_given(model, rng):
    q, x = model.random(rng), rng.normal(size=model.nv)
    out = np.empty(model.nv)
    assert so.mass_solve(model, q, x, out=out) is out
    assert np.array_equal(out, so.mass_solve(model, list(q), list(x)))
    before = x.copy()
    assert np.array_equal(so.mass_solve(model, q, x, out=x), out)  # in place
    assert not np.array_equal(before, x)


def test_long_chains(rng):
    model = so.models.pendulum(2 * LONG).model
    q, x = model.random(rng), rng.normal(size=model.nv)
    for _ in range(2):
        residual = so.mass_matrix(model, q) @ so.mass_solve(model, q, x) - x
        assert np.abs(residual).max() < 1e-8
    assert len(model.branches.spare) <= 1


def test_what_is_refused(model, rng):
    q, x = model.random(rng), np.ones(model.nv)
    with pytest.raises(ArgumentError, match="x"):
        so.mass_solve(model, q, np.ones(model.nv + 1))
    with pytest.raises(ArgumentError, match="x"):
        so.mass_solve(model, q, np.full(model.nv, np.nan))
    with pytest.raises(ArgumentError, match="q"):
        so.mass_solve(model, np.full(model.nq, np.inf), x)
    with pytest.raises(ArgumentError, match="model"):
        so.mass_solve(None, q, x)


def test_a_singular_mass_matrix_names_the_joint():
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", name="idle"))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=1.0))
    with pytest.raises(ModelError, match="'idle': nothing to move"):
        so.mass_solve(builder.build(), np.zeros(2), np.ones(2))
