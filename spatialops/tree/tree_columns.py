"""Columns of trees: contacts of trees that nothing joins do not feel each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import IntArray
from spatialops.tree.model import Model

if TYPE_CHECKING:
    from spatialops.tree.loops import Loops


def columns_of_trees(model: Model, loops: Loops) -> tuple[IntArray, IntArray]:
    """Tree of every link, and the first column of every tree with one past the last.

    Columns of a tree lie side by side; trees that closures join count as one, as do those whose
    links alternate, or lie between.
    """
    nv = model.nv
    parents = model.tree[:, layout.PARENT]
    root = np.arange(nv)
    last = np.arange(nv)
    for k in range(nv):
        if parents[k] >= 0:
            root[k] = root[parents[k]]
        last[root[k]] = k
    for row in loops.ints:
        links = closed_links(loops, row)
        if len(links):
            joined = root[links]
            last[joined.min()] = max(last[joined])
    starts = [0]
    end = last[0]
    for k in range(nv):
        if k > end:
            starts.append(k)
        end = max(end, last[root[k]])
    trees = np.array([*starts, nv], dtype=np.int64)
    return np.repeat(np.arange(len(starts)), np.diff(trees)), trees


def closed_links(loops: Loops, row: IntArray) -> IntArray:
    """Links that a closure acts on."""
    terms = loops.term_ints[row[layout.LOOP_TERM] :][: row[layout.LOOP_TERMS]]
    both = np.append(row[[layout.LOOP_A, layout.LOOP_B]], terms[:, [layout.TERM_A, layout.TERM_B]])
    return both[both >= 0]
