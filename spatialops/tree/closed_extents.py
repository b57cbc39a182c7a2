"""Rows and columns of what closures join, mechanism by mechanism.

Each mechanism has rows and columns of its own that lie side by side, so that what closures ask for
is found mechanism by mechanism. Those whose closures, or columns, alternate count as one.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from spatialops import _layout as layout
from spatialops._arrays import IntArray
from spatialops.tree.tree_columns import closed_links, columns_of_trees

if TYPE_CHECKING:
    from spatialops.tree.loops import Loops

Ends = tuple[int, int]


class ClosedExtent(NamedTuple):
    """Rows and columns of a mechanism, from the first to one past the last."""

    rows: Ends
    columns: Ends


def closed_extents(loops: Loops) -> tuple[ClosedExtent, ...]:
    """Those of all mechanisms that closures close, in the order of rows."""
    tree_of, trees = columns_of_trees(loops.model, loops)
    return tuple(_apart([_extent(loops, row, tree_of, trees) for row in loops.ints]))


def _extent(loops: Loops, row: IntArray, tree_of: IntArray, trees: IntArray) -> ClosedExtent:
    """Rows of a closure, and columns of the tree that it acts on."""
    first = int(row[layout.LOOP_ROW])
    terms = loops.term_ints[row[layout.LOOP_TERM] :][: row[layout.LOOP_TERMS]]
    rows = first, int(terms[:, layout.TERM_ROW].max()) + 1
    links = closed_links(loops, row)
    if not len(links):
        return ClosedExtent(rows, (0, 0))
    tree = tree_of[links[0]]
    return ClosedExtent(rows, (int(trees[tree]), int(trees[tree + 1])))


def _apart(extents: list[ClosedExtent]) -> list[ClosedExtent]:
    """The same, those joined that have rows or columns in common, in the order of rows."""
    while True:
        by_columns = _joined(extents, 1)
        joined = _joined(by_columns, 0)
        if len(joined) == len(extents):
            return joined
        extents = joined


def _joined(extents: list[ClosedExtent], side: int) -> list[ClosedExtent]:
    """Those joined that overlap along one side, in its order."""
    found: list[ClosedExtent] = []
    for extent in sorted(extents, key=itemgetter(side)):
        if found and found[-1][side][1] > extent[side][0]:
            both = zip(found.pop(), extent, strict=True)
            extent = ClosedExtent(*(_union(a, b) for a, b in both))
        found.append(extent)
    return found


def _union(a: Ends, b: Ends) -> Ends:
    if a[0] == a[1]:
        return b
    return a if b[0] == b[1] else (min(a[0], b[0]), max(a[1], b[1]))
