"""Compliance and velocities of contacts on long branches, with little Python between the kernels.

What `ContactProblem` computes one after the other where W is Q Lambda Q* ([J] 50): Python would
take as long as some hundred links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import ZERO3, put3, vec3
from spatialops.dynamics.compliance.along_rows import number_nodes, product_of_rows
from spatialops.dynamics.loops.rows import closure_velocities
from spatialops.dynamics.maximal import place_and_move

if TYPE_CHECKING:
    from spatialops.contact.problem import ContactProblem

LONG = 100  # links: below, rows of L are the cheaper way but for hundreds of contacts
_BROKEN = -1


@kernel
def state_nodes(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    contacts: IntArray,
    points: Array,
    frames: Array,
    ints: IntArray,
    terms: Array,
    work: Array,
) -> int:
    """Terms of contacts' rows, poses and velocities; how many links the rows push.

    0 where rows of L are cheaper. `ints` are flat: the number of each link that is pushed, depths,
    the links that are pushed, and the terms'.
    """
    n, m = tree.shape[0], contacts.shape[0]
    nodes, depth = ints[:n], ints[n : 2 * n]
    pushed = ints[2 * n : 2 * n + 2 * m]
    term_ints = ints[2 * n + 2 * m :].reshape(3 * m, layout.TERM_INTS)
    for i in range(m):
        for j in range(3):
            row = 3 * i + j
            term_ints[row, layout.TERM_ROW] = row
            term_ints[row, layout.TERM_A] = contacts[i, 0]
            term_ints[row, layout.TERM_B] = contacts[i, 1]
            put3(terms, row, layout.TERM_POINT, vec3(points, i, 0))
            put3(terms, row, layout.TERM_ANGULAR, ZERO3)
            put3(terms, row, layout.TERM_LINEAR, vec3(frames[i], j, 0))
    count = number_nodes(tree, term_ints, nodes, depth)
    if count == 0:
        return 0
    for k in range(n):
        if nodes[k] >= 0:
            pushed[nodes[k]] = k
    return count if place_and_move(tree, links, q, v, work) == layout.OK else _BROKEN


@kernel
def add_bias(drift: Array, gap_bias: Array, u: Array) -> None:
    """Add what motion alone changes, and gaps, to velocities of contacts' rows."""
    for i in range(gap_bias.size):
        for j in range(3):
            u[3 * i + j] += drift[i, j]
        u[3 * i] += gap_bias[i]


def compliance_by_nodes(problem: ContactProblem) -> Array | None:
    """W of a problem without closures and rows of joints; None where rows of L are cheaper.

    What else is found is kept with the problem: terms, nodes, poses, velocities of the rows.

    Raises
    ------
    ModelError
        If the mass matrix is singular here.
    """
    model, kept = problem.model, problem.__dict__
    n, m = model.nv, problem.n_contacts
    ints = np.empty(2 * n + (2 + 3 * layout.TERM_INTS) * m, dtype=np.int64)
    terms, work = np.empty((3 * m, layout.TERM_COLUMNS)), np.empty((n, layout.WORK_COLUMNS))
    count = state_nodes(
        model.tree,
        model.links,
        problem.q,
        problem.velocity,
        problem.links,
        problem.points,
        problem.frames,
        ints,
        terms,
        work,
    )
    if count == _BROKEN:
        return None  # what goes on from here says what is wrong
    first = 2 * n + 2 * m
    nodes, term_ints = ints[:n], ints[first:].reshape(3 * m, layout.TERM_INTS)
    kept["terms"] = term_ints, terms
    kept["_nodes"] = nodes if count else None
    if not count:
        return None
    kept["_placed"] = work
    pushed = ints[2 * n : 2 * n + count]
    W = product_of_rows(model, problem.q, work, nodes, pushed, term_ints, terms)
    u = np.empty(3 * m)
    closure_velocities(term_ints, terms, work, u)
    add_bias(problem.drift, problem.gap_bias, u)
    kept["velocities"] = u
    return W
