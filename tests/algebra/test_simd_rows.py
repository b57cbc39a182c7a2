"""Spatial vectors and matrices in registers, against the same as arrays; compiled or not."""

import numpy as np

from spatialops._compile.jit import kernel
from spatialops.algebra.simd import load, spread, store
from spatialops.algebra.simd_parts import lane
from spatialops.algebra.simd_rows import (
    force_moment,
    load_half,
    load_rows,
    minus_product,
    rigid_rows,
    shifted_rows,
    spreads,
    store_half,
    store_rows,
    sum_of_rows,
)

PLACES = [0, 1, 2, 4, 5, 6]


@kernel
def shift(table, out):
    r, lever = load(table, 6, 0), (spread(table, 6, 0), spread(table, 6, 1), spread(table, 6, 2))
    P = load_rows(table.reshape(1, table.size), 0, 0)
    store_rows(out.reshape(1, out.size), 0, 0, shifted_rows(P, lever, r))
    a = load(table, 7, 0)
    store(out, 6, 0, a + force_moment(r, a))
    return lane(a, 0)


@kernel
def combine(table, out):
    P, a = rigid_rows(load(table, 0, 0), load(table, 1, 0)), load(table, 2, 0)
    P = sum_of_rows(P, P)
    store_rows(out.reshape(1, out.size), 0, 0, minus_product(P, spreads(a), a))


@kernel
def halves(table, out):
    store_half(out, 1, 2, load_half(table, 0, 1))
    store(out, 0, 0, load_half(table, 0, 3))


def placed(rng):
    """Six numbers at their places in a register."""
    line = np.zeros(8)
    line[PLACES] = rng.normal(size=6)
    return line


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def test_shift(rng):
    table, out = np.zeros((8, 8)), np.zeros((8, 8))
    half = rng.normal(size=(6, 6))
    table[:6, PLACES] = half + half.T
    table[6, :3] = rng.normal(size=3)
    table[7] = placed(rng)
    assert shift(table, out) == table[7, 0]
    phi = np.eye(6)
    phi[:3, 3:] = skew(table[6])
    expected = phi @ table[:6, PLACES] @ phi.T
    np.testing.assert_allclose(out[:6, PLACES], expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(out[6, PLACES], phi @ table[7, PLACES], rtol=0, atol=1e-14)
    assert not out[:, [3, 7]].any()


def test_inertia_less_a_product(rng):
    table, out = np.zeros((8, 8)), np.zeros((8, 8))
    table[0, :7], center = rng.normal(size=7), rng.normal(size=3)
    table[1, :3], table[1, 4:7] = center, -center
    table[2] = placed(rng)
    combine(table, out)
    J, a = np.zeros((3, 3)), table[2, PLACES]
    J[np.triu_indices(3)] = table[0, :6]
    J.T[np.triu_indices(3)] = table[0, :6]
    own = np.block([[J, skew(center)], [skew(center).T, table[0, 6] * np.eye(3)]])
    np.testing.assert_allclose(out[:6, PLACES], 2.0 * own - np.outer(a, a), rtol=0, atol=1e-14)
    assert not out[:6, [3, 7]].any()


def test_halves():
    table, out = np.arange(1.0, 9.0).reshape(1, 8), np.zeros((2, 8))
    halves(table, out)
    np.testing.assert_array_equal(out[1], [0.0, 0.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(out[0], [4.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0, 0.0])
