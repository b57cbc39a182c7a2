"""Problems with bounds as mixed problems, and back."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from spatialops.contact import MixedLCP, solve
from spatialops.errors import ArgumentError

inf = np.inf
SEEDS = st.integers(0, 2**32 - 1)


def violation(M, q, lower, upper, z):
    """How far z is from complementarity with bounds, row by row and in words."""
    F, worst = M @ z + q, 0.0
    for f, x, low, high in zip(F, z, lower, upper):
        worst = max(worst, low - x, x - high)
        if x < high:  # may grow: F must not be negative
            worst = max(worst, min(-f, high - x))
        if x > low:
            worst = max(worst, min(f, x - low))
    return worst


def random_bounds(rng, n):
    lower, upper = np.full(n, -inf), np.full(n, inf)
    kinds = rng.integers(0, 5, n)  # free, below, above, both, fixed
    for i, kind in enumerate(kinds):
        middle, width = rng.normal(), rng.uniform(0.1, 2.0)
        lower[i] = middle if kind in (1, 3, 4) else -inf
        upper[i] = middle if kind == 4 else middle + width if kind in (2, 3) else inf
    return lower, upper


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.coo_matrix])
@given(seed=SEEDS, n=st.integers(1, 8))
def test_random_problems(kind, seed, n):
    rng = np.random.default_rng(seed)
    B, S = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    M, q = B @ B.T + 0.1 * np.eye(n) + S - S.T, rng.normal(size=n)
    lower, upper = random_bounds(rng, n)
    problem, recover = MixedLCP.from_bounds(kind(M), q, lower, upper)
    assert problem.is_sparse == (kind is not np.array)
    solution = solve(problem)
    assert solution.solved
    z = recover(solution)
    assert violation(M, q, lower, upper, z) <= 1e-9 * (1.0 + np.abs(M).max() * np.abs(z).max())
    assert recover.residual(z) <= 1e-9
    assert recover.residual(z + 1.0) > 1e-3


@pytest.mark.parametrize(
    ("M", "q", "lower", "upper", "z"),
    [
        (2.0, -8.0, 0.0, inf, 4.0),
        (2.0, -8.0, 0.0, 3.0, 3.0),
        (2.0, 8.0, -1.0, 3.0, -1.0),
        (2.0, 8.0, -inf, -5.0, -5.0),
        (2.0, 8.0, -inf, 5.0, -4.0),
        (2.0, 8.0, -inf, inf, -4.0),
        (2.0, 8.0, 1.5, 1.5, 1.5),
        (0.0, 8.0, -1.0, 1.0, -1.0),  # a relay
    ],
)
def test_one_row(M, q, lower, upper, z):
    problem, recover = MixedLCP.from_bounds([[M]], [q], [lower], [upper])
    assert recover(solve(problem)).tolist() == [z]
    assert recover(solve(problem).z).tolist() == [z]


def test_rows_are_free_first_then_bounded_then_slacks():
    M = np.diag([1.0, 2.0, 3.0, 4.0])
    problem, recover = MixedLCP.from_bounds(
        M, np.zeros(4), [0.0, -inf, 1.0, 0.0], [1.0, inf, 1.0, inf]
    )
    assert problem.size == 4  # free, two bounded, one slack; the fixed one is gone
    assert problem.n_free == 1
    assert recover.order.tolist() == [1, 0, 3]
    assert recover.residual([0.0, 0.0, 1.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([1.0], [0.0], "lower <= upper"),
        ([inf], [inf], "lower <= upper"),
        ([np.nan], [1.0], "NaN"),
        ([0, 0], [1], "lower"),
    ],
)
def test_bad_bounds_are_refused(lower, upper, message):
    with pytest.raises(ArgumentError, match=message):
        MixedLCP.from_bounds([[1.0]], [1.0], lower, upper)
