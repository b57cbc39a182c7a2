"""Lambda by both routes against J M^-1 J^T, for every kind of tree and of nodes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from tests.support.trees import chain, dense_compliance, random_nodes, random_tree, relative_error

METHODS = ("recursion", "propagation", "mass-matrix")
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 9), st.integers(0, 6), st.sampled_from([0.0, 0.4, 1.0]))
def test_both_routes_against_dense(seed, n_bodies, n_nodes, branching):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n_bodies, branching=branching)
    q, nodes = model.random(rng), random_nodes(rng, model, n_nodes, world=True)
    expected = dense_compliance(model, q, nodes)
    for method in METHODS:
        assert relative_error(so.compliance(model, q, nodes, method=method), expected) < 1e-10


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_every_body_several_times_in_any_order(model, state, rng, method):
    nodes = [
        so.Node(int(b), rng.normal(size=3))
        for b in rng.permutation(np.repeat(range(model.n_bodies), 2))
    ]
    nodes.insert(1, so.Node("world", (1.0, 2.0, 3.0)))
    result = so.compliance(model, state[0], nodes, method=method)
    assert relative_error(result, dense_compliance(model, state[0], nodes)) < 1e-10
    assert not result[6:12].any()
    assert not result[:, 6:12].any()


@pytest.mark.parametrize("method", METHODS)
def test_symmetric_and_positive_semidefinite(model, state, rng, method):
    result = so.compliance(model, state[0], random_nodes(rng, model, 5), method=method)
    assert relative_error(result, result.T) < 1e-13
    values = np.linalg.eigvalsh(result)
    assert values.min() > -1e-11 * values.max()


@pytest.mark.parametrize("method", METHODS)
def test_repeated_nodes_repeat_blocks(model, state, rng, method):
    node = random_nodes(rng, model, 1)[0]
    result = so.compliance(model, state[0], [node] * 3, method=method)
    assert relative_error(result, np.tile(result[:6, :6], (3, 3))) < 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_no_nodes_and_only_world_nodes(model, state, method):
    assert so.compliance(model, state[0], [], method=method).shape == (0, 0)
    assert not so.compliance(model, state[0], [so.Node("world")] * 2, method=method).any()


@pytest.mark.parametrize("method", METHODS)
def test_output_may_be_given(model, state, rng, method):
    nodes, out = random_nodes(rng, model, 2), np.full((12, 12), np.nan)
    assert so.compliance(model, state[0], nodes, method=method, out=out) is out
    assert relative_error(out, dense_compliance(model, state[0], nodes)) < 1e-10


def test_a_free_body_answers_with_its_own_inertia(rng):
    inertia = so.Inertia.box((0.3, 0.2, 0.4), mass=2.0).shifted((0.1, 0.2, -0.1))
    model = so.TreeBuilder().add_body("a", joint="free", inertia=inertia).build()
    for method in METHODS:
        result = so.compliance(model, model.neutral(), [so.Node("a")], method=method)
        assert relative_error(result, np.linalg.inv(inertia.spatial)) < 1e-13


def test_impulses_change_velocities(model, state, rng):
    """A force f at a node changes J (dv/dt) of forward dynamics by Lambda f."""
    q, nodes = state[0], [so.Node(b) for b in range(model.n_bodies)]
    rest, wrench = np.zeros(model.nv), rng.normal(size=(model.n_bodies, 6))
    change = so.forward_dynamics(model, q, rest, rest, wrench) - so.forward_dynamics(
        model, q, rest, rest
    )
    expected = so.jacobian(model, q, nodes) @ change
    assert relative_error(so.compliance(model, q, nodes) @ wrench.ravel(), expected) < 1e-9


def test_unknown_method_is_refused(model, state):
    bad: Any
    for bad in ("fast", None, 3):
        with pytest.raises(so.errors.ArgumentError, match="method: expected"):
            so.compliance(model, state[0], [], method=bad)


@pytest.mark.compiled
@pytest.mark.parametrize("method", METHODS)
def test_long_chain(rng, method):
    model = chain(300)
    q = rng.uniform(-0.3, 0.3, 300)
    nodes = [so.Node(b, (0.0, 0.0, -0.1)) for b in (299, 10, 150, 299, 42)]
    # Dense, the mass matrix has a condition of 1e10: the reference itself is known to a few digits
    # less.
    assert (
        relative_error(
            so.compliance(model, q, nodes, method=method), dense_compliance(model, q, nodes)
        )
        < 1e-6
    )


@pytest.mark.compiled
def test_routes_agree_on_a_long_chain(rng):
    model = chain(300)
    q, nodes = rng.uniform(-0.3, 0.3, 300), random_nodes(rng, model, 12)
    first, *others = (so.compliance(model, q, nodes, method=method) for method in METHODS)
    for other in others:
        assert relative_error(other, first) < 1e-9
