"""Sweep and prune lists the same pairs in the same order as going through all of them."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Box, HalfSpace, HeightField, Sphere
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import (
    SWEEP_FROM,
    renew_near_pairs,
    row_of_pair,
    sort,
    sweep_order,
)
from tests.support.contact_rows import plain


def crowd(n, rng):
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    for i in range(n):
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom(f"g{i}", f"b{i}", Sphere(0.1) if i % 2 else Box(rng.uniform(0.05, 0.4, 3)))
        for i in range(n)
    ]
    geoms.append(so.Geom("floor", "world", HalfSpace(), position=(0.0, 0.0, -0.5)))
    geoms.append(so.Geom("hill", "world", HeightField(np.zeros((3, 3)), (1.0, 1.0))))
    return so.Scene(builder.build(), geoms, ignore=[("g0", "g1"), ("g3", "hill")])


@pytest.mark.parametrize("spread", [0.5, 2.0, 20.0])
def test_sweeping_finds_what_going_through_all_pairs_finds(rng, spread):
    scene = crowd(SWEEP_FROM, rng)
    n, pairs = len(scene.geoms), scene.pairs
    places, lists = np.zeros((n + 1, col.PLACE_COLUMNS)), []
    kept_order = sweep_order(pairs, n)
    assert kept_order.shape == (2, n + 1)
    for _ in range(5):  # the order of one renewal is where the next begins
        places[: n - 2, :3] = rng.uniform(-spread, spread, (n - 2, 3))
        for order in (np.zeros((2, 0), dtype=np.int64), kept_order):
            near, kept = np.zeros(len(pairs) + 1, dtype=np.int64), np.zeros((n + 1, 3))
            near[-1] = -1
            count = renew_near_pairs(
                scene.geom_ints, scene.geom_floats, pairs, order, places, kept, 0.05, near
            )
            lists.append(near[:count].tolist())
        assert lists[-1] == lists[-2]
    assert max(len(found) for found in lists) > n // 2


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 1000])
def test_sorting(rng, size):
    numbers = rng.integers(0, 50, size + 5)
    expected = np.concatenate([np.sort(numbers[:size]), numbers[size:]])
    sort(numbers, size)
    assert np.array_equal(numbers, expected)


def test_rows_of_pairs_are_found(rng):
    scene = crowd(SWEEP_FROM, rng)
    n = len(scene.geoms)
    first = sweep_order(scene.pairs, n)[0]
    rows = {tuple(sorted(pair)): p for p, pair in enumerate(scene.pairs.tolist())}
    for low in range(n):
        for high in range(low + 1, n):
            found = plain(row_of_pair)(scene.pairs, first, low, high)
            assert found == rows.get((low, high), -1)
    assert len(rows) < n * (n - 1) // 2
