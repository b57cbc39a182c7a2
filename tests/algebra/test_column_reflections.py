"""Equations in order: each group is met as far as those before let it."""

import numpy as np
import pytest

from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_free,
    put_point,
    whole_eights,
)


def room(n, k):
    order = np.zeros(whole_eights(k), dtype=np.int64)
    reflections = Reflections(np.zeros((n, n)), np.zeros(whole_eights(k)), order)
    return Decided(reflections, np.zeros(n))


def add(decided, rank, J, r, least=1e-9):
    """A group of rows; the rank with it, and what is missed."""
    X = np.zeros((J.shape[1], whole_eights(len(J))))
    X[:, : len(J)] = J.T
    return decide(X, np.append(r, np.zeros(1)), len(J), rank, least, decided)


def point(decided, rank):
    x = np.empty(len(decided.y))
    put_point(decided, rank, x)
    return x


@pytest.mark.parametrize(("rows", "columns", "rank"), [(3, 7, 3), (7, 3, 3), (6, 8, 2), (40, 9, 4)])
def test_null_space_and_shortest_solution(rows, columns, rank):
    rng = np.random.default_rng(rows)
    E = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    e = E @ rng.normal(size=columns)
    decided = room(columns, rows)
    found, missed = add(decided, 0, E, e)
    assert found == rank
    assert missed < 1e-12
    Z = np.empty((columns, whole_eights(columns)))
    put_free(decided.reflections.V, rank, rank, Z)
    N = Z[:, : columns - rank]
    assert N.T @ N == pytest.approx(np.eye(columns - rank), abs=1e-13)
    assert np.abs(E @ N).max(initial=0.0) < 1e-12
    assert point(decided, rank) == pytest.approx(np.linalg.pinv(E) @ e, abs=1e-12)


def test_a_later_group_takes_nothing_from_an_earlier_one():
    rng = np.random.default_rng(0)
    E, J = rng.normal(size=(3, 6)), rng.normal(size=(2, 6))
    e, r = rng.normal(size=3), rng.normal(size=2)
    decided = room(6, 3)
    rank, _ = add(decided, 0, E, e)
    rank, missed = add(decided, rank, J, r)
    x = point(decided, rank)
    assert rank == 5
    assert missed < 1e-12
    assert np.vstack([E, J]) @ x == pytest.approx(np.append(e, r))
    rank, missed = add(decided, rank, E[:1], e[:1] + 2.0)  # what is decided stays
    assert rank == 5
    assert missed > 0.1
    assert point(decided, rank) == pytest.approx(x)


def test_rows_that_others_nearly_imply_decide_nothing():
    E = np.array([[1.0, 0.0], [1.0, 1e-6]])
    assert add(room(2, 2), 0, E, np.zeros(2), 1e-5)[0] == 1
    assert add(room(2, 2), 0, E, np.zeros(2), 1e-8)[0] == 2


def test_what_is_no_number_is_missed():
    E = np.eye(3)[:2]
    for bad in (np.nan, np.inf):
        missed = add(room(3, 2), 0, np.vstack([E, E]), np.array([bad, 0.0, 0.0, 0.0]))[1]
        assert not missed < 1e-8
