"""How contacts answer impulses.

Their compliance W = G M^-1 G^T along the contact frames, and M^-1 G^T p, in O(N).

Rows of L = G psi* H* D^-1/2 by carrying unit forces at each contact to the base ([J] 62-64, three
columns a contact instead of six a node); then W = L L^T, W p = L (L^T p), and joint velocities
follow from y = L^T p by one sweep base to tips.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, dot, vec3
from spatialops.collision import _layout as col
from spatialops.contact.root_rows import put_roots
from spatialops.contact.rows import (
    COUNT_A,
    FIRST_A,
    FIRST_B,
    START,
    TREE_B,
    SparseRows,
    add_impulses,
    width_of,
)
from spatialops.contact.side_rows import (
    OF_JOINT,
    OF_MOMENT,
    WITHIN,
    kind_of,
    put_joints,
    put_sides,
    put_within,
)
from spatialops.dynamics.response import add_wrench_row, velocities_from


@kernel
def contact_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    count: int,
    rows: SparseRows,
) -> None:
    """Rows of all contacts along normal and tangents; factors must be in `work`, places there."""
    apart = clear_rows(rows, count)
    i = count - 1
    while i >= 0:
        kind = kind_of(ints, rows, i)
        done = 1
        if kind == OF_JOINT:
            done = put_joints(tree, links, work, ints, floats, i, rows)
        elif kind == OF_MOMENT:
            put_moment_rows(tree, links, work, ints, floats, i, rows)
        elif kind == WITHIN:
            done = put_within(tree, links, work, ints, floats, i, rows)
        else:
            done = put_sides(tree, links, work, ints, floats, i, False, rows)
        i -= done
    put_roots(tree, links, work, ints, count, False, rows)
    if not apart:
        return
    i = count - 1
    while i >= 0:
        i -= put_sides(tree, links, work, ints, floats, i, True, rows)
    put_roots(tree, links, work, ints, count, True, rows)


@inlined
def clear_rows(rows: SparseRows, count: int) -> bool:
    """Zeros for all rows, which lie side by side; whether any contact is of two trees."""
    apart = False
    end = 0
    for i in range(count):
        apart = apart or rows.places[i, TREE_B] >= 0
        end = rows.places[i, START] + 3 * width_of(rows.places, i)
    for k in range(rows.places[0, START] if count > 0 else 0, end):
        rows.entries[k] = 0.0
    return apart


@inlined
def put_moment_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    i: int,
    rows: SparseRows,
) -> None:
    """Of torsional and rolling friction: spins about the axes that stand for tangents."""
    places, point = rows.places, vec3(floats, i, col.POINT)
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    for j in range(1, 3):
        axis = vec3(floats, i, col.NORMAL + 3 * j)
        if dot(axis, axis) == 0.0:
            continue
        start = places[i, START] + j * width_of(places, i)
        origin = start - places[i, FIRST_A]
        if places[i, TREE_B] < 0:
            add_wrench_row(tree, links, work, (a, b), point, axis, ZERO3, rows.entries, origin)
            continue
        add_wrench_row(tree, links, work, (a, -1), point, axis, ZERO3, rows.entries, origin)
        origin = start + places[i, COUNT_A] - places[i, FIRST_B]
        add_wrench_row(tree, links, work, (-1, b), point, axis, ZERO3, rows.entries, origin)


@kernel
def velocity_change(
    tree: IntArray, links: Array, work: Array, rows: SparseRows, impulses: Array, dv: Array
) -> None:
    """dv = M^-1 G^T p: y = L^T p, then one sweep base to tips.

    Uses the acceleration columns of `work`.
    """
    add_impulses(rows, impulses, dv)
    velocities_from(tree, links, work, dv)
