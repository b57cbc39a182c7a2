"""Orders of elimination that fill in little, and what they fill in, against dense elimination."""

import numpy as np
import pytest

from spatialops.contact.newton.blocks.structure import (
    KNOWN,
    NEED_INTS,
    BlockStructure,
    analyse,
    bits_of,
    lacks_room,
    structure_in,
    structure_room,
)
from spatialops.contact.rows import PLACE_COLUMNS, TREE_A, TREE_B
from tests.support.contact_rows import plain


def structure(pairs, widths, ints=None):
    """Places, trees and the structure of contacts between pairs of trees; -1: with the world."""
    places = np.zeros((len(pairs), PLACE_COLUMNS), dtype=np.int64)
    places[:, [TREE_A, TREE_B]] = pairs
    trees = np.concatenate([[0], np.cumsum(widths)])
    room, numbers = structure_room(len(widths), max(widths))
    buffer = np.zeros(10 * room if ints is None else ints, dtype=np.int64)
    blocks = plain(structure_in)(buffer, np.zeros((10 * numbers, 8)), len(widths))
    return places, trees, blocks, buffer


def below(blocks: BlockStructure, step):
    return blocks.below[blocks.starts[step] : blocks.starts[step + 1]].tolist()


def filled(pairs, order):
    """Neighbours that come later, of every tree as it is eliminated from a dense pattern."""
    n = len(order)
    pattern = np.eye(n, dtype=bool)
    for a, b in pairs:
        if b >= 0:
            pattern[a, b] = pattern[b, a] = True
    pattern = pattern[np.ix_(order, order)]
    for k in range(n):
        later = np.flatnonzero(pattern[k, k + 1 :]) + k + 1
        pattern[np.ix_(later, later)] = True
    return [(np.flatnonzero(pattern[k, k + 1 :]) + k + 1).tolist() for k in range(n)]


@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 70])
def test_structure_is_that_of_dense_elimination(rng, n):
    pairs = [tuple(sorted(rng.choice(n, 2, replace=False))) for _ in range(2 * n)] if n > 1 else []
    pairs += [(k, -1) for k in range(n)]
    places, trees, blocks, _ = structure(pairs, rng.integers(1, 12, n).tolist())
    blocks_of = np.zeros(len(pairs), dtype=np.int64)
    assert analyse(places, trees, blocks, blocks_of)
    assert sorted(blocks.order.tolist()) == list(range(n))
    assert [below(blocks, k) for k in range(n)] == filled(pairs, blocks.order)
    for (a, b), block in zip(pairs, blocks_of.tolist(), strict=True):
        if b < 0:
            assert block == -1
            continue
        first, second = sorted((blocks.place[a], blocks.place[b]))
        assert blocks.starts[first] <= block < blocks.starts[first + 1]
        assert blocks.below[block] == second


def test_a_tower_fills_in_nothing_and_a_hub_is_last():
    tower = [(k, k + 1) for k in range(39)]
    places, trees, blocks, _ = structure(tower, [6] * 40)
    assert analyse(places, trees, blocks, np.zeros(39, dtype=np.int64))
    assert blocks.starts[40] == 39
    hub = [(0, k) for k in range(1, 40)]
    places, trees, blocks, _ = structure(hub, [6] * 40)
    assert analyse(places, trees, blocks, np.zeros(39, dtype=np.int64))
    assert blocks.starts[40] == 39
    assert blocks.place[0] >= 38


def test_the_order_is_kept_while_the_same_trees_touch():
    places, trees, blocks, _ = structure([(0, 1), (1, 2)], [6, 6, 3])
    assert analyse(places, trees, blocks, np.zeros(2, dtype=np.int64))
    blocks.below[0] = 77  # is not written again
    more = np.concatenate([places, places[:1]])
    assert analyse(more, trees, blocks, np.zeros(3, dtype=np.int64))
    assert blocks.below[0] == 77
    places[1, TREE_A] = 0
    assert analyse(places, trees, blocks, np.zeros(2, dtype=np.int64))
    assert blocks.below[0] != 77
    wider = np.array([0, 6, 12, 18])
    blocks.below[0] = 77
    assert analyse(places, wider, blocks, np.zeros(2, dtype=np.int64))
    assert blocks.below[0] != 77


def test_short_buffers_are_noticed():
    pairs = [(a, b) for a in range(30) for b in range(a)]
    places, trees, blocks, buffer = structure(pairs, [6] * 30, structure_room(30, 6)[0])
    blocks_of = np.zeros(len(pairs), dtype=np.int64)
    assert not analyse(places, trees, blocks, blocks_of)
    assert lacks_room(blocks, buffer.size)
    assert blocks.header[KNOWN] == 0
    few, short, _, _ = structure([(0, 1)], [6] * 2)
    assert analyse(few, short, blocks, blocks_of)  # a smaller island after it does not hide it
    assert lacks_room(blocks, buffer.size)
    places, trees, blocks, buffer = structure(pairs, [6] * 30, int(blocks.header[NEED_INTS]))
    assert analyse(places, trees, blocks, blocks_of)
    assert not lacks_room(blocks, buffer.size)


def test_bits_are_counted(rng):
    for word in (0, 1, 0xFFFFFFFF, *rng.integers(0, 2**32, 50).tolist()):
        assert bits_of(word) == bin(word).count("1")
