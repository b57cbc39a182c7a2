"""Products with the rows of contacts, short or spread out."""

import numpy as np
import pytest

from spatialops.contact.newton.row_products import (
    multiply,
    multiply_transposed,
    put_velocities,
    spread_out,
)
from spatialops.contact.newton.rows import is_spread
from tests.support.contact_rows import contact_rows_of, dense_of, scratch_of

CORNERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


@pytest.mark.parametrize(
    ("contacts", "columns", "spread"),
    [
        (1, 1, True),
        (2, 8, True),
        (3, 38, True),
        (11, 32, True),
        (16, 30, True),
        (43, 128, True),
        (3, 129, False),
        (129, 5, False),
    ],
)
def test_products_are_those_of_the_dense_rows(contacts, columns, spread, rng):
    zeros = np.zeros(contacts)
    L = rng.standard_normal((3 * contacts, columns))
    L[rng.random(L.shape) < 0.3] = 0.0
    u = rng.standard_normal(3 * contacts)
    rows = contact_rows_of(L, u, zeros + 0.5, zeros, zeros.copy(), CORNERS)
    scratch = scratch_of(rows)
    assert is_spread(rows) is spread
    spread_out(rows, scratch)
    L = dense_of(rows)
    p = rng.standard_normal(3 * contacts)
    y = rng.standard_normal(columns)
    v = np.empty(3 * contacts)
    multiply(rows, y, v, scratch)
    np.testing.assert_allclose(v, L @ y, atol=1e-13 * columns)
    multiply_transposed(rows, p, y, scratch)
    np.testing.assert_allclose(y, L.T @ p, atol=1e-13 * contacts)
    put_velocities(rows, p, v, scratch)
    np.testing.assert_allclose(v, u + L @ (L.T @ p), atol=1e-12 * contacts)


def test_what_was_spread_before_does_not_stay(rng):
    zeros = np.zeros(4)
    L = rng.standard_normal((12, 20))
    first = contact_rows_of(L, np.ones(12), zeros, zeros, zeros.copy(), CORNERS)
    scratch = scratch_of(first)
    spread_out(first, scratch)
    second = first._replace(L=first.L._replace(entries=np.zeros_like(first.L.entries)))
    spread_out(second, scratch)
    v = np.empty(12)
    multiply(second, np.ones(20), v, scratch)
    assert not v.any()


@pytest.mark.parametrize("contacts", [1, 7, 20])
def test_of_dry_friction_one_row_counts(contacts, rng):
    zeros, columns = np.zeros(contacts), 38
    L, u = rng.standard_normal((3 * contacts, columns)), rng.standard_normal(3 * contacts)
    dry = np.where(np.arange(contacts) % 3 == 2, 0.0, 0.5)  # others stand between them
    L.reshape(contacts, 3, columns)[dry > 0.0, ::2] = 0.0
    scratch = scratch_of(contact_rows_of(L, u, zeros, zeros, dry, CORNERS))
    scratch.spread.L[:] = np.nan  # of problems before
    rows = contact_rows_of(L, u, zeros, zeros, dry, CORNERS)
    spread_out(rows, scratch)
    p, v = rng.standard_normal(3 * contacts), np.empty(3 * contacts)
    put_velocities(rows, p, v, scratch)
    np.testing.assert_allclose(v, u + L @ (L.T @ p), atol=1e-12 * contacts)
    idle = np.repeat(dry > 0.0, 3) & (np.arange(3 * contacts) % 3 != 1)
    assert np.isnan(scratch.spread.L[idle]).all()
