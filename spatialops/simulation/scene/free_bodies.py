"""Which bodies float: those that are alone, and trees whose root is free."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import BoolArray, IntArray
from spatialops.forces import _layout as of
from spatialops.forces.elements import Elements
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model


class FreeBodies(NamedTuple):
    """What floats.

    Attributes
    ----------
    lone : (n,) int array
        First links of free bodies that no other body, closure or path hangs on; links without mass
        may, since joints pass nothing on from them but what contacts do.
    roots : (r,) int array
        First links of the roots of floating trees, those of closed mechanisms left out, and
        those that a path draws from outside.
    root_of : (nv,) int array
        Which of these roots each link belongs to, -1: none.
    """

    lone: IntArray
    roots: IntArray
    root_of: IntArray


def free_bodies(model: Model, loops: Loops, elements: Elements) -> FreeBodies:
    """Find lone bodies and floating trees of a mechanism."""
    tree, links = model.tree, model.links
    nv = model.nv
    top = np.arange(nv)
    for k in range(nv):
        if tree[k, layout.PARENT] >= 0:
            top[k] = top[tree[k, layout.PARENT]]
    tied = np.zeros(nv + 1, dtype=bool)  # the last one stands for the world, -1
    tied[loops.term_ints[:, [layout.TERM_A, layout.TERM_B]].ravel()] = True
    tied[loops.ints[:, [layout.LOOP_A, layout.LOOP_B]].ravel()] = True
    drawn = _drawn(elements, top)
    lone, roots = list[int](), list[int]()
    root_of = np.full(nv, -1, dtype=np.int64)
    by_tree = np.argsort(top, kind="stable")
    begins = np.searchsorted(top[by_tree], np.arange(nv + 1))
    for k in np.flatnonzero(tree[:, layout.FRAME] == layout.POSE).tolist():
        own = by_tree[begins[k] : begins[k + 1]]
        root, carried = own[: tree[k, layout.GROUP]], own[tree[k, layout.GROUP] :]
        damped = links[root][:, [layout.ARMATURE, layout.DAMPING]].any()
        heavy = links[carried, layout.MASS : layout.PITCH].any()
        if drawn[k] or damped:
            continue
        if not (heavy or tied[own].any()):
            lone.append(k)
        elif heavy and not len(loops):
            root_of[own] = len(roots)
            roots.append(k)
    firsts = np.array(lone, dtype=np.int64), np.array(roots, dtype=np.int64)
    return FreeBodies(*firsts, root_of)


def _drawn(elements: Elements, top: IntArray) -> BoolArray:
    """Links of trees that a path draws from outside: one that has points on the world or others."""
    drawn = np.zeros(len(top), dtype=bool)
    for row in elements.ints[elements.ints[:, of.POINTS] > 0]:
        points = elements.joints[row[of.POINT] : row[of.POINT] + row[of.POINTS], of.LINK]
        tops = np.where(points < 0, -1, top[points])
        if len(np.unique(tops)) > 1:
            drawn |= np.isin(top, tops)
    return drawn
