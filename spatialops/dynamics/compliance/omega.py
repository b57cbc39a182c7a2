"""Rows of Omega, each from that of the vertex above ([J] 69), in contiguous sweeps."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, zeros
from spatialops.algebra.simd_blocks import store_block, transposed
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.dynamics.compliance.virtual_tree import ABOVE, SLOT, UPSILON

# Columns and vertices that are worked on together: their rows of `above` fit the first cache, and
# rows that are mirrored are still in the second.
_TILE = 192
_BAND = 16
_MANY = 192  # columns from which blocks go through registers: those just written to are not ready
_CACHED = 600  # columns of an Omega that is in the second cache as a whole


@inlined
def fill_omega(vertices: IntArray, edges: Array, omega: Array) -> None:
    """Omega of all vertices, parents first, from psi and Upsilon of their edges."""
    width = omega.shape[0]
    # In the cache, whole rows that are mirrored at once are quicker: fewer loops begin.
    cached = width <= _CACHED
    band = 1 if cached else _BAND
    reach = width if cached else 0
    count = edges.shape[0]
    for j in range(count):
        above, row = vertices[j, ABOVE], 6 * vertices[j, SLOT]
        psi = edges[j, :UPSILON].reshape(6, UPSILON // 6)
        if above < 0:
            clear_row(omega, row, reach)
        else:
            start = 6 * vertices[above, SLOT]
            if cached:
                sweep_row(omega, psi, start, row, 0, width)
            else:
                complete_row(vertices, above, j, omega)
                for tile in range(0, reach, _TILE):
                    sweep_row(omega, psi, start, row, tile, min(tile + _TILE, reach))
        put_diagonal(edges, j, row, omega)
        # Whole registers: what lies behind belongs to later vertices, which overwrite it.
        reach = min(width, max(reach, (row + 13) // 8 * 8))
        if (j + 1) % band == 0 or j + 1 == count:
            mirror_rows(vertices, j - j % band, j + 1, omega)


@inlined
def clear_row(omega: Array, row: int, reach: int) -> None:
    """Trees do not feel each other: zero in the rows of a root, up to column `reach`."""
    for r in range(row, row + 6):
        for c in range(reach):
            omega[r, c] = 0.0


@inlined
def complete_row(vertices: IntArray, above: int, j: int, omega: Array) -> None:
    """Omega(above, x) for the vertices x between a parent and j, which came after its own row.

    On a chain there are none."""
    for x in range(above + 1, j):
        transpose_block(omega, 6 * vertices[x, SLOT], 6 * vertices[above, SLOT])


@inlined
def mirror_rows(vertices: IntArray, first: int, end: int, omega: Array) -> None:
    """Omega(x, j) = Omega(j, x)^T for a band of vertices j and all x before each of them.

    A band at a time, since every row that is written to is a page of its own: that of one vertex
    alone would miss the cache at each block."""
    for x in range(end):
        for j in range(max(first, x + 1), end):
            transpose_block(omega, 6 * vertices[j, SLOT], 6 * vertices[x, SLOT])


@inlined
def transpose_block(omega: Array, row: int, column: int) -> None:
    """The block at (column, row) from that at (row, column)."""
    if omega.shape[0] < _MANY:
        for c in range(6):
            for i in range(6):
                omega[column + c, row + i] = omega[row + i, column + c]
        return
    none = zeros()
    block = (
        load_first(omega[row], column, 6),
        load_first(omega[row + 1], column, 6),
        load_first(omega[row + 2], column, 6),
        load_first(omega[row + 3], column, 6),
        load_first(omega[row + 4], column, 6),
        load_first(omega[row + 5], column, 6),
        none,
        none,
    )
    store_block(omega, column, row, transposed(block), 6, 6)


@inlined
def clear_world(node_links: IntArray, out: Array) -> None:
    """Zero rows and columns of the world's nodes, which no vertex stands for."""
    for i in range(node_links.size):
        if node_links[i] < 0:
            for row in range(6 * i, 6 * i + 6):
                for c in range(out.shape[1]):
                    out[row, c] = 0.0
                    out[c, row] = 0.0


@inlined
def sweep_row(omega: Array, X: Array, above: int, j: int, first: int, end: int) -> None:
    """Omega(j, x) = psi^T(above, j) Omega(above, x) for the vertices x in some columns ([J] 69).

    Those of later ones are overwritten when their turn comes: leaving them out where nodes are not
    in the order of the tree would cost more than computing them."""
    for c in range(first, end, WIDTH):
        few = end - c
        x = load_first(omega[above], c, few)
        y = load_first(omega[above + 1], c, few)
        z = load_first(omega[above + 2], c, few)
        u = load_first(omega[above + 3], c, few)
        v = load_first(omega[above + 4], c, few)
        w = load_first(omega[above + 5], c, few)
        for row in range(6):
            half = X[0, row] * x + X[1, row] * y + X[2, row] * z
            moved = half + X[3, row] * u + X[4, row] * v + X[5, row] * w
            store_first(omega[j + row], c, few, moved)


@inlined
def put_diagonal(edges: Array, j: int, start: int, omega: Array) -> None:
    """Omega(j, j) = Upsilon of vertex j, of which its edge has the lower half."""
    for row in range(6):
        for c in range(row + 1):
            omega[start + row, start + c] = edges[j, UPSILON + 8 * row + c]
            omega[start + c, start + row] = edges[j, UPSILON + 8 * row + c]
