"""Dense linear problems of statuses, in registers."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import (
    answer_factors,
    factor_rows,
    factor_statuses,
    put_rows,
)
from spatialops.contact.newton.dense.factors import factor, substitute_dense
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import BATCH, ContactRows
from spatialops.contact.newton.statuses import find_parts, put_friction
from spatialops.contact.newton.unknowns import list_unknowns
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
)
from tests.support.contact_rows import contact_rows_of, dense_of, scratch_of

CORNERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
EPS = 1e-3


def problem(contacts, columns, rng):
    """Contacts of one tree, all of which press; every second sticks, the others slide."""
    L = rng.standard_normal((3 * contacts, columns))
    zeros = np.zeros(contacts)
    rows = contact_rows_of(
        L, rng.standard_normal(3 * contacts), zeros + 0.5, zeros, zeros.copy(), CORNERS
    )
    return rows, scratch_with_statuses(rows)


def scratch_with_statuses(rows):
    """All press, with one weight; every second sticks, the others slide."""
    contacts = len(rows.friction)
    scratch = scratch_of(rows)
    find_parts(rows, scratch)
    scratch.friction[:, at.WEIGHT] = 1.0
    spread_out(rows, scratch)
    scratch.status[:, at.NORMAL] = at.PRESSES
    scratch.status[:, at.TANGENT] = np.where(np.arange(contacts) % 2, at.AT_CORNER, at.STICKS)
    scratch.status[:, at.SIDE] = 0
    for i in range(1, contacts, 2):
        put_friction(scratch.friction, i, 1.0, 0.0, 1.0)
    return scratch


def short_rows(contacts, rng):
    """Contacts of two trees of 21 and 14 columns, or between them, that reach to any of them."""
    places = np.zeros((contacts, PLACE_COLUMNS), dtype=np.int64)
    start = 0
    for i, place in enumerate(places):
        place[START], place[TREE_B] = start, -1
        place[COUNT_A] = rng.integers(1, 22)
        if i % 3 == 1:
            place[TREE_A], place[FIRST_A] = 1, 21
            place[COUNT_A] = rng.integers(1, 15)
        if i % 3 == 2:
            place[TREE_B], place[FIRST_B] = 1, 21
            place[COUNT_B] = rng.integers(1, 15)
        start += 3 * (place[COUNT_A] + place[COUNT_B])
    L, trees = SparseRows(rng.standard_normal(start), places), np.array([0, 21, 35])
    u, friction = rng.standard_normal(3 * contacts), np.full(contacts, 0.5)
    return ContactRows(L, trees, u, friction, *np.zeros((2, contacts)), CORNERS, at.POLYGON)


def from_gathered_rows(rows, scratch):
    """Factors of rows that are not spread out."""
    count = list_unknowns(rows, EPS, scratch)
    put_rows(rows, EPS, count, scratch)
    factor_rows(rows, EPS, count, scratch)
    return count


def from_statuses(rows, scratch):
    """Factors of rows that are, where there are no more unknowns than columns."""
    return factor_statuses(rows, EPS, scratch)


WAYS = pytest.mark.parametrize("factors", [from_gathered_rows, from_statuses])


def assert_solved(factors, rows, scratch, rng):
    """The problem of the statuses is that of the dense rows, and its answer."""
    count = factors(rows, scratch)
    rho, gamma = rho_and_gamma(rows, scratch)
    assert count == len(rho)
    right = rng.standard_normal(count)
    scratch.vectors[at.RIGHT, :count] = right
    answer_factors(rows, EPS, count, scratch)
    A = rho @ gamma.T + EPS * np.eye(count)
    x = scratch.vectors[at.STEP, :count]
    expected = np.linalg.solve(A, right)
    assert x == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def rho_and_gamma(rows, scratch):
    """Rows of what must not move and of what acts."""
    L = dense_of(rows)
    rho, gamma = [], []
    for i in range(len(rows.friction)):
        n, first, second = L[3 * i : 3 * i + 3]
        sticks = scratch.status[i, at.TANGENT] == at.STICKS
        rho += [n, first, second] if sticks else [n]
        gamma += [n, first, second] if sticks else [n + 0.5 * first]
    return np.array(rho), np.array(gamma)


@WAYS
@pytest.mark.parametrize(
    ("contacts", "columns"),
    [(1, 6), (3, 6), (4, 35), (8, 35), (30, 18), (40, BATCH + 11), (10, 2 * BATCH + 5)],
)
def test_the_problem_of_statuses_is_solved(contacts, columns, factors, rng):
    rows, scratch = problem(contacts, columns, rng)
    assert_solved(factors, rows, scratch, rng)


@WAYS
@pytest.mark.parametrize("contacts", [1, 3, 4, 11])
def test_where_all_stick_the_problem_is_symmetric(contacts, factors, rng):
    rows, scratch = problem(contacts, 3 * contacts, rng)
    scratch.status[:, at.TANGENT] = at.STICKS
    scratch.friction[:, at.SIZE] = 0.0
    assert_solved(factors, rows, scratch, rng)


@WAYS
@pytest.mark.parametrize("contacts", [1, 5, 9, 24])
def test_rows_may_be_short_and_of_two_trees(contacts, factors, rng):
    rows = short_rows(contacts, rng)
    scratch = scratch_with_statuses(rows)
    for part in scratch.dense[:3]:  # of problems before
        part[:] = rng.standard_normal(part.shape)
    assert_solved(factors, rows, scratch, rng)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 30])
def test_rows_are_exchanged_where_the_diagonal_is_zero(n, rng):
    _, scratch = problem(n, 3 * n + 1, rng)
    A = np.roll(np.diag(rng.uniform(1.0, 2.0, n)), 1, axis=0)
    A += 0.1 * rng.standard_normal((n, n)) * (1.0 - np.eye(n))
    np.fill_diagonal(A, 0.0 if n > 1 else 1.0)
    scratch.dense.M[:n, :n] = A.T  # by columns
    factor(scratch.dense, n, True)
    right, x = rng.standard_normal(n), np.zeros(n)
    substitute_dense(scratch.dense, n, right, x)
    assert pytest.approx(right, abs=1e-12) == A @ x


def test_what_has_no_pivot_is_zero(rng):
    _, scratch = problem(3, 10, rng)
    scratch.dense.M[:3, :3] = np.diag([2.0, 0.0, 4.0])
    factor(scratch.dense, 3, True)
    x = np.zeros(3)
    substitute_dense(scratch.dense, 3, np.ones(3), x)
    assert x.tolist() == [0.5, 0.0, 0.25]
