"""Sweep and prune lists the same pairs in the same order as going through all of them."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision import Box, HalfSpace, HeightField, Sphere
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import (
    FULL,
    SWEEP_FROM,
    all_near,
    near_list,
    near_pairs,
    renew_near_pairs,
    sort,
    sweep,
    sweep_order,
)


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
    n, runs = len(scene.geoms), scene.pair_runs
    places, order = np.zeros((n + 1, col.PLACE_COLUMNS)), sweep_order(runs, n)
    counts = []
    for _ in range(5):  # the order of one search is where the next begins
        places[: n - 2, :3] = rng.uniform(-spread, spread, (n - 2, 3))
        lists = []
        near = near_list(runs, n, n * n)
        count = sweep(scene.geom_ints, scene.geom_floats, runs, order, places, 0.05, near)
        lists.append(near[:count].tolist())
        assert np.array_equal(near[:count, 1:], scene.pairs[near[:count, 0]])
        count = all_near(scene.geom_ints, scene.geom_floats, runs, places, 0.05, near)
        assert near[:count].tolist() == lists[0]
        counts.append(count)
    assert max(counts) > n // 2


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 1000])
def test_sorting(rng, size):
    near = rng.integers(0, 10**6, (size + 5, 3))
    order = np.argsort(near[:size, 0])
    expected = np.concatenate([near[:size][order], near[size:]])
    sort(near, size)
    assert np.array_equal(near, expected)


@pytest.mark.parametrize("size", [SWEEP_FROM - 10, SWEEP_FROM])
def test_a_list_that_is_full_says_so_and_lists_none(rng, size):
    scene = crowd(size, rng)
    n, runs = len(scene.geoms), scene.pair_runs
    order = sweep_order(runs, n)
    places, kept = np.zeros((n + 1, col.PLACE_COLUMNS)), np.zeros((n + 1, 3))
    for room, expected in ((scene.n_pairs - 1, FULL), (scene.n_pairs, scene.n_pairs)):
        near = np.zeros((room + 1, col.NEAR_COLUMNS), dtype=np.int64)
        near[-1, 0] = -1
        tables = scene.geom_ints, scene.geom_floats, runs, order, places, kept, 10.0, near
        assert renew_near_pairs(*tables) == near_pairs(near) == expected


def test_room_grows_with_what_touches_and_not_with_what_may(rng):
    scene = crowd(400, rng)
    assert scene.n_pairs > 80_000
    assert len(near_list(scene.pair_runs, len(scene.geoms), 100)) < 10_000
    assert len(near_list(scene.pair_runs, len(scene.geoms), 10**6)) == scene.n_pairs + 1
