"""Operational-space compliance Lambda = J M^-1 J^T of nodes.

Three routes to the same matrix:

- propagation ([J] 62-64, B* psi* H* D^-1 H psi B): the force columns of every node are carried to
  the base, and what they leave at each joint is multiplied out over common ancestors. For few
  nodes.
- recursion, O(N) + O(n_c^2), without J and without M ([J] appendix): Upsilon ([J] 67) and rows of
  Omega ([J] 69). Links that carry no node and where no branches meet are only passed through: the
  psi of a run of links is multiplied once, with what the run adds to Upsilon, for the *virtual*
  edge between two vertices, and the row of a vertex is psi^T times the row of its virtual parent,
  one contiguous sweep. For all others.
- mass matrix (`mass`): M factorised, and one triangular solve a node. On request: it shares nothing
  with the others but poses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, is_one_of, not_finite, output, vector
from spatialops._compile.doors import Size, door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.dynamics.compliance.closed import closed_rows
from spatialops.dynamics.compliance.link_rows import (
    BLOCK,
    HELD_COLUMNS,
    PLACE_COLUMNS,
    POSE_COLUMNS,
    held_rows,
    place_in_rows,
)
from spatialops.dynamics.compliance.mass import MASS_ROUTE, mass_memory
from spatialops.dynamics.compliance.propagation import PROPAGATION, propagation_memory
from spatialops.dynamics.compliance.recursion import recursion_kernel, recursion_size
from spatialops.dynamics.compliance.row_products import link_of
from spatialops.dynamics.compliance.virtual_tree import PLAN_COLUMNS, VERTEX_COLUMNS, mark_links
from spatialops.dynamics.forward_dynamics import without_mass
from spatialops.dynamics.kinematics import finite_status, names_links
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.tree import sources
from spatialops.tree.branches import COLUMNS
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.node import FewNodes, NodeLike, Nodes, alien_nodes

Parts: TypeAlias = tuple[Array, Array, IntArray, IntArray, IntArray, Array]  # of the scratch
Route: TypeAlias = Literal["auto", "recursion", "propagation", "mass-matrix"]


@inlined
def scratch_size(n: int, m: int) -> int:
    """How many numbers the kernel needs for n links and m nodes."""
    poses = PLACE_COLUMNS * BLOCK + HELD_COLUMNS * held_rows(n) + POSE_COLUMNS * (n + WIDTH)
    return poses + PLAN_COLUMNS * n + (2 * VERTEX_COLUMNS + 1) * m + WIDTH + recursion_size(m)


@kernel
def compliance_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    scratch: Array,
    out: Array,
) -> int:
    """The recursion, with everything in `scratch`; tables are those of `Branches`."""
    n, m = tree.shape[0], node_links.size
    if (
        q.size != tree[0, layout.SIZE_Q]
        or out.shape[0] != 6 * m
        or out.shape[1] != 6 * m
        or scratch.size < scratch_size(n, m)
    ):
        return layout.MISFIT
    if not names_links(tree, node_links) or tree.shape[1] < COLUMNS:
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    held, rows, plan, vertices, ordered, rest = begin_recursion(
        tree, constants, q, node_links, scratch
    )
    return recursion_kernel(
        tree, constants, ordered, offsets, rows, held, plan, vertices, rest, out
    )


@inlined
def begin_recursion(
    tree: IntArray, constants: Array, q: Array, node_links: IntArray, scratch: Array
) -> Parts:
    """Cut up the scratch, mark links, and place them."""
    n, m = tree.shape[0], node_links.size
    a = PLACE_COLUMNS * BLOCK
    b = a + HELD_COLUMNS * held_rows(n)
    c = b + POSE_COLUMNS * WIDTH * constants.shape[0]
    d = c + PLAN_COLUMNS * n
    e = d + VERTEX_COLUMNS * 2 * m
    rest = scratch[(e + m + WIDTH - 1) // WIDTH * WIDTH :]
    work = scratch[:a].reshape(BLOCK, PLACE_COLUMNS)
    held = scratch[a:b].reshape(held_rows(n), HELD_COLUMNS)
    rows = scratch[b:c].reshape(WIDTH * constants.shape[0], POSE_COLUMNS)
    plan = scratch[c:d].view(np.int64).reshape(n, PLAN_COLUMNS)
    vertices = scratch[d:e].view(np.int64).reshape(2 * m, VERTEX_COLUMNS)
    ordered = scratch[e : e + m].view(np.int64)
    for i in range(m):
        ordered[i] = link_of(tree, node_links, i)
    mark_links(tree, ordered, plan)
    place_in_rows(tree, constants, q, work, rows)
    return held, rows, plan, vertices, ordered, rest


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(compliance_kernel, arguments)


_ROOM = 16  # nodes that memory is made for at once
_CALL = FastCall(compliance_kernel, _entry)


@door(
    PROPAGATION,
    *sources.BRANCHES,
    sources.Q,
    sources.NODE_LINKS,
    sources.OFFSETS,
    sources.of_branches("factor_work"),
    sources.of_branches("factor_held"),
    sources.of_branches("factor_rows"),
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
        "auto" (the default) takes the propagation for as many nodes as it is the cheapest for,
        and the recursion for more; all give the same matrix to rounding. "mass-matrix" is for
        small trees (O(N^2) memory), and takes the recursion where its factors would lose more
        than four digits.
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
    if not is_one_of(method, ("auto", *METHODS)):
        raise ArgumentError(
            f"method: expected 'auto', 'recursion', 'propagation' or 'mass-matrix', got {method!r}"
        )
    if loops is not None:
        _, rows = closed_rows(model, loops, q, ready)
        return np.matmul(rows, rows.T, out=output(out, (len(rows), len(rows))))
    if method == "auto":
        method = "propagation" if type(ready) is FewNodes else "recursion"
    return METHODS[method](model, q, ready, out)


def _by_propagation(model: Model, q: ArrayLike, nodes: Nodes, out: Array) -> Array:
    """The route of force columns, and memory for it."""
    m, tables = len(nodes.links), model.branches
    try:
        memory = tables.factors()
        status = PROPAGATION.call(
            tables.tree, tables.constants, q, nodes.links, nodes.offsets, *memory, out
        )
    except (IndexError, TypeError):
        status = layout.MISFIT
    if status == layout.MISFIT:
        q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
        memory = propagation_memory(model.nv, max(m, _ROOM))
        status = PROPAGATION.checked_call(
            tables.tree, tables.constants, q, nodes.links, nodes.offsets, *memory, out
        )
    if status != layout.OK:
        raise failure(status, model, q)
    if m <= tables.few:
        tables.keep_factors(*memory)
    return out


def _by_recursion(model: Model, q: ArrayLike, nodes: Nodes, out: Array) -> Array:
    """The route of Upsilon and Omega, and memory for it."""
    tables = model.branches.tree, model.branches.constants
    try:
        scratch = model.scraps.pop()
        status = _CALL.call(*tables, q, nodes.links, nodes.offsets, scratch, out)
    except (IndexError, TypeError):
        status = layout.MISFIT
    if status == layout.MISFIT:
        n, m = model.nv, len(nodes.links)
        q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
        scratch = aligned(1, scratch_size(n, m))[0]
        arguments = q, nodes.links, nodes.offsets, scratch, out
        status = _CALL.checked_call(*tables, *arguments)
    if status != layout.OK:
        raise failure(status, model, q)
    model.scraps.append(scratch)
    return out


def _by_mass_matrix(model: Model, q: ArrayLike, nodes: Nodes, out: Array) -> Array:
    """The mass matrix's route; the recursion where it would lose digits."""
    m, tables = len(nodes.links), model.branches
    q, out = vector(q, model.nq, "q"), output(out, (6 * m, 6 * m))
    memory = mass_memory(model.nv, m)
    status = MASS_ROUTE.checked_call(
        tables.tree, tables.constants, q, nodes.links, nodes.offsets, *memory, out
    )
    if status == layout.SINGULAR:
        return _by_recursion(model, q, nodes, out)
    if status != layout.OK:
        raise failure(status, model, q)
    return out


def failure(status: int, model: Model, q: ArrayLike) -> SpatialOpsError:
    """The error that a kernel's status stands for."""
    if status == layout.MISFIT:
        return alien_nodes()
    if status == layout.NOT_FINITE:
        return not_finite(q=q)
    return without_mass(model, np.asarray(q, dtype=np.float64))


METHODS: dict[str, Callable[[Model, ArrayLike, Nodes, Array], Array]] = {
    "recursion": _by_recursion,
    "propagation": _by_propagation,
    "mass-matrix": _by_mass_matrix,
}
