"""Random problems of known classes, by all solvers that claim to solve or refute them."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from spatialops.contact import (
    ConvexQP,
    Enumeration,
    ExactLemke,
    Lemke,
    MixedLCP,
    Newton,
    PrincipalPivoting,
    ProjectedGaussSeidel,
    Status,
    solve,
)
from tests.support.residuals import check_honest, check_solved

SEEDS = st.integers(0, 2**32 - 1)


def semidefinite(rng, n):
    B = rng.normal(size=(n, max(1, n // 2)))
    return B @ B.T


def monotone(rng, n):
    S = rng.normal(size=(n, n))
    return semidefinite(rng, n) + S - S.T


def definite(rng, n):
    return semidefinite(rng, n) + 0.1 * np.eye(n)


def dominant(rng, n):
    """An H-matrix: strictly diagonally dominant with a positive diagonal, columns scaled."""
    A = rng.normal(size=(n, n))
    np.fill_diagonal(A, 0.0)
    np.fill_diagonal(A, np.abs(A).sum(axis=1) + 0.1)
    return A * rng.uniform(0.2, 5.0, n)


def p_matrix(rng, n):
    """Positive diagonals times a positive definite matrix that is far from symmetric."""
    S = 3.0 * rng.normal(size=(n, n))
    return (
        rng.uniform(0.1, 10.0, n)[:, None]
        * (definite(rng, n) + S - S.T)
        * rng.uniform(0.1, 10.0, n)
    )


def copositive(rng, n):
    return rng.uniform(0.0, 1.0, (n, n)) + 0.01


def singular(rng, n):
    """No class at all, and rank n / 2."""
    k = max(1, n // 2)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, n))


def anything(rng, n):
    return rng.integers(-2, 3, (n, n)).astype(float)


CLAIMS = {
    definite: (
        Lemke(),
        PrincipalPivoting(),
        ProjectedGaussSeidel(),
        Newton(),
        ConvexQP(),
        ConvexQP(library="clarabel"),
    ),
    semidefinite: (Lemke(), PrincipalPivoting(), ConvexQP(), ConvexQP(library="clarabel")),
    monotone: (Lemke(), PrincipalPivoting(), ConvexQP(), ConvexQP(library="clarabel")),
    dominant: (Lemke(), PrincipalPivoting(), ProjectedGaussSeidel(), Newton()),
    p_matrix: (Lemke(), PrincipalPivoting(), Newton(), ExactLemke()),
    copositive: (Lemke(), ExactLemke()),
    singular: (),
    anything: (),
}


def solvable(rng, A, n_free=0):
    """A problem with this matrix and a solution that was put in."""
    n = len(A)
    active = rng.random(n) < 0.5
    z, w = (
        np.where(active, rng.uniform(0.1, 1.0, n), 0.0),
        np.where(active, 0.0, rng.uniform(0.0, 1.0, n)),
    )
    z[:n_free], w[:n_free] = rng.normal(size=n_free), 0.0
    return MixedLCP(A, w - A @ z, n_free)


@pytest.mark.parametrize("kind", CLAIMS)
@given(seed=SEEDS, n=st.integers(1, 11))
def test_solvable_problems_are_solved(kind, seed, n):
    rng = np.random.default_rng(seed)
    problem = solvable(rng, kind(rng, n))
    check_solved(problem, solve(problem))
    for solver in CLAIMS[kind]:
        check_solved(problem, solve(problem, solver))


@pytest.mark.parametrize("kind", CLAIMS)
@given(seed=SEEDS, n=st.integers(1, 7))
def test_auto_and_enumeration_agree_whether_there_is_a_solution(kind, seed, n):
    rng = np.random.default_rng(seed)
    problem = MixedLCP(kind(rng, n), rng.normal(size=n), int(rng.integers(0, n + 1)))
    every = Enumeration().all_solutions(problem)
    solution = solve(problem)
    check_honest(problem, solution, bool(every))
    assert solution.status == (Status.SOLVED if every else Status.NO_SOLUTION)
    for z in every:
        assert problem.residual(z) <= 1e-9


@given(seed=SEEDS, n=st.integers(2, 9))
def test_feasible_monotone_problems_are_solvable_and_others_are_proved_not_to_be(seed, n):
    rng = np.random.default_rng(seed)
    problem = MixedLCP(semidefinite(rng, n), rng.normal(size=n))
    auto = solve(problem)
    assert auto.status in (Status.SOLVED, Status.NO_SOLUTION)
    for solver in (ConvexQP(), ConvexQP(library="clarabel"), Enumeration()):
        assert solve(problem, solver).status == auto.status
    assert solve(problem, PrincipalPivoting()).status == (
        Status.SOLVED if auto.solved else Status.RAY
    )


@given(seed=SEEDS, n=st.integers(2, 9), both=st.booleans(), decades=st.floats(0.0, 4.0))
def test_badly_scaled_problems(seed, n, both, decades):
    rng = np.random.default_rng(seed)
    rows = 10.0 ** rng.uniform(-decades, decades, n)
    columns = rows if both else 10.0 ** rng.uniform(-0.5 * decades, 0.5 * decades, n)
    easy = solvable(rng, p_matrix(rng, n))
    problem = MixedLCP(rows[:, None] * easy.A * columns, rows * easy.b)
    solution = solve(problem)
    check_honest(problem, solution)
    assert solution.solved or "rounding" in solution.detail


@given(
    seed=SEEDS, n=st.integers(3, 10), kind=st.sampled_from([monotone, definite, p_matrix, singular])
)
def test_mixed_problems(seed, n, kind):
    rng = np.random.default_rng(seed)
    problem = solvable(rng, kind(rng, n), int(rng.integers(1, n)))
    check_solved(problem, solve(problem))


@given(seed=SEEDS, n=st.integers(4, 10))
def test_redundant_equalities(seed, n):
    rng = np.random.default_rng(seed)
    A = monotone(rng, n)
    k = int(rng.integers(2, n - 1))
    A[k - 1], A[:, k - 1] = A[0], A[:, 0]  # an equality and its multiplier twice
    problem = solvable(rng, A, k)
    check_solved(problem, solve(problem))
    check_solved(problem, solve(problem, "lemke"))
    contradiction = problem.b.copy()
    contradiction[k - 1] += 1.0
    assert solve(MixedLCP(A, contradiction, k)).status == Status.NO_SOLUTION


@given(seed=SEEDS, k=st.integers(1, 4))
def test_equalities_that_must_be_solved_through_a_complementary_pair(seed, k):
    rng = np.random.default_rng(seed)
    m = k + int(rng.integers(0, 4))
    B = rng.normal(size=(k, m))
    A = np.block([[np.zeros((k, k)), B], [-B.T, monotone(rng, m)]])
    problem = solvable(rng, A, k)
    assume(np.abs(problem.b).max() > 0.0)
    check_solved(problem, solve(problem))


@given(seed=SEEDS, n=st.integers(2, 30))
def test_contradictions_are_proved_by_a_certificate(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    row = rng.integers(n)
    A[row], b[row] = -np.abs(A[row]), -1.0  # this w is negative whatever z >= 0
    assert solve(MixedLCP(A, b)).status == Status.NO_SOLUTION
