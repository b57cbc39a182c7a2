"""Products with rows of piles: contacts between the same bodies are taken together."""

import numpy as np
import pytest

from spatialops.contact.newton.pile_products import add_groups, velocities_of_groups
from spatialops.contact.rows import START
from tests.contact.newton.test_block_factors import pile
from tests.support.contact_rows import dense_entries


def grouped(rows, sizes):
    """The same contacts, each as often as said, one behind the other."""
    places = np.repeat(rows.places, sizes, axis=0)
    widths = np.diff(np.append(rows.places[:, START], rows.entries.size))
    places[:, START] = np.concatenate([[0], np.cumsum(np.repeat(widths, sizes))[:-1]])
    return places, int(np.repeat(widths, sizes).sum())


@pytest.mark.parametrize("widths", [[6] * 12, [8, 1, 6, 7, 6], [3, 40, 6, 17, 9], [1] * 9])
def test_products_are_those_of_the_dense_rows(rng, widths):
    L = pile(rng, widths, 30).L
    places, size = grouped(L, rng.integers(1, 6, 30))
    rows = L._replace(entries=rng.normal(size=size), places=places)
    dense = dense_entries(rows, sum(widths))
    p, y = rng.normal(size=len(dense)), rng.normal(size=sum(widths))
    v = np.full(len(dense), np.nan)
    velocities_of_groups(rows, y, v)
    np.testing.assert_allclose(v, dense @ y, atol=1e-12)
    add_groups(rows, p, y)
    np.testing.assert_allclose(y, dense.T @ p, atol=1e-12)


def test_a_contact_of_what_does_not_move_adds_nothing(rng):
    rows = pile(rng, [6, 6], 2).L
    rows.places[:, 1:5] = 0
    y, v = np.full(12, np.nan), np.full(6, np.nan)
    add_groups(rows, np.ones(6), y)
    assert not y.any()
    velocities_of_groups(rows, y, v)
    assert not v.any()
