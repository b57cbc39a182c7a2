"""The first lanes are read and written alone, and all of them summed, compiled or not."""

import numpy as np
import pytest

from spatialops._compile.jit import kernel
from spatialops.algebra.simd import store
from spatialops.algebra.simd_parts import (
    lane,
    load_first,
    load_part,
    store_first,
    total,
    totals,
    with_lane,
)


@kernel
def doubled(line, out, first, count):
    value = load_first(line, first, count)
    store_first(out, first, count, 2.0 * value)
    return total(value)


@kernel
def part(line, out, first, low, high):
    store(out, 0, 0, load_part(line, first, low, high))


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 7, 8, 11])
def test_no_more_than_the_first_lanes_are_touched(count):
    line = np.full(20, np.nan)
    few = min(max(count, 0), 8)
    line[5 : 5 + few] = np.arange(1.0, few + 1.0)
    out = np.full(20, -1.0)
    assert doubled(line, out, 5, count) == few * (few + 1) / 2
    expected = np.full(20, -1.0)
    expected[5 : 5 + few] = 2.0 * line[5 : 5 + few]
    np.testing.assert_array_equal(out, expected)


def test_a_line_may_end_where_memory_does():
    memory = np.arange(16.0)
    out = np.zeros(16)
    assert doubled(memory[:16], out, 13, 3) == 13.0 + 14.0 + 15.0
    np.testing.assert_array_equal(out[13:], [26.0, 28.0, 30.0])


def test_halves_are_summed_first():
    line = np.array([1e16, 1.0, -1e16, 1.0, -1e16, 1.0, 1e16, 1.0])
    halves = line[:4] + line[4:]
    halves = halves[:2] + halves[2:]
    assert doubled(line, np.zeros(8), 0, 8) == halves.sum() == 4.0


@kernel
def sums(lines, out):
    a, b = load_first(lines[0], 0, 8), load_first(lines[1], 0, 8)
    c = load_first(lines[2], 0, 8)
    store_first(out[0], 0, 3, totals(a, b, c))
    out[1, 0], out[1, 1] = total(a), total(b)
    out[1, 2] = total(c)


def test_three_totals_at_once_have_the_bits_of_each(rng):
    out = np.full((2, 4), -1.0)
    sums(rng.normal(size=(3, 8)) * 10.0 ** rng.integers(-8, 8, (3, 8)), out)
    np.testing.assert_array_equal(out[0], out[1])
    assert out[0, 3] == -1.0


@pytest.mark.parametrize(
    ("low", "high"), [(0, 8), (2, 5), (-3, 4), (3, 20), (9, 12), (5, 5), (4, 1)]
)
@pytest.mark.parametrize("first", [5, -2])
def test_a_part_of_the_lanes_is_read(first, low, high):
    low = max(low, -first)  # what lies before the line is not asked for
    line, out = np.arange(1.0, 21.0), np.full((1, 8), np.nan)
    part(line, out, first, low, high)
    lanes = np.arange(8)
    expected = np.where((lanes >= low) & (lanes < high), first + lanes + 1.0, 0.0)
    np.testing.assert_array_equal(out[0], expected)


@kernel
def changed(line, place, number, out):
    value = with_lane(load_first(line, 0, 8), place, number)
    store(out, 0, 0, value)
    return lane(load_first(line, 0, 8), place)


@pytest.mark.parametrize("place", range(8))
def test_one_lane_is_read_and_changed(place):
    line, out = np.arange(1.0, 9.0), np.zeros((1, 8))
    assert changed(line, place, 0.5, out) == place + 1.0
    expected = line.copy()
    expected[place] = 0.5
    np.testing.assert_array_equal(out[0], expected)
    np.testing.assert_array_equal(line, np.arange(1.0, 9.0))
