"""Lambda of closed mechanisms: what nodes yield where the closures answer every push.

With M^-1 = S S* and rows L = J S, L_b = G S of nodes and closures, closures leave

    L' = L - (L Q*) Q,

Q an orthonormal basis of the rows L_b (`loops/elimination.py`). Then

    L' L'* = J M^-1 J* - J M^-1 G* (G M^-1 G*)^- G M^-1 J*,

without a matrix of the closures being inverted: dependent rows need no care of their own.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, vector
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.loops.closure_factors import LoopsLike, Span, checked_loops
from spatialops.dynamics.loops.elimination import project_rows
from spatialops.dynamics.loops.rows import closure_rows
from spatialops.dynamics.nodes import node_points
from spatialops.dynamics.response import velocities_from
from spatialops.tree.model import Model
from spatialops.tree.node import Nodes


def closed_rows(model: Model, loops: LoopsLike, q: ArrayLike, nodes: Nodes) -> tuple[Span, Array]:
    """Factors of the closures at q, and the nodes' rows L' (6 n_c, nv) that they leave.

    Raises
    ------
    ArgumentError, ModelError
        For a wrong shape, NaN, infinity; closures of another model; a singular mass matrix.
    """
    span = Span(model, checked_loops(model, loops))
    span.place(vector(q, model.nq, "q"))
    if factor_kernel(model.tree, model.links, span.work) != layout.OK:
        raise singular_joint(model, span.work)
    span.factor()
    ints, terms = _node_terms(span.work, nodes)
    L = np.zeros((len(ints), model.nv))
    closure_rows(model.tree, model.links, span.work, ints, terms, (0, 0), L)
    parts = np.empty((len(L), max(span.rank, 1)))
    project_rows(span.Q, span.rank, L.ravel(), len(L), parts)
    return span, L


def motions(span: Span, rows: Array) -> Array:
    """Joint motions (k, nv) that the rows' unit forces cause, S times each row."""
    made = rows.copy()
    for dv in made:
        velocities_from(span.model.tree, span.model.links, span.work, dv)
    return made


def _node_terms(work: Array, nodes: Nodes) -> tuple[IntArray, Array]:
    """Terms of the nodes' velocities against the world: three angular rows, three linear ones."""
    m = len(nodes.links)
    points = np.empty((m, 3))
    node_points(nodes.links, nodes.offsets, work, points)
    ints, terms = np.empty((6 * m, layout.TERM_INTS), dtype=np.int64), np.zeros((6 * m, 9))
    ints[:, layout.TERM_ROW] = np.arange(6 * m)
    ints[:, layout.TERM_A] = np.repeat(nodes.links, 6)
    ints[:, layout.TERM_B] = -1
    terms[:, layout.TERM_POINT : layout.TERM_POINT + 3] = np.repeat(points, 6, axis=0)
    terms[:, layout.TERM_ANGULAR :] = np.tile(np.eye(6), (m, 1))
    return ints, terms
