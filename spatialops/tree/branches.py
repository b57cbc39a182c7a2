"""The kernels' tables of a tree once more, branch after branch and in stripes of eight links.

What is done for every link alike is done for eight at a time; `algebra.simd.at` says how their
constants lie. The last eight are filled up with zeros.

Links are numbered depth first, so that what a link carries are the links right after it, up to
`LAST`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.fast_call import LONG
from spatialops.algebra.simd import WIDTH, aligned

# Further columns of the tree.
LAST = layout.TREE_COLUMNS  # last link that this one carries, itself if none
RANK = layout.TREE_COLUMNS + 1  # the new number of the link that has this row's number in the model
NUMBER = layout.TREE_COLUMNS + 2  # the number in the model of this row's link
# 1 on the last link of a free joint without armature, of which any six axes do.
FREE = layout.TREE_COLUMNS + 3
COLUMNS = layout.TREE_COLUMNS + 4

# Rows of constants: those of `_layout` up to ARMATURE, with the first moment m c in place of COM;
# then
TURNING = layout.ARMATURE + 1  # angle per unit of q: 1 or 0
SLIDING = layout.ARMATURE + 2  # metres per unit of q
ANGULAR = (
    layout.ARMATURE + 3
)  # the axis of motion as spatial vector: ANGULAR * DIRECTION about the link's origin,
ALONG = layout.ARMATURE + 4  # and ALONG * DIRECTION of it
DIRECTION = layout.LINK_COLUMNS  # 3, in link axes
GRAVITY = layout.LINK_COLUMNS + 3  # 3: the model's gravity, of every link
CONSTANTS = layout.LINK_COLUMNS + 6

WORK_ROWS = 51  # of the workspace of kernels that use these tables: what the hungriest takes

BLOCK = 2
"""Eights that go through several steps together, which find in the cache what the last one left."""

LARGE = 500
"""Eights from which on a workspace has a block more, for what is not kept of links: with 4000 links
that costs nothing, and with 100 000 it saves a quarter of forward dynamics."""

FEW = 64
"""Nodes that memory is kept for, at most."""

MOST_LINKS = 2000
"""Links from which on that memory is larger than a cache, which the recursion does without."""

# Nanoseconds of propagation against the recursion, fitted on chains and trees with 1 to 32 nodes.
_SAVED = 150.0  # altogether,
_SAVED_A_LINK = 2.0
_LOST_AN_ANCESTOR = 6.0  # of a node,
_LOST_A_ROW = 0.75  # and in each block of Lambda
_SAVED_A_NODE = 140.0  # what the recursion takes for a node,
_SAVED_A_BLOCK = 17.0  # and for a block


@dataclass(eq=False, slots=True)
class Branches:
    """Tree (n, COLUMNS) and striped constants (n in eights, 8 CONSTANTS).

    Up to `few` nodes, Lambda is cheapest by propagation. `factor_work`, `factor_held` and
    `factor_rows` for that are one for all threads where calls keep the GIL, and leave nothing in
    it; so is `work`. Longer calls take some from `lent`, and a workspace from `spare`. `ordered` is
    room for a matrix depth first, and empty where that is the model's order. `rest` are zeros (n,),
    which nothing writes to.
    """

    tree: IntArray
    constants: Array
    few: int
    factor_work: Array | None = None
    factor_held: Array | None = None
    factor_rows: Array | None = None
    work: Array | None = None
    ordered: Array | None = None
    spare: list[Array] = field(default_factory=list)
    lent: list[tuple[Array, Array, Array]] = field(default_factory=list)
    rest: Array = field(init=False)

    def __post_init__(self) -> None:
        self.rest = np.zeros(len(self.tree))

    def workspace(self) -> Array:
        """Memory for a kernel to work in, which nobody else has."""
        try:
            return self.spare.pop()
        except IndexError:
            eights = len(self.constants)
            return aligned(eights + (BLOCK if eights > LARGE else 0), WIDTH * WORK_ROWS)

    def factors(self) -> tuple[Array, Array, Array]:
        """`factor_work`, `factor_held` and `factor_rows`, in which nobody else works.

        Raises
        ------
        IndexError
            Where none have been kept.
        """
        if len(self.tree) >= LONG:
            return self.lent.pop()
        kept = self.factor_work, self.factor_held, self.factor_rows
        if kept[0] is None or kept[1] is None or kept[2] is None:
            raise IndexError
        return kept[0], kept[1], kept[2]

    def keep_factors(self, work: Array, held: Array, rows: Array) -> None:
        """Keep them for further calls."""
        if len(self.tree) >= LONG:
            self.lent.append((work, held, rows))
            return
        self.factor_work, self.factor_held = work, held
        self.factor_rows = rows

    def room(self) -> Array:
        """Memory for `ordered`."""
        n = len(self.tree)
        side = 0 if (self.tree[:, NUMBER] == np.arange(n)).all() else n
        return np.empty((side, side))


def branches_of(tree: IntArray, links: Array) -> Branches:
    """Make the tables of a model."""
    n = tree.shape[0]
    order = _depth_first(tree[:, layout.PARENT])
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    table = aligned(n, COLUMNS).view(np.int64)
    table[:, : layout.TREE_COLUMNS] = tree[order]
    parents = table[:, layout.PARENT]
    parents[parents >= 0] = rank[parents[parents >= 0]]
    table[:, LAST] = np.arange(n)
    table[:, RANK] = rank
    table[:, NUMBER] = order
    for first in np.flatnonzero(table[:, layout.FRAME] == layout.POSE):
        table[first + 5, FREE] = not links[order[first : first + 6], layout.ARMATURE].any()
    for k in range(n - 1, 0, -1):
        if parents[k] >= 0:
            table[parents[k], LAST] = max(table[parents[k], LAST], table[k, LAST])
    result = Branches(table, _constants(table, links[order]), _few_nodes(table))
    if n < LONG:
        result.work = result.workspace()
        result.ordered = result.room()
    return result


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
    n = len(tree)
    motion = tree[:, layout.MOTION]
    frame = tree[:, layout.FRAME]
    pitch = links[:, layout.PITCH]
    eights = -(-n // WIDTH)
    result = np.zeros((CONSTANTS, WIDTH * eights))
    result[: layout.ARMATURE + 1, :n] = links[:, : layout.ARMATURE + 1].T
    result[layout.COM : layout.COM + 3, :n] *= links[:, layout.MASS]
    result[TURNING, :n] = (frame == layout.TURN) | (frame == layout.SCREW)
    result[SLIDING, :n] = np.where(frame == layout.SCREW, pitch, frame == layout.SLIDE)
    result[ANGULAR, :n] = motion != layout.LINEAR
    result[ALONG, :n] = np.where(motion == layout.HELICAL, pitch, motion == layout.LINEAR)
    result[DIRECTION + tree[:, layout.AXIS], np.arange(n)] = 1.0
    result[GRAVITY : GRAVITY + 3, :n] = links[:, layout.GRAVITY : layout.GRAVITY + 3].T
    _forget_places(tree, result)
    striped = aligned(eights, CONSTANTS * WIDTH)
    striped[:] = result.reshape(CONSTANTS, eights, WIDTH).swapaxes(0, 1).reshape(striped.shape)
    return striped


def _forget_places(tree: IntArray, constants: Array) -> None:
    """Zero the places of links with nothing above that turns: only motion tells where they are.

    Positions are then those from the first axis that turns, and no digits are lost by a mechanism
    far away from the world's origin or at the end of a long rail.
    """
    turned = np.zeros(len(tree), dtype=bool)
    for k, parent in enumerate(tree[:, layout.PARENT]):
        above = parent >= 0 and turned[parent]
        turned[k] = above or tree[k, layout.MOTION] != layout.LINEAR
        if not above:
            constants[layout.PLACE_P : layout.PLACE_P + 3, k] = constants[SLIDING, k] = 0.0


def _few_nodes(tree: IntArray) -> int:
    """Up to how many nodes propagation is the cheaper way to Lambda.

    What is compared are nanoseconds that links save and nodes lose, whose columns are carried past
    all their ancestors, of which there are `depth` in the mean, and multiplied along them.
    """
    n = len(tree)
    depth = (tree[:, LAST] - np.arange(n) + 1.0).mean()
    node = _LOST_AN_ANCESTOR * depth - _SAVED_A_NODE
    block = _LOST_A_ROW * depth - _SAVED_A_BLOCK
    m = np.arange(1, FEW + 1)
    worse = np.flatnonzero(m * node + m**2 * block > _SAVED + _SAVED_A_LINK * n)
    if n > MOST_LINKS:
        return 0
    return int(worse[0]) if worse.size else FEW
