"""Closed mechanisms: what closures join, apart from all that they do not.

Each has rows and columns of its own that lie side by side, so that what closures ask for is found
mechanism by mechanism. Those whose closures, or columns, alternate count as one.
"""

from __future__ import annotations

from operator import itemgetter
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import BoolArray, IntArray
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.columns import closed_links
from spatialops.tree.loops import Loops

_Ends = tuple[int, int]


class _Extent(NamedTuple):
    """Rows and columns, from the first to one past the last."""

    rows: _Ends
    columns: _Ends


def mechanisms_of(loops: Loops, tree_of: IntArray, trees: IntArray) -> tuple[IntArray, IntArray]:
    """Table of closed mechanisms, (n, CLOSED_INTS), and which of them each tree is in; -1: none."""
    extents = _apart([_extent(loops, row, tree_of, trees) for row in loops.ints])
    table = np.zeros((len(extents), at.CLOSED_INTS), dtype=np.int64)
    of_tree = np.full(len(trees) - 1, -1, dtype=np.int64)
    place = square = 0
    for g, (line, (rows, columns)) in enumerate(zip(table, extents, strict=True)):
        own = _within(loops.ints[:, layout.LOOP_ROW], rows)
        terms = np.flatnonzero(_within(loops.term_ints[:, layout.TERM_ROW], rows))
        line[[at.CLOSED_ROW, at.CLOSED_ROWS]] = rows[0], rows[1] - rows[0]
        line[[at.CLOSED_TERM, at.CLOSED_TERMS]] = terms[0], len(terms)
        line[[at.CLOSED_COLUMN, at.CLOSED_COLUMNS]] = columns[0], columns[1] - columns[0]
        line[[at.CLOSED_PLACE, at.CLOSED_SQUARE]] = place, square
        line[at.CLOSED_DRIVEN] = loops.ints[own, layout.LOOP_DRIVEN].any()
        of_tree[_within(trees[:-1], columns)] = g
        place += int(line[at.CLOSED_ROWS] * line[at.CLOSED_COLUMNS])
        square += int(line[at.CLOSED_ROWS] ** 2)
    return table, of_tree


def _within(numbers: IntArray, ends: _Ends) -> BoolArray:
    return (numbers >= ends[0]) & (numbers < ends[1])


def _extent(loops: Loops, row: IntArray, tree_of: IntArray, trees: IntArray) -> _Extent:
    """Rows of a closure, and columns of the tree that it acts on."""
    first = int(row[layout.LOOP_ROW])
    terms = loops.term_ints[row[layout.LOOP_TERM] :][: row[layout.LOOP_TERMS]]
    rows = first, int(terms[:, layout.TERM_ROW].max()) + 1
    links = closed_links(loops, row)
    if not len(links):
        return _Extent(rows, (0, 0))
    tree = tree_of[links[0]]
    return _Extent(rows, (int(trees[tree]), int(trees[tree + 1])))


def _apart(extents: list[_Extent]) -> list[_Extent]:
    """The same, those joined that have rows or columns in common, in the order of rows."""
    while True:
        by_columns = _joined(extents, 1)
        joined = _joined(by_columns, 0)
        if len(joined) == len(extents):
            return joined
        extents = joined


def _joined(extents: list[_Extent], side: int) -> list[_Extent]:
    """Those joined that overlap along one side, in its order."""
    found: list[_Extent] = []
    for extent in sorted(extents, key=itemgetter(side)):
        if found and found[-1][side][1] > extent[side][0]:
            extent = _Extent(*(_union(a, b) for a, b in zip(found.pop(), extent, strict=True)))
        found.append(extent)
    return found


def _union(a: _Ends, b: _Ends) -> _Ends:
    if a[0] == a[1]:
        return b
    return a if b[0] == b[1] else (min(a[0], b[0]), max(a[1], b[1]))
