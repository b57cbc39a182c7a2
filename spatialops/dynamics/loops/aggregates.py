"""Which links move together because closures tie them: the tree of aggregates.

A closure between links A and B ties the joints on the two paths from A and B up to the link that
carries both, which is not tied itself. These links are one aggregate; aggregates with a link in
common are one; every other link is an aggregate of its own. All links of an aggregate hang on one
link outside, its parent, and aggregates form a tree: whatever two of a pair share a link, the
parent of the lower one is a link of the upper one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import IntArray
from spatialops.tree.loops import Loops


class Aggregates(NamedTuple):
    """The aggregates of a model and its closures, a parent before its children.

    Parameters
    ----------
    starts : (g + 1,) int array
        Where the links of each begin in `members`.
    members : (n,) int array
        Links, those of each aggregate in rising order.
    parents : (g,) int array
        Link outside that each hangs on, -1: the world.
    of_row : (n_rows,) int array
        The aggregate that each closure row ties.
    own_row : (n_rows,) int array
        Its number among the rows of that aggregate.
    """

    starts: IntArray
    members: IntArray
    parents: IntArray
    of_row: IntArray
    own_row: IntArray


def aggregates(loops: Loops) -> Aggregates:
    """Aggregates of a model with closures."""
    up = loops.model.tree[:, layout.PARENT]
    n = len(up)
    leader = np.arange(n)

    def lead(link: int) -> int:
        while leader[link] != link:
            leader[link] = leader[leader[link]]
            link = leader[link]
        return int(link)

    tied = [_tied(up, ends) for ends in _ends(loops)]
    for links in tied:
        for link in links[1:]:
            first, second = sorted((lead(links[0]), lead(link)))
            leader[second] = first
    led = np.array([lead(link) for link in range(n)], dtype=np.int64)
    members = np.argsort(led, kind="stable")
    firsts, starts = np.unique(led[members], return_index=True)
    group = np.searchsorted(firsts, led)
    counts = [loop.n_rows for loop in loops.items]
    of_row = np.repeat([group[links[0]] for links in tied], counts).astype(np.int64)
    order = np.argsort(of_row, kind="stable")  # the rows of one aggregate after the other
    begins = np.searchsorted(of_row[order], of_row[order])
    own_row = np.empty_like(of_row)
    own_row[order] = np.arange(len(order)) - begins
    return Aggregates(np.append(starts, n), members, up[firsts].copy(), of_row, own_row)


def _ends(loops: Loops) -> list[set[int]]:
    """The links that each closure's terms are on, -1 being the world."""
    of_loop = []
    for ints in loops.ints:
        first = ints[layout.LOOP_TERM]
        terms = loops.term_ints[first : first + ints[layout.LOOP_TERMS]]
        of_loop.append(set(terms[:, [layout.TERM_A, layout.TERM_B]].ravel().tolist()))
    return of_loop


def _tied(up: IntArray, ends: set[int]) -> list[int]:
    """Links from these up to the nearest that carries all of them, which is left out."""
    tied: set[int] = set()
    tips = set(ends)
    while len(tips) > 1:  # a parent has the smaller number: the largest cannot carry the others
        lowest = max(tips)
        tips.remove(lowest)
        tied.add(lowest)
        tips.add(int(up[lowest]))
    return sorted(tied)
