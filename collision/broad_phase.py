"""Which pairs are near, by balls about all geoms.

All pairs of a small scene are looked at; a large one is swept along x. A list has as much room as
pairs were near so far, not as there are.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import ROWS, TABLE, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, put3, vec3
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import (
    count_pairs,
    first_runs,
    later_geom,
    pair_of,
    turned,
)

FULL = -1  # there is no room for what is found
SWEEP_FROM = 64  # geoms; below, going through all pairs is faster than sorting
# Rows of `sweep_order`.
FIRST = 0
ALONG = 1
_SWEPT = (TABLE, ROWS, TABLE, TABLE, ROWS, types.float64, TABLE)
_MOVED = 0.25  # of the skin, after which the list is renewed
# What moves fast has a skin that serves so many times, but at most so many times as wide as others:
# each more pair is asked for its gap in every search. It has slowed down when the list is so old.
_SERVES = 8.0
_WIDEST = 8.0
_OLD = 64.0
_ROOM = 16  # near pairs for every geom and contact
# The last row of what is kept.
_SKIN = 0
_SERVED = 1


@inlined
def bound_gap(geom_ints: IntArray, geoms: Array, places: Array, a: int, b: int) -> float:
    """A lower bound of the distance between two geoms; of spheres the distance itself."""
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    if geom_ints[b, col.GEOM_SHAPE] == col.HALF_SPACE:
        return dot(line, vec3(geoms, b, col.GEOM_NORMAL)) - geoms[a, col.GEOM_BOUND]
    return math.sqrt(dot(line, line)) - geoms[a, col.GEOM_BOUND] - geoms[b, col.GEOM_BOUND]


@inlined
def near_pairs(near: IntArray) -> int:
    """How many pairs are listed as near; -1: none have been yet."""
    return near[near.shape[0] - 1, col.NEAR_PAIR]


@kernel
def renew_near_pairs(
    geom_ints: IntArray,
    geoms: Array,
    runs: IntArray,
    order: IntArray,
    places: Array,
    kept: Array,
    skin: float,
    near: IntArray,
) -> int:
    """List the pairs that may come near before any geom has moved by a fourth of a skin.

    They are those whose gap may fall below half of it until then; returns how many, FULL (and none
    is listed) where there is no room for them. It is `skin`, or more where geoms are fast. The last
    row of `near` holds the count of the last renewal (-1: never), `kept` the positions then, and in
    its last row the skin and how often it has served. `order` is what a large scene is swept by,
    see `sweep_order`.
    """
    n = kept.shape[0] - 1
    if near_pairs(near) >= 0:
        moved = 0.0
        for g in range(n):
            step = minus(vec3(places, g, col.PLACE), vec3(kept, g, 0))
            moved = max(moved, dot(step, step))
        moved = math.sqrt(moved)
        kept[n, _SERVED] += 1.0
        if moved < _MOVED * kept[n, _SKIN] and kept[n, _SERVED] < _OLD:
            return near_pairs(near)
        fast = _SERVES / _MOVED * moved / kept[n, _SERVED]
        skin = max(skin, min(fast, _WIDEST * skin))
    kept[n, _SKIN], kept[n, _SERVED] = skin, 0.0
    if n >= SWEEP_FROM:
        count = sweep(geom_ints, geoms, runs, order, places, skin, near)
    else:
        count = all_near(geom_ints, geoms, runs, places, skin, near)
    for g in range(n):
        put3(kept, g, 0, vec3(places, g, col.PLACE))
    near[near.shape[0] - 1, col.NEAR_PAIR] = count
    return count


@kernel
def all_near(
    geom_ints: IntArray, geoms: Array, runs: IntArray, places: Array, skin: float, near: IntArray
) -> int:
    """Near pairs of a small scene."""
    count = 0
    for run in range(runs.shape[0] - 1):
        for p in range(runs[run, col.RUN_PAIR], runs[run + 1, col.RUN_PAIR]):
            a, b = turned(geom_ints, runs[run, col.RUN_GEOM], later_geom(runs, run, p))
            if bound_gap(geom_ints, geoms, places, a, b) < skin:
                if count == near.shape[0] - 1:
                    return FULL
                put_near(near, count, p, a, b)
                count += 1
    return count


@inlined
def put_near(near: IntArray, row: int, p: int, a: int, b: int) -> None:
    """Pair p of geoms A and B."""
    near[row, col.NEAR_PAIR], near[row, col.NEAR_A] = p, a
    near[row, col.NEAR_B] = b


@inlined
def low_end(geom_ints: IntArray, geoms: Array, places: Array, reaches: Array, g: int) -> float:
    """Where a geom begins along x, or may come to begin: `reaches` say how far it goes, if any."""
    if geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
        return -col.INFINITE
    return places[g, col.PLACE] - geoms[g, col.GEOM_BOUND] - reach_of(reaches, g)


@inlined
def high_end(geom_ints: IntArray, geoms: Array, places: Array, reaches: Array, g: int) -> float:
    """Likewise where it ends."""
    if geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
        return col.INFINITE
    return places[g, col.PLACE] + geoms[g, col.GEOM_BOUND] + reach_of(reaches, g)


@inlined
def reach_of(reaches: Array, g: int) -> float:
    """How far a geom goes; nowhere where nobody says."""
    return reaches[g] if reaches.size > 0 else 0.0


@kernel
def sort_along(
    geom_ints: IntArray, geoms: Array, places: Array, reaches: Array, along: IntArray
) -> None:
    """Put geoms in the order in which they begin along x (D. L. Shell, 1959)."""
    n = along.size - 1  # the last row is no geom
    step = n // 2
    while step > 0:
        for i in range(step, n):
            g, j = along[i], i
            start = low_end(geom_ints, geoms, places, reaches, g)
            while j >= step and low_end(geom_ints, geoms, places, reaches, along[j - step]) > start:
                along[j] = along[j - step]
                j -= step
            along[j] = g
        step = next_step(step)


@inlined
def next_step(step: int) -> int:
    """The step of Shell's sorting that comes after one; 0 after the last."""
    return 1 if step == 2 else step * 5 // 11


@late(*_SWEPT)
def sweep(
    geom_ints: IntArray,
    geoms: Array,
    runs: IntArray,
    order: IntArray,
    places: Array,
    skin: float,
    near: IntArray,
) -> int:
    """Near pairs of a large scene: each geom against those that begin along x before it ends.

    The order along x is kept from one renewal to the next, so that sorting has little to do. Pairs
    are listed in the order of their numbers, as without sweeping.
    """
    n, count = order.shape[1] - 1, 0
    along, first = order[ALONG], order[FIRST]
    still = places[0, :0]
    sort_along(geom_ints, geoms, places, still, along)
    for i in range(n):
        g = along[i]
        end = high_end(geom_ints, geoms, places, still, g) + skin
        for j in range(i + 1, n):
            other = along[j]
            if low_end(geom_ints, geoms, places, still, other) > end:
                break
            low, high = min(g, other), max(g, other)
            a, b = turned(geom_ints, low, high)
            if not bound_gap(geom_ints, geoms, places, a, b) < skin:
                continue
            p = pair_of(runs, first, low, high)
            if p < 0:
                continue
            if count == near.shape[0] - 1:
                return FULL
            put_near(near, count, p, a, b)
            count += 1
    sort(near, count)
    return count


def sweep_order(runs: IntArray, n: int) -> IntArray:
    """What a scene of n geoms is swept by, (2, n + 1), from the runs of its pairs.

    The first run of each geom, and an order of the geoms.
    """
    order = np.zeros((2, n + 1), dtype=np.int64)
    order[FIRST] = first_runs(runs, n)
    order[ALONG] = np.arange(n + 1)
    return order


def near_list(runs: IntArray, n: int, contacts: int) -> IntArray:
    """Room for the near pairs of n geoms that have so many contacts at once, none of them listed.

    As a rule: where there is too little, there will be for more contacts.
    """
    room = min(int(count_pairs(runs)), _ROOM * n + _ROOM * contacts)
    near = np.zeros((room + 1, col.NEAR_COLUMNS), dtype=np.int64)
    near[-1, col.NEAR_PAIR] = -1
    return near


@kernel
def sort(near: IntArray, count: int) -> None:
    """Put near pairs in the order of their numbers, in place (D. L. Shell, 1959)."""
    step = count // 2
    while step > 0:
        for i in range(step, count):
            p, j = near[i, col.NEAR_PAIR], i
            a, b = near[i, col.NEAR_A], near[i, col.NEAR_B]
            while j >= step and near[j - step, col.NEAR_PAIR] > p:
                for column in range(col.NEAR_COLUMNS):
                    near[j, column] = near[j - step, column]
                j -= step
            put_near(near, j, p, a, b)
        step = next_step(step)
