"""The OS problem of [J] 53, typed in with numpy, and closed forms."""

import dataclasses

import numpy as np
import pytest

from spatialops.contact import solve
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.friction import directions
from spatialops.errors import ArgumentError
from tests.support.contacts import block_problem, random_problem


def typed_in(problem, n_f):
    """A and b by the blocks of [J] 53.

    D holds the normal and the friction directions of each contact as rows.
    """
    m = problem.n_contacts
    facets = directions(n_f)
    n_b = problem.n_loop_rows
    D = np.zeros((m * (n_f + 1), 3 * m))
    E = np.zeros((m * (n_f + 1), m))
    mu = np.zeros((m, m * (n_f + 1)))
    for i in range(m):
        row = i * (n_f + 1)
        D[row, 3 * i] = 1.0
        D[row + 1 : row + 1 + n_f, 3 * i + 1 : 3 * i + 3] = facets
        E[row + 1 : row + 1 + n_f, i] = 1.0
        mu[i, row] = problem.friction[i]
    W, u = problem.compliance, problem.velocities
    s = W.diagonal()[n_b:].max()
    A = np.block(
        [
            [W[:n_b, :n_b] / s, W[:n_b, n_b:] @ D.T / s, np.zeros((n_b, m))],
            [D @ W[n_b:, :n_b] / s, D @ W[n_b:, n_b:] @ D.T / s, E],
            [np.zeros((m, n_b)), mu - E.T, np.zeros((m, m))],
        ]
    )
    return (
        A,
        np.concatenate([u[:n_b], D @ u[n_b:], s * problem.friction * problem.prior_normal_impulse]),
        D,
        s,
    )


@pytest.mark.parametrize("n_f", [2, 4, 6])
@pytest.mark.parametrize(("m", "loops"), [(1, 0), (3, 0), (2, 3)])
def test_assemble(rng, n_f, m, loops):
    problem = random_problem(rng, m, loops=loops, prior_normal_impulse=True)
    lcp = OperationalSpace(n_f).assemble(problem)
    A, b, _, _ = typed_in(problem, n_f)
    assert lcp.size == loops + m * (n_f + 2)
    assert lcp.n_free == loops
    assert np.allclose(lcp.A, A, rtol=0.0, atol=1e-14)
    assert np.allclose(lcp.b, b, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("n_f", [2, 4, 6])
def test_recover(rng, n_f):
    problem, formulation = random_problem(rng, 3, loops=1), OperationalSpace(n_f)
    solution = solve(formulation.assemble(problem))
    _, _, D, s = typed_in(problem, n_f)
    expected = (D.T @ solution.z[1 : 1 + len(D)] / s).reshape(3, 3)
    answer = formulation.recover(problem, solution)
    assert np.abs(expected).max() > 0.0
    assert np.allclose(answer.impulses, expected, rtol=1e-13, atol=1e-16)
    assert answer.loop_impulses == pytest.approx(solution.z[:1] / s, rel=1e-13)


def solved(problem):
    formulation = OperationalSpace(4)
    return formulation.recover(problem, solve(formulation.assemble(problem)))


def test_slip_along_a_direction_meets_the_whole_friction():
    # A block of 2 kg, falling and sliding along the first tangent: it loses mu times the normal
    # velocity.
    answer = solved(block_problem((3.0, 0.0, -1.0)))
    assert np.allclose(answer.impulses, [[2.0, -1.0, 0.0]], rtol=0.0, atol=1e-12)
    assert np.allclose(answer.velocity, [0.0, 0.0, 0.0, 2.5, 0.0, 0.0], rtol=0.0, atol=1e-12)
    assert answer.slip == pytest.approx([2.5])


def test_strong_friction_stops_the_slip():
    answer = solved(block_problem((0.3, 0.1, -1.0)))
    assert np.allclose(answer.impulses, [[2.0, -0.6, -0.2]], rtol=0.0, atol=1e-12)
    assert np.abs(answer.velocity).max() <= 1e-12


def test_contacts_that_separate_are_left_alone():
    problem = block_problem((2.0, -1.0, 0.5))
    assert np.abs(solved(problem).impulses).max() == 0.0
    falling = dataclasses.replace(
        block_problem((0.0, 0.0, -0.5)), gap_bias=[0.5]
    )  # it just arrives
    assert np.abs(solved(falling).impulses).max() <= 1e-15


@pytest.mark.parametrize("n_f", [0, 1, 3, 2.5, True, "four", None])
def test_numbers_of_directions_are_checked(n_f):
    with pytest.raises(ArgumentError, match="n_f"):
        OperationalSpace(n_f)


def test_a_misspelt_option_fails():
    with pytest.raises(TypeError):
        OperationalSpace(nf=8)
