"""`auto` on contact problems of random scenes: redundant, symmetric, repeated contacts."""

import numpy as np
import pytest

from spatialops.contact import MixedLCP, solve
from spatialops.contact.friction import directions
from tests.support.residuals import check_solved, natural_residual
from tests.support.scenes import operational_space, random_contact_lcp, random_contacts


def unsolved(numbers):
    """Seeds of the problems that `auto` does not solve."""
    failed = []
    for number in numbers:
        problem = random_contact_lcp(np.random.default_rng([7, number]))
        solution = solve(problem)
        if not (solution.solved and natural_residual(problem, solution.z) <= 1e-9):
            failed.append((number, solution.status.name, solution.residual))
    return failed


def test_a_few_random_contact_problems():
    assert unsolved(range(20)) == []


@pytest.mark.compiled
def test_hundreds_of_random_contact_problems():
    assert unsolved(range(400)) == []


@pytest.mark.slow
@pytest.mark.compiled
def test_ten_thousand_random_contact_problems():
    assert unsolved(range(10000)) == []


@pytest.mark.compiled
def test_contacts_do_not_gain_energy_or_penetrate():
    for number in range(100):
        W, u, mu, offset = random_contacts(np.random.default_rng([8, number]))
        lcp = operational_space(W, u, mu, offset, 4)
        rows = solve(lcp).z[: 5 * len(mu)].reshape(-1, 5) / W.diagonal().max()
        p = np.column_stack([rows[:, 0], rows[:, 1:] @ directions(4)]).ravel()
        v, speed = u.ravel(), np.abs(lcp.b).max()
        after = W @ p + v
        assert after[::3].min() >= -1e-7 * speed
        if not offset.any() and (v[::3] <= 0.0).all():  # no open gaps: impulses only take energy
            assert p @ (after + v) <= 1e-7 * speed * np.abs(p).max(initial=0.0)


@pytest.mark.compiled
def test_islands_are_solved_as_the_whole_would_be():
    parts = [random_contact_lcp(np.random.default_rng([9, k])) for k in range(5)]
    size = sum(part.size for part in parts)
    rng = np.random.default_rng(3)
    order = rng.permutation(size)
    A = np.zeros((size, size))
    b = np.zeros(size)
    at = 0
    for part in parts:
        rows = order[at : at + part.size]
        A[np.ix_(rows, rows)], b[rows] = part.A, part.b
        at += part.size
    problem = MixedLCP(A, b)
    solution = solve(problem)
    check_solved(problem, solution)
    assert "islands" in solution.solver
    warm = solve(problem, warm_start=solution.z)
    check_solved(problem, warm)
