"""Products with L and its transpose of piles, whose contacts stand in groups between two trees.

Rows of the contacts of one pair of bodies have the same columns: what these are taken times, or
what is added to them, stays in registers from the first contact of a group to its last.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH
from spatialops.algebra.simd_parts import load_first, store_first, totals
from spatialops.contact.rows import (
    COUNT_A,
    COUNT_B,
    FIRST_A,
    FIRST_B,
    START,
    SparseRows,
    add_contact,
    velocity_of,
    width_of,
)


@inlined
def last_of_group(places: IntArray, i: int) -> int:
    """One past the last of the contacts from i on whose rows have the same columns.

    Of at most eight of each tree: of more, contact i alone.
    """
    last, count = i + 1, places.shape[0]
    if places[i, COUNT_A] > WIDTH or places[i, COUNT_B] > WIDTH:
        return last
    while last < count and have_columns_in_common(places, i, last):
        last += 1
    return last


@inlined
def have_columns_in_common(places: IntArray, i: int, j: int) -> bool:
    """Whether rows of two contacts have the same columns."""
    if places[i, FIRST_A] != places[j, FIRST_A] or places[i, FIRST_B] != places[j, FIRST_B]:
        return False
    return places[i, COUNT_A] == places[j, COUNT_A] and places[i, COUNT_B] == places[j, COUNT_B]


@kernel
def add_groups(rows: SparseRows, p: Array, y: Array) -> None:
    """y = L^T p."""
    places, entries = rows.places, rows.entries
    for k in range(y.size):
        y[k] = 0.0
    i = 0
    while i < places.shape[0]:
        last, width = last_of_group(places, i), width_of(places, i)
        few, more = places[i, COUNT_A], places[i, COUNT_B]
        if few > WIDTH or more > WIDTH:
            add_contact(rows, i, (p[3 * i], p[3 * i + 1], p[3 * i + 2]), y)
            i = last
            continue
        of_a, of_b = places[i, FIRST_A], places[i, FIRST_B]
        a, b = load_first(y, of_a, few), load_first(y, of_b, more)
        for k in range(i, last):
            for j in range(3):
                at, x = places[k, START] + j * width, p[3 * k + j]
                a = a + x * load_first(entries, at, few)
                b = b + x * load_first(entries, at + few, more)
        store_first(y, of_a, few, a)
        store_first(y, of_b, more, b)
        i = last


@kernel
def velocities_of_groups(rows: SparseRows, y: Array, v: Array) -> None:
    """v = L y."""
    places, entries = rows.places, rows.entries
    i = 0
    while i < places.shape[0]:
        last, width = last_of_group(places, i), width_of(places, i)
        few, more = places[i, COUNT_A], places[i, COUNT_B]
        if few > WIDTH or more > WIDTH:
            v[3 * i], v[3 * i + 1], v[3 * i + 2] = velocity_of(rows, i, y)
            i = last
            continue
        a, b = load_first(y, places[i, FIRST_A], few), load_first(y, places[i, FIRST_B], more)
        for k in range(i, last):
            at = places[k, START]
            x = a * load_first(entries, at, few) + b * load_first(entries, at + few, more)
            at += width
            z = a * load_first(entries, at, few) + b * load_first(entries, at + few, more)
            at += width
            w = a * load_first(entries, at, few) + b * load_first(entries, at + few, more)
            store_first(v, 3 * k, 3, totals(x, z, w))
        i = last
