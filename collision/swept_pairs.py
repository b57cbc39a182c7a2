"""Pairs that may come together while every geom goes as far as it may, one after the other.

A sweep along x that is taken up where it was left: nobody has to keep a list of them. Half-spaces
are none of them.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.collision import _layout as col
from spatialops.collision.broad_phase import (
    ALONG,
    FIRST,
    bound_gap,
    high_end,
    low_end,
    sort_along,
)
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.pair_runs import pair_of, turned

NO_PAIR = -1


@kernel
def begin_sweep(geoms: GeomTables, order: IntArray, places: Array, reaches: Array) -> int:
    """Order geoms by where they begin along x, each with its reach; the place to begin at."""
    sort_along(geoms.ints, geoms.floats, places, reaches, order[ALONG])
    return 0


@kernel
def next_pair(
    geoms: GeomTables,
    runs: IntArray,
    order: IntArray,
    places: Array,
    reaches: Array,
    place: int,
) -> tuple[int, int, int, int]:
    """The next pair from a place on whose balls may meet, its geoms A and B, and the next place.

    NO_PAIR behind the last. Geoms, places and reaches are those of `begin_sweep`.
    """
    n = order.shape[1] - 1
    along = order[ALONG]
    i, j = place // (n + 1), place % (n + 1)
    while i < n:
        g = along[i]
        end = high_end(geoms.ints, geoms.floats, places, reaches, g)
        j = max(j, i + 1)
        if geoms.ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
            j = n
        while j < n and low_end(geoms.ints, geoms.floats, places, reaches, along[j]) <= end:
            low, high = min(g, along[j]), max(g, along[j])
            j += 1
            a, b = turned(geoms.ints, low, high)
            if may_meet(geoms, places, reaches, a, b):
                p = pair_of(runs, order[FIRST], low, high)
                if p >= 0:
                    return p, a, b, i * (n + 1) + j
        i, j = i + 1, 0
    return NO_PAIR, 0, 0, n * (n + 1)


@inlined
def may_meet(geoms: GeomTables, places: Array, reaches: Array, a: int, b: int) -> bool:
    """Whether the balls about two geoms may meet, of which none is a half-space."""
    if geoms.ints[b, col.GEOM_SHAPE] == col.HALF_SPACE:
        return False
    return bound_gap(geoms.ints, geoms.floats, places, a, b) < reaches[a] + reaches[b]
