"""LU factors with pivoting against NumPy."""

import numpy as np
import pytest

from spatialops.algebra.dense_lu import (
    EXCHANGES,
    factor_by_rows,
    factor_lu,
    solve_lu,
    solve_transposed_lu,
    subtract_product,
)


def factored(A, factor=factor_lu):
    LU, exchanges = A.copy(), np.zeros((EXCHANGES, len(A)), dtype=np.int64)
    return LU, factor(LU, len(A), 1e-11, exchanges), exchanges


@pytest.mark.parametrize("factor", [factor_by_rows, factor_lu])
@pytest.mark.parametrize("columns", [3, 32, 70, 102])
@pytest.mark.parametrize("n", [1, 2, 7, 18])
def test_solves_either_way(n, factor, columns):
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, columns))
    LU, rank, exchanges = factored(A, factor)
    assert rank == n
    X, x = B.copy(), B[:, 0].copy()
    solve_lu(LU, n, rank, exchanges, X, X.shape[1])
    solve_transposed_lu(LU, n, rank, exchanges, x)
    assert np.allclose(A @ X, B, atol=1e-12)
    assert np.allclose(A.T @ x, B[:, 0], atol=1e-12)


@pytest.mark.parametrize("columns", [32, 64, 96])
def test_blocks_do_not_know_of_each_other(columns):
    """What is infinite in one, times the zeros of the other, would be no number."""
    rng = np.random.default_rng(columns)
    A = np.zeros((7, 7))
    A[:3, :3], A[3:, 3:] = rng.normal(size=(3, 3)), rng.normal(size=(4, 4))
    LU, rank, exchanges = factored(A, factor_by_rows)
    X = rng.normal(size=(7, columns))
    expected = np.linalg.solve(A[3:, 3:], X[3:])
    X[:3] = np.inf
    with np.errstate(invalid="ignore"):
        solve_lu(LU, 7, rank, exchanges, X, columns)
    assert np.allclose(X[3:], expected, atol=1e-12)


def test_rank_and_consistent_right_hand_sides():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 6))
    B = A @ rng.normal(size=(6, 2))
    b = A.T @ rng.normal(size=6)
    assert factored(A, factor_by_rows)[1] < 6
    LU, rank, exchanges = factored(A)
    assert rank == 3
    X, x = B.copy(), b.copy()
    solve_lu(LU, 6, rank, exchanges, X, X.shape[1])
    solve_transposed_lu(LU, 6, rank, exchanges, x)
    assert np.allclose(A @ X, B, atol=1e-11)
    assert np.allclose(A.T @ x, b, atol=1e-11)


@pytest.mark.parametrize("columns", [5, 64, 103, 1100])
def test_products_are_subtracted(columns):
    rng = np.random.default_rng(columns)
    A, B = rng.normal(size=(4, 6)), rng.normal(size=(6, columns))
    A[1:3, 2:] = 0.0
    A[2:, :3] = 0.0  # a row of nothing, and one that begins late
    C = rng.normal(size=(4, columns))
    expected = C - 0.5 * A @ B
    subtract_product(C, A, B, (4, 6, columns), 0.5)
    assert np.allclose(C, expected, rtol=0.0, atol=1e-14)
