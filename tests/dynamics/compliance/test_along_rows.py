"""W of many rows by Lambda of the links that they push, beside rows of L and the mass matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatialops as so
from spatialops.compare.problems import pendulum_case
from spatialops.dynamics.compliance.along_rows import (
    compliance_along_rows,
    nodes_of_rows,
    velocities_after,
)
from spatialops.dynamics.response import velocities_from
from tests.support.contacts import random_problem
from tests.support.trees import relative_error


def numbered(problem):
    """What `nodes_of_rows` gives where nodes are cheaper, whether they are or not."""
    nodes = np.full(problem.model.nv, -1)
    links = np.unique(problem.links[problem.links >= 0])
    nodes[links] = np.arange(links.size)
    return nodes


@given(seed=st.integers(0, 2**32 - 1), contacts=st.integers(1, 12))
def test_trees_with_every_joint(seed, contacts):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, contacts, n=10)
    model, L = problem.model, problem.response.L
    work = problem.response.work
    W = compliance_along_rows(model, problem.q, work, numbered(problem), *problem.terms)
    # Rows between two links of a tree are differences of what Lambda has.
    size = np.abs(
        so.compliance(model, problem.q, [so.Node(i) for i in range(model.n_bodies)])
    ).max()
    reach = 1.0 + np.abs(problem.points).max() + np.abs(so.body_poses(model, problem.q)[0]).max()
    assert np.abs(W - L @ L.T).max() < 1e-12 * size * reach**2
    assert np.array_equal(W, W.T)

    p, dv = rng.normal(size=len(W)), np.zeros(model.nv)
    velocities_after(model.tree, model.links, work, *problem.terms, p, dv)
    G, M = problem.jacobian, so.mass_matrix(model, problem.q)
    assert relative_error(M @ dv, G.T @ p) < 1e-8


@pytest.mark.parametrize("made_before", [False, True])
def test_long_chains_take_nodes_whatever_was_made_before(made_before):
    problem, other = (pendulum_case(300, 40).problem for _ in range(2))
    if made_before:
        assert problem.response.L.shape == (120, 300)
    L = other.response.L
    assert relative_error(problem.compliance, L @ L.T) < 1e-13
    p = np.linspace(-1.0, 1.0, 120)
    after = problem.after(p)
    # Rows of L once more: a dense mass matrix of 300 links loses seven digits.
    expected, model = L.T @ p, problem.model
    velocities_from(model.tree, model.links, other.response.work, expected)
    assert relative_error(after - problem.velocity, expected) < 1e-12
    fresh = pendulum_case(300, 40).problem
    assert np.array_equal(after, fresh.after(p))
    assert np.array_equal(problem.compliance, fresh.compliance)


def test_the_cheaper_way():
    long, short = pendulum_case(300, 40).problem, pendulum_case(30, 4).problem
    assert nodes_of_rows(short.model, short.terms[0]) is None
    nodes = nodes_of_rows(long.model, long.terms[0])
    assert nodes is not None
    assert nodes.max() == 19  # two contacts a link
    assert (nodes[:-20] == -1).all()


def test_a_point_that_turns_about_itself_is_named():
    builder = so.TreeBuilder()
    parent = "world"
    for i in range(300):
        joint = so.Joint("revolute", axis="y")
        mass = so.Inertia(1.0, np.zeros(3), np.eye(3) if i < 299 else np.zeros((3, 3)))
        builder.add_body(f"l{i}", parent=parent, joint=joint, inertia=mass, position=(0, 0, -1))
        parent = f"l{i}"
    model = builder.build()
    ends = np.stack([299 - np.arange(40), np.full(40, -1)], axis=1)
    frames = np.tile(np.eye(3), (40, 1, 1))
    problem = so.contact.ContactProblem(
        model, np.zeros(300), np.zeros(300), ends, np.zeros((40, 3)), frames, np.full(40, 0.5)
    )
    with pytest.raises(so.errors.ModelError, match="l299"):
        _ = problem.compliance
