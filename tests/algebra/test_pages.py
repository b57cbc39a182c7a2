"""Large tables are arrays like all others."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from spatialops.algebra.pages import zeroed
from spatialops.algebra.simd import WIDTH, aligned


@pytest.mark.parametrize("count", [3, 1 << 17, 3 << 18])
def test_zeros_that_can_be_written(count: int) -> None:
    memory = zeroed(count)
    assert memory.shape == (count,)
    assert memory.dtype == np.float64
    assert memory.flags.carray
    assert not memory.any()
    memory[-1] = 1.0
    view = memory[count - 2 :]
    del memory
    gc.collect()
    assert view[1] == 1.0


def test_large_tables_start_at_a_cache_line() -> None:
    table = aligned(1000, 100 * WIDTH)
    assert table.ctypes.data % 64 == 0
    assert table.flags.carray
    assert not table.any()
