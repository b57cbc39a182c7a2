"""Identities of the operators on random trees of 30 links with every joint, to 1e-13."""

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.operators import SpatialOperators, dense
from tests.operators.identities import AGAIN, CONDITIONED, apart, identities, tree, worst
from tests.support.trees import KINDS, random_nodes

TOLERANCE = 1e-13


def all_hold(figures):
    by_size = {name: figure[0] for name, figure in figures.items()}
    by_entry = {name: figure[1] for name, figure in figures.items() if name not in CONDITIONED}
    assert max(by_size.values()) < TOLERANCE, by_size
    assert max(by_entry.values()) < TOLERANCE, by_entry


def test_identities_on_a_few_trees():
    all_hold(worst(4, seed=1))


@pytest.mark.slow
def test_identities_on_many_trees():
    all_hold(worst(200))


def test_the_inverse_is_as_exact_as_the_mass_matrix_is_conditioned(rng):
    for _ in range(5):
        model = tree(rng)
        q = model.random(rng)
        M = so.mass_matrix(model, q)
        product = dense(SpatialOperators(model, q).mass_matrix_inverse) @ M
        assert np.abs(product - np.eye(len(M))).max() < 1e-15 * np.linalg.cond(M)


def test_trees_have_every_joint_and_thirty_links(rng):
    models = [tree(rng) for _ in range(6)]
    assert {model.nv for model in models} == {30}
    for model in models:
        assert {*model.joint_kinds, "fixed"} == set(KINDS)  # which have no coordinates
        assert len(model.joint_kinds) == len(KINDS) - 1 + len(AGAIN)
    assert {bool(model.links[:, layout.ARMATURE].any()) for model in models} == {False, True}


def test_a_gain_that_is_off_by_little_is_found(rng):
    model = tree(rng)
    nodes = random_nodes(rng, model, 4)
    q = model.random(rng)
    op = SpatialOperators(model, q)
    op._gains[20] *= 1.0 + 1e-11
    by_size = {name: apart(*sides)[0] for name, sides in identities(op, q, nodes).items()}
    assert by_size["M = [1 + H phi K] D [1 + H phi K]*"] > TOLERANCE
    assert by_size["P = M + E_psi P E_phi*"] > TOLERANCE
    assert by_size["psi (1 - E_psi) = 1"] < TOLERANCE  # of any gains
