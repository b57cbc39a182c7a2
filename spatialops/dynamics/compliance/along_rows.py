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
from spatialops.algebra.vectors import ZERO3, add3, cross, minus, plus, put3, scaled, vec3
from spatialops.dynamics.articulated_body import singular_joint
from spatialops.dynamics.compliance.compliance import (
    METHODS,
    compliance_kernel,
    scratch_size,
)
from spatialops.dynamics.response import answer_wrenches
from spatialops.tree.model import Model

# Nanoseconds, from chains of 100 to 1000 links with 64 to 512 contacts; elsewhere they are a guess.
_CARRY = 16.0  # a row of L past a link
_PRODUCT = 0.022  # of two rows of L, a link of the tree
_LINK = 90.0  # of the recursion
_PAIR = 35.0  # of nodes
_ROWS = 6.0  # a pair of rows, from Lambda
_CALLS = 30e3
_END_COLUMNS = 6
_TILE = 32  # rows and columns that are mirrored together


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
    by_nodes = _CALLS + _LINK * tree.shape[0] + _PAIR * float(count) ** 2 + _ROWS * pairs
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
    model: Model, q: Array, nodes: IntArray, term_ints: IntArray, terms: Array
) -> tuple[Array, Array]:
    """W of rows, one term each and in their order, and the workspace with articulated factors.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array
        Coordinates, finite.
    nodes : (nv,) int array
        From `nodes_of_rows`.
    term_ints, terms : (r, 3) int array, (r, 9) array
        The rows.

    Returns
    -------
    W : (r, r) array
        G M^-1 G^T.
    work : (nv, WORK_COLUMNS) array
        For `velocities_after`.

    Raises
    ------
    ModelError
        If the mass matrix is singular here.
    """
    links = np.flatnonzero(nodes >= 0)
    scratch = np.empty(scratch_size(model.nv, links.size))
    compliance = np.empty((6 * links.size, 6 * links.size))
    status = compliance_kernel(
        model.tree,
        model.links,
        q,
        links,
        np.zeros((links.size, 3)),
        METHODS["recursion"],
        scratch,
        compliance,
    )
    size = layout.WORK_COLUMNS * model.nv
    work = scratch[:size].reshape(-1, layout.WORK_COLUMNS).copy()  # the rest may be large
    if status != layout.OK:
        raise singular_joint(model, work)
    r = len(terms)
    W = np.empty((r, r))
    ends, pushed = np.empty((r, 2, _END_COLUMNS)), np.empty(len(compliance))
    product_kernel(work, nodes, term_ints, terms, compliance, ends, pushed, W)
    return W, work


@kernel
def product_kernel(
    work: Array,
    nodes: IntArray,
    term_ints: IntArray,
    terms: Array,
    compliance: Array,
    ends: Array,
    pushed: Array,
    W: Array,
) -> None:
    """W = Q Lambda Q* in place: its lower half row by row, then the upper one."""
    for i in range(W.shape[0]):
        for side in range(2):
            link = term_ints[i, layout.TERM_A + side]
            moment, force = end_wrench(work, terms, i, link, 1.0 - 2.0 * side)
            for c in range(3):
                ends[i, side, c] = moment[c]
                ends[i, side, 3 + c] = force[c]
    for i in range(W.shape[0]):
        for c in range(pushed.size):
            pushed[c] = 0.0
        for side in range(2):
            link = term_ints[i, layout.TERM_A + side]
            if link >= 0:
                add_columns(compliance, 6 * nodes[link], ends[i, side], pushed)
        for j in range(i + 1):
            W[i, j] = along(nodes, term_ints, ends, j, pushed)
    mirror(W)


@inlined
def end_wrench(work: Array, terms: Array, i: int, link: int, sign: float) -> tuple[Vec3, Vec3]:
    """What a unit impulse of row i does to one of its links, about the link's origin."""
    if link < 0:
        return ZERO3, ZERO3
    force = scaled(sign, vec3(terms, i, layout.TERM_LINEAR))
    lever = minus(vec3(terms, i, layout.TERM_POINT), vec3(work, link, layout.ORIGIN))
    moment = scaled(sign, vec3(terms, i, layout.TERM_ANGULAR))
    return plus(moment, cross(lever, force)), force


@inlined
def add_columns(compliance: Array, first: int, wrench: Array, pushed: Array) -> None:
    """Add what a wrench on one node does to all nodes: Lambda is symmetric, its rows contiguous."""
    m0 = wrench[0]
    m1 = wrench[1]
    m2 = wrench[2]
    f0 = wrench[3]
    f1 = wrench[4]
    f2 = wrench[5]
    for c in range(pushed.size):
        turned = (
            m0 * compliance[first, c]
            + m1 * compliance[first + 1, c]
            + m2 * compliance[first + 2, c]
        )
        pushed[c] += (
            turned
            + f0 * compliance[first + 3, c]
            + f1 * compliance[first + 4, c]
            + f2 * compliance[first + 5, c]
        )


@inlined
def along(nodes: IntArray, term_ints: IntArray, ends: Array, j: int, pushed: Array) -> float:
    """Velocity along row j, from those of the nodes."""
    velocity = 0.0
    for side in range(2):
        link = term_ints[j, layout.TERM_A + side]
        if link >= 0:
            start = 6 * nodes[link]
            for c in range(6):
                velocity += ends[j, side, c] * pushed[start + c]
    return velocity


@inlined
def mirror(W: Array) -> None:
    """The upper half from the lower one, in tiles: rows that are written to are pages apart."""
    n = W.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    W[j, i] = W[i, j]


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
