"""Checks at the door."""

import numpy as np
import pytest

from spatialops._arrays import all_finite


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3)])
def test_what_is_finite(shape):
    values = np.full(shape, 1e200)  # the sum of whose squares is infinite
    assert all_finite(values)
    assert all_finite(values[..., ::2])
    for wrong in (np.nan, np.inf, -np.inf):
        changed = values.copy()
        changed[..., -1:] = wrong
        assert all_finite(changed) == (changed.size == 0)
