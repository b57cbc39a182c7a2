"""Y* Y of rows that belong to links: sums over the links that carry a node."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, load, spread, store, zeros
from spatialops.algebra.simd_blocks import store_block
from spatialops.tree.branches import RANK


@inlined
def register_pairs(m: int) -> int:
    """Pairs of registers that hold a row of Y of m nodes, and two numbers the last one spills."""
    return (6 * m + 2 + 2 * WIDTH - 1) // (2 * WIDTH)


@inlined
def link_of(tree: IntArray, node_links: IntArray, i: int) -> int:
    """Link of node i, depth first."""
    return tree[node_links[i], RANK] if node_links[i] >= 0 else -1


@inlined
def clear_rows(tree: IntArray, rows: Array, first: int, m: int) -> None:
    """Zeros where a link may not carry a node."""
    if m > 1:
        for k in range(tree.shape[0]):
            for j in range(first, first + 2 * WIDTH * register_pairs(m), WIDTH):
                store(rows, k, j, zeros())


@inlined
def multiply_rows(
    tree: IntArray, node_links: IntArray, rows: Array, first: int, out: Array
) -> None:
    """Y* Y of all nodes; Y starts at column `first`."""
    m = node_links.size
    for i in range(m):
        link = link_of(tree, node_links, i)
        for column in range(0, 6 * m, 2 * WIDTH):
            put_two_registers(tree, rows, link, first + 6 * i, first + column, out, 6 * i, column)


@inlined
def put_two_registers(
    tree: IntArray, rows: Array, k: int, left: int, right: int, out: Array, row: int, column: int
) -> None:
    """Sixteen columns of six rows of Y* Y: sums over link k and all above, tips to base.

    Entries on both sides of the diagonal are the same to the bit: they differ by zeros added."""
    a0 = a1 = a2 = a3 = a4 = a5 = zeros()
    b0 = b1 = b2 = b3 = b4 = b5 = zeros()
    while k >= 0:
        a, b = load(rows, k, right), load(rows, k, right + WIDTH)
        y = spread(rows, k, left)
        a0, b0 = a0 + y * a, b0 + y * b
        y = spread(rows, k, left + 1)
        a1, b1 = a1 + y * a, b1 + y * b
        y = spread(rows, k, left + 2)
        a2, b2 = a2 + y * a, b2 + y * b
        y = spread(rows, k, left + 3)
        a3, b3 = a3 + y * a, b3 + y * b
        y = spread(rows, k, left + 4)
        a4, b4 = a4 + y * a, b4 + y * b
        y = spread(rows, k, left + 5)
        a5, b5 = a5 + y * a, b5 + y * b
        k = tree[k, layout.PARENT]
    none, rest = zeros(), out.shape[1] - column
    store_block(out, row, column, (a0, a1, a2, a3, a4, a5, none, none), 6, rest)
    if rest > WIDTH:
        block = (b0, b1, b2, b3, b4, b5, none, none)
        store_block(out, row, column + WIDTH, block, 6, rest - WIDTH)
