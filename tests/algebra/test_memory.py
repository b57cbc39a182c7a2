"""Tables in buffers are what NumPy's `reshape` makes of them, compiled or not."""

import numpy as np
import pytest

from spatialops._compile.jit import kernel
from spatialops.algebra.memory import matrix, table_in


@kernel
def describe(buffer, at, rows, columns, out):
    table = matrix(buffer, at, rows, columns)
    out[0], out[1] = table.shape
    out[2], out[3] = table.strides
    out[4] = table.size
    for i in range(rows):
        for j in range(columns):
            table[i, j] = 10 * i + j


@kernel
def fill(buffer, at, rows):
    tables = table_in(buffer, at, (2, rows, 3))
    for i in range(2):
        for j in range(rows):
            for k in range(3):
                tables[i, j, k] = 100 * i + 10 * j + k
    return tables[1].size


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (1, 7), (4, 1), (0, 5)])
def test_a_matrix_is_where_it_is_said_to_be(kind, rows, columns):
    buffer, expected = np.full(20, -1, dtype=kind), np.full(20, -1, dtype=kind)
    table = expected[5 : 5 + rows * columns].reshape(rows, columns)
    table[:] = 10 * np.arange(rows)[:, None] + np.arange(columns)
    out = np.zeros(5, dtype=np.int64)
    describe(buffer, 5, rows, columns, out)
    assert out[:2].tolist() == [rows, columns]
    assert out[2:4].tolist() == [8 * columns, 8]
    assert out[4] == rows * columns
    np.testing.assert_array_equal(buffer, expected)


def test_tables_may_have_three_axes():
    buffer = np.full(17, -1.0)
    assert fill(buffer, 2, 2) == 6
    expected = [0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112]
    assert buffer.tolist() == [-1, -1, *expected, -1, -1, -1]
