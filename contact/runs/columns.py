"""Runs of a tree: links one after the other that contacts push only through the lowest of them.

What all contacts beyond a run do to it comes in as one wrench, six numbers w at its lowest link,
and what its joints take of that is B w. So rows of L need not have an entry for every joint: with
B = Q R, of orthonormal columns, six entries R w stand for them, and W = L L^T is the same. A chain
of 3000 links that lies on 64 balls has 384 columns in place of 3005.

The way from a contact's link to the base is a way of runs: every link that is pushed, and every one
at which ways meet, is the lowest of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH
from spatialops.collision import _layout as col
from spatialops.contact.rows import FIRST_A, START, TREE_A, place_rows, width_of

LONG = 100  # links of a tree: of shorter ones all columns are few
WRENCH = 6  # numbers: most columns of a run
# Times as many columns without runs as with them, and contacts: with fewer of either, steps of
# chains of 120 to 1000 links take up to 1.1 times as long as without runs; with 32 contacts on 1000
# links 0.6 times.
_PAYS, _MANY = 2, 8

# Table of links.
WAYS = 0  # that come by it: contacts' own count as two, and 0 is none
TOP = 1  # highest link of its run, where it is the lowest; else -1
COLUMN = 2  # first one of that
COLUMNS = 3  # how many it has
NUMBER = 4  # of the run
RUN_COLUMNS = 5

# Lines of a run, one for each number of w:
TAKEN = 0  # what its columns are for 1: R^T
PASSED = 6  # and the wrench at the next run's lowest link
RUN_LINES = 12


class Runs(NamedTuple):
    """Runs of the trees of a scene; no rows where all trees are short."""

    links: IntArray  # (nv, RUN_COLUMNS)
    trees: IntArray  # (n + 1,) first column of every tree, and one past the last
    spans: Array  # (nv, 8) rows of Q: what joints do for what columns do
    lines: Array  # (RUN_LINES k, 8)
    y: Array  # (nv,) what impulses do in the columns


def new_runs(trees: IntArray, *, closed: bool = False) -> Runs:
    """Room for the runs of trees whose first columns are given, which closures join where `closed`.

    Closures answer through all joints.
    """
    nv = int(trees[-1]) if np.diff(trees).max() >= LONG and not closed else 0
    return Runs(
        np.zeros((nv, RUN_COLUMNS), dtype=np.int64),
        np.zeros(len(trees) if nv else 0, dtype=np.int64),
        np.zeros((nv, WIDTH)),
        np.zeros((RUN_LINES * (nv // _PAYS), WIDTH)),
        np.zeros(nv),
    )


@kernel
def find_runs(tree: IntArray, trees: IntArray, ints: IntArray, count: int, runs: Runs) -> bool:
    """Runs for so many contacts, and their columns; whether these are few enough to pay.

    Else columns are those of the links.
    """
    if count >= _MANY:
        note_ways(tree, ints, count, runs.links)
        if _PAYS * number_runs(tree, trees, runs) <= tree.shape[0]:
            return True
    for i in range(trees.size):
        runs.trees[i] = trees[i]
    return False


@inlined
def number_runs(tree: IntArray, trees: IntArray, runs: Runs) -> int:
    """Number runs and their columns, tree by tree; how many columns there are."""
    column = number = tree_number = 0
    links = runs.links
    for k in range(tree.shape[0]):
        if k == trees[tree_number]:
            runs.trees[tree_number] = column
            tree_number += 1
        if links[k, TOP] < 0:
            continue
        links[k, COLUMN], links[k, NUMBER] = column, number
        links[k, COLUMNS] = min(run_length(tree, links, k), WRENCH)
        column += links[k, COLUMNS]
        number += 1
    runs.trees[tree_number] = column
    return column


@inlined
def note_ways(tree: IntArray, ints: IntArray, count: int, links: IntArray) -> None:
    """Links that are pushed and come by, and the highest link of every run."""
    for k in range(tree.shape[0]):
        links[k, WAYS] = 0
        links[k, TOP] = -1
    for i in range(count):
        push_link(links, ints[i, col.CONTACT_A])
        push_link(links, ints[i, col.CONTACT_B])  # of a joint the parent: it is a run of its own
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, layout.PARENT]
        if links[k, WAYS] > 0 and parent >= 0:
            links[parent, WAYS] += 1
    for k in range(tree.shape[0] - 1, -1, -1):
        if links[k, WAYS] > 1:
            links[k, TOP] = highest(tree, links, k)


@inlined
def push_link(links: IntArray, k: int) -> None:
    """Note that a link is pushed; the world is -1."""
    if k >= 0:
        links[k, WAYS] = 2


@inlined
def highest(tree: IntArray, links: IntArray, k: int) -> int:
    """The last link before one that is the lowest of another run, or before the world."""
    parent = tree[k, layout.PARENT]
    while parent >= 0 and links[parent, WAYS] == 1:
        k = parent
        parent = tree[k, layout.PARENT]
    return k


@inlined
def run_length(tree: IntArray, links: IntArray, k: int) -> int:
    """Links of the run whose lowest is k."""
    count, top = 1, links[k, TOP]
    while k != top:
        k = tree[k, layout.PARENT]
        count += 1
    return count


@kernel
def place_among_runs(
    tree_of: IntArray, trees: IntArray, ints: IntArray, count: int, runs: Runs, places: IntArray
) -> None:
    """Places of contacts between links, as `place_rows` has them, among the columns of runs."""
    place_rows(tree_of, trees, ints, count, places)
    start = 0
    for i in range(count):
        places[i, START] = start
        for side in range(2):
            tree, first = places[i, TREE_A + side], FIRST_A + 2 * side
            if tree >= 0:
                last = places[i, first] + places[i, first + 1] - 1
                end = runs.links[last, COLUMN] + runs.links[last, COLUMNS]
                places[i, first] = runs.trees[tree]
                places[i, first + 1] = end - runs.trees[tree]
        start += 3 * width_of(places, i)
