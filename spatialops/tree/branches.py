"""The kernels' tables of a tree once more, branch after branch and in stripes: for eight links at a time.

What is done for every link alike is done for eight at a time; `algebra.lanes.at` says how their constants lie. The
last eight are filled up with zeros.

Links are numbered depth first, so that what a link carries are the links right after it, up to `LAST`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._door import LONG
from spatialops._layout import (
    ARMATURE,
    AXIS,
    COM,
    FRAME,
    HELICAL,
    LINEAR,
    LINK_COLUMNS,
    MASS,
    MOTION,
    PARENT,
    PITCH,
    PLACE_P,
    SCREW,
    SLIDE,
    TREE_COLUMNS,
    TURN,
)
from spatialops.algebra.lanes import WIDTH, aligned

# Further columns of the tree.
LAST = TREE_COLUMNS  # last link that this one carries, itself if none
RANK = TREE_COLUMNS + 1  # the new number of the link that has this row's number in the model

# Rows of constants: those of `_layout` up to ARMATURE, with the first moment m c in place of COM; then
TURNING = ARMATURE + 1  # angle per unit of q: 1 or 0
SLIDING = ARMATURE + 2  # metres per unit of q
ANGULAR = ARMATURE + 3  # the axis of motion as spatial vector: ANGULAR * DIRECTION about the link's origin,
ALONG = ARMATURE + 4  # and ALONG * DIRECTION of it
DIRECTION = LINK_COLUMNS  # 3, in link axes
CONSTANTS = LINK_COLUMNS + 3

FEW = 16
"""Nodes that memory is kept for."""


@dataclass(eq=False, slots=True)
class Branches:
    """Tree (n, TREE_COLUMNS + 2) and striped constants (n in eights, 8 CONSTANTS).

    Up to `few` nodes, Lambda is cheapest by the mass matrix. The `memory` for that is one for all threads: a call that
    is so short keeps the GIL, and leaves nothing in it.
    """

    tree: IntArray
    constants: Array
    few: int
    memory: Any = None


def branches_of(tree: IntArray, links: Array) -> Branches:
    """Make the tables of a model."""
    n = tree.shape[0]
    order = _depth_first(tree[:, PARENT])
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    table = np.empty((n, TREE_COLUMNS + 2), dtype=np.int64)
    table[:, :TREE_COLUMNS] = tree[order]
    parents = table[:, PARENT]
    parents[parents >= 0] = rank[parents[parents >= 0]]
    table[:, LAST], table[:, RANK] = np.arange(n), rank
    for k in range(n - 1, 0, -1):
        if parents[k] >= 0:
            table[parents[k], LAST] = max(table[parents[k], LAST], table[k, LAST])
    return Branches(table, _constants(table, links[order]), _few_nodes(table))


def _depth_first(parents: IntArray) -> IntArray:
    """Links branch after branch; those of a branch, and the branches, in their old order."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for k, parent in enumerate(parents):
        children[parent].append(k)  # of the world: the last
    order, waiting = [], children[-1][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]][::-1]
    return np.array(order, dtype=np.int64)


def _constants(tree: IntArray, links: Array) -> Array:
    n, motion, frame, pitch = len(tree), tree[:, MOTION], tree[:, FRAME], links[:, PITCH]
    eights = -(-n // WIDTH)
    result = np.zeros((CONSTANTS, WIDTH * eights))
    result[: ARMATURE + 1, :n] = links[:, : ARMATURE + 1].T
    result[COM : COM + 3, :n] *= links[:, MASS]
    result[TURNING, :n] = (frame == TURN) | (frame == SCREW)
    result[SLIDING, :n] = np.where(frame == SCREW, pitch, frame == SLIDE)
    result[ANGULAR, :n] = motion != LINEAR
    result[ALONG, :n] = np.where(motion == HELICAL, pitch, motion == LINEAR)
    result[DIRECTION + tree[:, AXIS], np.arange(n)] = 1.0
    _forget_places(tree, result)
    striped = aligned(eights, CONSTANTS * WIDTH)
    striped[:] = result.reshape(CONSTANTS, eights, WIDTH).swapaxes(0, 1).reshape(striped.shape)
    return striped


def _forget_places(tree: IntArray, constants: Array) -> None:
    """Zero the places of links with nothing above that turns: only motion tells where they are, and it does not matter.

    Positions are then those from the first axis that turns, and no digits are lost by a mechanism far away from the
    world's origin or at the end of a long rail.
    """
    turned = np.zeros(len(tree), dtype=bool)
    for k, parent in enumerate(tree[:, PARENT]):
        above = parent >= 0 and turned[parent]
        turned[k] = above or tree[k, MOTION] != LINEAR
        if not above:
            constants[PLACE_P : PLACE_P + 3, k] = constants[SLIDING, k] = 0.0


def _few_nodes(tree: IntArray) -> int:
    """Up to how many nodes the mass matrix is the cheaper way to Lambda: nanoseconds saved by links, lost by blocks.

    Fitted on robots and chains with 1 to 64 nodes, against the recursion. Factors save 25 a link and lose 0.4 for every
    register of eight entries that one link takes off another's row. A block of Lambda is a sum over common ancestors,
    2.35 for each, where the recursion takes 14 more than for the rest; of two links, `common` have these in the mean.
    """
    n, i = len(tree), np.arange(len(tree))
    carried = tree[:, LAST] - i
    saved = 100.0 + 25.0 * n - 0.4 * (carried * (i // WIDTH + 1)).sum()
    common = ((carried + 1.0) ** 2).sum() / n**2
    lost = 2.35 * common - 14.0
    if saved <= 0.0 or n >= LONG:
        return 0
    return FEW if lost * FEW**2 <= saved else int(math.sqrt(saved / lost))
