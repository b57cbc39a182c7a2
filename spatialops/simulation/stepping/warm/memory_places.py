"""Where the rows of a pair begin in the memory of contacts: of all pairs there are few act.

A hash table with open addressing (D. Knuth, *The Art of Computer Programming* 3, 6.4), whose keys
stand in the memory itself. At most half of its places are taken: there are as many blocks as rows
at most, and places of blocks that are dropped are made anew.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.simulation import _layout as at

# What numbers of pairs are taken times, and the last bits that are left out.
_SPREAD = 40503
_LEFT_OUT = 7


def places_for(rows: int) -> IntArray:
    """Places for so many rows of the memory: one more than a row, 0: none."""
    return np.zeros(1 << (2 * rows).bit_length(), dtype=np.int64)


@inlined
def place_of(places: IntArray, memory: IntArray, p: int) -> int:
    """The place of pair p, or the one that it would take."""
    mask = places.size - 1
    place = (p * _SPREAD >> _LEFT_OUT) & mask
    while places[place] > 0 and memory[places[place] - 1, at.MEMORY_PAIR] != p:
        place = (place + 1) & mask
    return place


@kernel
def put_places(places: IntArray, memory: IntArray, rows: int) -> None:
    """Make places anew from the rows in use, which are pair by pair."""
    clear_places(places)
    for s in range(rows):
        if s == 0 or memory[s, at.MEMORY_PAIR] != memory[s - 1, at.MEMORY_PAIR]:
            places[place_of(places, memory, memory[s, at.MEMORY_PAIR])] = s + 1


@kernel
def clear_places(places: IntArray) -> None:
    """No pair has rows."""
    for place in range(places.size):
        places[place] = 0
