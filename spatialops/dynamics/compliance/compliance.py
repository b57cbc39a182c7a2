"""Operational-space compliance Lambda = J M^-1 J^T of nodes.

Three routes to the same matrix, behind models of their cost:

- mass matrix (`mass_route`): M factorised, and one triangular solve a node. For few nodes on a
  small tree.
- recursion, O(N) + O(n_c^2), without J and without M ([J] appendix): Upsilon ([J] 67) and rows of
  Omega ([J] 69). Links that carry no node and where no branches meet are only passed through: the
  psi of a run of links is multiplied once, with what the run adds to Upsilon, for the *virtual*
  edge between two vertices, and the row of a vertex is psi^T times the row of its virtual parent,
  one contiguous sweep.
- propagation ([J] 62-64, B* psi* H* D^-1 H psi B): the force columns of every node are carried to
  the base, and what they leave at each joint is multiplied out over common ancestors. For nodes
  that have few of them, on many links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, is_one_of, not_finite, output, vector
from spatialops._compile.doors import Size, door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.dynamics.articulated_body import factor, place_and_weigh
from spatialops.dynamics.compliance.closed import closed_rows
from spatialops.dynamics.compliance.mass import MASS_ROUTE, mass_memory
from spatialops.dynamics.compliance.propagation import propagation_kernel
from spatialops.dynamics.compliance.recursion import (
    MET_COLUMNS,
    POSE_COLUMNS,
    place,
    recursion_kernel,
    recursion_size,
)
from spatialops.dynamics.compliance.virtual_tree import (
    BELOW,
    CHILDREN,
    OWN,
    PLAN_COLUMNS,
    VERTEX_COLUMNS,
    mark_links,
)
from spatialops.dynamics.forward_dynamics import without_mass
from spatialops.dynamics.kinematics import names_links
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.dynamics.nodes import node_points
from spatialops.errors import ArgumentError
from spatialops.tree import sources
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import FewNodes, NodeLike, Nodes, alien_nodes

Route: TypeAlias = Literal["auto", "recursion", "propagation", "mass-matrix"]

# Nanoseconds, fitted on robots and chains with 1 to 32 nodes.
_RECURSION_A_LINK = 40.0
_RECURSION_A_VERTEX = 55.0
_RECURSION_A_PAIR = 14.0  # of vertices
_PROPAGATION_A_COLUMN = 30.0  # of a link
_PROPAGATION_A_PAIR = 7.7  # of columns


@inlined
def recursion_is_cheaper(counts: IntArray, n_nodes: int) -> bool:
    """Compare what recursion and propagation cost."""
    vertices = n_nodes
    recursion = 0.0
    propagation = 0.0
    for k in range(counts.shape[0]):
        m = counts[k, BELOW]
        if m > 0:
            recursion += _RECURSION_A_LINK
            propagation += _PROPAGATION_A_COLUMN * m + _PROPAGATION_A_PAIR * m * (m + 1)
            if counts[k, CHILDREN] > 1 and counts[k, OWN] == 0:
                vertices += 1
    recursion += _RECURSION_A_VERTEX * (vertices - 1)
    return recursion + _RECURSION_A_PAIR * vertices * vertices < propagation


@inlined
def scratch_size(n: int, m: int) -> int:
    """How many numbers the kernel needs for n links and m nodes."""
    return (
        (layout.WORK_COLUMNS + PLAN_COLUMNS) * n + 11 * m + 36 + max(recursion_size(m), 6 * m * n)
    )


@kernel
def compliance_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    method: IntArray,
    scratch: Array,
    out: Array,
) -> int:
    """The routes from articulated inertias.

    `scratch` starts with the workspace, and has room for whatever follows.
    """
    n, m = tree.shape[0], node_links.size
    if (
        q.size != tree[0, layout.SIZE_Q]
        or out.shape[0] != 6 * m
        or out.shape[1] != 6 * m
        or scratch.size < scratch_size(n, m)
    ):
        return layout.MISFIT
    if not names_links(tree, node_links):
        return layout.MISFIT
    a = layout.WORK_COLUMNS * n
    b = a + 3 * m
    c = b + 36
    d = c + PLAN_COLUMNS * n
    e = d + VERTEX_COLUMNS * 2 * m
    work = scratch[:a].reshape(n, layout.WORK_COLUMNS)
    points = scratch[a:b].reshape(m, 3)
    counts = scratch[c:d].view(np.int64).reshape(n, PLAN_COLUMNS)
    vertices = scratch[d:e].view(np.int64).reshape(2 * m, VERTEX_COLUMNS)
    rest = scratch[e:]
    mark_links(tree, node_links, counts)
    if method[0] == _RECURSION or (method[0] == _AUTO and recursion_is_cheaper(counts, m)):
        poses = scratch[: POSE_COLUMNS * n].reshape(n, POSE_COLUMNS)
        met = scratch[POSE_COLUMNS * n : (POSE_COLUMNS + MET_COLUMNS) * n].reshape(n, MET_COLUMNS)
        if place(tree, links, q, poses) != layout.OK:
            return layout.NOT_FINITE
        node_points(node_links, offsets, poses, points)
        return recursion_kernel(
            tree, links, node_links, points, poses, counts, vertices, met, rest, out
        )
    if place_and_weigh(tree, links, q, work) != layout.OK:
        return layout.NOT_FINITE
    node_points(node_links, offsets, work, points)
    if factor(tree, links, work) != layout.OK:
        return layout.SINGULAR
    X = scratch[b:c].reshape(6, 6)
    left = rest[: 6 * m * n].reshape(n, 6 * m)
    propagation_kernel(tree, links, node_links, points, work, left, X, out)
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(compliance_kernel, arguments)


_AUTO = 0
_RECURSION = 1
_PROPAGATION = 2
_ROOM = 16  # nodes that memory is made for at once
METHODS = {
    name: np.array([number])
    for name, number in (("auto", _AUTO), ("recursion", _RECURSION), ("propagation", _PROPAGATION))
}
_CALL = FastCall(compliance_kernel, _entry)


def _number_of(method: str) -> IntArray:
    if not is_one_of(method, METHODS):
        raise ArgumentError(
            f"method: expected 'auto', 'recursion', 'propagation' or 'mass matrix', got {method!r}"
        )
    return METHODS[method]


@door(
    MASS_ROUTE,
    *sources.BRANCHES,
    sources.Q,
    sources.NODE_LINKS,
    sources.OFFSETS,
    sources.of_branches("mass_work"),
    sources.of_branches("mass_rows"),
    sources.OUT,
    results=[(Size(3, 6), Size(3, 6))],
    classes=sources.OF_FEW_NODES,
)
def compliance(
    model: Model,
    q: ArrayLike,
    nodes: Sequence[NodeLike] | Nodes,
    *,
    method: Route = "auto",
    out: Array | None = None,
    loops: LoopsLike | None = None,
) -> Array:
    """Operational-space compliance matrix Lambda = J M^-1 J^T of nodes, in O(N) + O(n_c^2).

    Of a closed mechanism it is that of the tree less what the closures hold, J M^-1 J^T - J M^-1
    G^T (G M^-1 G^T)^- G M^-1 J^T with their Jacobian G.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    nodes : sequence of Node, or what `model.resolve` returned for one
        Points of bodies; resolved ones save looking up names in loops.
    method : {"auto", "recursion", "propagation", "mass-matrix"}
        "auto" (the default) takes the route that a cost model finds the cheapest; all give the
        same matrix to rounding. "mass-matrix" is for small trees (O(N^2) memory), and takes the
        recursion where its factors would lose more than four digits.
    out : (6 n_c, 6 n_c) array, optional
        Where to write the result.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, closed at q; rows that others imply are found by rank. They have
        a route of their own, O(N) a row, and `method` says nothing about it.

    Returns
    -------
    (6 n_c, 6 n_c) array
        Symmetric positive semidefinite. Block (i, j) maps an impulse [angular; linear] on node j to
        the change of the velocity [angular; linear] of node i, in world axes at the nodes. Rows of
        the world's nodes are zero.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity, an unknown body or method.
    ModelError
        If the mass matrix is singular.

    References
    ----------
    [J] equations 62-69, for closures 37-39; Kreutz-Delgado, Jain and Rodriguez 1992; Featherstone
    2008, chapter 6.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> model, q = so.models.pendulum(2).model, [0.1, 0.2]
    >>> tip = [so.Node("link2", (0.0, 0.0, -1.0))]
    >>> J, M = so.jacobian(model, q, tip), so.mass_matrix(model, q)
    >>> bool(np.allclose(so.compliance(model, q, tip), J @ np.linalg.inv(M) @ J.T))
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    ready = nodes if isinstance(nodes, Nodes) else model.resolve(nodes)
    if out is None:
        out = np.empty((6 * len(ready.links), 6 * len(ready.links)))
    if loops is not None:
        _number_of("auto" if method == "mass-matrix" else method)
        _, rows = closed_rows(model, loops, q, ready)
        return np.matmul(rows, rows.T, out=output(out, (len(rows), len(rows))))
    if type(ready) is FewNodes and method == "auto":
        tables = model.branches
        try:
            given = q, ready.links, ready.offsets, tables.mass_work, tables.mass_rows, out
            status = MASS_ROUTE.call(tables.tree, tables.constants, *given)
        except TypeError:
            status = layout.MISFIT
        if not status:
            return out
        method = "recursion" if status == layout.SINGULAR else "mass-matrix"
    if method == "mass-matrix":
        return _by_mass_matrix(model, q, ready, out)
    return _by_factors(model, q, ready, method, out)


def _by_mass_matrix(model: Model, q: ArrayLike, nodes: Nodes, out: Array) -> Array:
    """The mass matrix's route with everything checked; the recursion where it would lose digits."""
    m, tables = len(nodes.links), model.branches
    q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
    memory = mass_memory(model.nv, max(m, _ROOM))
    status = MASS_ROUTE.checked_call(
        tables.tree, tables.constants, q, nodes.links, nodes.offsets, *memory, out
    )
    if status == layout.MISFIT:
        raise alien_nodes()
    if status == layout.NOT_FINITE:
        raise not_finite(q=q)
    if m <= tables.few:
        tables.mass_work, tables.mass_rows = memory
    return out if status == layout.OK else _by_factors(model, q, nodes, "recursion", out)


def _by_factors(model: Model, q: ArrayLike, nodes: Nodes, method: str, out: Array) -> Array:
    """The routes from articulated inertias."""
    try:
        scratch = model.scraps.pop()
        status = _CALL.call(
            model.tree, model.links, q, nodes.links, nodes.offsets, METHODS[method], scratch, out
        )
    except (IndexError, KeyError, TypeError):
        status = layout.MISFIT
    if status == layout.MISFIT:
        n, m = model.nv, len(nodes.links)
        q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
        scratch = np.empty(scratch_size(n, m))
        arguments = q, nodes.links, nodes.offsets, _number_of(method), scratch, out
        status = _CALL.checked_call(model.tree, model.links, *arguments)
    if status == layout.MISFIT:
        raise alien_nodes()
    if status == layout.NOT_FINITE:
        raise not_finite(q=q)
    if status == layout.SINGULAR:
        raise without_mass(model, np.asarray(q, dtype=np.float64))
    model.scraps.append(scratch)
    return out
