"""Rows of L of contacts, as long as the paths from their links to the base.

A contact moves what lies between its links and the world, so that its three rows have entries
there alone: columns of one tree up to its link, or of the two trees that it joins. Trees have
columns of their own that lie side by side. Only those entries are kept, and only they cost time:
a pile of bodies has twelve a row however many bodies there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, zeros
from spatialops.algebra.simd_parts import lane, load_first, store_first, total, totals
from spatialops.collision import _layout as col

# Places: where the rows of a contact are, and the columns that they stand for.
START = 0  # of its first row; the other two follow
FIRST_A = 1
COUNT_A = 2
FIRST_B = 3  # of the second tree; its entries come after those of the first
COUNT_B = 4
TREE_A = 5  # -1: none moves
TREE_B = 6  # -1: no second one
PLACE_COLUMNS = 7


class SparseRows(NamedTuple):
    """The three rows of every contact: normal, first and second tangent."""

    entries: Array  # flat
    places: IntArray  # (m, PLACE_COLUMNS)


def dense_rows(L: Array) -> SparseRows:
    """Rows (3 m, nv) of one tree, all of whose entries are kept."""
    m, nv = len(L) // 3, L.shape[1]
    places = np.zeros((m, PLACE_COLUMNS), dtype=np.int64)
    places[:, START] = 3 * nv * np.arange(m)
    places[:, COUNT_A] = nv
    places[:, TREE_B] = -1
    return SparseRows(np.ascontiguousarray(L).ravel(), places)


@inlined
def width_of(places: IntArray, i: int) -> int:
    """Entries of a row of contact i."""
    return places[i, COUNT_A] + places[i, COUNT_B]


@kernel
def place_rows(
    tree_of: IntArray, trees: IntArray, ints: IntArray, count: int, places: IntArray
) -> None:
    """Places of contacts between links: tree of each link, first column of each tree."""
    start = 0
    for i in range(count):
        a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
        tree_a = tree_of[a] if a >= 0 else -1
        tree_b = tree_of[b] if b >= 0 else -1
        if tree_a < 0:
            a, b = b, a
            tree_a, tree_b = tree_b, tree_a
        if tree_a == tree_b:
            a = max(a, b)
            b, tree_b = -1, -1
        places[i, START] = start
        places[i, TREE_A], places[i, TREE_B] = tree_a, tree_b
        places[i, FIRST_A] = trees[tree_a] if tree_a >= 0 else 0
        places[i, FIRST_B] = trees[tree_b] if tree_b >= 0 else 0
        places[i, COUNT_A] = a + 1 - places[i, FIRST_A] if tree_a >= 0 else 0
        places[i, COUNT_B] = b + 1 - places[i, FIRST_B] if tree_b >= 0 else 0
        start += 3 * width_of(places, i)


@inlined
def add_contact(rows: SparseRows, i: int, impulse: tuple[float, float, float], y: Array) -> None:
    """Add to y what the three rows of contact i are along an impulse."""
    entries = rows.entries
    a, b, c = impulse
    width, at = width_of(rows.places, i), rows.places[i, START]
    for side in range(2):
        first, count = rows.places[i, FIRST_A + 2 * side], rows.places[i, COUNT_A + 2 * side]
        for k in range(0, count, WIDTH):
            few = count - k
            moved = load_first(y, first + k, few)
            moved = moved + a * load_first(entries, at + k, few)
            moved = moved + b * load_first(entries, at + width + k, few)
            moved = moved + c * load_first(entries, at + 2 * width + k, few)
            store_first(y, first + k, few, moved)
        at += count


@inlined
def velocity_of(rows: SparseRows, i: int, y: Array) -> tuple[float, float, float]:
    """Products with y of the rows of contact i side by side: sums do not wait for each other."""
    entries = rows.entries
    width, at = width_of(rows.places, i), rows.places[i, START]
    a = zeros()
    b = zeros()
    c = zeros()
    for side in range(2):
        first, count = rows.places[i, FIRST_A + 2 * side], rows.places[i, COUNT_A + 2 * side]
        for k in range(0, count, WIDTH):
            few = count - k
            moved = load_first(y, first + k, few)
            a = a + moved * load_first(entries, at + k, few)
            b = b + moved * load_first(entries, at + width + k, few)
            c = c + moved * load_first(entries, at + 2 * width + k, few)
        at += count
    return total(a), total(b), total(c)


@inlined
def common_dot(
    x: Array, start_x: int, i: int, y: Array, start_y: int, j: int, places: IntArray
) -> float:
    """Product of two such rows, of contacts i and j: over the columns that both have."""
    total = 0.0
    at_x = start_x
    for a in range(2):
        first_x, count_x = places[i, FIRST_A + 2 * a], places[i, COUNT_A + 2 * a]
        at_y = start_y
        for b in range(2):
            first_y, count_y = places[j, FIRST_A + 2 * b], places[j, COUNT_A + 2 * b]
            low = max(first_x, first_y)
            for k in range(low, min(first_x + count_x, first_y + count_y)):
                total += x[at_x + k - first_x] * y[at_y + k - first_y]
            at_y += count_y
        at_x += count_x
    return total


@inlined
def square_of(rows: SparseRows, i: int, j: int) -> float:
    """Square of the length of row j of contact i: an entry of the diagonal of W."""
    width = width_of(rows.places, i)
    start = rows.places[i, START] + j * width
    squares = zeros()
    for k in range(0, width, WIDTH):
        part = load_first(rows.entries, start + k, width - k)
        squares = squares + part * part
    return total(squares)


@inlined
def squares_of(rows: SparseRows, i: int, dry: bool) -> tuple[float, float, float]:
    """The three of contact i; of a joint's dry friction one row moves, and the others are none."""
    if dry:
        return 0.0, square_of(rows, i, 1), 0.0
    width, start = width_of(rows.places, i), rows.places[i, START]
    a = zeros()
    b = zeros()
    c = zeros()
    for k in range(0, width, WIDTH):
        few = width - k
        normal = load_first(rows.entries, start + k, few)
        first = load_first(rows.entries, start + width + k, few)
        second = load_first(rows.entries, start + 2 * width + k, few)
        a = a + normal * normal
        b = b + first * first
        c = c + second * second
    squares = totals(a, b, c)
    return lane(squares, 0), lane(squares, 1), lane(squares, 2)


@inlined
def turn_tangents(rows: SparseRows, i: int, c: float, s: float) -> None:
    """Rows of contact i along tangents that are turned about its normal: c first + s second, ..."""
    width, start = width_of(rows.places, i), rows.places[i, START]
    for k in range(start + width, start + 2 * width):
        first = rows.entries[k]
        second = rows.entries[k + width]
        rows.entries[k] = c * first + s * second
        rows.entries[k + width] = c * second - s * first


@kernel
def multiply_rows(rows: SparseRows, count: int, W: Array) -> None:
    """W = L L^T of so many contacts."""
    for i in range(count):
        for j in range(i + 1):
            for a in range(3):
                start_i = rows.places[i, START] + a * width_of(rows.places, i)
                for b in range(3):
                    start_j = rows.places[j, START] + b * width_of(rows.places, j)
                    value = common_dot(
                        rows.entries, start_i, i, rows.entries, start_j, j, rows.places
                    )
                    W[3 * i + a, 3 * j + b] = value
                    W[3 * j + b, 3 * i + a] = value


@kernel
def add_impulses(rows: SparseRows, p: Array, y: Array) -> None:
    """y = L^T p."""
    for k in range(y.size):
        y[k] = 0.0
    for i in range(p.size // 3):
        impulse = p[3 * i], p[3 * i + 1], p[3 * i + 2]
        if impulse[0] == 0.0 and impulse[1] == 0.0 and impulse[2] == 0.0:
            continue
        add_contact(rows, i, impulse, y)


@kernel
def velocities_of(rows: SparseRows, y: Array, w: Array) -> None:
    """w = L y."""
    for i in range(w.size // 3):
        a, b, c = velocity_of(rows, i, y)
        w[3 * i] = a
        w[3 * i + 1] = b
        w[3 * i + 2] = c


@kernel
def answer_rows(rows: SparseRows, p: Array, y: Array, w: Array) -> None:
    """w = W p = L (L^T p), by y = L^T p."""
    add_impulses(rows, p, y)
    velocities_of(rows, y, w)
