"""Places of pairs in the memory, against a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.warm.memory_places import (
    clear_places,
    place_of,
    places_for,
    put_places,
)
from tests.support.contact_rows import plain

# Neighbours, what collides, moments (negative) and pairs of 100 000 bodies.
PAIRS = (
    st.integers(-2000, 2000)
    | st.integers(0, 5 * 10**9)
    | st.integers(0, 100).map(lambda k: 128 * 256 * k)
)


@given(pairs=st.lists(PAIRS, unique=True, max_size=60), sizes=st.lists(st.integers(1, 3)))
def test_blocks_are_found_by_their_pairs(pairs, sizes):
    memory = np.zeros((180, at.MEMORY_COLUMNS), dtype=np.int64)
    begins, rows = {}, 0
    for i, pair in enumerate(pairs):
        begins[pair] = rows
        size = sizes[i % len(sizes)] if sizes else 1
        memory[rows : rows + size, at.MEMORY_PAIR] = pair
        rows += size
    places = places_for(len(memory))
    put_places(places, memory, rows)
    assert len(places) >= 2 * len(memory)
    assert np.count_nonzero(places) == len(pairs)
    for pair, first in begins.items():
        assert places[plain(place_of)(places, memory, pair)] == first + 1
    for other in (-3000, 2001, 7 * 10**9):
        if other not in begins:
            assert places[plain(place_of)(places, memory, other)] == 0
    clear_places(places)
    assert not places.any()
