"""LU factors from the last unknown on, without exchanges, against NumPy."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import spatialops as so
from spatialops.algebra.backward_lu import (
    BEGIN,
    END,
    factor_backward,
    solve_backward,
    solve_transposed_backward,
)


def factored(A):
    n = len(A)
    L, U = np.zeros((n, n + 8)), np.zeros((n, n + 8))
    spans = np.full((2, n), -1)
    return factor_backward(A, n, L, U, np.zeros((2, n)), spans), L, U, spans


def nearly_symmetric(n, skew):
    rng = np.random.default_rng(n)
    root, S = rng.normal(size=(n, 2 * n)), rng.normal(size=(n, n))
    scale = 10.0 ** rng.uniform(-3.0, 3.0, n)  # radians beside metres
    return scale[:, None] * (root @ root.T + skew * (S - S.T)) * scale


@pytest.mark.parametrize("columns", [3, 32, 70, 102])
@pytest.mark.parametrize("n", [1, 2, 7, 18])
def test_solves_either_way(n, columns):
    A = nearly_symmetric(n, 1.0)
    B = A @ np.random.default_rng(columns).normal(size=(n, columns))
    sound, L, U, spans = factored(A)
    assert sound
    X, x = B.copy(), A.T @ np.arange(1.0, n + 1.0)
    solve_backward(L, U, n, spans, X, columns)
    solve_transposed_backward(L, U, n, x)
    size = np.sqrt(np.diag(A))
    assert np.allclose(
        (A @ X - B) / size[:, None], 0.0, atol=1e-11 * np.abs(X * size[:, None]).max()
    )
    assert np.allclose(x, np.arange(1.0, n + 1.0), rtol=1e-9)


def test_branches_of_a_tree_stay_apart():
    robot = so.models.quadruped()
    M = so.mass_matrix(robot.model, robot.state.q)
    sound, L, U, _ = factored(M)
    assert sound
    n = len(M)
    leg = np.repeat(np.arange(5), [6, 3, 3, 3, 3])  # 0: the base
    zeros = (leg[:, None] != leg) & (leg[:, None] > 0) & (leg > 0)
    below, above = np.tril(np.ones((n, n), dtype=bool), -1), np.triu(np.ones((n, n), dtype=bool), 1)
    assert not L[:, :n][zeros & below].any()
    assert not U[:, :n][zeros & above].any()
    D = np.diag(1.0 / np.diag(L[:, :n]))
    product = (np.triu(U[:, :n], 1) + np.eye(n)) @ (np.tril(L[:, :n], -1) + D)
    assert np.allclose(product, M, rtol=0.0, atol=1e-13 * np.abs(M).max())


@pytest.mark.parametrize("columns", [3, 32, 70])
def test_spans_are_those_of_trees_beside_one_another(columns):
    blocks = [nearly_symmetric(size, 0.5) for size in (3, 1, 6, 2)]
    A = block_diag(*blocks)
    n = len(A)
    sound, L, U, spans = factored(A)
    assert sound
    first = np.repeat([0, 3, 4, 10], [3, 1, 6, 2])
    assert np.array_equal(spans[BEGIN], first)
    assert np.array_equal(spans[END], np.repeat([3, 4, 10, 12], [3, 1, 6, 2]))
    B = A @ np.random.default_rng(0).normal(size=(n, columns))
    X = B.copy()
    solve_backward(L, U, n, spans, X, columns)
    assert np.allclose(X, np.linalg.solve(A, B), rtol=1e-7, atol=1e-7)


def test_what_would_lose_digits_has_no_such_factors():
    assert not factored(np.array([[1.0, 1.0], [1.0, 0.0]]))[0]
    assert not factored(np.array([[1.0, 1.0], [-1.0, 1e-9]]))[0]
    assert not factored(np.array([[1.0, 2.0], [2.0, 1.0]]))[0]  # not positive definite
    assert not factored(np.full((2, 2), np.nan))[0]
    assert factored(np.array([[1.0, 0.999], [0.999, 1.0]]))[0]
