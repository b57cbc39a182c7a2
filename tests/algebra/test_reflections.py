"""Reflections: triangles for least squares, and null spaces."""

import numpy as np
import pytest

from spatialops.algebra.reflections import null_space_kernel, triangular_kernel


@pytest.mark.parametrize(("rows", "columns", "rank"), [(3, 7, 3), (7, 3, 3), (6, 8, 2), (1, 4, 0)])
def test_null_spaces_are_orthonormal_and_whole(rows, columns, rank):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    null = np.full((columns, columns), np.nan)
    free = null_space_kernel(X.copy(), 1e-9, null)
    assert free == columns - rank
    N = null[:free]
    assert np.abs(X @ N.T).max(initial=0.0) < 1e-13
    assert pytest.approx(np.eye(free), abs=1e-13) == N @ N.T


def test_what_is_small_against_the_longest_row_counts_as_zero():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1e-6, 0.0]])
    null = np.zeros((3, 3))
    assert null_space_kernel(X.copy(), 1e-5, null) == 2
    assert null_space_kernel(X.copy(), 1e-7, null) == 1


def test_triangles_solve_least_squares():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 4))
    b = rng.normal(size=9)
    W = np.vstack([A.T, b])
    triangular_kernel(W, 4)
    R = W[:4, :4].T
    assert np.abs(np.tril(R, -1)).max() == 0.0
    assert np.abs(R) == pytest.approx(np.abs(np.linalg.qr(A)[1]), rel=1e-12)
    x = np.linalg.solve(R, W[4, :4])
    assert x == pytest.approx(np.linalg.lstsq(A, b, rcond=None)[0], rel=1e-12)


def test_a_column_of_zeros_stays():
    W = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    triangular_kernel(W, 2)
    assert W[0].tolist() == [0.0, 0.0, 0.0]
    assert W[1, 0] == 1.0
    assert abs(W[1, 1]) == pytest.approx(np.sqrt(8.0))
