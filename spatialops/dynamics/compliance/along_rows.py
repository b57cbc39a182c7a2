"""Compliance of many rows, W = Q Lambda Q* ([J] 50), without a row of L for each of them.

A row's entry in L is as long as its path to the base: m rows on long branches take O(N m) to carry
there and O(N m^2) to multiply. The nodes that rows push are the links at their ends, however many
rows a link has. Lambda of these is O(N) + O(n_c^2), and what makes W of it is O(m^2):

    W(i, j) = sum over the ends a of i and b of j of  w_i(a) . Lambda(a, b) w_j(b),

with w_i(a) the unit wrench of row i, about the origin of its end a, and minus that at the other.
Where Lambda's entries are far larger than those of W they cancel; with rows on single ends, as
those of contacts with the world or among trees, nothing does.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, store, zeros
from spatialops.algebra.simd_blocks import store_block
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.algebra.vectors import ZERO3, add3, cross, minus, plus, put3, scaled, vec3
from spatialops.dynamics.compliance.along_chains import along_chains, mirror
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.compliance.link_rows import take_block
from spatialops.dynamics.response import answer_wrenches
from spatialops.tree.branches import RANK
from spatialops.tree.model import Model
from spatialops.tree.node import Nodes

# Nanoseconds, from chains of 100 to 1000 links with 64 to 512 contacts; elsewhere they are a guess.
_CARRY = 16.0  # a row of L past a link
_PRODUCT = 0.022  # of two rows of L, a link of the tree
_LINK = 90.0  # of the recursion
_PAIR = 35.0  # of nodes
_ROW_PAIR = 6.0  # of rows, from Lambda
_CALLS = 30e3
_END_COLUMNS = 6
_ROWS = 3 * WIDTH  # of eight contacts


@kernel
def number_nodes(tree: IntArray, term_ints: IntArray, nodes: IntArray, depth: IntArray) -> int:
    """How many links the rows push, numbered in `nodes` (-1: not pushed).

    0 where rows of L are the cheaper way to W.
    """
    for k in range(tree.shape[0]):
        parent = tree[k, layout.PARENT]
        depth[k] = 1 + (depth[parent] if parent >= 0 else 0)
        nodes[k] = -1
    path = 0.0
    for n in range(term_ints.shape[0]):
        for side in (layout.TERM_A, layout.TERM_B):
            link = term_ints[n, side]
            if link >= 0:
                path += depth[link]
                nodes[link] = 0
    count = 0
    for k in range(tree.shape[0]):
        if nodes[k] == 0:
            nodes[k] = count
            count += 1
    pairs = float(term_ints.shape[0]) ** 2
    by_rows = _CARRY * path + _PRODUCT * pairs * tree.shape[0]
    by_nodes = _CALLS + _LINK * tree.shape[0] + _PAIR * float(count) ** 2 + _ROW_PAIR * pairs
    return count if by_nodes < by_rows else 0


def nodes_of_rows(model: Model, term_ints: IntArray) -> IntArray | None:
    """The number of each link among those that rows push, -1 for others.

    Returns
    -------
    (nv,) int array or None
        None where rows of L are the cheaper way to W.
    """
    nodes, depth = np.empty(model.nv, dtype=np.int64), np.empty(model.nv, dtype=np.int64)
    return nodes if number_nodes(model.tree, term_ints, nodes, depth) else None


def compliance_along_rows(
    model: Model, q: Array, work: Array, nodes: IntArray, term_ints: IntArray, terms: Array
) -> Array:
    """W of rows, one term each and in their order.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array
        Coordinates, finite, and
    work : (nv, WORK_COLUMNS) array
        the poses of the links there.
    nodes : (nv,) int array
        From `nodes_of_rows`.
    term_ints, terms : (r, 3) int array, (r, 9) array
        The rows.

    Returns
    -------
    (r, r) array
        G M^-1 G^T.

    Raises
    ------
    ModelError
        If the mass matrix is singular here.
    """
    return product_of_rows(model, q, work, nodes, np.flatnonzero(nodes >= 0), term_ints, terms)


def product_of_rows(
    model: Model,
    q: Array,
    work: Array,
    nodes: IntArray,
    links: IntArray,
    term_ints: IntArray,
    terms: Array,
) -> Array:
    """The same for the links (k,) that rows push, which are numbered so."""
    r, zeros_of = len(terms), np.zeros((links.size, 3))
    W = np.empty((r, r))
    row_nodes, wrenches = np.empty(r, dtype=np.int64), np.empty((r, 6))
    if come_in_order(
        model.branches.tree, work, nodes, term_ints, terms, row_nodes, wrenches
    ) and along_chains(model, q, Nodes(links, zeros_of), row_nodes, wrenches, W):
        return W
    Lambda = compliance(model, q, Nodes(links, zeros_of), method="recursion")
    room = room_for_product(r, len(Lambda))
    product_kernel(work, nodes, term_ints, terms, Lambda, *room, W)
    return W


@kernel
def come_in_order(
    tree: IntArray,
    work: Array,
    nodes: IntArray,
    term_ints: IntArray,
    terms: Array,
    row_nodes: IntArray,
    wrenches: Array,
) -> bool:
    """Nodes of rows, and wrenches there, where each pushes one link, in the order of the branches.

    False where they do not; `tree` is that of `Branches`.
    """
    last = rank = 0
    for i in range(term_ints.shape[0]):
        a, b = term_ints[i, layout.TERM_A], term_ints[i, layout.TERM_B]
        link = max(a, b)
        if min(a, b) >= 0 or link < last or tree[link, RANK] < rank:
            return False
        last, rank = link, tree[link, RANK]
        row_nodes[i] = nodes[link]
        moment, force = end_wrench(work, terms, i, link, 1.0 if link == a else -1.0)
        put3(wrenches, i, 0, moment)
        put3(wrenches, i, 3, force)
    return True


def room_for_product(rows: int, size: int) -> tuple[Array, Array, Array]:
    """What `product_kernel` works in, for so many rows and a Lambda of that size."""
    whole = size + WIDTH
    return np.empty((rows, 2, _END_COLUMNS)), np.empty((_ROWS, whole)), np.empty((whole, _ROWS))


@kernel
def product_kernel(
    work: Array,
    nodes: IntArray,
    term_ints: IntArray,
    terms: Array,
    compliance: Array,
    ends: Array,
    lines: Array,
    columns: Array,
    W: Array,
) -> None:
    """W = Q Lambda Q* in place, of contacts, three rows each: its upper half, then the lower one.

    How nodes move for unit impulses of eight contacts stands in `lines`, row by row, and in
    `columns`, side by side, as far as contacts before them ask.
    """
    put_ends(work, term_ints, terms, ends)
    m, last = W.shape[0] // 3, -1
    for first in range(0, m, WIDTH):
        end = min(first + WIDTH, m)
        for i in range(first, end):
            for side in range(2):
                link = term_ints[3 * i, layout.TERM_A + side]
                last = max(last, nodes[link]) if link >= 0 else last
        size = 6 * (last + 1)
        for i in range(first, end):
            move_nodes(nodes, term_ints, ends, compliance, i, (3 * (i - first), size), lines)
        for c in range(0, size, WIDTH):
            for row in range(0, _ROWS, WIDTH):
                store_block(columns, c, row, take_block(lines, row, c), WIDTH, WIDTH)
        for j in range(end):
            put_pairs(nodes, term_ints, ends, columns, j, 3 * first, W)
    mirror(W, False)


@inlined
def put_ends(work: Array, term_ints: IntArray, terms: Array, ends: Array) -> None:
    """Wrenches of all rows on the links at their ends."""
    for i in range(term_ints.shape[0]):
        for side in range(2):
            link = term_ints[i, layout.TERM_A + side]
            moment, force = end_wrench(work, terms, i, link, 1.0 - 2.0 * side)
            for c in range(3):
                ends[i, side, c] = moment[c]
                ends[i, side, 3 + c] = force[c]


@inlined
def move_nodes(
    nodes: IntArray,
    term_ints: IntArray,
    ends: Array,
    compliance: Array,
    i: int,
    at: tuple[int, int],
    lines: Array,
) -> None:
    """What the rows of contact i do to so many numbers of nodes: Lambda is symmetric."""
    row, size = at
    for c in range(0, size, WIDTH):
        few = compliance.shape[1] - c
        x = zeros()
        y = zeros()
        z = zeros()
        for side in range(2):
            link = term_ints[3 * i, layout.TERM_A + side]
            if link < 0:
                continue
            node = 6 * nodes[link]
            for k in range(6):
                line = load_first(compliance[node + k], c, few)
                x = x + ends[3 * i, side, k] * line
                y = y + ends[3 * i + 1, side, k] * line
                z = z + ends[3 * i + 2, side, k] * line
        store(lines, row, c, x)
        store(lines, row + 1, c, y)
        store(lines, row + 2, c, z)


@inlined
def put_pairs(
    nodes: IntArray,
    term_ints: IntArray,
    ends: Array,
    columns: Array,
    j: int,
    first: int,
    W: Array,
) -> None:
    """Velocities along the rows of contact j for impulses of rows from `first` on."""
    for column in range(0, _ROWS, WIDTH):
        x = zeros()
        y = zeros()
        z = zeros()
        for side in range(2):
            link = term_ints[3 * j, layout.TERM_A + side]
            if link < 0:
                continue
            node = 6 * nodes[link]
            for k in range(6):
                moved = load(columns, node + k, column)
                x = x + ends[3 * j, side, k] * moved
                y = y + ends[3 * j + 1, side, k] * moved
                z = z + ends[3 * j + 2, side, k] * moved
        at = first + column
        few = W.shape[0] - at
        if few > 0:
            store_first(W[3 * j], at, few, x)
            store_first(W[3 * j + 1], at, few, y)
            store_first(W[3 * j + 2], at, few, z)


@inlined
def end_wrench(work: Array, terms: Array, i: int, link: int, sign: float) -> tuple[Vec3, Vec3]:
    """What a unit impulse of row i does to one of its links, about the link's origin."""
    if link < 0:
        return ZERO3, ZERO3
    force = scaled(sign, vec3(terms, i, layout.TERM_LINEAR))
    lever = minus(vec3(terms, i, layout.TERM_POINT), vec3(work, link, layout.ORIGIN))
    moment = scaled(sign, vec3(terms, i, layout.TERM_ANGULAR))
    return plus(moment, cross(lever, force)), force


@kernel
def velocities_after(
    tree: IntArray,
    links: Array,
    work: Array,
    term_ints: IntArray,
    terms: Array,
    impulses: Array,
    dv: Array,
) -> None:
    """M^-1 G^T p, one sweep in and one out; factors must be in `work`, `dv` must be zero."""
    for k in range(tree.shape[0]):
        put3(work, k, layout.MOMENT, ZERO3)
        put3(work, k, layout.FORCE, ZERO3)
    for i in range(term_ints.shape[0]):
        p = impulses[term_ints[i, layout.TERM_ROW]]
        for side in range(2):
            link = term_ints[i, layout.TERM_A + side]
            if link >= 0:
                moment, force = end_wrench(work, terms, i, link, (2.0 * side - 1.0) * p)
                add3(work, link, layout.MOMENT, moment)
                add3(work, link, layout.FORCE, force)
    answer_wrenches(tree, links, dv, work, dv)
