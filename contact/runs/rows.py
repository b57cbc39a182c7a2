"""Rows of L whose columns are those of runs, and what joints do for them."""

from __future__ import annotations

import math

import numba
import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.apart import LIST, ROWS, TABLE, VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops._compile.references import Reference
from spatialops.algebra.simd import Lanes, LanesVec3, load, store, zeros
from spatialops.algebra.simd_blocks import between, transposed
from spatialops.algebra.simd_parts import lane, load_first, store_first, total, with_lane
from spatialops.algebra.vectors import ZERO3, cross, plus, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.contact.delassus import clear_rows
from spatialops.contact.rows import TREE_B, SparseRows, add_impulses, dense_rows, width_of
from spatialops.contact.runs.columns import (
    COLUMN,
    COLUMNS,
    NUMBER,
    PASSED,
    RUN_LINES,
    TAKEN,
    TOP,
    WAYS,
    WRENCH,
    Runs,
    find_runs,
    new_runs,
    place_among_runs,
)
from spatialops.contact.side_rows import (
    OF_JOINT,
    arm_of,
    kind_of,
    place_of,
    taken_by_joint,
)
from spatialops.dynamics.response import carried, velocities_from

# Square of what is left of a column of B, relative to its own: rounding, and no direction.
_NOTHING = 1e-30

_RUNS = Reference(numba.typeof(new_runs(np.zeros(2, dtype=np.int64))))
_OF_CONTACTS = Reference(numba.typeof(dense_rows(np.zeros((3, 1)))))


@late(LIST, LIST, TABLE, ROWS, ROWS, TABLE, ROWS, types.int64, _RUNS, _OF_CONTACTS)
def put_run_rows(
    tree_of: IntArray,
    trees: IntArray,
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    count: int,
    runs: Runs,
    rows: SparseRows,
) -> bool:
    """Rows of so many contacts among the columns of runs, and their places; False if none pay.

    Factors must be in `work`. No closures.
    """
    if not find_runs(tree, trees, ints, count, runs):
        return False
    for k in range(tree.shape[0]):
        if runs.links[k, TOP] >= 0:
            put_run(tree, links, work, k, runs)
    place_among_runs(tree_of, trees, ints, count, runs, rows.places)
    clear_rows(rows, count)
    for i in range(count):
        if kind_of(ints, rows, i) == OF_JOINT:
            put_joint(tree, work, ints, floats, i, runs, rows)
        else:
            put_contact(tree, work, ints, floats, i, runs, rows)
    return True


@kernel
def put_run(tree: IntArray, links: Array, work: Array, k: int, runs: Runs) -> None:
    """Lines of the run whose lowest link is k: unit wrenches there, side by side, are carried up.

    What joints take of them stands in `spans`, and is made orthonormal where there are more joints
    than columns.
    """
    none, line = zeros(), RUN_LINES * runs.links[k, NUMBER]
    m = with_lane(none, 0, 1.0), with_lane(none, 1, 1.0), with_lane(none, 2, 1.0)
    f = with_lane(none, 3, 1.0), with_lane(none, 4, 1.0), with_lane(none, 5, 1.0)
    length = 0
    link, top = k, runs.links[k, TOP]
    while True:
        e, m, f = carried(tree, links, work, link, m, f)
        store(runs.spans, link, 0, e)
        length += 1
        if link == top:
            break
        link = tree[link, layout.PARENT]
    passed = transposed((m[0], m[1], m[2], f[0], f[1], f[2], none, none))
    for c in range(WRENCH):
        store(runs.lines, line + TAKEN + c, 0, none)
        store(runs.lines, line + PASSED + c, 0, passed[c])
    if length > WRENCH:
        make_orthonormal(tree, k, runs)
    else:
        keep_joints(tree, k, runs)


@inlined
def keep_joints(tree: IntArray, k: int, runs: Runs) -> None:
    """Of a short run columns are what joints take."""
    line, spans = RUN_LINES * runs.links[k, NUMBER] + TAKEN, runs.spans
    for j in range(runs.links[k, COLUMNS]):
        for c in range(WRENCH):
            runs.lines[line + c, j] = spans[k, c]
        store(spans, k, 0, with_lane(zeros(), j, 1.0))
        k = tree[k, layout.PARENT]


@inlined
def make_orthonormal(tree: IntArray, k: int, runs: Runs) -> None:
    """B = Q R of a run, by Gram and Schmidt's method as modified: Q in place of B, R^T as lines.

    What joints take differs from Q R w by roundings of B w, also where wrenches make no difference
    to each other.
    """
    line = RUN_LINES * runs.links[k, NUMBER] + TAKEN
    spans, lines = runs.spans, runs.lines
    end = tree[runs.links[k, TOP], layout.PARENT]
    for j in range(WRENCH):
        products = zeros()
        link = k
        while link != end:
            products = products + spans[link, j] * load(spans, link, 0)
            link = tree[link, layout.PARENT]
        square = lane(products, j)
        before = total(load(lines, line + j, 0) * load(lines, line + j, 0))
        inverse = 1.0 / math.sqrt(square) if square > _NOTHING * before else 0.0
        products = inverse * between(products, j, WRENCH - 1)
        for c in range(j, WRENCH):
            lines[line + c, j] = lane(products, c)
        link = k
        while link != end:
            q = inverse * spans[link, j]
            store(spans, link, 0, load(spans, link, 0) - q * products)
            spans[link, j] = q
            link = tree[link, layout.PARENT]


@kernel
def put_contact(
    tree: IntArray, work: Array, ints: IntArray, floats: Array, i: int, runs: Runs, rows: SparseRows
) -> None:
    """Rows of contact or moment i: what pushes two links is carried to where their ways meet."""
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    apart = rows.places[i, TREE_B] >= 0
    meeting = -1 if apart else meeting_of_runs(tree, a, b, runs)
    width, place = width_of(rows.places, i), place_of(rows, i, False)
    w = pushes(work, ints, floats, i, a, 1.0)
    w = put_way(tree, a, meeting, w, runs, rows.entries, (place, width))
    if apart:
        place = place_of(rows, i, True)
    x = pushes(work, ints, floats, i, b, -1.0)
    x = put_way(tree, b, meeting, x, runs, rows.entries, (place, width))
    put_way(tree, meeting, -1, plus(w, x), runs, rows.entries, (place, width))


@inlined
def put_joint(
    tree: IntArray, work: Array, ints: IntArray, floats: Array, i: int, runs: Runs, rows: SparseRows
) -> None:
    """Row of a stop or of dry friction: its joint takes all of the unit force, the rest goes up."""
    k, none = ints[i, col.CONTACT_A], zeros()
    taken, moment, force = taken_by_joint(tree, work, ints, floats, i)
    width, place = width_of(rows.places, i), place_of(rows, i, False)
    if ints[i, col.CONTACT_FEATURE_A] == col.STOP:
        rows.entries[place + runs.links[k, COLUMN]] = taken
        w = wrench(moment, force), none, none
    else:
        rows.entries[place + width + runs.links[k, COLUMN]] = taken
        w = none, wrench(moment, force), none
    parent = tree[k, layout.PARENT]
    put_way(tree, parent, -1, w, runs, rows.entries, (place, width))


@inlined
def meeting_of_runs(tree: IntArray, a: int, b: int, runs: Runs) -> int:
    """The link where the ways of two links to the base meet; -1: at the world."""
    while a != b:
        if a > b:
            a = tree[runs.links[a, TOP], layout.PARENT]
        else:
            b = tree[runs.links[b, TOP], layout.PARENT]
    return a


@inlined
def pushes(
    work: Array, ints: IntArray, floats: Array, i: int, k: int, sign: float
) -> tuple[Lanes, Lanes, Lanes]:
    """Wrenches on link k, at its origin, of unit forces of contact i, or of unit moments."""
    none = zeros()
    if k < 0:
        return none, none, none
    if ints[i, col.CONTACT_PAIR] < 0:
        first = scaled(sign, vec3(floats, i, col.TANGENT))
        second = scaled(sign, vec3(floats, i, col.SECOND))
        return none, wrench(first, ZERO3), wrench(second, ZERO3)
    arm = arm_of(floats, work, i, k)
    return (
        push(arm, scaled(sign, vec3(floats, i, col.NORMAL))),
        push(arm, scaled(sign, vec3(floats, i, col.TANGENT))),
        push(arm, scaled(sign, vec3(floats, i, col.SECOND))),
    )


@inlined
def push(arm: Vec3, force: Vec3) -> Lanes:
    """Wrench of a force at the end of an arm."""
    return wrench(cross(arm, force), force)


@inlined
def wrench(m: Vec3, f: Vec3) -> Lanes:
    """Moment and force in six lanes."""
    w = with_lane(with_lane(with_lane(zeros(), 0, m[0]), 1, m[1]), 2, m[2])
    return with_lane(with_lane(with_lane(w, 3, f[0]), 4, f[1]), 5, f[2])


@inlined
def put_way(
    tree: IntArray,
    k: int,
    end: int,
    w: LanesVec3,
    runs: Runs,
    entries: Array,
    at: tuple[int, int],
) -> tuple[Lanes, Lanes, Lanes]:
    """Entries of three wrenches at link k, from there to the run of link `end`; what comes there.

    `at`: where the entry of column 0 of the first would be, and how far apart rows are.
    """
    lines = runs.lines
    while k != end:
        line = RUN_LINES * runs.links[k, NUMBER]
        place, columns = at[0] + runs.links[k, COLUMN], runs.links[k, COLUMNS]
        a = zeros()
        b = zeros()
        c = zeros()
        d = zeros()
        e = zeros()
        f = zeros()
        for j in range(WRENCH):
            taken, passed = load(lines, line + TAKEN + j, 0), load(lines, line + PASSED + j, 0)
            x = lane(w[0], j)
            y = lane(w[1], j)
            z = lane(w[2], j)
            a = a + x * taken
            b = b + y * taken
            c = c + z * taken
            d = d + x * passed
            e = e + y * passed
            f = f + z * passed
        store_first(entries, place, columns, a)
        store_first(entries, place + at[1], columns, b)
        store_first(entries, place + 2 * at[1], columns, c)
        w = d, e, f
        k = tree[runs.links[k, TOP], layout.PARENT]
    return w


@late(TABLE, ROWS, ROWS, _OF_CONTACTS, _RUNS, VECTOR, VECTOR)
def change_through_runs(
    tree: IntArray,
    links: Array,
    work: Array,
    rows: SparseRows,
    runs: Runs,
    impulses: Array,
    dv: Array,
) -> None:
    """`velocity_change` of rows among the columns of runs."""
    y = runs.y[: runs.trees[runs.trees.size - 1]]
    add_impulses(rows, impulses, y)
    for k in range(dv.size):
        top = runs.links[k, TOP]
        if runs.links[k, WAYS] == 0:
            dv[k] = 0.0
        if top < 0:
            continue
        own = load_first(y, runs.links[k, COLUMN], runs.links[k, COLUMNS])
        link, end = k, tree[top, layout.PARENT]
        while link != end:
            dv[link] = total(own * load(runs.spans, link, 0))
            link = tree[link, layout.PARENT]
    velocities_from(tree, links, work, dv)
