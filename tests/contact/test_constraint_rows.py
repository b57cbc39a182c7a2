"""Rows made of terms, against Jacobians and dense algebra, and in maximal coordinates."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.problem import ContactProblem
from tests.support.contacts import random_problem
from tests.support.trees import relative_error


def by_nodes(problem):
    """G from the Jacobians of two nodes for each term."""
    model, poses = problem.model, so.body_poses(problem.model, problem.q)
    ints, terms = problem.terms
    G = np.zeros((ints[-1, 0] + 1, model.nv))
    for (row, *links), term in zip(ints, terms):
        for link, sign in zip(links, (1.0, -1.0)):
            if link >= 0:
                body = int(np.flatnonzero(model.body_links == link)[0])
                local = poses.rotations[body].T @ (term[:3] - poses.positions[body])
                G[row] += sign * term[3:] @ so.jacobian(model, problem.q, [so.Node(body, local)])
    return G


@pytest.fixture
def problem(rng):
    return random_problem(rng, 3, n=8, loops=3)


def test_jacobian(problem):
    assert relative_error(problem.jacobian, by_nodes(problem)) < 1e-12


def test_response(problem, rng):
    M = so.mass_matrix(problem.model, problem.q)
    assert (
        relative_error(
            problem.compliance, problem.jacobian @ np.linalg.solve(M, problem.jacobian.T)
        )
        < 1e-9
    )
    p = rng.normal(size=len(problem.jacobian))
    expected = problem.velocity + np.linalg.solve(M, problem.jacobian.T @ p)
    assert relative_error(problem.after(p), expected) < 1e-9


@pytest.mark.parametrize("size", [0, 1, -1])
def test_impulses_of_another_size_are_refused(problem, size):
    rows = len(problem.jacobian)
    short = np.zeros(rows + size if size else 0)
    with pytest.raises(so.errors.ArgumentError, match="impulses: expected shape"):
        problem.after(short)
    with pytest.raises(so.errors.ArgumentError, match="moments: expected shape"):
        problem.after(np.zeros(rows), np.zeros((problem.n_contacts + 1, 3)))


def test_rows_of_several_terms_add_up(problem, rng):
    ints = problem.loop_ints.copy()
    ints[:, 0] = [0, 0, 1]
    joined = ContactProblem(
        problem.model,
        problem.q,
        problem.velocity,
        problem.links,
        problem.points,
        problem.frames,
        problem.friction,
        loop_ints=ints,
        loop_terms=problem.loop_terms,
        loop_targets=np.zeros(2),
    )
    assert relative_error(joined.jacobian[0], problem.jacobian[0] + problem.jacobian[1]) < 1e-12
    assert (
        relative_error(joined.response.L[0], problem.response.L[0] + problem.response.L[1]) < 1e-12
    )


def test_maximal_coordinates(rng):
    """Kinetic energy, the hinges' rows and the contacts' rows, on motions of the tree."""
    problem = random_problem(rng, 3, n=8, loops=3)
    model, system = problem.model, problem.maximal
    V = system.velocity
    kinetic, _ = so.energy(model, problem.q, problem.velocity)
    assert 0.5 * V @ (system.mass @ V) == pytest.approx(kinetic, rel=1e-12)
    assert np.abs(system.rows[: system.n_hinges] @ V).max() <= 1e-12 * np.abs(V).max()
    assert system.n_hinges == 6 * model.n_bodies - model.nv
    assert (
        relative_error(system.rows[system.n_hinges :] @ V, problem.jacobian @ problem.velocity)
        < 1e-12
    )
    assert relative_error(system.tree_velocity(V), problem.velocity) < 1e-11
