"""Rows of L where all limbs of a tree meet: at the six links of its free root.

What comes to a free root has been left as a wrench in the place of the root's entries, of every row
there is. Eight rows at a time go through its links together, whatever limbs they are of.
"""

from __future__ import annotations

from typing import TypeAlias

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import zeros
from spatialops.algebra.simd_blocks import transposed
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.collision import _layout as col
from spatialops.contact.rows import SparseRows, width_of
from spatialops.contact.side_rows import (
    LAST,
    OF_JOINT,
    OF_MOMENT,
    ROOT,
    WITHIN,
    is_free_root,
    joint_place,
    kind_of,
    link_of,
    place_of,
)
from spatialops.dynamics.response import carried

Places: TypeAlias = tuple[int, int, int, int, int, int, int, int]


@kernel
def put_roots(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    count: int,
    second: bool,
    rows: SparseRows,
) -> None:
    """Entries of free roots, of all contacts at their first or second sides."""
    at = (0, 0, 0, 0, 0, 0, 0, 0)
    waiting = 0
    of = -1
    for i in range(count):
        root = root_of(tree, ints, rows, i, second)
        if root < 0:
            continue
        width, place = width_of(rows.places, i), place_of(rows, i, second) + root - LAST
        joint = kind_of(ints, rows, i) == OF_JOINT
        if joint:
            place = joint_place(ints, rows, i) + root - LAST
        for d in range(1 if joint else 3):
            if waiting == 8 or root != of:
                if waiting > 0:
                    carry_through(tree, links, work, of, at, rows.entries)
                waiting, of = 0, root
            own = place + d * width
            # Places that are left over are those of the first row: it is put more than once.
            at = (*at[1:], own) if waiting > 0 else (own, own, own, own, own, own, own, own)
            waiting += 1
    if waiting > 0:
        carry_through(tree, links, work, of, at, rows.entries)


@inlined
def root_of(tree: IntArray, ints: IntArray, rows: SparseRows, i: int, second: bool) -> int:
    """Last link of the free root to which contact i has been carried at that side; -1: none."""
    kind = kind_of(ints, rows, i)
    if kind == OF_MOMENT or (second and kind in (OF_JOINT, WITHIN)):
        return -1
    if kind == OF_JOINT:
        k = tree[ints[i, col.CONTACT_A], layout.PARENT]
    elif kind == WITHIN:
        k = meeting_of(tree, ints[i, col.CONTACT_A], ints[i, col.CONTACT_B])
    else:
        k = link_of(ints, rows, i, second)
    while k >= 0 and not is_free_root(tree, k):
        k = tree[k, layout.PARENT]
    return k


@inlined
def meeting_of(tree: IntArray, a: int, b: int) -> int:
    """Where the ways of two links to the base meet; -1: at the world."""
    while a != b:
        if a > b:
            a = tree[a, layout.PARENT]
        else:
            b = tree[b, layout.PARENT]
    return a


@inlined
def carry_through(
    tree: IntArray, links: Array, work: Array, root: int, at: Places, entries: Array
) -> None:
    """Eight wrenches through the links of a free root, whose entries take their place."""
    a, b, c, d, e, f, _, _ = transposed(
        (
            load_first(entries, at[0], ROOT),
            load_first(entries, at[1], ROOT),
            load_first(entries, at[2], ROOT),
            load_first(entries, at[3], ROOT),
            load_first(entries, at[4], ROOT),
            load_first(entries, at[5], ROOT),
            load_first(entries, at[6], ROOT),
            load_first(entries, at[7], ROOT),
        )
    )
    m, g = (a, b, c), (d, e, f)
    f, m, g = carried(tree, links, work, root, m, g)
    e, m, g = carried(tree, links, work, root - 1, m, g)
    d, m, g = carried(tree, links, work, root - 2, m, g)
    c, m, g = carried(tree, links, work, root - 3, m, g)
    b, m, g = carried(tree, links, work, root - 4, m, g)
    a, m, g = carried(tree, links, work, root - 5, m, g)
    out = transposed((a, b, c, d, e, f, zeros(), zeros()))
    store_first(entries, at[0], ROOT, out[0])
    store_first(entries, at[1], ROOT, out[1])
    store_first(entries, at[2], ROOT, out[2])
    store_first(entries, at[3], ROOT, out[3])
    store_first(entries, at[4], ROOT, out[4])
    store_first(entries, at[5], ROOT, out[5])
    store_first(entries, at[6], ROOT, out[6])
    store_first(entries, at[7], ROOT, out[7])
