"""Operational-space compliance Lambda = J M^-1 J^T of nodes.

Three routes to the same matrix, behind models of their cost:

- mass matrix (`mass_route`): M factorised, and one triangular solve a node. For few nodes on a small tree.
- recursion, O(N) + O(n_c^2), without J and without M ([J] appendix): Upsilon base to tips ([J] 68), then rows of Omega
  ([J] 69). Links that carry no node and where no branches meet are only passed through: the psi of a run of links is
  multiplied once, for the *virtual* edge between two vertices, and the row of a vertex is psi^T times the row of its
  virtual parent, one contiguous sweep.
- propagation ([J] 62-64, B* psi* H* D^-1 H psi B): the force columns of every node are carried to the base, and what
  they leave at each joint is multiplied out over common ancestors. For nodes that have few of them, on many links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray, not_finite, output, vector
from spatialops._door import Door, enter
from spatialops._jit import entrance, inlined, kernel
from spatialops._layout import (
    MISFIT,
    NOT_FINITE,
    OK,
    SINGULAR,
    SIZE_Q,
    UPSILON_COLUMNS,
    WORK_COLUMNS,
)
from spatialops.dynamics.articulated_body import factor, singular_joint
from spatialops.dynamics.jacobian import node_points
from spatialops.dynamics.kinematics import names_links, place_links
from spatialops.dynamics.mass_route import MASS_ROUTE, mass_memory
from spatialops.dynamics.propagation import propagation_kernel
from spatialops.dynamics.virtual_tree import BELOW, CHILDREN, OWN, mark_links, recursion_kernel
from spatialops.errors import ArgumentError
from spatialops.tree.branches import FEW
from spatialops.tree.model import FewNodes, Model, Nodes


@inlined
def recursion_is_cheaper(counts: IntArray, n_nodes: int) -> bool:
    """Compare what recursion and propagation cost in nanoseconds, fitted on robots and chains with 1 to 32 nodes."""
    vertices, recursion, propagation = n_nodes, 0.0, 0.0
    for k in range(counts.shape[0]):
        m = counts[k, BELOW]
        if m > 0:
            recursion += 40.0
            propagation += 30.0 * m + 7.7 * m * (m + 1)
            if counts[k, CHILDREN] > 1 and counts[k, OWN] == 0:
                vertices += 1
    return recursion + 55.0 * (vertices - 1) + 14.0 * vertices * vertices < propagation


@inlined
def scratch_size(n: int, m: int) -> int:
    """How many numbers the kernel needs for n links and m nodes."""
    return (WORK_COLUMNS + 4) * n + 11 * m + 36 + max(UPSILON_COLUMNS * n + (12 * m + 8) ** 2, 6 * m * n)


@kernel
def compliance_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    method: int,
    scratch: Array,
    out: Array,
) -> int:
    """The routes from articulated inertias; `scratch` starts with the workspace and has room for whatever follows."""
    n, m = tree.shape[0], node_links.size
    if q.size != tree[0, SIZE_Q] or out.shape[0] != 6 * m or out.shape[1] != 6 * m or scratch.size < scratch_size(n, m):
        return MISFIT
    if not names_links(tree, node_links):
        return MISFIT
    a = WORK_COLUMNS * n
    b = a + 3 * m
    c = b + 36
    d = c + 4 * n
    e = d + 8 * m
    work, points, X = scratch[:a].reshape(n, WORK_COLUMNS), scratch[a:b].reshape(m, 3), scratch[b:c].reshape(6, 6)
    counts, vertices = scratch[c:d].view(np.int64).reshape(n, 4), scratch[d:e].view(np.int64).reshape(2 * m, 4)
    rest = scratch[e:]
    if place_links(tree, links, q, work) != OK:
        return NOT_FINITE
    if factor(tree, links, work) != OK:
        return SINGULAR
    node_points(node_links, offsets, work, points)
    mark_links(tree, node_links, counts)
    if method == _RECURSION or (method == _AUTO and recursion_is_cheaper(counts, m)):
        ups, buffer = rest[: UPSILON_COLUMNS * n].reshape(n, UPSILON_COLUMNS), rest[UPSILON_COLUMNS * n :]
        recursion_kernel(tree, links, node_links, points, work, ups, counts, vertices, buffer, X, out)
    else:
        propagation_kernel(tree, links, node_links, points, work, rest[: 6 * m * n].reshape(n, 6 * m), X, out)
    return OK


@entrance
def _entrance(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    method: int,
    scratch: Array,
    out: Array,
) -> int:
    return enter(compliance_kernel, tree, links, q, node_links, offsets, method, scratch, out)


_AUTO, _RECURSION, _PROPAGATION = 0, 1, 2
_METHODS = {"auto": _AUTO, "recursion": _RECURSION, "propagation": _PROPAGATION}
_DOOR = Door(compliance_kernel, _entrance)


def _number_of(method: Any) -> int:
    if not isinstance(method, str) or method not in _METHODS:
        raise ArgumentError(f"method: expected 'auto', 'recursion', 'propagation' or 'mass matrix', got {method!r}")
    return _METHODS[method]


def _alien_nodes() -> ArgumentError:
    return ArgumentError("nodes: they were made ready for another model")


def compliance(
    model: Model, q: Array, nodes: Sequence[Any] | Nodes, *, method: str = "auto", out: Array | None = None
) -> Array:
    """Operational-space compliance matrix Lambda = J M^-1 J^T of nodes, in O(N) + O(n_c^2).

    Parameters
    ----------
    model : Model
    q : (nq,) array
    nodes : sequence of Node, or what `model.resolve` returned for one (saves looking up names in loops)
    method : {"auto", "recursion", "propagation", "mass matrix"}
        "auto" takes the route that a cost model finds the cheapest; all give the same matrix to rounding. "mass matrix"
        is for small trees (O(N^2) memory), and takes the recursion where its factors would lose more than four digits.
    out : (6 n_c, 6 n_c) array, optional

    Returns
    -------
    (6 n_c, 6 n_c) array
        Symmetric positive semidefinite. Block (i, j) maps an impulse [angular; linear] on node j to the change of the
        velocity [angular; linear] of node i, in world axes at the nodes. Rows of the world's nodes are zero.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity, an unknown body or method.
    ModelError
        If the mass matrix is singular.

    References
    ----------
    [J] equations 62-69; Kreutz-Delgado, Jain and Rodriguez 1992; Featherstone 2008, chapter 6.
    """
    ready: Any = nodes
    kind = type(ready)
    if kind is not FewNodes and kind is not Nodes:
        ready = model.resolve(ready)
        kind = type(ready)
    if out is None:
        out = np.empty((6 * len(ready.links), 6 * len(ready.links)))
    if kind is FewNodes and method == "auto":
        tables = model.branches
        try:
            work, rows = tables.memory
            status = MASS_ROUTE.call(tables.tree, tables.constants, q, ready.links, ready.offsets, work, rows, out)
        except TypeError:
            status = MISFIT
        if not status:
            return out
        method = "recursion" if status == SINGULAR else "mass matrix"
    if method == "mass matrix":
        return _by_mass_matrix(model, q, ready, out)
    return _by_factors(model, q, ready, method, out)


def _by_mass_matrix(model: Model, q: Array, nodes: Nodes, out: Array) -> Array:
    """The mass matrix's route with everything checked; where it would lose digits, the recursion."""
    m, tables = len(nodes.links), model.branches
    q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
    memory = mass_memory(model.nv, max(m, FEW))
    status = MASS_ROUTE.checked_call(tables.tree, tables.constants, q, nodes.links, nodes.offsets, *memory, out)
    if status == MISFIT:
        raise _alien_nodes()
    if status == NOT_FINITE:
        raise not_finite(q=q)
    if m <= FEW and tables.few > 0:
        tables.memory = memory
    return out if status == OK else _by_factors(model, q, nodes, "recursion", out)


def _by_factors(model: Model, q: Array, nodes: Nodes, method: str, out: Array) -> Array:
    """The routes from articulated inertias."""
    try:
        scratch = model.scraps.pop()
        status = _DOOR.call(model.tree, model.links, q, nodes.links, nodes.offsets, _METHODS[method], scratch, out)
    except (IndexError, KeyError, TypeError):
        status = MISFIT
    if status == MISFIT:
        n, m = model.nv, len(nodes.links)
        q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
        scratch = np.empty(scratch_size(n, m))
        arguments = q, nodes.links, nodes.offsets, _number_of(method), scratch, out
        status = _DOOR.checked_call(model.tree, model.links, *arguments)
    if status == MISFIT:
        raise _alien_nodes()
    if status == NOT_FINITE:
        raise not_finite(q=q)
    if status == SINGULAR:
        raise singular_joint(model, scratch[: WORK_COLUMNS * model.nv].reshape(-1, WORK_COLUMNS))
    model.scraps.append(scratch)
    return out
