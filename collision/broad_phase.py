"""Which pairs are near, by balls about all geoms.

All pairs of a small scene are looked at; a large one is swept along x.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import LIST, ROWS, TABLE, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, put3, vec3
from spatialops.collision import _layout as col

SWEEP_FROM = 64  # geoms; below, going through all pairs is faster than sorting
# Rows of `sweep_order`.
FIRST = 0
ALONG = 1
_SWEPT = (TABLE, ROWS, TABLE, TABLE, ROWS, types.float64, LIST)
_MOVED = 0.25  # of the skin, after which the list is renewed
# What moves fast has a skin that serves so many times, but at most so many times as wide as others:
# each more pair is asked for its gap in every search. It has slowed down when the list is so old.
_SERVES = 8.0
_WIDEST = 8.0
_OLD = 64.0
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
def skin_of(kept: Array) -> float:
    """The skin with which near pairs were listed last."""
    return kept[kept.shape[0] - 1, _SKIN]


@kernel
def renew_near_pairs(
    geom_ints: IntArray,
    geoms: Array,
    pairs: IntArray,
    order: IntArray,
    places: Array,
    kept: Array,
    skin: float,
    near: IntArray,
) -> int:
    """List the pairs that may come near before any geom has moved by a fourth of a skin.

    They are rows of `pairs` whose gap may fall below half of it until then; returns how many. It is
    `skin`, or more where geoms are fast. `near[-1]` holds the count of the last renewal (-1:
    never), `kept` the positions then, and in its last row the skin and how often it has served.
    `order` is what a large scene is swept by, see `sweep_order`; else it is empty.
    """
    last, n = near.size - 1, kept.shape[0] - 1
    if near[last] >= 0:
        moved = 0.0
        for g in range(n):
            step = minus(vec3(places, g, col.PLACE), vec3(kept, g, 0))
            moved = max(moved, dot(step, step))
        moved = math.sqrt(moved)
        kept[n, _SERVED] += 1.0
        if moved < _MOVED * kept[n, _SKIN] and kept[n, _SERVED] < _OLD:
            return near[last]
        fast = _SERVES / _MOVED * moved / kept[n, _SERVED]
        skin = max(skin, min(fast, _WIDEST * skin))
    kept[n, _SKIN], kept[n, _SERVED] = skin, 0.0
    count = 0
    if order.size > 0:
        count = sweep(geom_ints, geoms, pairs, order, places, skin, near)
    else:
        for p in range(pairs.shape[0]):
            if bound_gap(geom_ints, geoms, places, pairs[p, 0], pairs[p, 1]) < skin:
                near[count] = p
                count += 1
    for g in range(n):
        put3(kept, g, 0, vec3(places, g, col.PLACE))
    near[last] = count
    return count


@inlined
def low_end(geom_ints: IntArray, geoms: Array, places: Array, g: int) -> float:
    """Where a geom begins along x."""
    return (
        -col.INFINITE
        if geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE
        else places[g, col.PLACE] - geoms[g, col.GEOM_BOUND]
    )


@late(*_SWEPT)
def sweep(
    geom_ints: IntArray,
    geoms: Array,
    pairs: IntArray,
    order: IntArray,
    places: Array,
    skin: float,
    near: IntArray,
) -> int:
    """Near pairs of a large scene: each geom against those that begin along x before it ends.

    The order along x is kept from one renewal to the next, so that sorting by insertion has little
    to do. Pairs are listed in the order of their rows, as without sweeping.
    """
    n, count = order.shape[1] - 1, 0
    along, first = order[ALONG], order[FIRST]
    for i in range(1, n):
        g, j = along[i], i
        start = low_end(geom_ints, geoms, places, g)
        while j > 0 and low_end(geom_ints, geoms, places, along[j - 1]) > start:
            along[j] = along[j - 1]
            j -= 1
        along[j] = g
    for i in range(n):
        g = along[i]
        end = places[g, col.PLACE] + geoms[g, col.GEOM_BOUND] + skin
        if geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
            end = col.INFINITE
        for j in range(i + 1, n):
            other = along[j]
            if low_end(geom_ints, geoms, places, other) > end:
                break
            plane = geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE
            a, b = (other, g) if plane else (g, other)
            if not bound_gap(geom_ints, geoms, places, a, b) < skin:
                continue
            p = row_of_pair(pairs, first, min(g, other), max(g, other))
            if p >= 0:
                near[count] = p
                count += 1
    sort(near, count)
    return count


@inlined
def row_of_pair(pairs: IntArray, first: IntArray, low: int, high: int) -> int:
    """Row of a pair of geoms, by bisection among those of the earlier one; -1: there is none."""
    begin, end = first[low], first[low + 1]
    while begin < end:
        middle = (begin + end) // 2
        other = max(pairs[middle, 0], pairs[middle, 1])
        if other == high:
            return middle
        if other < high:
            begin = middle + 1
        else:
            end = middle
    return -1


def sweep_order(pairs: IntArray, n: int) -> IntArray:
    """What a scene of n geoms is swept by, (2, n + 1), from its pairs in the order of both geoms.

    Where the rows of `pairs` begin that join a geom with later ones, and an order of the geoms; of
    few geoms nothing, (2, 0).
    """
    if n < SWEEP_FROM:
        return np.zeros((2, 0), dtype=np.int64)
    order = np.zeros((2, n + 1), dtype=np.int64)
    order[FIRST] = _first_rows(pairs, n)
    order[ALONG] = np.arange(n + 1)
    return order


def _first_rows(pairs: IntArray, n: int) -> IntArray:
    """The first row of the pairs of each geom and later ones, (n + 1,), all found by bisection."""
    geoms = np.arange(n + 1)
    low, high = np.zeros_like(geoms), np.full_like(geoms, len(pairs))
    while (low < high).any():
        middle = (low + high) // 2
        # Where both have met the middle may be the row behind the last.
        earlier = (low < high) & (pairs[np.minimum(middle, len(pairs) - 1)].min(axis=1) < geoms)
        low, high = np.where(earlier, middle + 1, low), np.where(earlier, high, middle)
    return low


@kernel
def sort(numbers: IntArray, count: int) -> None:
    """Put numbers in order, in place (D. L. Shell, 1959)."""
    step = count // 2
    while step > 0:
        for i in range(step, count):
            number, j = numbers[i], i
            while j >= step and numbers[j - step] > number:
                numbers[j] = numbers[j - step]
                j -= step
            numbers[j] = number
        step = 1 if step == 2 else step * 5 // 11
