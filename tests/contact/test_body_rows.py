"""Rows on bodies and the matrices made of them, against the same in dense algebra."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.body_columns import compliance_columns, descriptor_columns, with_cones
from spatialops.contact.body_rows import collected, spread_rows
from spatialops.contact.formulations.polyhedron import put_cones, put_spread, spread
from spatialops.contact.friction import directions
from spatialops.contact.maximal import joint_rates
from tests.support.contacts import random_problem
from tests.support.trees import relative_error

N_F = 6


@pytest.fixture
def problem(rng):
    return random_problem(rng, 3, n=7, loops=3, armature=False)


def motions(problem):
    """Columns: the bodies' twists (6 n, nv) at unit rates of the joints."""
    model, q = problem.model, problem.q
    nodes = [so.Node(name) for name in model.body_names]
    return so.jacobian(model, q, nodes).reshape(-1, model.nv)


def test_rows_are_those_of_the_tree(problem):
    """On motions of the tree: hinges see nothing, closures and contacts what joints make."""
    system, S = problem.maximal, motions(problem)
    seen = system.rows @ S
    assert np.abs(seen[: system.n_hinges]).max() < 1e-12 * np.abs(S).max()
    assert relative_error(seen[system.n_hinges :], problem.jacobian) < 1e-12
    rates = joint_rates(system.splits).matrix(problem.model.n_bodies) @ S
    assert np.abs(rates - np.eye(problem.model.nv)).max() < 1e-11


def test_masses_and_their_inverses(problem):
    system, S = problem.maximal, motions(problem)
    M = so.mass_matrix(problem.model, problem.q)
    assert relative_error(S.T @ (system.mass @ S), M) < 1e-12
    assert relative_error(S.T @ system.momentum, M @ problem.velocity) < 1e-11
    blocks, inverse = (X.reshape(-1, 6, 6) for X in (system.blocks, system.inverse))
    assert np.abs(blocks @ inverse - np.eye(6)).max() < 1e-9


def test_compliance_and_responses(problem):
    system = problem.maximal
    G = system.rows.toarray()
    X = np.linalg.solve(system.mass.toarray(), G.T)
    W = compliance_columns(system.constraints, system.inverse)
    assert relative_error(W.dense(), G @ X) < 1e-9
    assert np.array_equal(W.compressed().toarray(), W.dense())
    assert system.contact_scale == pytest.approx((G @ X).diagonal()[system.first_contact :].max())
    p = np.linspace(-1.0, 1.0, len(G))
    after = system.after(system.constraints, p)
    assert relative_error(after, system.velocity + X @ p) < 1e-9


def test_directions_of_friction(problem):
    system, facets = problem.maximal, directions(N_F)
    G, first = system.rows.toarray(), system.first_contact
    expected = np.concatenate([G[:first], spread(G[first:], N_F)])
    rows = spread_rows(system.constraints, first, facets)
    assert relative_error(rows.matrix(problem.model.n_bodies).toarray(), expected) < 1e-15
    b = np.empty(rows.n_rows)
    put_spread(G @ system.velocity, first, facets, b)
    assert relative_error(b, expected @ system.velocity) < 1e-13


def test_descriptor_and_cones(problem):
    system = problem.maximal
    rows = spread_rows(system.constraints, system.first_contact, directions(N_F))
    G, M = rows.matrix(problem.model.n_bodies).toarray(), system.mass.toarray()
    n, last = len(M), len(M) + len(G)
    expected = np.zeros((last + 3, last + 3))
    expected[:last, :last] = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    put_cones(expected, problem.friction, N_F, n + system.first_contact)
    made = with_cones(descriptor_columns(rows, system.blocks), problem.friction, N_F)
    assert np.array_equal(made.dense(), expected)


def test_entries_of_one_place_are_added():
    places = np.array([[1, 0], [0, 2], [1, 0], [-1, 1], [1, 2]])
    values = np.arange(30.0).reshape(5, 6)
    rows = collected(places, values, 3, 3)
    expected = np.zeros((3, 18))
    expected[1, :6] = values[0] + values[2]
    expected[0, 12:] = values[1]
    expected[1, 12:] = values[4]
    assert np.array_equal(rows.matrix(3).toarray(), expected)
    assert len(rows.places) == 3
