"""Unknowns that are independent are found without a proximal term, and others with it."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import answer_factors
from spatialops.contact.newton.independent import are_apart, factor_independent
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.newton.statuses import find_parts
from spatialops.contact.rows import COUNT_A, PLACE_COLUMNS, START, TREE_B, SparseRows
from tests.support.contact_rows import dense_of, scratch_of

CORNERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
EPS = 1e-3


def feet(ends, rng, law=at.POLYGON):
    """Contacts of one tree of 12 columns, of links whose columns these are."""
    m = len(ends)
    places = np.zeros((m, PLACE_COLUMNS), dtype=np.int64)
    places[:, COUNT_A], places[:, TREE_B] = np.add(ends, 1), -1
    places[1:, START] = 3 * np.cumsum(places[:-1, COUNT_A])
    L = SparseRows(rng.standard_normal(3 * places[:, COUNT_A].sum()), places)
    u, trees = rng.standard_normal(3 * m), np.array([0, 12])
    return ContactRows(L, trees, u, np.full(m, 0.5), np.zeros(m), np.zeros(m), CORNERS, law)


@pytest.mark.parametrize(
    ("ends", "law", "apart"),
    [
        ([5, 8, 11], at.POLYGON, True),
        ([11, 5, 8], at.POLYGON, True),
        ([5, 8, 8], at.POLYGON, False),
        ([5, 8, 11], at.CONE, False),
        ([2, 4, 6, 8, 11], at.POLYGON, False),
    ],
)
def test_contacts_of_limbs_of_their_own_are_apart(ends, law, apart, rng):
    rows = feet(ends, rng, law=law)
    scratch = scratch_of(rows)
    spread_out(rows, scratch)
    for end in ends:
        scratch.spread.L[np.repeat(np.not_equal(ends, end), 3), end] = 0.0
    assert are_apart(rows, scratch) is apart


def test_contacts_along_a_chain_are_not(rng):
    rows = feet([5, 8, 11], rng)
    scratch = scratch_of(rows)
    spread_out(rows, scratch)
    assert not are_apart(rows, scratch)


def factored(rows):
    """All press and stick; the term of the factors, their problem without it, and its answer."""
    scratch = scratch_of(rows)
    s = find_parts(rows, scratch)
    spread_out(rows, scratch)
    scratch.status[:, at.NORMAL], scratch.status[:, at.TANGENT] = at.PRESSES, at.STICKS
    term = factor_independent(rows, s, EPS, scratch)
    count = int(scratch.factored[at.UNKNOWNS])
    scratch.vectors[at.RIGHT, :count] = rows.u
    answer_factors(rows, term, count, scratch)
    L = dense_of(rows)
    return term, L @ L.T, scratch.vectors[at.STEP, :count]


def test_what_is_independent_is_exact(rng):
    rows = feet([5, 8, 11], rng)
    term, W, x = factored(rows)
    assert term < 1e-12
    assert pytest.approx(rows.u, abs=1e-12) == W @ x


def test_a_row_that_is_another_has_the_term(rng):
    rows = feet([5, 8, 11], rng)
    rows.L.entries[:6] = rows.L.entries[6:12]
    term, W, x = factored(rows)
    assert term == EPS
    assert pytest.approx(rows.u, abs=1e-9) == (W + EPS * np.eye(9)) @ x
