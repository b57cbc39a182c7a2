"""Lanes compute what NumPy does with arrays of eight, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.algebra.simd import (
    WIDTH,
    aligned,
    at,
    load,
    load_mat3,
    load_sym3,
    spread,
    store,
    store3,
    store_six,
    stream,
    zeros,
)
from spatialops.algebra.trigonometry import near_sine_and_cosine
from spatialops.algebra.vectors import cross, rotate, sym_rotated


@kernel
def arithmetic(table: Array, out: Array) -> None:
    for column in range(0, table.shape[1], WIDTH):
        a, b = load(table, 0, column), load(table, 1, column)
        store(out, 0, column, a + b)
        store(out, 1, column, a - b)
        store(out, 2, column, a * b)
        store(out, 3, column, abs(a))
        store(out, 4, column, 2.0 * a - 1.0)
        store(out, 5, column, spread(table, 1, 3) + (1.5 - b))
        store(out, 6, column, zeros())


@kernel
def sines(table: Array, out: Array) -> None:
    for column in range(0, table.shape[1], WIDTH):
        s, c = near_sine_and_cosine(load(table, 0, column))
        store(out, 0, column, s)
        store(out, 1, column, c)


@kernel
def geometry(table: Array, out: Array) -> None:
    for eight in range(table.shape[0]):
        rotation = load_mat3(table, 0, eight)
        turned = sym_rotated(rotation, load_sym3(table, 9, eight))
        store3(out, 0, eight, rotate(rotation, (turned[0], turned[1], turned[2])))
        store3(out, 3, eight, cross(rotation[0], rotation[1]))


@kernel
def past_the_caches(table: Array, out: Array) -> None:
    for row in range(table.shape[0]):
        stream(out, row, 0, load(table, row, 0))


@kernel
def six(table: Array, out: Array) -> None:
    store_six(out, 0, 1, load(table, 0, 3))


@pytest.fixture
def table(rng: np.random.Generator) -> Array:
    return np.ascontiguousarray(rng.normal(size=(15, 3 * WIDTH)))


def test_operators(table: Array) -> None:
    out = np.full((7, table.shape[1]), np.nan)
    arithmetic(table, out)
    a, b = table[:2]
    expected = a + b, a - b, a * b, abs(a), 2.0 * a - 1.0, table[1, 3] + (1.5 - b), 0.0 * a
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=1e-15)


def test_sines_of_eight_angles(table: Array) -> None:
    angles, out = 1e3 * table, np.empty((2, table.shape[1]))
    sines(angles, out)
    np.testing.assert_allclose(out, [np.sin(angles[0]), np.cos(angles[0])], rtol=0.0, atol=2.3e-16)


def test_formulas_of_vectors_on_striped_tables(table: Array) -> None:
    striped, out = np.empty((3, 15 * WIDTH)), np.empty((3, 6 * WIDTH))
    for k in range(table.shape[1]):
        for row in range(15):
            striped[at(row, k)] = table[row, k]
    geometry(striped, out)
    for k in range(table.shape[1]):
        rotation, (xx, xy, xz, yy, yz, zz) = table[:9, k].reshape(3, 3), table[9:, k]
        turned = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
        expected = *(rotation @ turned[0]), *np.cross(rotation[0], rotation[1])
        np.testing.assert_allclose(
            [out[at(row, k)] for row in range(6)], expected, rtol=1e-13, atol=1e-13
        )


def test_six_lanes_leave_their_neighbours_alone(table: Array) -> None:
    out = np.zeros((1, 8))
    six(table, out)
    np.testing.assert_array_equal(out[0], [0.0, *table[0, 3:9], 0.0])


@pytest.mark.parametrize("first", [0, 3])
def test_lines_that_go_past_the_caches_need_not_begin_with_one(first: int) -> None:
    table = np.arange(4.0 * WIDTH).reshape(4, WIDTH)
    memory = aligned(1, 5 * WIDTH)[0]
    out = memory[first : first + table.size].reshape(table.shape)
    past_the_caches(table, out)
    np.testing.assert_array_equal(out, table)
    assert not memory[:first].any()
    assert not memory[first + table.size :].any()


@pytest.mark.parametrize("columns", [1, 8, 13])
def test_aligned_memory(columns: int) -> None:
    memory = aligned(3, columns)
    assert memory.shape == (3, columns)
    assert memory.ctypes.data % 64 == 0
    assert memory.flags.carray
    assert not memory.any()
