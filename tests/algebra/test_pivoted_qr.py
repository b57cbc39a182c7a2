"""Bases of row spaces by QR with pivoting."""

import numpy as np
import pytest

from spatialops.algebra.pivoted_qr import row_basis


@pytest.mark.parametrize(("rows", "columns", "rank"), [(3, 7, 3), (7, 3, 3), (6, 8, 2), (0, 4, 0)])
def test_null_space_and_shortest_solution(rows, columns, rank):
    rng = np.random.default_rng(rows)
    E = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    e = E @ rng.normal(size=columns)
    found = row_basis(E, 1e-9)
    N = found.null
    assert N.shape == (columns, columns - rank)
    assert N.T @ N == pytest.approx(np.eye(columns - rank), abs=1e-13)
    assert np.abs(E @ N).max(initial=0.0) < 1e-13
    x = found.particular(e)
    assert pytest.approx(e, abs=1e-12) == E @ x
    assert x == pytest.approx(np.linalg.pinv(E) @ e, abs=1e-12)
    inverse, idle = found.inverse_and_idle()
    assert inverse == pytest.approx(np.linalg.pinv(E), abs=1e-12)
    assert idle.shape == (rows, rows - rank)
    assert idle.T @ idle == pytest.approx(np.eye(rows - rank), abs=1e-13)
    assert np.abs(E.T @ idle).max(initial=0.0) < 1e-13


def test_rows_that_others_nearly_imply_are_left_out():
    E = np.array([[1.0, 0.0], [1.0, 1e-6]])
    assert row_basis(E, 1e-5).rank == 1
    assert row_basis(E, 1e-8).rank == 2
    assert row_basis(E, 0.0, share=1e-5).rank == 1
