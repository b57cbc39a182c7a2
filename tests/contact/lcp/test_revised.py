"""Lemke's path by the active block: the dictionary's path, pivot by pivot."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops.contact.lcp.lemke import covering_vectors, lemke_kernel
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.lcp.revised import SMALLEST, lemke_by_active_block
from spatialops.contact.lcp.scratch import new_lemke_scratch

TOLERANCE = 1e-9


def redundant(rng: np.random.Generator, rows: int, rank: int) -> MixedLCP:
    """Rows that push along few directions, with a solution that some of them carry."""
    J = rng.normal(size=(rows, rank))
    A = J @ J.T
    z = rng.uniform(0.5, 1.5, rows) * (rng.random(rows) < 0.5 * rank / rows)
    w = rng.uniform(0.5, 1.5, rows) * (z == 0.0)
    return MixedLCP(A, w - A @ z)


def by_dictionary(problem: MixedLCP, limit: int) -> tuple[np.ndarray, int]:
    n = problem.size
    z, w = np.zeros((2, n))
    active = np.zeros(n, dtype=np.int64)
    cover = covering_vectors(n)
    scratch = new_lemke_scratch(n)
    own = (problem.A, problem.b, 0, cover, limit, TOLERANCE, active, z, w, scratch)
    code, pivots, _ = lemke_kernel(*own)
    assert code == 0
    return z, pivots


@pytest.mark.parametrize("seed", range(12))
def test_both_take_the_same_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = redundant(rng, SMALLEST + 3 * seed, 6 + seed)
    limit = 2 * problem.size
    found = lemke_by_active_block(problem, covering_vectors(problem.size)[0], limit, TOLERANCE)
    assert found is not None
    z, residual, pivots = found
    expected, of_dictionary = by_dictionary(problem, limit)
    assert pivots + 1 == of_dictionary  # which counts the first exchange, too
    assert pivots > 1
    np.testing.assert_allclose(problem.A @ z, problem.A @ expected, atol=1e-8)
    assert residual <= TOLERANCE


def test_nothing_to_do_takes_no_pivot_but_the_scale() -> None:
    n = SMALLEST
    cover = covering_vectors(n)[0]
    assert lemke_by_active_block(MixedLCP(np.eye(n), np.zeros(n)), cover, n, TOLERANCE) is None
    found = lemke_by_active_block(MixedLCP(np.eye(n), np.ones(n)), cover, n, TOLERANCE)
    assert found is not None
    assert found[2] == 0
    assert not found[0].any()


def test_more_active_rows_than_half_are_left_to_the_dictionary() -> None:
    n = SMALLEST
    problem = MixedLCP(np.eye(n), -np.arange(1.0, n + 1.0))
    assert lemke_by_active_block(problem, covering_vectors(n)[0], 2 * n, TOLERANCE) is None
