"""Blocks of registers: transposed, cut and stored as NumPy would, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.simd import WIDTH, load, store
from spatialops.algebra.simd_blocks import (
    between,
    load_block,
    store_block,
    sum_of_blocks,
    transposed,
)


@kernel
def turn(striped: Array, out: Array, height: int, width: int) -> None:
    store_block(out, 1, 2, transposed(load_block(striped, 3, 1)), height, width)


@kernel
def double(striped: Array, out: Array) -> None:
    block = load_block(striped, 0, 0)
    store_block(out, 0, 0, sum_of_blocks(block, block), WIDTH, WIDTH)


@kernel
def cut(table: Array, out: Array, low: int, high: int) -> None:
    store(out, 0, 0, between(load(table, 0, 0), low, high))


@pytest.fixture
def striped(rng):
    """Two registers' rows of eleven numbers."""
    return rng.normal(size=(2, 11 * WIDTH))


@pytest.mark.parametrize("height", [1, 5, 8, 20])
@pytest.mark.parametrize("width", [1, 6, 8, 20])
def test_only_what_was_asked_for_is_stored(striped, height, width):
    out = np.full((10, 11), np.nan)
    turn(striped, out, height, width)
    block = striped[1].reshape(11, WIDTH)[3:11].T
    expected = np.full((10, 11), np.nan)
    rows, columns = min(height, WIDTH), min(width, WIDTH)
    expected[1 : 1 + rows, 2 : 2 + columns] = block[:rows, :columns]
    np.testing.assert_array_equal(out, expected)


def test_the_last_entry_of_a_table_is_the_last_written(striped):
    memory = np.full((4, 3), np.nan)
    table = memory[:3]  # a row behind it belongs to nobody
    out = np.full((3, 3), np.nan)
    store_two(striped, table)
    assert np.isnan(memory[3]).all()
    store_two(striped, out)
    np.testing.assert_array_equal(out, table)


@kernel
def store_two(striped: Array, out: Array) -> None:
    store_block(out, 0, 0, load_block(striped, 0, 0), 3, 3)


def test_sums(striped):
    out = np.empty((WIDTH, WIDTH))
    double(striped, out)
    np.testing.assert_array_equal(out, 2.0 * striped[0].reshape(11, WIDTH)[:WIDTH])


@pytest.mark.parametrize(("low", "high"), [(0, 7), (2, 4), (-9, 3), (5, 30), (3, 2), (9, 12)])
def test_lanes_between(striped, low, high):
    out = np.empty((1, WIDTH))
    cut(striped, out, low, high)
    ordinals = np.arange(WIDTH)
    kept = (ordinals >= low) & (ordinals <= high)
    np.testing.assert_array_equal(out[0], np.where(kept, striped[0, :WIDTH], 0.0))
