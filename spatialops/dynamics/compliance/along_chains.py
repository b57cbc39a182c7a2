"""Compliance of contacts' rows on chains: three columns a contact in place of six a node.

Where no branches meet between the links that rows push, a vertex of the virtual tree hangs on the
one before it, and all that is asked of Omega ([J] 69) are products with the wrenches w of rows of
vertices before,

    Y(j) = [psi* Y(above) | Upsilon(j) w(j)],    W(i, .) = w(i)* Y(j)  for rows i of vertex j.

A vertex needs Y of the one above it alone: two tables of six lines serve them all.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, aligned, load, store, zeros
from spatialops.algebra.simd_blocks import store_block
from spatialops.algebra.simd_parts import store_first
from spatialops.dynamics.compliance.compliance import begin_recursion, failure, scratch_size
from spatialops.dynamics.compliance.link_rows import take_block
from spatialops.dynamics.compliance.recursion import make_edges
from spatialops.dynamics.compliance.virtual_tree import (
    ABOVE,
    CHILDREN,
    EDGE_COLUMNS,
    NODE,
    UPSILON,
)
from spatialops.dynamics.kinematics import finite_status
from spatialops.tree.model import Model
from spatialops.tree.node import Nodes

LINES = 12
_ROWS = 8  # between rows of six numbers


def along_chains(
    model: Model, q: Array, nodes: Nodes, row_nodes: IntArray, wrenches: Array, W: Array
) -> bool:
    """W of rows, as `chain_kernel` makes it; False where branches meet.

    Raises
    ------
    ModelError
        If the mass matrix is singular at q.
    """
    scratch = model.scraps.pop() if model.scraps else np.empty(0)
    size = scratch_size(model.nv, len(nodes.links))
    if scratch.size < size:
        scratch = aligned(1, size)[0]
    tables = model.branches.tree, model.branches.constants
    lines = np.empty((LINES, len(W) + WIDTH))
    status = chain_kernel(
        *tables, q, nodes.links, nodes.offsets, scratch, row_nodes, wrenches, lines, W
    )
    model.scraps.append(scratch)
    if status not in (layout.OK, layout.MISFIT):
        raise failure(status, model, q)
    return bool(status == layout.OK)


@kernel
def chain_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    scratch: Array,
    row_nodes: IntArray,
    ends: Array,
    lines: Array,
    W: Array,
) -> int:
    """W of rows with wrenches `ends` (r, 6) on nodes, which come in the order of the links.

    Tables are those of `Branches`, `lines` is (LINES, r + 8), and what is in `scratch`
    `compliance_kernel` says. MISFIT where branches meet.
    """
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    held, rows, plan, vertices, ordered, rest = begin_recursion(
        tree, constants, q, node_links, scratch
    )
    for k in range(tree.shape[0]):
        if plan[k, CHILDREN] > 1:
            return layout.MISFIT
    count = make_edges(tree, constants, ordered, offsets, rows, held, plan, vertices, rest)
    if count < 0:
        return layout.SINGULAR
    edges = rest[: EDGE_COLUMNS * count].reshape(count, EDGE_COLUMNS)
    end = 0
    for j in range(count):
        now = 6 * (j % 2)
        if vertices[j, ABOVE] < 0:
            clear_lines(lines, now, end)
        else:
            pass_lines(lines, edges, j, 6 - now, now, end)
        first = end
        while end < row_nodes.size and row_nodes[end] == vertices[j, NODE]:
            put_own(lines, edges, j, now, ends, end)
            end += 1
        for i in range(first, end):
            put_row(lines, now, ends, i, end, W)
    mirror(W, True)
    return layout.OK


@inlined
def clear_lines(lines: Array, now: int, end: int) -> None:
    """Trees do not feel each other."""
    for c in range(0, end, WIDTH):
        for row in range(now, now + 6):
            store(lines, row, c, zeros())


@inlined
def pass_lines(lines: Array, edges: Array, j: int, above: int, now: int, end: int) -> None:
    """Y of vertex j for rows of vertices before it, psi* times that of the one above."""
    for c in range(0, end, WIDTH):
        x = load(lines, above, c)
        y = load(lines, above + 1, c)
        z = load(lines, above + 2, c)
        u = load(lines, above + 3, c)
        v = load(lines, above + 4, c)
        w = load(lines, above + 5, c)
        for i in range(6):
            turned = edges[j, i] * x + edges[j, _ROWS + i] * y + edges[j, 2 * _ROWS + i] * z
            moved = edges[j, 3 * _ROWS + i] * u + edges[j, 4 * _ROWS + i] * v
            store(lines, now + i, c, turned + (moved + edges[j, 5 * _ROWS + i] * w))


@inlined
def put_own(lines: Array, edges: Array, j: int, now: int, ends: Array, i: int) -> None:
    """Y of vertex j for its own row i; of Upsilon an edge has the lower half."""
    for c in range(6):
        lines[now + c, i] = 0.0
        for k in range(6):
            entry = edges[j, UPSILON + _ROWS * max(c, k) + min(c, k)]
            lines[now + c, i] += entry * ends[i, k]


@inlined
def put_row(lines: Array, now: int, ends: Array, i: int, end: int, W: Array) -> None:
    """Entries of row i with those of its vertex and of those before it."""
    for c in range(0, end, WIDTH):
        moved = zeros()
        for k in range(6):
            moved = moved + ends[i, k] * load(lines, now + k, c)
        store_first(W[i], c, end - c, moved)


@inlined
def mirror(W: Array, lower: bool) -> None:
    """The other half from the lower or the upper one, in blocks of whole registers."""
    n = W.shape[0]
    whole = n - n % WIDTH
    for i in range(0, whole, WIDTH):
        for j in range(0, i, WIDTH):
            row, column = (i, j) if lower else (j, i)
            store_block(W, column, row, take_block(W, row, column), WIDTH, WIDTH)
    for i in range(n):
        for j in range(i - i % WIDTH if i < whole else 0, i):
            row, column = (i, j) if lower else (j, i)
            W[column, row] = W[row, column]
