"""Principal pivoting on random redundant problems, thousands of them.

Copies, multiples, symmetric ties, all scales.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialops.contact.laws.pivoting import pivot


def redundant_problem(seed):
    """Solvable by construction.

    Of u = L v + c with c >= 0, so that x = -v is feasible (Cottle, Pang and Stone 3.1.2).
    """
    rng = np.random.default_rng(seed)
    nv, n = int(rng.integers(1, 14)), int(rng.integers(1, 80))
    rank = int(rng.integers(1, nv + 1))
    if rng.random() < 0.3:  # feet of a plate, on a grid: everything is tied
        side = int(np.ceil(np.sqrt(n)))
        x, y = np.meshgrid(np.linspace(-1.0, 1.0, side), np.linspace(-1.0, 1.0, side))
        L = np.column_stack([np.ones(side * side), x.ravel(), y.ravel()])
        n, rank = len(L), 3
    else:
        L = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, nv))
        for _ in range(int(rng.integers(0, n))):  # copies and multiples of rows
            i, j = rng.integers(0, n, 2)
            L[i] = L[j] * (1.0 if rng.random() < 0.5 else rng.uniform(0.1, 10.0))
    motion = rng.normal(size=L.shape[1]) * (rng.random(L.shape[1]) < 0.7)
    c = rng.uniform(0.0, 1.0, n) * (rng.random(n) < rng.random())
    L *= 10.0 ** rng.uniform(-4.0, 4.0)
    return L, (L @ motion + np.abs(L).max() * c) * 10.0 ** rng.uniform(-6.0, 6.0), rank


def check(L, u, rank, found):
    x = L.T @ found.p
    w = u + L @ x
    scale = np.abs(u).max()
    assert found.p.min() >= 0.0
    assert w.min() >= -1e-9 * scale
    assert np.abs(w[found.p > 0.0]).max(initial=0.0) <= 1e-9 * scale
    assert not found.fell_back
    assert np.count_nonzero(found.p) <= rank
    assert found.iterations <= 20 * (len(u) + L.shape[1]) + 100
    np.testing.assert_array_equal(np.flatnonzero(found.p), found.active)


def solve_cold_and_warm(seed):
    L, u, rank = redundant_problem(seed)
    found = pivot(L, u)
    check(L, u, rank, found)
    check(L, u, rank, pivot(L, u, found.active))
    check(
        L, u, rank, pivot(L, u, np.random.default_rng(seed).integers(0, len(u), 5))
    )  # a wrong start does no harm


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_redundant_problems(seed):
    solve_cold_and_warm(seed)


@pytest.mark.slow
@pytest.mark.compiled
@given(st.integers(0, 2**63 - 1))
@settings(max_examples=10_000, deadline=None)
def test_ten_thousand_redundant_problems(seed):
    solve_cold_and_warm(seed)
