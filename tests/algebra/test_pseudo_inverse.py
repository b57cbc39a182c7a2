"""Pseudoinverses and inverse factors against NumPy's, of matrices of every rank."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops.algebra.pseudo_inverse import (
    inverse_factor_kernel,
    inverting,
    pseudo_inverse_kernel,
    room_of_inverse,
)


def inverse_of(A: np.ndarray, tolerance: float = 1e-9) -> tuple[np.ndarray, int, np.ndarray]:
    m, n = A.shape
    floats = np.full(room_of_inverse(m, n), np.nan)
    room = inverting(m, n, floats, np.zeros(2 * min(m, n), dtype=np.int64))
    found = np.full((n, m), np.nan)
    least = tolerance * np.sqrt((A**2).sum(axis=1).max(initial=0.0))
    rank = pseudo_inverse_kernel(A.copy(), m, n, least, min(m, n), found, room)
    return found, rank, room.second.Q[:rank]


@pytest.mark.parametrize("m", [1, 3, 7, 12])
@pytest.mark.parametrize("n", [1, 6, 12])
@pytest.mark.parametrize("rank", [0, 1, 3, 6])
def test_the_pseudo_inverse_is_that_of_singular_values(m: int, n: int, rank: int) -> None:
    rng = np.random.default_rng(m + 13 * n + 169 * rank)
    rank = min(rank, m, n)
    A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    found, counted, basis = inverse_of(A)
    exact = np.linalg.pinv(A, rcond=1e-9)
    assert counted == rank
    assert np.abs(found - exact).max() <= 1e-11 * max(1.0, np.abs(exact).max())
    assert np.allclose(basis @ basis.T, np.eye(rank), atol=1e-14)
    assert np.abs(A - basis.T @ (basis @ A)).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(A).max())


def test_ranks_are_told_by_their_own_measure() -> None:
    A = np.diag([1.0, 1e-3, 1e-8, 1e-10])
    assert inverse_of(A)[1] == 3
    assert inverse_of(A, 1e-5)[1] == 2
    assert np.allclose(np.diag(inverse_of(A)[0]), [1.0, 1e3, 1e8, 0.0], rtol=1e-12)


def test_rows_that_nearly_depend_stay_orthogonal() -> None:
    rng = np.random.default_rng(3)
    A = np.ones((5, 1)) @ rng.normal(size=(1, 8)) + 1e-7 * rng.normal(size=(5, 8))
    found, rank, basis = inverse_of(A)
    assert rank == 5
    assert np.allclose(basis @ basis.T, np.eye(5), atol=1e-13)
    assert np.abs(A @ found - np.eye(5)).max() < 1e-7


@pytest.mark.parametrize("n", [1, 4, 18])
def test_the_inverse_factor_makes_the_matrix_one(n: int) -> None:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, n))
    A = X @ X.T + 0.1 * np.eye(n)
    found = np.full((n, n), np.nan)
    assert inverse_factor_kernel(A.copy(), n, found)
    assert np.allclose(found, np.linalg.inv(np.linalg.cholesky(A)), rtol=1e-10, atol=1e-12)


def test_what_is_not_positive_definite_has_no_factor() -> None:
    assert not inverse_factor_kernel(np.diag([1.0, -1.0]), 2, np.empty((2, 2)))
    assert not inverse_factor_kernel(np.full((2, 2), np.nan), 2, np.empty((2, 2)))
