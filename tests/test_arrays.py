"""Checks at the door."""

import numpy as np
import pytest

from spatialops import _arrays
from spatialops._arrays import all_finite, in_parts


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3)])
def test_what_is_finite(shape):
    values = np.full(shape, 1e200)  # the sum of whose squares is infinite
    assert all_finite(values)
    assert all_finite(values[..., ::2])
    for wrong in (np.nan, np.inf, -np.inf):
        changed = values.copy()
        changed[..., -1:] = wrong
        assert all_finite(changed) == (changed.size == 0)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 8])
def test_parts_are_all_rows_once(count, monkeypatch):
    monkeypatch.setattr(_arrays, "_AT_ONCE", 4)
    rows = np.arange(2 * count).reshape(count, 2)
    parts = list(in_parts(rows))
    assert all(0 < len(part) <= 4 for part in parts)
    assert np.array_equal(np.concatenate([rows[:0], *parts]), rows)
