"""The OS problem of [J] 53, typed in with numpy, and what its solutions mean."""

import dataclasses

import numpy as np
import pytest

from spatialops.contact import solve
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.friction import directions
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError


def random_problem(rng, m, *, rank=None, offset=False):
    G = rng.normal(size=(3 * m, rank or 3 * m + 2))
    velocities = rng.normal(size=(m, 3))
    velocities[:, 0] = -np.abs(velocities[:, 0])
    pressing = rng.uniform(0.0, 0.5, m) if offset else np.zeros(m)
    return ContactProblem(G @ G.T, velocities, rng.uniform(0.1, 1.0, m), pressing)


def typed_in(problem, n_f):
    """A and b by the blocks of [J] 53: D holds the normal and the friction directions of each contact as rows."""
    m, facets = len(problem.friction), directions(n_f)
    D = np.zeros((m * (n_f + 1), 3 * m))
    E = np.zeros((m * (n_f + 1), m))
    mu = np.zeros((m, m * (n_f + 1)))
    for i in range(m):
        row = i * (n_f + 1)
        D[row, 3 * i] = 1.0
        D[row + 1 : row + 1 + n_f, 3 * i + 1 : 3 * i + 3] = facets
        E[row + 1 : row + 1 + n_f, i] = 1.0
        mu[i, row] = problem.friction[i]
    s = problem.compliance.diagonal().max()
    A = np.block([[D @ problem.compliance @ D.T / s, E], [mu - E.T, np.zeros((m, m))]])
    b = np.concatenate([D @ problem.velocities.ravel(), s * problem.friction * problem.offset])
    return A, b, D, s


@pytest.mark.parametrize("n_f", [2, 4, 6])
@pytest.mark.parametrize("m", [1, 3])
def test_assemble(rng, n_f, m):
    problem = random_problem(rng, m, offset=True)
    lcp = OperationalSpace(n_f).assemble(problem)
    A, b, _, _ = typed_in(problem, n_f)
    assert lcp.size == m * (n_f + 2)
    assert lcp.n_free == 0
    assert np.allclose(lcp.A, A, rtol=0.0, atol=1e-14)
    assert np.allclose(lcp.b, b, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n_f", [2, 4, 6])
def test_recover(rng, n_f):
    problem, formulation = random_problem(rng, 3), OperationalSpace(n_f)
    solution = solve(formulation.assemble(problem))
    _, _, D, s = typed_in(problem, n_f)
    expected = (D.T @ solution.z[: len(D)] / s).reshape(3, 3)
    assert np.abs(expected).max() > 0.0
    assert np.allclose(formulation.recover(problem, solution), expected, rtol=1e-13, atol=1e-16)


def check_contacts(problem, impulses, n_f):
    """Unilateral contact, the friction cone, and friction that works against the slip; returns the slip speeds."""
    u = problem.compliance @ impulses.ravel() + problem.velocities.ravel()
    u = u.reshape(-1, 3)
    scale = np.abs(problem.velocities).max()
    weight = scale / problem.compliance.diagonal().max()
    assert impulses[:, 0].min() >= 0.0
    assert u[:, 0].min() >= -1e-8 * scale
    assert np.abs(impulses[:, 0] * u[:, 0]).max() <= 1e-8 * scale * weight
    limit = problem.friction * (impulses[:, 0] + problem.offset)
    friction = np.linalg.norm(impulses[:, 1:], axis=1)
    assert np.all(friction <= limit + 1e-8 * weight)
    facets = directions(n_f)
    slip = np.linalg.norm(u[:, 1:], axis=1)
    for i in np.flatnonzero(slip > 1e-6 * scale):
        # Most work against the slip that the polyhedron allows.
        most = limit[i] * (facets @ u[i, 1:]).max()
        assert impulses[i, 1:] @ u[i, 1:] == pytest.approx(-most, rel=0.0, abs=1e-7 * scale * weight)
    return slip / scale


@pytest.mark.parametrize("n_f", [2, 4, 8])
@pytest.mark.parametrize("offset", [False, True])
def test_solutions_obey_the_laws_of_contact(rng, n_f, offset):
    formulation, slips = OperationalSpace(n_f), []
    for _ in range(8):
        m = int(rng.integers(1, 5))
        problem = random_problem(rng, m, offset=offset)
        solution = solve(formulation.assemble(problem))
        assert solution.residual <= 1e-9
        slips.extend(check_contacts(problem, formulation.recover(problem, solution), n_f))
    assert max(slips) > 1e-3


def test_slip_along_a_direction_meets_the_whole_friction():
    # A block of 2 kg, falling and sliding along the first tangent: it loses mu times the normal velocity.
    W, v = np.eye(3) / 2.0, np.array([[-1.0, 3.0, 0.0]])
    problem = ContactProblem(W, v, np.array([0.5]), np.zeros(1))
    formulation = OperationalSpace(4)
    impulses = formulation.recover(problem, solve(formulation.assemble(problem)))
    assert np.allclose(impulses, [[2.0, -1.0, 0.0]], rtol=0.0, atol=1e-12)


def test_strong_friction_stops_the_slip():
    W, v = np.eye(3) / 2.0, np.array([[-1.0, 0.3, 0.1]])
    problem = ContactProblem(W, v, np.array([0.5]), np.zeros(1))
    formulation = OperationalSpace(4)
    impulses = formulation.recover(problem, solve(formulation.assemble(problem)))
    assert np.allclose(impulses, [[2.0, -0.6, -0.2]], rtol=0.0, atol=1e-12)


def test_contacts_that_separate_are_left_alone(rng):
    problem = random_problem(rng, 2)
    away = dataclasses.replace(problem, velocities=np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]))
    formulation = OperationalSpace(4)
    assert np.abs(formulation.recover(away, solve(formulation.assemble(away)))).max() == 0.0


@pytest.mark.parametrize("n_f", [0, 1, 3, 2.5, True, "four", None])
def test_numbers_of_directions_are_checked(n_f):
    with pytest.raises(ArgumentError, match="n_f"):
        OperationalSpace(n_f)


def test_a_misspelt_option_fails():
    with pytest.raises(TypeError):
        OperationalSpace(nf=8)
