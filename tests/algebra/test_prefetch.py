"""Asking for memory changes nothing, wherever it is."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.prefetch import (
    prefetch,
    prefetch_own,
    prefetch_rows,
)
from spatialops.algebra.simd import WIDTH, aligned


@kernel
def ask(table: Array) -> None:
    for row in range(-2, table.shape[0] + 2):
        prefetch(table, row, 3)
        prefetch_own(table, row, 10**6)
        for k in range(WIDTH):
            prefetch_rows(table, row, 1, 11, k)


def test_nothing_changes() -> None:
    table = aligned(3, 16 * WIDTH)
    table[:] = np.arange(table.size).reshape(table.shape)
    ask(table)
    assert np.array_equal(table.ravel(), np.arange(table.size))
