"""Rows that keep only what lies on the paths of their contacts, against dense ones."""

import numpy as np
import pytest

from spatialops.collision import _layout as col
from spatialops.contact.rows import (
    COUNT_A,
    COUNT_B,
    FIRST_A,
    FIRST_B,
    PLACE_COLUMNS,
    START,
    TREE_A,
    TREE_B,
    SparseRows,
    add_impulses,
    answer_rows,
    dense_rows,
    multiply_rows,
    place_rows,
    square_of,
    turn_tangents,
)
from tests.support.contact_rows import dense_entries

TREES = np.array([0, 6, 9, 20])
TREE_OF = np.repeat([0, 1, 2], np.diff(TREES))


def placed(pairs):
    """Places of contacts between links of three trees."""
    ints = np.zeros((len(pairs), col.CONTACT_INTS), dtype=np.int64)
    ints[:, [col.CONTACT_A, col.CONTACT_B]] = pairs
    places = np.zeros((len(pairs), PLACE_COLUMNS), dtype=np.int64)
    place_rows(TREE_OF, TREES, ints, len(pairs), places)
    return places


def test_a_row_has_the_columns_from_its_links_to_their_bases():
    places = placed([(5, -1), (-1, 7), (5, 8), (12, 15), (-1, -1)])
    assert places[0].tolist() == [0, 0, 6, 0, 0, 0, -1]
    assert places[1].tolist() == [18, 6, 2, 0, 0, 1, -1]
    assert places[2, [FIRST_A, COUNT_A, TREE_A]].tolist() == [0, 6, 0]
    assert places[2, [FIRST_B, COUNT_B, TREE_B]].tolist() == [6, 3, 1]
    assert places[3].tolist() == [18 + 6 + 27, 9, 7, 0, 0, 2, -1]  # within a tree: one part
    assert places[4, [COUNT_A, COUNT_B, TREE_A, TREE_B]].tolist() == [0, 0, -1, -1]


@pytest.fixture
def rows(rng):
    places = placed([(5, -1), (5, 8), (16, 2), (12, 15), (-1, 7), (-1, -1), (19, 8)])
    size = places[-1, START] + 3 * (places[-1, COUNT_A] + places[-1, COUNT_B])
    return SparseRows(rng.normal(size=size), places)


def test_products(rows, rng):
    L = dense_entries(rows, 20)
    m = len(rows.places)
    W = np.full((3 * m, 3 * m), np.nan)
    multiply_rows(rows, m, W)
    assert W == pytest.approx(L @ L.T, rel=1e-13, abs=1e-13)
    assert np.array_equal(W, W.T)
    p = rng.normal(size=3 * m)
    y, w = np.full(20, np.nan), np.full(3 * m, np.nan)
    p[4] = 0.0
    answer_rows(rows, p, y, w)
    assert y == pytest.approx(L.T @ p, rel=1e-13, abs=1e-13)
    assert w == pytest.approx(W @ p, rel=1e-12, abs=1e-12)
    again = np.full(20, np.nan)
    add_impulses(rows, p, again)
    assert np.array_equal(again, y)
    assert [square_of(rows, i // 3, i % 3) for i in range(3 * m)] == pytest.approx(np.diag(W))


def test_tangents_turn_about_the_normal(rows):
    before = dense_entries(rows, 20)
    i, angle = 1, 0.7
    turn_tangents(rows, i, np.cos(angle), np.sin(angle))
    c, s = np.cos(angle), np.sin(angle)
    wanted = before.copy()
    wanted[4] = c * before[4] + s * before[5]
    wanted[5] = c * before[5] - s * before[4]
    assert dense_entries(rows, 20) == pytest.approx(wanted, rel=1e-14, abs=1e-14)


def test_dense_rows_keep_everything(rng):
    L = rng.normal(size=(6, 4))
    L[2, 1] = 0.0
    assert np.array_equal(dense_entries(dense_rows(L), 4), L)
