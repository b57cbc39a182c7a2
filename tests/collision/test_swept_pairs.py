"""Pairs that may come together while they move, against going through all of them."""

import numpy as np
import pytest

from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import bound_gap, sweep_order
from spatialops.collision.swept_pairs import NO_PAIR, begin_sweep, next_pair
from tests.collision.test_broad_phase import crowd
from tests.support.contact_rows import plain


@pytest.mark.parametrize("size", [5, 40, 80])
@pytest.mark.parametrize("reach", [0.0, 0.1, 3.0])
def test_each_pair_within_its_reach_comes_once(rng, size, reach):
    scene = crowd(size, rng)
    n, geoms = len(scene.geoms), scene.tables
    places, order = np.zeros((n + 1, col.PLACE_COLUMNS)), sweep_order(scene.pair_runs, n)
    for _ in range(3):
        places[: n - 2, :3] = rng.uniform(-3.0, 3.0, (n - 2, 3))
        reaches = reach * rng.random(n) * (rng.random(n) < 0.3)
        expected = {
            p
            for p, (a, b) in enumerate(scene.pairs)
            if geoms.ints[b, col.GEOM_SHAPE] != col.HALF_SPACE
            and plain(bound_gap)(geoms.ints, geoms.floats, places, a, b) < reaches[a] + reaches[b]
        }
        place, found = begin_sweep(geoms, order, places, reaches), []
        while True:
            p, a, b, place = next_pair(geoms, scene.pair_runs, order, places, reaches, place)
            if p == NO_PAIR:
                break
            assert (a, b) == tuple(scene.pairs[p])
            found.append(p)
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_a_fast_one_among_thousands_is_compared_with_all_and_others_with_few(rng):
    """What one geom reaches does not make pairs of others near."""
    scene = crowd(500, rng)
    n = len(scene.geoms)
    places = np.zeros((n + 1, col.PLACE_COLUMNS))
    places[:n, 0] = np.arange(n)
    reaches = np.zeros(n)
    reaches[100] = 1e4
    order = sweep_order(scene.pair_runs, n)
    place, count = begin_sweep(scene.tables, order, places, reaches), -1
    p = 0
    while p != NO_PAIR:
        p, _, _, place = next_pair(scene.tables, scene.pair_runs, order, places, reaches, place)
        count += 1
    assert count == n - 2  # all but itself and the floor
