"""The LU in row echelon form: what it solves, and what it drops."""

import numpy as np
import pytest

from spatialops.contact.lu import factor_lu, largest_entry, substitute_lu


def solved(M, right, least):
    """The answer, the rank, and which columns were dropped."""
    n = len(right)
    factors = M.copy()
    rows, columns = np.empty(n, dtype=np.int64), np.arange(n)
    rank = factor_lu(factors, n, least, rows, columns)
    out = np.empty(n)
    substitute_lu(factors, n, rank, rows, columns, right.copy(), out)
    return out, rank, columns < 0


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_a_regular_matrix_is_solved(rng, n):
    M, right = rng.normal(size=(n, n)), rng.normal(size=n)
    out, rank, dropped = solved(M, right, 1e-300)
    assert rank == n
    assert not dropped.any()
    assert np.allclose(M @ out, right, rtol=0.0, atol=1e-10)


def test_columns_that_depend_on_others_are_dropped(rng):
    M = rng.normal(size=(6, 4))
    M = np.column_stack([M[:, 0], M[:, 1], M[:, 0] - M[:, 1], M[:, 2], M[:, 3], M[:, 1]])
    x = rng.normal(size=6)
    out, rank, dropped = solved(M, M @ x, 1e-13 * largest_entry(M, 6))
    assert rank == 4
    assert dropped.tolist() == [False, False, True, False, False, True]
    assert (out[dropped] == 0.0).all()
    assert np.allclose(M @ out, M @ x, rtol=0.0, atol=1e-12)


def test_nothing_is_left_of_zeros():
    out, rank, dropped = solved(np.zeros((2, 2)), np.ones(2), 1e-300)
    assert rank == 0
    assert dropped.all()
    assert (out == 0.0).all()


def test_tiny_pivots_are_followed_where_the_caller_wants():
    M, right = np.diag([1.0, 1e-14]), np.array([2.0, 3e-14])
    assert solved(M, right, 1e-300)[0].tolist() == pytest.approx([2.0, 3.0])
    assert solved(M, right, 1e-13)[0].tolist() == [2.0, 0.0]
