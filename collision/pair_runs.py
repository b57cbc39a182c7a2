"""Pairs of geoms that may touch, as runs: where all may touch all, a row a geom, not a row a pair.

A run are the pairs of a geom with later ones that follow one another. Pairs are numbered in the
order of both geoms, the earlier one first; the number of a pair names it at every step.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.collision import _layout as col


@inlined
def count_pairs(runs: IntArray) -> int:
    """How many pairs there are."""
    return runs[runs.shape[0] - 1, col.RUN_PAIR]


@inlined
def run_of(runs: IntArray, p: int) -> int:
    """The run that pair p is in, by bisection."""
    low, high = 0, runs.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if runs[middle, col.RUN_PAIR] <= p:
            low = middle
        else:
            high = middle
    return low


@inlined
def later_geom(runs: IntArray, run: int, p: int) -> int:
    """The later geom of pair p of a run."""
    return runs[run, col.RUN_FIRST] + p - runs[run, col.RUN_PAIR]


@inlined
def sides_of(geom_ints: IntArray, runs: IntArray, p: int) -> tuple[int, int]:
    """Geoms A and B of pair p."""
    run = run_of(runs, p)
    return turned(geom_ints, runs[run, col.RUN_GEOM], later_geom(runs, run, p))


@inlined
def turned(geom_ints: IntArray, low: int, high: int) -> tuple[int, int]:
    """Two geoms as A and B: what does not move comes second, and a sphere comes first."""
    first, second = geom_ints[low, col.GEOM_SHAPE], geom_ints[high, col.GEOM_SHAPE]
    fixed = first == col.HALF_SPACE or first >= col.MESH
    if fixed or (second == col.SPHERE and first != col.SPHERE):
        return high, low
    return low, high


@inlined
def pair_of(runs: IntArray, first: IntArray, low: int, high: int) -> int:
    """Number of the pair of two geoms, -1: they may not touch; `first` has each geom's first run.

    By bisection among the runs of the earlier one.
    """
    begin, end = first[low], first[low + 1]
    while begin < end:
        middle = (begin + end) // 2
        if runs[middle, col.RUN_FIRST] <= high:
            begin = middle + 1
        else:
            end = middle
    run = begin - 1
    if run < first[low]:
        return -1
    p = runs[run, col.RUN_PAIR] + high - runs[run, col.RUN_FIRST]
    return p if p < runs[run + 1, col.RUN_PAIR] else -1


@kernel
def put_sides(geom_ints: IntArray, runs: IntArray, pairs: IntArray, sides: IntArray) -> None:
    """Geoms A and B of pairs."""
    for i in range(pairs.size):
        sides[i, 0], sides[i, 1] = sides_of(geom_ints, runs, pairs[i])


@kernel
def find_pair(runs: IntArray, first: IntArray, low: int, high: int) -> int:
    """As `pair_of`, for callers in Python."""
    return pair_of(runs, first, low, high)


def first_runs(runs: IntArray, n: int) -> IntArray:
    """The first run of each of n geoms, or of the next that has one, (n + 1,)."""
    return np.searchsorted(runs[:, col.RUN_GEOM], np.arange(n + 1)).astype(np.int64)


def ends_of(runs: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Of every run its geom, the first of the later ones, and one past the last of them."""
    first = runs[:-1, col.RUN_FIRST]
    return runs[:-1, col.RUN_GEOM], first, first + np.diff(runs[:, col.RUN_PAIR])


def pairs_within(runs: IntArray, chosen: BoolArray) -> int:
    """How many pairs are of two chosen geoms; `chosen` has an entry a geom, or more."""
    geom, first, end = ends_of(runs)
    before = np.concatenate([[0], np.cumsum(chosen)])
    return int(((before[end] - before[first]) * chosen[geom]).sum())


def kinds_met(runs: IntArray, kinds: IntArray, n: int) -> BoolArray:
    """Whether pairs of two of n kinds occur, (n, n), whichever is A; `kinds` are those of geoms."""
    geom, first, end = ends_of(runs)
    met = np.zeros((n, n), dtype=bool)
    for kind in range(n):
        before = np.concatenate([[0], np.cumsum(kinds == kind)])
        met[kinds[geom[before[end] > before[first]]], kind] = True
    return met | met.T


def most_contacts(geom_ints: IntArray, runs: IntArray) -> int:
    """How many contacts all pairs may have at once."""
    shape = geom_ints[:, col.GEOM_SHAPE]
    convex = shape < col.MESH
    ball = (shape == col.SPHERE) | (shape == col.ELLIPSOID)
    of_convex, patches = pairs_within(runs, convex), pairs_within(runs, convex & ~ball)
    of_surfaces = int(runs[-1, col.RUN_PAIR]) - of_convex
    return of_convex - patches + col.MAX_POINTS * patches + col.MANY_POINTS * of_surfaces


def least_width(geom_ints: IntArray, geoms: Array, runs: IntArray) -> float:
    """Least half width of two shapes that might pass through each other unseen, m.

    Of spheres bounds are known, and depth in a half-space only grows. INFINITE: there are none.
    """
    shape, width = geom_ints[:, col.GEOM_SHAPE], geoms[:, col.GEOM_WIDTH]
    has_width = np.where(shape == col.HALF_SPACE, np.inf, width)
    no_sphere = np.where(shape == col.SPHERE, np.inf, has_width)
    geom = runs[:-1, col.RUN_GEOM]
    sphere = shape[geom] == col.SPHERE
    later = np.where(sphere, least_later(runs, no_sphere), least_later(runs, has_width))
    both = np.isfinite(later) & np.isfinite(has_width[geom])
    return float(np.minimum(later, has_width[geom])[both].min(initial=col.INFINITE))


def least_later(runs: IntArray, values: Array) -> Array:
    """The least value of the later geoms of every run, (r,), infinity where there is none.

    From least values of 1, 2, 4, ... geoms that follow one another: two of these cover a run.
    """
    _, first, end = ends_of(runs)
    least = np.full(len(first), np.inf)
    level = values
    width = 1
    while len(level):
        covers = (end - first >= width) & (end - first < 2 * width)
        own = np.minimum(level[first[covers]], level[end[covers] - width])
        least[covers] = own
        level = np.minimum(level[:-width], level[width:])
        width *= 2
    return least
