"""W of rows on chains, from three columns a contact, beside rows of L."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.constraint_rows import contact_terms
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.compliance.along_chains import along_chains
from spatialops.dynamics.compliance.along_rows import compliance_along_rows
from spatialops.dynamics.loops.rows import closure_rows
from spatialops.dynamics.maximal import placed
from spatialops.errors import ModelError
from tests.support.trees import random_inertia, random_joint, random_rotation


def two_chains(rng, branch=False, n=20):
    """Two chains of all kinds of joints, or one with a branch."""
    builder = so.TreeBuilder()
    for i in range(2 * n):
        parent = "world" if i in (0, n) else f"b{i - 1}"
        kind = str(rng.choice(("revolute", "prismatic", "ball", "screw")))
        builder.add_body(
            f"b{i}",
            parent=f"b{n // 2}" if branch and i == n else parent,
            joint=random_joint(rng, kind),
            inertia=random_inertia(rng),
            position=0.3 * rng.normal(size=3),
        )
    return builder.build()


def terms_of(rng, model, bodies):
    """Terms of contacts of bodies with the world, which is the first one of every second."""
    links = np.full((len(bodies), 2), -1)
    links[:, 0] = model.body_links[bodies]
    links[1::2] = links[1::2, ::-1]
    frames = np.array([random_rotation(rng) for _ in bodies])
    return contact_terms(links, rng.normal(size=(len(bodies), 3)), frames, 0)


def both(model, q, terms):
    """W along rows, and as L L^T."""
    work = placed(model, q)
    nodes = np.full(model.nv, -1)
    links = np.unique(terms[0][:, 1:])
    links = links[links >= 0]
    nodes[links] = np.arange(len(links))
    W = compliance_along_rows(model, q, work, nodes, *terms)
    assert factor_kernel(model.tree, model.links, work) == 0
    L = np.empty((len(terms[1]), model.nv))
    closure_rows(model.tree, model.links, work, *terms, (0, 0), L)
    return W, L @ L.T


@pytest.fixture
def answers(monkeypatch):
    """What `along_chains` says when it is asked."""
    said = []

    def asked(*arguments):
        said.append(along_chains(*arguments))
        return said[-1]

    monkeypatch.setattr("spatialops.dynamics.compliance.along_rows.along_chains", asked)
    return said


def check(W, expected):
    assert np.abs(W - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.array_equal(W, W.T)


@pytest.mark.parametrize("bodies", [[7], [3, 3, 9, 18], [2, 5, 5, 11, 19, 20, 26, 26, 26, 33, 39]])
def test_two_chains(rng, answers, bodies):
    model = two_chains(rng)
    check(*both(model, model.random(rng), terms_of(rng, model, bodies)))
    assert answers == [True]


def test_where_branches_meet_nodes_serve(rng, answers):
    model = two_chains(rng, branch=True)
    check(*both(model, model.random(rng), terms_of(rng, model, [2, 15, 25, 30])))
    assert answers == [False]
    check(*both(model, model.random(rng), terms_of(rng, model, [2, 15])))
    assert answers == [False, True]


def test_rows_out_of_order_are_the_same(rng, answers):
    model = two_chains(rng)
    q = model.random(rng)
    check(*both(model, q, terms_of(rng, model, [18, 3, 25, 9])))
    assert answers == []


def test_a_singular_mass_matrix_is_named(rng, answers):
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("prismatic", name="idle"))
    builder.add_body("b", parent="a", joint="prismatic", inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    for _ in range(2):  # the second time with memory
        with pytest.raises(ModelError, match="'idle': nothing to move"):
            both(model, np.zeros(2), terms_of(rng, model, [1]))
    assert answers == []
