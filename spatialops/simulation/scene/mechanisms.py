"""Closed mechanisms, what closures join and nothing else, as a table for kernels."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import BoolArray, IntArray
from spatialops.simulation import _layout as at
from spatialops.tree.closed_extents import Ends
from spatialops.tree.loops import Loops


def mechanisms_of(loops: Loops, trees: IntArray) -> tuple[IntArray, IntArray]:
    """Table of closed mechanisms, (n, CLOSED_INTS), and which of them each tree is in; -1: none.

    `trees` are the first columns of all trees.
    """
    extents = loops.extents
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


def _within(numbers: IntArray, ends: Ends) -> BoolArray:
    return (numbers >= ends[0]) & (numbers < ends[1])
