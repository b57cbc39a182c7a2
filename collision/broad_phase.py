"""Which pairs are near, by balls about all geoms.

All pairs of a small scene are looked at; a large one is swept along x.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, put3, vec3
from spatialops.collision import _layout as col

SWEEP_FROM = 64  # geoms; below, going through all pairs is faster than sorting
_MOVED = 0.0625  # square of the part of the skin, 1/4, after which the list is renewed


@inlined
def bound_gap(geom_ints: IntArray, geoms: Array, places: Array, a: int, b: int) -> float:
    """A lower bound of the distance between two geoms; of spheres the distance itself."""
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    if geom_ints[b, col.GEOM_SHAPE] == col.HALF_SPACE:
        return dot(line, vec3(geoms, b, col.GEOM_NORMAL)) - geoms[a, col.GEOM_BOUND]
    return math.sqrt(dot(line, line)) - geoms[a, col.GEOM_BOUND] - geoms[b, col.GEOM_BOUND]


@kernel
def renew_near_pairs(
    geom_ints: IntArray,
    geoms: Array,
    pairs: IntArray,
    pair_rows: IntArray,
    places: Array,
    kept: Array,
    skin: float,
    near: IntArray,
) -> int:
    """List the pairs that may come near before any geom has moved by `skin` / 4.

    They are rows of `pairs` whose gap may fall below `skin` / 2 until then; returns how many.
    `near[-1]` holds the count of the last renewal (-1: never), `kept` the positions then.
    `pair_rows` has the row of every pair of geoms (-1: none) and, after that, a row for the order
    along x; it is empty for a small scene.
    """
    last = near.size - 1
    if near[last] >= 0:
        moved = 0.0
        for g in range(kept.shape[0]):
            step = minus(vec3(places, g, col.PLACE), vec3(kept, g, 0))
            moved = max(moved, dot(step, step))
        if moved < _MOVED * skin * skin:
            return near[last]
    count = 0
    if pair_rows.shape[0] > 0:
        count = sweep(geom_ints, geoms, pairs, pair_rows, places, skin, near)
    else:
        for p in range(pairs.shape[0]):
            if bound_gap(geom_ints, geoms, places, pairs[p, 0], pairs[p, 1]) < skin:
                near[count] = p
                count += 1
    for g in range(kept.shape[0]):
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


@kernel
def sweep(
    geom_ints: IntArray,
    geoms: Array,
    pairs: IntArray,
    pair_rows: IntArray,
    places: Array,
    skin: float,
    near: IntArray,
) -> int:
    """Near pairs of a large scene: each geom against those that begin along x before it ends.

    The order along x is kept from one renewal to the next, so that sorting by insertion has little
    to do. Pairs are listed in the order of their rows, as without sweeping.
    """
    n, count = pair_rows.shape[1], 0
    order = pair_rows[n]
    for i in range(1, n):
        g, j = order[i], i
        start = low_end(geom_ints, geoms, places, g)
        while j > 0 and low_end(geom_ints, geoms, places, order[j - 1]) > start:
            order[j] = order[j - 1]
            j -= 1
        order[j] = g
    for i in range(n):
        g = order[i]
        end = places[g, col.PLACE] + geoms[g, col.GEOM_BOUND] + skin
        if geom_ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
            end = col.INFINITE
        for j in range(i + 1, n):
            if low_end(geom_ints, geoms, places, order[j]) > end:
                break
            p = pair_rows[g, order[j]]
            if p >= 0 and bound_gap(geom_ints, geoms, places, pairs[p, 0], pairs[p, 1]) < skin:
                near[count] = p
                count += 1
    sort(near, count)
    return count


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
